// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "suite.hpp"
#include <stdexcept>
#include <string>

namespace bench {
namespace {

constexpr std::chrono::seconds run_timeout{120};

std::uint64_t default_count(bench_kind kind, const subject& what, const settings& s) {
  if (!measures_time(kind, what))
    return what.length.messages;
  // Each wait of a channel is a system call then.
  const bool sleeps = what.kind == family::channel && s.policy == sysipc_asio::wait_policy::sleepy;
  return sleeps ? through_the_kernel.rounds : what.length.rounds;
}

measurement prepare(const plan& p, bench_kind kind, const subject& what) {
  measurement m{kind, &what, p.common, {}};
  const auto& given = measures_time(kind, what) ? p.rounds : p.messages;
  m.used.count = given.value_or(default_count(kind, what, p.common));
  m.used.warmup = p.warmup.value_or(m.used.count / 10);
  return m;
}

workload make_workload(const measurement& m) {
  const factory make = measures_time(m) ? m.what->rtt : m.what->throughput;
  return make(m.used);
}

void run_once(measurement& m) {
  try {
    m.runs.push_back(run_pair(make_workload(m), m.used.cpus, run_timeout));
  } catch (const std::exception& failure) {
    throw std::runtime_error(std::string(name_of(m.kind)) + " of " + std::string(m.what->name) +
                             ": " + failure.what());
  }
}

} // namespace

std::string_view name_of(bench_kind kind) noexcept {
  constexpr std::string_view names[] = {"limits", "rtt", "throughput"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(sysipc_asio::wait_policy policy) noexcept {
  constexpr std::string_view names[] = {"adaptive", "busy", "sleepy", "kick_always"};
  return names[static_cast<std::size_t>(policy)];
}

std::string_view name_of(sysipc_asio::fence_mode fences) noexcept {
  constexpr std::string_view names[] = {"symmetric", "asymmetric"};
  return names[static_cast<std::size_t>(fences)];
}

std::string_view name_of(sysipc_asio::backend backend) noexcept {
  constexpr std::string_view names[] = {"automatic", "kernel", "interprocess"};
  return names[static_cast<std::size_t>(backend)];
}

std::vector<measurement> run_suite(const plan& p) {
  std::vector<measurement> all;
  for (const bench_kind kind : p.kinds) {
    if (kind == bench_kind::limits) {
      for (const subject& limit : limits())
        all.push_back(prepare(p, kind, limit));
      continue;
    }
    for (const subject* what : p.transports)
      if ((kind == bench_kind::rtt ? what->rtt : what->throughput) != nullptr)
        all.push_back(prepare(p, kind, *what));
  }
  for (int i = 0; i != p.repeat; ++i)
    for (measurement& m : all)
      run_once(m);
  return all;
}

} // namespace bench
