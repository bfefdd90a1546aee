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

/// True if the figure that counts is a time, not a rate.
constexpr bool measures_time(const measurement& m) noexcept {
  return m.kind == bench_kind::rtt || m.what == subject::cacheline_pingpong;
}

figures summarize(const measurement& m);

/// The main figure of `m` divided by that of `base`, both in time or both in rate.
/**
 * The median of the ratios of runs that followed each other, not the ratio of the
 * medians: where a hypervisor moves the CPUs about, everything changes between two
 * runs of the same thing, and little between neighbours.
 */
double ratio(const measurement& m, const measurement& base);

/// The measurement of that kind and subject, or null.
const measurement* find(const std::vector<measurement>& all, bench_kind kind, subject what);

} // namespace bench

#endif
