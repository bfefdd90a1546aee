// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_LOAN_HPP
#define SYSIPC_ASIO_LOAN_HPP

#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <sysipc_asio/detail/send_pool.hpp>
#include <utility>

namespace sysipc_asio {

namespace detail {
class loan_access;
}

/// Memory for a message that is built where the receiver will read it.
/**
 * From basic_channel::try_loan() and its like; to be sent on the same channel. One that is
 * destroyed without having been sent is free again. Its bytes are at first whatever was
 * there before.
 *
 * @par Thread Safety
 * Distinct objects: Safe. Shared objects: Unsafe. May be destroyed by any thread, also after
 * its channel.
 */
class loan {
public:
  loan() = default;
  loan(loan&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  loan& operator=(loan&& other) noexcept {
    if (this != &other) {
      drop();
      block_ = std::exchange(other.block_, nullptr);
    }
    return *this;
  }
  ~loan() { drop(); }

  /// False of one that was moved from, and of one that was sent.
  explicit operator bool() const noexcept { return block_ != nullptr; }

  /// A multiple of 64 bytes.
  std::byte* data() const noexcept { return block_ != nullptr ? block_->data : nullptr; }
  std::size_t size() const noexcept { return block_ != nullptr ? block_->size : 0; }
  std::span<std::byte> bytes() const noexcept { return {data(), size()}; }
  asio::mutable_buffer buffer() const noexcept { return {data(), size()}; }

  /// The largest size(), at least what was asked for.
  std::size_t capacity() const noexcept { return block_ != nullptr ? block_->capacity : 0; }

  /// How many of the bytes will be sent. @throws std::length_error beyond capacity().
  void resize(std::size_t n) {
    if (n > capacity())
      throw std::length_error("sysipc_asio::loan::resize");
    if (block_ != nullptr)
      block_->size = n;
  }

private:
  friend class detail::loan_access;

  explicit loan(detail::send_pool::block& block) noexcept : block_(&block) {}

  void drop() noexcept {
    if (block_ != nullptr)
      block_->pool->give_back(*block_);
    block_ = nullptr;
  }

  // One word, so that to move it costs nothing: several would be moved as vectors just after
  // they were stored as words, which has the processor wait for all stores before.
  detail::send_pool::block* block_ = nullptr;
};

/// The library's own way in.
class detail::loan_access {
public:
  static loan make(send_pool::block& block) noexcept { return loan(block); }
  static bool is_of(const loan& l, const send_pool* pool) noexcept {
    return l.block_ != nullptr && l.block_->pool == pool;
  }
  /// It is the peer's now.
  static send_pool::block& take_block(loan& l) noexcept {
    return *std::exchange(l.block_, nullptr);
  }
};

} // namespace sysipc_asio

#endif
