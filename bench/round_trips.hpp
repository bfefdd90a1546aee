// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_ROUND_TRIPS_HPP
#define SYSIPC_BENCH_ROUND_TRIPS_HPP

#include "workload.hpp"
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// Takes the time of every round trip.
/**
 * The clock is read once per round trip: the end of one is the start of the next,
 * so nothing escapes between two samples.
 */
class round_trips {
public:
  using clock = std::chrono::steady_clock;

  /// All memory is there, and touched, before the first sample.
  explicit round_trips(std::uint64_t count);

  void start() noexcept { start_ = last_ = clock::now(); }
  /// The next sample starts now; what passed since the last one is in none.
  void resume() noexcept { last_ = clock::now(); }
  void lap() noexcept { lap_since(last_); }
  /// Of several that go on at the same time.
  void lap_since(clock::time_point start) noexcept {
    last_ = clock::now();
    samples_[used_++] = (last_ - start).count();
  }

  /// The exact percentiles of the samples, and how many there were in a second; sorts them.
  void report_to(side_report& report);

private:
  double percentile(double fraction) const noexcept;

  std::vector<clock::rep> samples_;
  std::size_t used_ = 0;
  clock::time_point start_{};
  clock::time_point last_{};
};

/// Messages per second since `start`.
inline double rate_since(std::chrono::steady_clock::time_point start, std::uint64_t messages) {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return static_cast<double>(messages) / elapsed.count();
}

} // namespace bench

#endif
