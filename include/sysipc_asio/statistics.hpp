// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_STATISTICS_HPP
#define SYSIPC_ASIO_STATISTICS_HPP

#include <cstdint>

namespace sysipc_asio {

/// What one direction of a channel did, counted since it was opened.
struct direction_statistics {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;         ///< payload only
  std::uint64_t kicks = 0;         ///< system calls made to wake the peer
  std::uint64_t kicks_avoided = 0; ///< times the peer was found awake instead
  std::uint64_t sleeps = 0;        ///< waits that went to sleep in the kernel
  std::uint64_t spin_hits = 0;     ///< waits that ended while spinning
  std::uint64_t spin_misses = 0;   ///< spins that found nothing
  std::uint64_t empty_wakes = 0;   ///< wake-ups that found nothing
};

/// Both directions of a channel, as its own side sees them.
struct statistics {
  direction_statistics sent{};
  direction_statistics received{};
};

} // namespace sysipc_asio

#endif
