// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_ENDPOINT_HPP
#define SYSIPC_ASIO_DETAIL_ENDPOINT_HPP

#include <sysipc_asio/detail/doorbell.hpp>
#include <sysipc_asio/detail/peer_memory.hpp>
#include <sysipc_asio/detail/send_pool.hpp>
#include <sysipc_asio/detail/unique_fd.hpp>
#include <sysipc_asio/fence.hpp>
#include <sysipc_asio/options.hpp>
#include <sysipc_asio/segment.hpp>
#include <utility>

namespace sysipc_asio::detail {

/// What a handshake yields: all that one side of a channel consists of.
struct endpoint {
  segment own{};
  peer_segment peer{};
  send_pool_ptr pool{}; ///< may be null
  peer_pool peers_pool{};
  std::size_t peer_max_message = 0; ///< what the peer takes
  kicker data_kick{};               ///< wakes the peer for a record
  kicker space_kick{};              ///< wakes the peer for space in its ring
  unique_fd data_bell{};  ///< the reading end of the peer's data_kick, or the driver's endpoint
  unique_fd space_bell{}; ///< the reading end of the peer's space_kick, or the driver's endpoint
  fence_mode fences = fence_mode::symmetric;
  sysipc_asio::backend backend = sysipc_asio::backend::interprocess;
  peer_credentials credentials{};
  /// False if both sides are bound to one CPU: the peer can't act while this side spins.
  bool may_spin = true;
};

/// What this side brings to the handshake of the interprocess backend: its segment and its kickers.
endpoint make_own_half(std::size_t ring_capacity, error_code& ec);

/// What this side has of the driver's endpoint `fd`; the peer's segment is yet to be mapped.
endpoint make_own_half(unique_fd fd, std::size_t ring_capacity, error_code& ec);

/// As `options` say: prefaults, locks.
void hold_in_memory(segment& own, const channel_options& options, error_code& ec) noexcept;

/// `invalid_argument` if `options` ask for what can't be.
void check_options(const channel_options& options, error_code& ec) noexcept;

/// The pool of this side of `size` bytes, 0 for none.
send_pool_ptr make_pool(std::size_t size, const channel_options& options, error_code& ec);

/// Both ends in one process, connected.
std::pair<endpoint, endpoint> make_endpoint_pair(const channel_options& first,
                                                 const channel_options& second, backend wanted,
                                                 error_code& ec);

/// What `wanted` comes to on this host now: `kernel` or `interprocess`.
/** @param ec `error::backend_unavailable` if it insists on a driver that is not there */
backend choose_backend(backend wanted, error_code& ec) noexcept;

} // namespace sysipc_asio::detail

#endif
