// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_TEST_RAW_PEER_HPP
#define SYSIPC_ASIO_TEST_RAW_PEER_HPP

#include "scratch.hpp"
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <linux/sockios.h>
#include <ostream>
#include <poll.h>
#include <span>
#include <stdexcept>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sysipc_asio/detail/endpoint.hpp>
#include <sysipc_asio/detail/frames.hpp>
#include <sysipc_asio/detail/name.hpp>
#include <system_error>
#include <utility>
#include <vector>

namespace sysipc_asio::detail {

inline std::ostream& operator<<(std::ostream& out, reject_reason reason) {
  return out << "reject_reason " << static_cast<std::uint32_t>(reason);
}

} // namespace sysipc_asio::detail

namespace sysipc_asio::test {

using byte_string = std::vector<std::byte>;

inline std::system_error os_error(const char* what) {
  return {errno, std::system_category(), what};
}

/// The frame's bytes as send_frame() sends them.
template <typename Frame>
byte_string encode(Frame frame) {
  frame.header.type = Frame::type;
  frame.header.size = sizeof frame;
  byte_string result(sizeof frame);
  std::memcpy(result.data(), &frame, sizeof frame);
  return result;
}

inline detail::hello_frame good_hello() {
  detail::hello_frame hello;
  hello.abi_min = hello.abi_max = layout::abi_version;
  hello.send_capacity = hello.receive_capacity = 4096;
  hello.max_message_size = 4096;
  return hello;
}

inline std::pair<detail::unique_fd, detail::unique_fd> socket_pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    throw os_error("socketpair");
  return {detail::unique_fd(fds[0]), detail::unique_fd(fds[1])};
}

/// One end of a Unix socket which sends what it likes.
class raw_peer {
public:
  explicit raw_peer(detail::unique_fd socket) : socket_(std::move(socket)) {}

  /// A client of the acceptor that listens under `name`.
  static raw_peer connect(std::string_view name) {
    error_code ec;
    const auto where = detail::resolve_name(name, false, ec);
    detail::unique_fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (ec || !fd || ::connect(fd.get(), where.get(), where.size) != 0)
      throw os_error("connect");
    return raw_peer(std::move(fd));
  }

  int socket() const noexcept { return socket_.get(); }
  void close() noexcept { socket_.reset(); }

  /// False if the other end is gone.
  bool send(std::span<const std::byte> bytes, const std::vector<int>& descriptors = {}) {
    iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(253 * sizeof(int))]; // what the kernel allows
    if (!descriptors.empty()) {
      message.msg_control = control;
      message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
      cmsghdr* const c = CMSG_FIRSTHDR(&message);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
      std::memcpy(CMSG_DATA(c), descriptors.data(), descriptors.size() * sizeof(int));
    }
    return ::sendmsg(socket(), &message, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }

  template <typename Frame>
  requires requires { Frame::type; }
  bool send(const Frame& frame, const std::vector<int>& descriptors = {}) {
    return send(encode(frame), descriptors);
  }

  /// Sends one byte after the other, each when the one before it was taken,
  /// with a descriptor each as long as there are any.
  bool send_slowly(std::span<const std::byte> bytes, const std::vector<int>& descriptors = {}) {
    for (std::size_t i = 0; i != bytes.size(); ++i) {
      std::vector<int> with_this_byte;
      if (i < descriptors.size())
        with_this_byte.push_back(descriptors[i]);
      if (!send(bytes.subspan(i, 1), with_this_byte) || !taken())
        return false;
    }
    return true;
  }

  /// The next frame is in reader(); false if the other end has closed, or is silent for long.
  bool receive() {
    reader_.clear();
    error_code ec;
    detail::frame_reader::status status{};
    while ((status = reader_.read(socket(), ec)) == detail::frame_reader::status::incomplete) {
      pollfd entry{socket(), POLLIN, 0};
      if (::poll(&entry, 1, 10'000) == 0)
        throw std::runtime_error("the other end is silent");
    }
    return status == detail::frame_reader::status::complete;
  }
  detail::frame_reader& reader() noexcept { return reader_; }

  /// The next frame, which must be a `Frame`.
  template <typename Frame>
  Frame expect() {
    Frame frame;
    if (!receive() || !reader_.get(frame))
      throw std::runtime_error("another frame was expected");
    return frame;
  }

  /// Why the other end refused this one; 0 if it closed without a word.
  detail::reject_reason refusal() {
    while (receive())
      if (detail::reject_frame frame; reader_.get(frame))
        return frame.reason;
    return {};
  }

private:
  bool taken() {
    return eventually([&] {
      int unread = 0;
      return ::ioctl(socket(), SIOCOUTQ, &unread) == 0 && unread == 0;
    });
  }

  detail::unique_fd socket_;
  detail::frame_reader reader_;
};

/// What an honest side attaches.
class offer {
public:
  explicit offer(std::size_t capacity = 4096) {
    error_code ec;
    half_ = detail::make_own_half(capacity, ec);
    if (ec)
      throw std::system_error(ec, "make_own_half");
  }
  std::vector<int> descriptors() const {
    return {half_.own.native_handle(), half_.data_kick.reading_end(),
            half_.space_kick.reading_end()};
  }

private:
  detail::endpoint half_;
};

/// A Unix socket that listens under a channel's name without speaking the handshake.
inline detail::unique_fd raw_listener(std::string_view name, int backlog = 16) {
  error_code ec;
  const auto where = detail::resolve_name(name, true, ec);
  detail::unique_fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (ec || !fd || ::bind(fd.get(), where.get(), where.size) != 0 ||
      ::listen(fd.get(), backlog) != 0)
    throw os_error("listen");
  return fd;
}

} // namespace sysipc_asio::test

#endif
