// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_KERNEL_ENDPOINT_HPP
#define SYSIPC_ASIO_DETAIL_KERNEL_ENDPOINT_HPP

#include <cstddef>
#include <cstdint>
#include <sysipc_asio/detail/config.hpp>
#include <sysipc_asio/detail/doorbell.hpp>
#include <sysipc_asio/detail/unique_fd.hpp>
#include <utility>

/// What the library asks of the driver; its interface is `linux/sysipc.h`.
namespace sysipc_asio::detail {

/// Where an endpoint's descriptor maps the peer's segment; its own is at 0.
std::uint64_t peer_segment_offset() noexcept;

/// True if this process may ask the driver for channels.
bool driver_is_there() noexcept;

/// A channel's two endpoints, for rings of exactly these capacities.
/**
 * @param ec `no_such_file_or_directory`, `permission_denied`, ...: see driver_is_there();
 * `no_memory` and the driver's limits.
 */
std::pair<unique_fd, unique_fd> make_endpoints(std::size_t first_capacity,
                                               std::size_t second_capacity, error_code& ec);

/// Checks that `fd` is an endpoint whose segments have rings of exactly these capacities.
/**
 * Asks the driver and nobody else, whatever a peer has sent.
 * @param ec `error::bad_peer_descriptor` if not; `too_many_files_open` if that can't be told
 */
void check_endpoint(int fd, std::size_t own_capacity, std::size_t peer_capacity,
                    error_code& ec) noexcept;

/// Wakes the other end, if it sleeps on `wakes`; false if it is gone.
bool kick_endpoint(int fd, bell_kind wakes) noexcept;

/// The other end sees a hang-up from here on, whoever else still has this end.
void shut_endpoint_down(int fd) noexcept;

} // namespace sysipc_asio::detail

#endif
