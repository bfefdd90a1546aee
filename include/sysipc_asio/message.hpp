// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_MESSAGE_HPP
#define SYSIPC_ASIO_MESSAGE_HPP

#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <sysipc_asio/detail/copy.hpp>
#include <utility>

namespace sysipc_asio {

/// A received message, owned.
/**
 * Up to `inline_size` bytes lie in the object itself, larger ones on the heap.
 * The payload starts at a multiple of 16 bytes.
 *
 * @par Thread Safety
 * Distinct objects: Safe. Shared objects: Unsafe.
 */
class message {
public:
  /// Bytes that need no allocation.
  static constexpr std::size_t inline_size = 104;

  message() noexcept {}

  /// A copy of `payload`. @throws std::bad_alloc
  explicit message(std::span<const std::byte> payload) { assign(payload); }

  message(message&& other) noexcept { take(other); }
  message& operator=(message&& other) noexcept {
    if (this != &other)
      take(other);
    return *this;
  }
  message(const message&) = delete;
  message& operator=(const message&) = delete;
  ~message() = default;

  const std::byte* data() const noexcept { return heap_ ? heap_.get() : inline_; }
  std::byte* data() noexcept { return heap_ ? heap_.get() : inline_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  std::span<const std::byte> bytes() const noexcept { return {data(), size_}; }
  asio::const_buffer buffer() const noexcept { return {data(), size_}; }
  std::string_view view() const noexcept { return {reinterpret_cast<const char*>(data()), size_}; }

  /// Replaces the payload, which must not be this message's own.
  /** @throws std::bad_alloc, and then nothing has changed. */
  void assign(std::span<const std::byte> payload) {
    if (payload.size() > inline_size)
      heap_.reset(new std::byte[payload.size()]);
    else
      heap_.reset();
    size_ = payload.size();
    detail::copy_bytes(data(), payload.data(), payload.size());
  }

private:
  void take(message& other) noexcept {
    size_ = std::exchange(other.size_, 0);
    heap_ = std::move(other.heap_);
    if (!heap_)
      detail::copy_bytes(inline_, other.inline_, size_);
  }

  alignas(16) std::byte inline_[inline_size];
  std::unique_ptr<std::byte[]> heap_;
  std::size_t size_ = 0;
};
static_assert(sizeof(message) <= 128);

} // namespace sysipc_asio

#endif
