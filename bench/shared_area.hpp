// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_SHARED_AREA_HPP
#define SYSIPC_BENCH_SHARED_AREA_HPP

#include <cerrno>
#include <cstddef>
#include <memory>
#include <new>
#include <sys/mman.h>
#include <system_error>

namespace bench {

/// Anonymous memory that fork() shares.
inline void* map_shared(std::size_t size, int flags = 0) {
  void* const p =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | flags, -1, 0);
  if (p == MAP_FAILED)
    throw std::system_error(errno, std::system_category(), "mmap");
  return p;
}

/// A `T` in such memory.
template <typename T>
std::shared_ptr<T> make_shared_area() {
  void* const p = map_shared(sizeof(T), MAP_POPULATE);
  return std::shared_ptr<T>(new (p) T, [](T* area) { ::munmap(area, sizeof(T)); });
}

/// Bytes in such memory. There are no pages yet: of many, each side has to touch its own.
inline std::shared_ptr<std::byte> make_shared_bytes(std::size_t size) {
  return std::shared_ptr<std::byte>(static_cast<std::byte*>(map_shared(size)),
                                    [size](std::byte* area) { ::munmap(area, size); });
}

} // namespace bench

#endif
