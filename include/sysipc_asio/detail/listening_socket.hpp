// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_LISTENING_SOCKET_HPP
#define SYSIPC_ASIO_DETAIL_LISTENING_SOCKET_HPP

#include <string>
#include <string_view>
#include <sys/types.h>
#include <sysipc_asio/detail/config.hpp>
#include <sysipc_asio/detail/unique_fd.hpp>

namespace sysipc_asio::detail {

/// A Unix socket that listens under a channel name, and removes its file.
class listening_socket {
public:
  listening_socket() = default;
  listening_socket(listening_socket&&) noexcept = default;
  listening_socket& operator=(listening_socket&& other) noexcept;
  ~listening_socket() { remove_file(); }

  /// Binds and listens.
  /**
   * A socket file that nobody listens on is replaced; anything else that bears
   * the name gives `address_in_use`.
   */
  static listening_socket open(std::string_view name, int backlog, error_code& ec);

  int native_handle() const noexcept { return fd_.get(); }
  /// Hands the descriptor over; the file stays this object's to remove.
  int release() noexcept { return fd_.release(); }

  /// Unlinks the socket file if it is still the one that open() made, in this process.
  void remove_file() noexcept;

private:
  unique_fd fd_;
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  pid_t owner_ = 0;
};

} // namespace sysipc_asio::detail

#endif
