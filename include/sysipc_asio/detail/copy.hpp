// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_COPY_HPP
#define SYSIPC_ASIO_DETAIL_COPY_HPP

#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sysipc_asio/detail/config.hpp>
#include <type_traits>

namespace sysipc_asio::detail {

/// Copies `n` bytes; small sizes inline, since a call costs more than the copy.
inline void copy_bytes(void* to, const void* from, std::size_t n) noexcept {
  auto* d = static_cast<std::byte*>(to);
  const auto* s = static_cast<const std::byte*>(from);
  if (n == 64) {
    std::memcpy(d, s, 64);
    return;
  }
  if (n >= 8 && n <= 16) {
    // Two words that overlap cover every size between one and two words.
    std::uint64_t head;
    std::uint64_t tail;
    std::memcpy(&head, s, 8);
    std::memcpy(&tail, s + n - 8, 8);
    std::memcpy(d, &head, 8);
    std::memcpy(d + n - 8, &tail, 8);
    return;
  }
  if (n != 0) // memcpy(p, nullptr, 0) is undefined
    std::memcpy(d, s, n);
}

/// Copies `n` bytes to memory whose lines another core has read: see doc/tuning.md.
void copy_for_reader(void* to, const void* from, std::size_t n) noexcept;

/// Asks for the ownership of a line that will be written soon.
inline void prefetch_for_write(const void* p) noexcept {
#if defined(__x86_64__) || defined(__i386__)
  // By hand: without -mprfchw, __builtin_prefetch() only prefetches for reading.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(p)));
#else
  __builtin_prefetch(p, 1);
#endif
}

/// Asks for a line that will be read soon.
inline void prefetch_for_read(const void* p) noexcept {
  __builtin_prefetch(p, 0);
}

/// Gathers the `n` bytes of a constant buffer sequence.
template <auto Copy = &copy_bytes, typename ConstBufferSequence>
void copy_from_buffers(std::byte* to, const ConstBufferSequence& buffers, std::size_t n) noexcept {
  if constexpr (std::is_convertible_v<const ConstBufferSequence&, asio::const_buffer>) {
    Copy(to, asio::const_buffer(buffers).data(), n);
    return;
  }
  auto it = asio::buffer_sequence_begin(buffers);
  const auto last = asio::buffer_sequence_end(buffers);
  for (; it != last && n != 0; ++it) {
    const asio::const_buffer part(*it);
    const std::size_t size = part.size() < n ? part.size() : n;
    Copy(to, part.data(), size);
    to += size;
    n -= size;
  }
}

/// As above, leaving out the first `skip` bytes.
template <typename ConstBufferSequence>
void copy_from_buffers(std::byte* to, const ConstBufferSequence& buffers, std::size_t n,
                       std::size_t skip) noexcept {
  auto it = asio::buffer_sequence_begin(buffers);
  const auto last = asio::buffer_sequence_end(buffers);
  for (; it != last && n != 0; ++it) {
    asio::const_buffer part(*it);
    const std::size_t past = part.size() < skip ? part.size() : skip;
    part += past;
    skip -= past;
    const std::size_t size = part.size() < n ? part.size() : n;
    copy_bytes(to, part.data(), size);
    to += size;
    n -= size;
  }
}

/// Scatters `n` bytes over a mutable buffer sequence that has room for them.
template <typename MutableBufferSequence>
void copy_to_buffers(const MutableBufferSequence& buffers, const std::byte* from,
                     std::size_t n) noexcept {
  if constexpr (std::is_convertible_v<const MutableBufferSequence&, asio::mutable_buffer>) {
    copy_bytes(asio::mutable_buffer(buffers).data(), from, n);
    return;
  }
  auto it = asio::buffer_sequence_begin(buffers);
  const auto last = asio::buffer_sequence_end(buffers);
  for (; it != last && n != 0; ++it) {
    const asio::mutable_buffer part(*it);
    const std::size_t size = part.size() < n ? part.size() : n;
    copy_bytes(part.data(), from, size);
    from += size;
    n -= size;
  }
}

} // namespace sysipc_asio::detail

#endif
