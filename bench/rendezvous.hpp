// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_RENDEZVOUS_HPP
#define SYSIPC_BENCH_RENDEZVOUS_HPP

#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

/// A word between the two sides of a run, over the socketpair that they are given: before
/// the transport that they measure is there, and when it is to go.
namespace bench {

inline void tell(int socket, std::uint16_t word = 0) {
  if (::write(socket, &word, sizeof word) != sizeof word)
    throw std::system_error(errno, std::system_category(), "the other side is gone");
}

/// Waits for the other side's tell().
inline std::uint16_t hear(int socket) {
  std::uint16_t word = 0;
  ssize_t n = 0;
  do
    n = ::read(socket, &word, sizeof word);
  while (n < 0 && errno == EINTR);
  if (n != sizeof word)
    throw std::runtime_error("the other side is gone");
  return word;
}

} // namespace bench

#endif
