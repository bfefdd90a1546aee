// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "blocking_end.hpp"
#include "workload.hpp"
#include <array>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <sys/socket.h>
#include <system_error>
#include <vector>

/// What a Unix socket that keeps messages apart gives to blocking code.
namespace bench {
namespace {

class packet_end : public plain_end {
public:
  packet_end(unique_fd socket, std::size_t size)
      : socket_(std::move(socket)), payload_(make_payload(size)), message_(size) {}

  void send() const { send(payload_); }
  void send_back() const { send(message_); }

  std::span<const std::byte> receive() {
    for (;;) {
      // MSG_TRUNC: the size of the message, also if it is more than the buffer holds.
      const ssize_t n = ::recv(socket_.get(), message_.data(), message_.size(), MSG_TRUNC);
      if (n > 0) {
        expect_size(static_cast<std::size_t>(n), message_.size());
        return message_;
      }
      if (n == 0)
        throw std::runtime_error("the peer closed the socket");
      if (errno != EINTR)
        throw std::system_error(errno, std::system_category(), "recv");
    }
  }

private:
  void send(std::span<const std::byte> message) const {
    while (::send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL) <
           0) // all or nothing
      if (errno != EINTR)
        throw std::system_error(errno, std::system_category(), "send");
  }

  unique_fd socket_;
  std::vector<std::byte> payload_;
  std::vector<std::byte> message_;
};

/// The socketpair is there before fork(); each side keeps one socket.
auto opener(const settings& s) {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
    throw std::system_error(errno, std::system_category(), "socketpair");
  const auto both = std::make_shared<std::array<unique_fd, 2>>();
  (*both)[0].reset(fds[0]);
  (*both)[1].reset(fds[1]);
  return [both, size = s.size](unique_fd, role as) {
    unique_fd own = std::move((*both)[as == role::first ? 0 : 1]);
    (*both)[as == role::first ? 1 : 0].reset();
    return packet_end(std::move(own), size);
  };
}

} // namespace

workload uds_seqpacket_rtt(const settings& s) {
  return blocking_rtt(s, opener(s));
}

workload uds_seqpacket_throughput(const settings& s) {
  return blocking_throughput(s, opener(s));
}

} // namespace bench
