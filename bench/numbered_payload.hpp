// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_NUMBERED_PAYLOAD_HPP
#define SYSIPC_BENCH_NUMBERED_PAYLOAD_HPP

#include "payload.hpp"
#include "settings.hpp"
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>

/// Large messages, each of which is different: its number, then bytes that depend on it.
namespace bench {

constexpr std::uint8_t fill_of(std::uint64_t number) noexcept {
  return static_cast<std::uint8_t>(number + 1);
}

constexpr std::byte expected_byte(std::uint64_t number, std::size_t position) noexcept {
  return static_cast<std::byte>(position < 8 ? number >> 8 * position : fill_of(number));
}

/// Writes all of it.
inline void fill_payload(std::span<std::byte> to, std::uint64_t number) noexcept {
  std::memset(to.data(), fill_of(number), to.size());
  std::memcpy(to.data(), &number, std::min(to.size(), sizeof number));
}

/// As fast as memory is read: the compiler makes vectors of it.
inline std::uint64_t sum_of_words(std::span<const std::byte> bytes) noexcept {
  std::uint64_t sum = 0;
  std::uint64_t word = 0;
  const std::size_t whole = bytes.size() / sizeof word * sizeof word;
  for (std::size_t i = 0; i != whole; i += sizeof word) {
    std::memcpy(&word, bytes.data() + i, sizeof word);
    sum += word;
  }
  for (const std::byte rest : bytes.subspan(whole))
    sum += std::to_integer<std::uint64_t>(rest);
  return sum;
}

/// What sum_of_words() of that message is.
constexpr std::uint64_t expected_sum(std::size_t size, std::uint64_t number) noexcept {
  constexpr std::uint64_t in_each_byte = 0x0101'0101'0101'0101;
  if (size < 8) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i != size; ++i)
      sum += std::to_integer<std::uint64_t>(expected_byte(number, i));
    return sum;
  }
  return number + (size / 8 - 1) * in_each_byte * fill_of(number) + size % 8 * fill_of(number);
}

/// The number, a byte in the middle and the last one.
inline bool samples_match(std::span<const std::byte> payload, std::uint64_t number) noexcept {
  const std::size_t middle = payload.size() / 2;
  return std::memcmp(payload.data(), &number, std::min(payload.size(), sizeof number)) == 0 &&
         payload[middle] == expected_byte(number, middle) &&
         payload.back() == expected_byte(number, payload.size() - 1);
}

/// Reads a message as `how` says; it must be the one of that number.
inline void read_payload(std::span<const std::byte> payload, std::size_t size, std::uint64_t number,
                         receiver_kind how) {
  expect_size(payload.size(), size);
  const bool good = how == receiver_kind::full ? sum_of_words(payload) == expected_sum(size, number)
                                               : samples_match(payload, number);
  if (!good) [[unlikely]]
    throw std::runtime_error("a message arrived damaged");
}

} // namespace bench

#endif
