// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_SUITE_HPP
#define SYSIPC_BENCH_SUITE_HPP

#include "processes.hpp"
#include "settings.hpp"
#include "subject.hpp"
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace bench {

enum class bench_kind : std::uint8_t { limits, rtt, throughput };

std::string_view name_of(bench_kind kind) noexcept;
std::string_view name_of(sysipc_asio::wait_policy policy) noexcept;
std::string_view name_of(sysipc_asio::fence_mode fences) noexcept;
std::string_view name_of(sysipc_asio::backend backend) noexcept;

/// What was asked for. Counts that were not given depend on the subject.
struct plan {
  std::vector<bench_kind> kinds;
  std::vector<const subject*> transports;
  std::vector<std::size_t> sizes{64}; ///< each is run
  settings common{};                  ///< but for the size
  std::optional<std::uint64_t> messages;
  std::optional<std::uint64_t> rounds;
  std::optional<std::uint64_t> warmup;
  int repeat = 5;
};

/// One line of the outcome: what was run, and what each run found.
struct measurement {
  bench_kind kind;
  const subject* what; ///< one of the tables' entries
  settings used;
  std::vector<pair_report> runs;
};

/// True if the figure that counts is the time of a round trip, not a rate of messages.
constexpr bool measures_time(bench_kind kind, const subject& what) noexcept {
  return kind == bench_kind::rtt || (kind == bench_kind::limits && what.rtt != nullptr);
}
constexpr bool measures_time(const measurement& m) noexcept {
  return measures_time(m.kind, *m.what);
}

/// What came of a plan.
struct outcome {
  std::vector<measurement> all; ///< those of which there is at least one run
  int signal = 0;               ///< that ended it early, or 0
};

/// Is told before each run which one it is, how many came before, and how many there are.
using observer = std::function<void(const measurement&, std::size_t done, std::size_t total)>;

/// Runs everything `repeat` times, one of each in turn, so that a disturbance of
/// the machine hits all alike and ratios between them hold.
outcome run_suite(const plan& p, const observer& before_each);

} // namespace bench

#endif
