// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_SHARED_AREA_HPP
#define SYSIPC_BENCH_SHARED_AREA_HPP

#include <cerrno>
#include <memory>
#include <new>
#include <sys/mman.h>
#include <system_error>

namespace bench {

/// A `T` in anonymous memory that fork() shares.
template <typename T>
std::shared_ptr<T> make_shared_area() {
  void* const p = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (p == MAP_FAILED)
    throw std::system_error(errno, std::system_category(), "mmap");
  return std::shared_ptr<T>(new (p) T, [](T* area) { ::munmap(area, sizeof(T)); });
}

} // namespace bench

#endif
