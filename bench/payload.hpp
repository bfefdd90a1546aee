// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_PAYLOAD_HPP
#define SYSIPC_BENCH_PAYLOAD_HPP

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

namespace bench {

/// The message that every transport carries.
inline std::vector<std::byte> make_payload(std::size_t size) {
  std::vector<std::byte> result(size);
  for (std::size_t i = 0; i != size; ++i)
    result[i] = static_cast<std::byte>(i * 7 + 1);
  return result;
}

/// As if somebody read `copy` now: else the compiler might make only the last one.
inline void use_copy(const std::byte* copy) noexcept {
  asm volatile("" : : "r"(copy) : "memory");
}

/// Copies a message out of shared memory; inline for the size that most runs use.
inline void take_payload(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  if (size == 64)
    std::memcpy(to, from, 64);
  else
    std::memcpy(to, from, size);
  use_copy(to);
}

inline void expect_size(std::size_t size, std::size_t expected) {
  if (size != expected) [[unlikely]]
    throw std::runtime_error("a message of the wrong size arrived");
}

/// Whether what was received last is what was sent.
inline void expect_payload(std::span<const std::byte> received) {
  if (!std::ranges::equal(received, make_payload(received.size())))
    throw std::runtime_error("a message arrived damaged");
}

} // namespace bench

#endif
