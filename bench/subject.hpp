// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_SUBJECT_HPP
#define SYSIPC_BENCH_SUBJECT_HPP

#include "workload.hpp"
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace bench {

/// Decides which settings have a meaning, and what there is to report.
enum class family : std::uint8_t {
  ring,    ///< has fences and a capacity, and counts kicks
  channel, ///< has a policy as well
  foreign  ///< has nothing but a size
};

/// How much makes a run that is neither over at once nor takes minutes.
struct run_length {
  std::uint64_t messages;
  std::uint64_t rounds;
};
inline constexpr run_length in_user_space{5'000'000, 200'000};
inline constexpr run_length through_the_kernel{300'000, 20'000};
inline constexpr run_length through_the_kernel_to_wait{2'000'000, 20'000};

/// Makes the workload of one run.
using factory = workload (*)(const settings&);

/// A transport.
struct subject {
  std::string_view name;
  factory rtt;        ///< null if it has no round trips to measure
  factory throughput; ///< null if it has no throughput to measure
  family kind;
  run_length length; ///< unless the user says otherwise
  std::size_t max_size = std::numeric_limits<std::size_t>::max();

  /// False where the library that it needs was not there when this program was built.
  bool present() const noexcept { return rtt != nullptr || throughput != nullptr; }
};

/// In the order in which they are run and reported.
std::span<const subject> transports() noexcept;

} // namespace bench

#endif
