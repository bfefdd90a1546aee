// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_FIGURES_HPP
#define SYSIPC_BENCH_FIGURES_HPP

#include "suite.hpp"
#include <vector>

namespace bench {

/// What the runs of a measurement come to: the median of each figure.
struct figures {
  double p50_ns = 0;
  double p99_ns = 0;
  double p999_ns = 0;
  double millions_per_second = 0;
  double kicks = 0;
  double kicks_avoided_percent = 0;
  double sleeps = 0;
  /// From the least to the greatest of the runs' main figures, in percent of the median.
  double spread_percent = 0;
};

figures summarize(const measurement& m);

/// The main figure of `m` divided by that of `base`, both in time or both in rate.
/**
 * The median of the ratios of runs that followed each other, not the ratio of the
 * medians: where a hypervisor moves the CPUs about, everything changes between two
 * runs of the same thing, and little between neighbours.
 */
double ratio(const measurement& m, const measurement& base);

/// The hardware's limit for the like of `m`, or null if it was not measured.
const measurement* find_limit(const std::vector<measurement>& all, const measurement& m);

/// What was measured as `m` was, over the transport of that name, or null.
const measurement* find_peer(const std::vector<measurement>& all, const measurement& m,
                             std::string_view transport);

} // namespace bench

#endif
