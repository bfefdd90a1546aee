// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_SETTINGS_HPP
#define SYSIPC_BENCH_SETTINGS_HPP

#include <cstddef>
#include <cstdint>
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

/// What one run does.
struct settings {
  std::size_t size = 64;             ///< payload of a message, in bytes
  std::uint64_t count = 0;           ///< messages or round trips that are measured
  std::uint64_t warmup = 0;          ///< as many before them that are not
  std::size_t capacity = 256 * 1024; ///< of each ring, in bytes
  sysipc_asio::wait_policy policy = sysipc_asio::wait_policy::adaptive;
  sysipc_asio::fence_mode fences = sysipc_asio::fence_mode::asymmetric;
  sysipc_asio::backend backend = sysipc_asio::backend::automatic;
  placement cpus{};
};

} // namespace bench

#endif
