// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_FIGURES_HPP
#define SYSIPC_BENCH_FIGURES_HPP

#include "benchmark.hpp"
#include <functional>
#include <string_view>
#include <vector>

namespace bench {

// What runs find out. Where one side asks, it takes the time; where one sends, it counts
// its kicks, and the other takes the time.
inline double p50_ns(const pair_report& r) {
  return r.first.p50_ns;
}
inline double p99_ns(const pair_report& r) {
  return r.first.p99_ns;
}
inline double p999_ns(const pair_report& r) {
  return r.first.p999_ns;
}
inline double millions_per_second(const pair_report& r) {
  return r.second.per_second / 1e6;
}
inline double kicks(const pair_report& r) {
  return static_cast<double>(r.first.kicks);
}
double kicks_avoided_percent(const pair_report& r);
/// What the side that received used of a CPU meanwhile.
double cpu_percent(const pair_report& r);
inline double asker_sleeps(const pair_report& r) {
  return static_cast<double>(r.first.sleeps);
}
inline double receiver_sleeps(const pair_report& r) {
  return static_cast<double>(r.second.sleeps);
}

/// Of the runs of `m`, of which there is at least one.
double median(const measurement& m, figure f);

/// From the least to the greatest of the runs' main figures, in percent of the median.
double spread_percent(const measurement& m);

/// A rate of messages of `m.used.size` bytes, as bytes.
double gib_per_second(const measurement& m);

/// The main figure of `m` divided by that of `base`, both in time or both in rate.
/**
 * The median of the ratios of runs that followed each other, not the ratio of the
 * medians: where a hypervisor moves the CPUs about, everything changes between two
 * runs of the same thing, and little between neighbours.
 */
double ratio(const measurement& m, const measurement& base);

/// The first one that was run and that is wanted, or null.
const measurement* find_measured(const std::vector<measurement>& all,
                                 const std::function<bool(const measurement&)>& wanted);

/// The hardware's limit of that name, or null if it was not measured.
const measurement* find_limit(const std::vector<measurement>& all, std::string_view name);

/// What was measured as `m` was, over the transport of that name, or null.
const measurement* find_peer(const std::vector<measurement>& all, const measurement& m,
                             std::string_view transport);

} // namespace bench

#endif
