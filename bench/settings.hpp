// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_SETTINGS_HPP
#define SYSIPC_BENCH_SETTINGS_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sysipc_asio/fence.hpp>
#include <sysipc_asio/options.hpp>
#include <sysipc_asio/wait.hpp>

namespace bench {

/// Where the two sides run.
struct placement {
  int first = 0;
  int second = 1;

  bool shared() const noexcept { return first == second; }
};

/// How long a channel spins before it sleeps.
struct spin_bound {
  std::uint32_t looks;           ///< at the ring
  std::chrono::nanoseconds time; ///< that so many take here
};

/// How much of a payload the receiver reads.
enum class receiver_kind : std::uint8_t {
  sampled, ///< a few bytes
  full     ///< all
};

/// What one run does.
struct settings {
  std::size_t size = 64;             ///< payload of a message, in bytes
  std::uint64_t count = 0;           ///< messages or round trips that are measured
  std::uint64_t warmup = 0;          ///< as many before them that are not
  std::size_t capacity = 256 * 1024; ///< of each ring, in bytes
  std::size_t inline_limit = sysipc_asio::automatic_size; ///< of channels, in bytes
  sysipc_asio::wait_policy policy = sysipc_asio::wait_policy::adaptive;
  sysipc_asio::fence_mode fences = sysipc_asio::fence_mode::asymmetric;
  sysipc_asio::backend backend = sysipc_asio::backend::automatic;
  /// Before each round trip, or before a stream of messages; not part of the time.
  std::chrono::nanoseconds silence{0};
  std::optional<spin_bound> spin; ///< of channels, if not the default
  unsigned channels = 1;          ///< between the two processes
  unsigned busy_channels = 1;     ///< of these, the others have nothing to do
  placement cpus{};
  receiver_kind receiver = receiver_kind::sampled; ///< of numbered payloads
  std::size_t slots = 2;                           ///< in shared memory, where there are any
};

} // namespace bench

#endif
