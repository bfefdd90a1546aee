// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_TEST_PATTERN_HPP
#define SYSIPC_ASIO_TEST_PATTERN_HPP

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace sysipc_asio::test {

inline constexpr std::size_t kib = 1024;
inline constexpr std::size_t mib = 1024 * kib;

using bytes = std::vector<std::byte>;

/// A payload that is another one for each seed.
inline bytes pattern(std::size_t n, std::size_t seed) {
  bytes result(n);
  for (std::size_t i = 0; i != n; ++i)
    result[i] = static_cast<std::byte>((i * 31 + seed) >> 3);
  return result;
}

inline bool equal(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

} // namespace sysipc_asio::test

#endif
