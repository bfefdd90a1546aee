// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "suite.hpp"
#include <algorithm>
#include <stdexcept>
#include <string>

namespace bench {
namespace {

constexpr std::chrono::seconds run_timeout{120};

std::uint64_t default_count(bench_kind kind, const subject& what, const settings& s) {
  // Of large messages fewer, or copying them would take minutes.
  constexpr std::uint64_t most_bytes = std::uint64_t(4) << 30;
  const std::uint64_t enough = std::max<std::uint64_t>(most_bytes / s.size, 100);
  if (!measures_time(kind, what))
    return std::min(what.length.messages, enough);
  // Each wait of a channel is a system call then.
  const bool sleeps = what.kind == family::channel && s.policy == sysipc_asio::wait_policy::sleepy;
  return std::min(sleeps ? through_the_kernel.rounds : what.length.rounds, enough);
}

measurement prepare(const plan& p, bench_kind kind, const subject& what, std::size_t size) {
  measurement m{kind, &what, p.common, {}};
  m.used.size = size;
  const auto& given = measures_time(kind, what) ? p.rounds : p.messages;
  m.used.count = given.value_or(default_count(kind, what, m.used));
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
  } catch (const interrupted&) {
    throw;
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

outcome run_suite(const plan& p, const observer& before_each) {
  outcome result;
  std::vector<measurement>& all = result.all;
  for (const bench_kind kind : p.kinds) {
    if (kind == bench_kind::limits) {
      for (const subject& limit : limits())
        all.push_back(prepare(p, kind, limit, p.common.size));
      continue;
    }
    for (const std::size_t size : p.sizes)
      for (const subject* what : p.transports)
        if ((kind == bench_kind::rtt ? what->rtt : what->throughput) != nullptr)
          all.push_back(prepare(p, kind, *what, size));
  }
  const std::size_t total = all.size() * static_cast<std::size_t>(p.repeat);
  std::size_t done = 0;
  try {
    for (int i = 0; i != p.repeat; ++i)
      for (measurement& m : all) {
        before_each(m, done++, total);
        run_once(m);
      }
  } catch (const interrupted& end) {
    result.signal = end.signal;
    std::erase_if(all, [](const measurement& m) { return m.runs.empty(); });
  }
  return result;
}

} // namespace bench
