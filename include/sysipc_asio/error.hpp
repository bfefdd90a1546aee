// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_ERROR_HPP
#define SYSIPC_ASIO_ERROR_HPP

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <sysipc_asio/detail/config.hpp>
#include <type_traits>

namespace sysipc_asio {

/// Errors that only this library has.
/**
 * What Asio already names is reported by Asio's name: `asio::error::eof` after
 * an orderly shutdown, `connection_reset` when the peer died, `broken_pipe` on
 * a send after that, `operation_aborted`, `would_block`, `message_size`,
 * `bad_descriptor` on a channel that is closed or was inherited across fork().
 */
enum class error {
  /// The peer wrote something into its own memory that the layout forbids.
  peer_protocol_violation = 1,
  /// The other end of the socket does not speak this handshake.
  handshake_malformed,
  /// The two sides have no ABI version in common.
  handshake_version,
  /// The other end took longer than the handshake timeout.
  handshake_timeout,
  /// The credentials of the other process were refused.
  not_admitted,
  /// A descriptor that came with the handshake is of the wrong kind, size or
  /// is not sealed.
  bad_peer_descriptor,
  /// The other end ran out of memory, descriptors or slots during the
  /// handshake.
  peer_out_of_resources,
  /// The listener requires a backend that is not available.
  backend_unavailable,
  /// A second operation of the same kind was started on one channel.
  operation_in_progress,
  /// A name is empty, too long or has a character that is not allowed.
  invalid_name,
  /// The directory for bare names is not owned by this user or not private.
  unsafe_directory,
};

/// The category of `error`.
const boost::system::error_category& error_category() noexcept;

/// Makes an `error_code` of `error_category()`.
inline error_code make_error_code(error e) noexcept {
  return error_code(static_cast<int>(e), error_category());
}

} // namespace sysipc_asio

namespace boost::system {
template <>
struct is_error_code_enum<::sysipc_asio::error> : std::true_type {};
} // namespace boost::system

#endif
