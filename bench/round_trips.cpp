// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "round_trips.hpp"
#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bench {

static_assert(std::chrono::steady_clock::period::den == 1'000'000'000, "ticks are nanoseconds");

round_trips::round_trips(std::uint64_t count) : samples_(count) {}

void round_trips::report_to(side_report& report) {
  if (used_ == 0)
    throw std::runtime_error("no round trip was measured");
  samples_.resize(used_);
  std::sort(samples_.begin(), samples_.end());
  report.p50_ns = percentile(0.5);
  report.p99_ns = percentile(0.99);
  report.p999_ns = percentile(0.999);
  report.per_second =
      static_cast<double>(used_) / std::chrono::duration<double>(last_ - start_).count();
}

double round_trips::percentile(double fraction) const noexcept {
  // The nearest rank: the least sample that `fraction` of all do not exceed.
  const double rank = std::ceil(fraction * static_cast<double>(samples_.size()));
  return static_cast<double>(samples_[static_cast<std::size_t>(std::max(rank, 1.0)) - 1]);
}

} // namespace bench
