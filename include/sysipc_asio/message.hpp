// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_MESSAGE_HPP
#define SYSIPC_ASIO_MESSAGE_HPP

#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <sysipc_asio/detail/copy.hpp>
#include <sysipc_asio/detail/peer_memory.hpp>
#include <utility>
#include <vector>

namespace sysipc_asio {

/// A received message.
/**
 * Up to `inline_size` bytes lie in the object itself. Larger ones lie in the sender's pool,
 * shared and read-only, until this object is destroyed, or else on the heap. The payload
 * starts at a multiple of 16 bytes.
 *
 * A shared payload stays what and where it is when the channel, its execution context or the
 * sender is gone. As long as it is held, the sender can't use its memory again. It is the
 * sender's memory: a hostile one can change it while it is read. Copy what is to be checked
 * before it is checked.
 *
 * @par Thread Safety
 * Distinct objects: Safe. Shared objects: Unsafe. May be destroyed by any thread.
 */
class message {
public:
  /// Bytes that need no memory elsewhere.
  static constexpr std::size_t inline_size = 104;

  message() noexcept {}

  /// A copy of `payload`. @throws std::bad_alloc
  explicit message(std::span<const std::byte> payload) { assign(payload); }

  message(message&& other) noexcept { take(other); }
  message& operator=(message&& other) noexcept {
    if (this != &other) {
      drop();
      take(other);
    }
    return *this;
  }
  message(const message&) = delete;
  message& operator=(const message&) = delete;
  ~message() { drop(); }

  const std::byte* data() const noexcept { return outside_ ? outside_ : inline_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  /// True if the payload lies in the sender's pool.
  bool is_shared() const noexcept { return outside_ && static_cast<bool>(owner()); }

  std::span<const std::byte> bytes() const noexcept { return {data(), size_}; }
  asio::const_buffer buffer() const noexcept { return {data(), size_}; }
  std::string_view view() const noexcept { return {reinterpret_cast<const char*>(data()), size_}; }

  /// A copy that can be changed, and that holds nothing of the sender's.
  std::vector<std::byte> to_vector() const { return {data(), data() + size_}; }

  /// Replaces the payload by a copy of another, which must not be this message's own.
  /** @throws std::bad_alloc, and then nothing has changed. */
  void assign(std::span<const std::byte> payload) {
    if (payload.size() > inline_size) {
      std::unique_ptr<std::byte[]> copy(new std::byte[payload.size()]);
      detail::copy_bytes(copy.get(), payload.data(), payload.size());
      assign(std::move(copy), payload.size());
    } else {
      drop();
      size_ = payload.size();
      detail::copy_bytes(inline_, payload.data(), payload.size());
    }
  }

  /// Replaces the payload by one on the heap.
  void assign(std::unique_ptr<std::byte[]> payload, std::size_t size) noexcept {
    drop();
    hold(payload.release(), size, {});
  }

  /// Replaces the payload by one in the sender's pool.
  void assign(std::span<const std::byte> payload, detail::lease from) noexcept {
    drop();
    hold(payload.data(), payload.size(), std::move(from));
  }

private:
  // A payload that lies elsewhere leaves room here for what it takes to give it back.
  using owner_type = detail::lease; ///< of none: the heap's

  owner_type& owner() noexcept { return *std::launder(reinterpret_cast<owner_type*>(inline_)); }
  const owner_type& owner() const noexcept {
    return *std::launder(reinterpret_cast<const owner_type*>(inline_));
  }

  void hold(const std::byte* payload, std::size_t size, owner_type from) noexcept {
    outside_ = payload;
    size_ = size;
    new (inline_) owner_type(std::move(from));
  }

  void drop() noexcept {
    if (outside_ == nullptr)
      return;
    if (!owner())
      delete[] outside_;
    owner().~owner_type();
    outside_ = nullptr;
    size_ = 0;
  }

  void take(message& other) noexcept {
    if (other.outside_ != nullptr) {
      hold(other.outside_, other.size_, std::move(other.owner()));
      other.owner().~owner_type();
      other.outside_ = nullptr;
    } else {
      size_ = other.size_;
      detail::copy_bytes(inline_, other.inline_, size_);
    }
    other.size_ = 0;
  }

  alignas(16) std::byte inline_[inline_size];
  const std::byte* outside_ = nullptr;
  std::size_t size_ = 0;

  static_assert(sizeof(owner_type) <= inline_size && alignof(owner_type) <= 16);
};
static_assert(sizeof(message) <= 128);

} // namespace sysipc_asio

#endif
