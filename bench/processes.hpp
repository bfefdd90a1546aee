// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_PROCESSES_HPP
#define SYSIPC_BENCH_PROCESSES_HPP

#include "settings.hpp"
#include "workload.hpp"
#include <chrono>
#include <stdexcept>
#include <vector>

namespace bench {

/// What the two sides of a run found out.
struct pair_report {
  side_report first;
  side_report second;
};

/// This process was told to end.
struct interrupted : std::runtime_error {
  explicit interrupted(int number) : std::runtime_error("interrupted"), signal(number) {}

  int signal;
};

/// The CPUs that this process may use, in order.
std::vector<int> available_cpus();

/// Routes SIGINT, SIGTERM and SIGHUP to run_pair(). To be called once, early.
void take_over_signals();

/// Runs the two sides of `work` in two processes of their own, each on its CPU.
/**
 * @throws std::runtime_error if a side fails, dies or takes longer than `timeout`;
 * interrupted. Neither process survives the call.
 */
pair_report run_pair(const workload& work, const placement& cpus, std::chrono::seconds timeout);

} // namespace bench

#endif
