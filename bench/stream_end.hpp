// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_STREAM_END_HPP
#define SYSIPC_BENCH_STREAM_END_HPP

#include "blocking_end.hpp"
#include <cerrno>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <sysipc_asio/detail/unique_fd.hpp>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace bench {

/// Messages of one size over descriptors that carry bytes.
class stream_end : public plain_end {
public:
  /// One descriptor for both ways.
  stream_end(unique_fd both, std::size_t size)
      : in_(std::move(both)), reading_(in_.get()), writing_(in_.get()),
        payload_(make_payload(size)), message_(size) {}
  stream_end(unique_fd in, unique_fd out, std::size_t size)
      : in_(std::move(in)), out_(std::move(out)), reading_(in_.get()), writing_(out_.get()),
        payload_(make_payload(size)), message_(size) {}

  void send() const { write(payload_); }
  template <typename Fill>
  void send_filled(Fill fill) {
    fill(std::span(payload_));
    write(payload_);
  }
  void send_back() const { write(message_); }

  std::span<const std::byte> receive() {
    for (std::span<std::byte> rest = message_; !rest.empty();) {
      const ssize_t n = ::read(reading_, rest.data(), rest.size());
      if (n > 0)
        rest = rest.subspan(static_cast<std::size_t>(n));
      else if (n == 0)
        throw std::runtime_error("the peer closed its end");
      else if (errno != EINTR)
        throw std::system_error(errno, std::system_category(), "read");
    }
    return message_;
  }

private:
  void write(std::span<const std::byte> rest) const {
    while (!rest.empty()) {
      const ssize_t n = ::write(writing_, rest.data(), rest.size());
      if (n >= 0)
        rest = rest.subspan(static_cast<std::size_t>(n));
      else if (errno != EINTR)
        throw std::system_error(errno, std::system_category(), "write");
    }
  }

  unique_fd in_;
  unique_fd out_;
  int reading_;
  int writing_;
  std::vector<std::byte> payload_;
  std::vector<std::byte> message_;
};

} // namespace bench

#endif
