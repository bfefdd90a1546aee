// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "benchmark.hpp"

namespace bench {

extern const benchmark limits_benchmark;
extern const benchmark rtt_benchmark;
extern const benchmark throughput_benchmark;
extern const benchmark strategies_benchmark;
extern const benchmark spin_sweep_benchmark;
extern const benchmark wake_benchmark;
extern const benchmark payload_benchmark;
extern const benchmark ladder_benchmark;
extern const benchmark idle_benchmark;
extern const benchmark scale_benchmark;

std::string title_of(const measurement& m) {
  std::string text(m.kind->name);
  (text += " of ") += m.name;
  if (!m.detail.empty())
    (text += ", ") += m.detail;
  return text;
}

// A new benchmark is a file, and its name above and here.
std::span<const benchmark* const> benchmarks() noexcept {
  static constexpr const benchmark* all[] = {
      &limits_benchmark,     &rtt_benchmark,   &throughput_benchmark, &strategies_benchmark,
      &spin_sweep_benchmark, &wake_benchmark,  &payload_benchmark,    &ladder_benchmark,
      &idle_benchmark,       &scale_benchmark,
  };
  return all;
}

} // namespace bench
