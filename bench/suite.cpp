// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "suite.hpp"
#include <stdexcept>
#include <string>

namespace bench {
namespace {

constexpr std::chrono::seconds run_timeout{120};

/// Fewer where each message costs system calls, so that no run takes minutes.
std::uint64_t default_count(bench_kind kind, subject what, sysipc_asio::wait_policy policy) {
  if (kind == bench_kind::throughput || what == subject::bulk_lines)
    return is_socket(what) ? 300'000 : 5'000'000;
  const bool sleeps =
      is_socket(what) || (is_channel(what) && policy == sysipc_asio::wait_policy::sleepy);
  return sleeps ? 20'000 : 200'000;
}

measurement prepare(const plan& p, bench_kind kind, subject what) {
  measurement m{kind, what, p.common, {}};
  const bool counts_messages = kind == bench_kind::throughput || what == subject::bulk_lines;
  const auto& given = counts_messages ? p.messages : p.rounds;
  m.used.count = given.value_or(default_count(kind, what, p.common.policy));
  m.used.warmup = p.warmup.value_or(m.used.count / 10);
  return m;
}

workload make_workload(const measurement& m) {
  const bool rtt = m.kind == bench_kind::rtt;
  switch (m.what) {
  case subject::cacheline_pingpong:
    return cacheline_pingpong(m.used);
  case subject::bulk_lines:
    return bulk_lines(m.used);
  case subject::ring:
    return rtt ? ring_rtt(m.used) : ring_throughput(m.used);
  case subject::channel:
    return rtt ? channel_rtt(m.used) : channel_throughput(m.used);
  case subject::channel_consume:
    return channel_consume_throughput(m.used);
  case subject::uds:
    return rtt ? uds_rtt(m.used) : uds_throughput(m.used);
  case subject::uds_asio:
    return rtt ? uds_asio_rtt(m.used) : uds_asio_throughput(m.used);
  }
  throw std::logic_error("no such workload");
}

void run_once(measurement& m) {
  try {
    m.runs.push_back(run_pair(make_workload(m), m.used.cpus, run_timeout));
  } catch (const std::exception& failure) {
    throw std::runtime_error(std::string(name_of(m.kind)) + " of " + std::string(name_of(m.what)) +
                             ": " + failure.what());
  }
}

} // namespace

std::string_view name_of(bench_kind kind) noexcept {
  constexpr std::string_view names[] = {"limits", "rtt", "throughput"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(subject what) noexcept {
  constexpr std::string_view names[] = {"cacheline_pingpong", "bulk_lines", "ring",    "channel",
                                        "channel-consume",    "uds",        "uds-asio"};
  return names[static_cast<std::size_t>(what)];
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
      all.push_back(prepare(p, kind, subject::cacheline_pingpong));
      all.push_back(prepare(p, kind, subject::bulk_lines));
      continue;
    }
    for (const subject what : p.transports)
      if (kind == bench_kind::throughput || what != subject::channel_consume)
        all.push_back(prepare(p, kind, what));
  }
  for (int i = 0; i != p.repeat; ++i)
    for (measurement& m : all)
      run_once(m);
  return all;
}

} // namespace bench
