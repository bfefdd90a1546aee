// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_TEST_NUMBERED_HPP
#define SYSIPC_ASIO_TEST_NUMBERED_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace sysipc_asio::test {

/// Message number `n` of a stream: its size and every byte follow from `n`.
inline void make_numbered(std::uint64_t n, std::vector<std::byte>& to) {
  to.resize(sizeof n + n * 37 % 1000);
  std::memcpy(to.data(), &n, sizeof n);
  for (std::size_t i = sizeof n; i != to.size(); ++i)
    to[i] = static_cast<std::byte>(n + i);
}

/// Checks that messages come in order and whole.
class numbered_stream {
public:
  /// False for anything but the next message.
  bool take(std::span<const std::byte> payload) {
    make_numbered(next_, expected_);
    if (payload.size() != expected_.size() ||
        std::memcmp(payload.data(), expected_.data(), payload.size()) != 0)
      return false;
    ++next_;
    return true;
  }
  std::uint64_t count() const noexcept { return next_; }

private:
  std::uint64_t next_ = 0;
  std::vector<std::byte> expected_;
};

} // namespace sysipc_asio::test

#endif
