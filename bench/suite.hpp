// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_SUITE_HPP
#define SYSIPC_BENCH_SUITE_HPP

#include "benchmark.hpp"
#include "plan.hpp"
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// What came of a plan.
struct outcome {
  std::vector<measurement> all; ///< those with at least one run, or a reason why not
  int signal = 0;               ///< that ended it early, or 0
  bool failed = false;          ///< a run did, or more
};

/// Who watches a suite run.
struct observer {
  /// Told before each run: which one it is, how many came before, and how many there are.
  std::function<void(const measurement&, std::size_t done, std::size_t total)> before;
  /// Told, in a line, what went wrong with a run.
  std::function<void(const std::string&)> failed;
};

/// Runs everything, one of each in turn, so that a disturbance of the machine hits all
/// alike and ratios between them hold. What fails once is not run again.
outcome run_suite(const plan& p, const observer& watcher);

} // namespace bench

#endif
