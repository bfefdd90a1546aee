// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_SPINNING_HPP
#define SYSIPC_BENCH_SPINNING_HPP

#include <algorithm>
#include <cstdint>
#include <sched.h>
#include <sysipc_asio/wait.hpp>

/// What a side that polls does between two looks.
namespace bench {

/// Nothing: the quickest to see a change.
struct look_again {
  template <typename... Progress>
  void operator()(Progress...) const noexcept {}
};

struct relax_cpu {
  template <typename... Progress>
  void operator()(Progress...) const noexcept {
    sysipc_asio::cpu_relax();
  }
};

/// Lets a writer get ahead, as a channel does; `consumed` counts what was read so far.
class paced_look {
public:
  void operator()(std::uint64_t consumed) noexcept { pacer_.pause(consumed); }

private:
  sysipc_asio::look_pacer pacer_;
};

/// The same, tuned for throughput alone: what a limit has to be. A reader on the
/// heels of its writer settles into taking lines away one by one, the more easily
/// the further apart the CPUs are; it must stay away for longer than a burst lasted.
class patient_look {
public:
  void operator()(std::uint64_t consumed) noexcept {
    std::uint64_t steps = std::min((consumed - seen_) * 16, max_steps);
    seen_ = consumed;
    do
      sysipc_asio::cpu_relax();
    while (steps-- > 1);
  }

private:
  static constexpr std::uint64_t max_steps = 512;

  std::uint64_t seen_ = 0;
};

/// Where both sides share a CPU, the other one has to run first.
struct yield_cpu {
  template <typename... Progress>
  void operator()(Progress...) const noexcept {
    ::sched_yield();
  }
};

} // namespace bench

#endif
