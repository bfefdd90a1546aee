// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_PLAN_HPP
#define SYSIPC_BENCH_PLAN_HPP

#include "settings.hpp"
#include "subject.hpp"
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct benchmark;

/// The command line makes no sense; the text is one line.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Each round trip is a sample in memory.
inline constexpr std::uint64_t most_rounds = 100'000'000;

/// What was asked for. Counts that were not given depend on the measurement.
struct plan {
  std::vector<const benchmark*> kinds;
  std::vector<const subject*> transports;
  bool transports_chosen = false;           ///< by name, so that a wrong one is a mistake
  std::vector<std::string> transport_names; ///< all of them if empty
  std::vector<std::size_t> sizes{64};
  bool sizes_chosen = false; ///< else a benchmark may have its own
  std::vector<receiver_kind> receivers{receiver_kind::sampled, receiver_kind::full};
  settings common{}; ///< but for the size
  std::optional<std::uint64_t> messages;
  std::optional<std::uint64_t> rounds;
  std::optional<std::uint64_t> warmup;
  std::optional<std::chrono::duration<double>> duration; ///< of a run, instead of counts
  std::optional<std::chrono::duration<double>> seconds;  ///< of waiting for nothing
  std::optional<int> repeat;

  /// Whether a transport of that name is to be measured.
  bool wants(std::string_view transport) const {
    return transport_names.empty() || std::find(transport_names.begin(), transport_names.end(),
                                                transport) != transport_names.end();
  }

  int repeat_or(int usual) const noexcept { return repeat.value_or(usual); }
};

inline constexpr int usual_repeat = 5;

} // namespace bench

#endif
