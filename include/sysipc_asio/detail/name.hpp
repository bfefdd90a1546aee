// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_NAME_HPP
#define SYSIPC_ASIO_DETAIL_NAME_HPP

#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <sysipc_asio/detail/config.hpp>

namespace sysipc_asio::detail {

/// Where a channel name leads.
struct socket_address {
  sockaddr_un address{};
  socklen_t size = 0;
  std::string path; ///< empty for an abstract name

  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&address); }
};

/// Resolves a name: `@abstract`, a path with a slash, or a bare name.
/**
 * Bare names lie in `$XDG_RUNTIME_DIR/sysipc`, else in `/run/user/UID/sysipc` if
 * that base exists, else in `/tmp/sysipc-UID`.
 *
 * @param create make the directory for bare names if it is missing (0700)
 * @param ec `error::invalid_name`; `error::unsafe_directory` if the directory
 * is not this user's alone; system errors
 */
socket_address resolve_name(std::string_view name, bool create, error_code& ec);

} // namespace sysipc_asio::detail

#endif
