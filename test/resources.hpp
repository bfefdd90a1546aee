// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_TEST_RESOURCES_HPP
#define SYSIPC_ASIO_TEST_RESOURCES_HPP

#include <algorithm>
#include <cstddef>
#include <dirent.h>
#include <fcntl.h>
#include <ostream>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SYSIPC_ASIO_TEST_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define SYSIPC_ASIO_TEST_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SYSIPC_ASIO_TEST_ASAN 1
#elif __has_feature(thread_sanitizer)
#define SYSIPC_ASIO_TEST_TSAN 1
#endif
#endif
#if !defined(SYSIPC_ASIO_TEST_ASAN)
#define SYSIPC_ASIO_TEST_ASAN 0
#endif
#if !defined(SYSIPC_ASIO_TEST_TSAN)
#define SYSIPC_ASIO_TEST_TSAN 0
#endif

namespace sysipc_asio::test {

/// Sanitizers are slow, and need address space and mappings of their own.
inline constexpr bool sanitized = SYSIPC_ASIO_TEST_ASAN != 0 || SYSIPC_ASIO_TEST_TSAN != 0;

/// What this process holds in the kernel. Counted without allocating.
struct resources {
  std::ptrdiff_t descriptors = 0;
  std::ptrdiff_t mappings = 0;

  static resources now() {
    resources result;
    if (DIR* const directory = ::opendir("/proc/self/fd")) {
      while (::readdir(directory) != nullptr)
        ++result.descriptors;
      ::closedir(directory);
    }
    const int maps = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    static char buffer[64 * 1024];
    for (ssize_t n; (n = ::read(maps, buffer, sizeof buffer)) > 0;)
      result.mappings += std::count(buffer, buffer + n, '\n');
    ::close(maps);
    return result;
  }

  friend bool operator==(const resources&, const resources&) = default;
  friend std::ostream& operator<<(std::ostream& out, const resources& r) {
    return out << r.descriptors << " descriptors and " << r.mappings << " mappings";
  }
};

/// A soft resource limit for the life of this object.
class lowered_limit {
public:
  lowered_limit(__rlimit_resource_t resource, rlim_t soft) : resource_(resource) {
    ::getrlimit(resource_, &before_);
    rlimit lowered = before_;
    lowered.rlim_cur = soft;
    ::setrlimit(resource_, &lowered);
  }
  lowered_limit(const lowered_limit&) = delete;
  lowered_limit& operator=(const lowered_limit&) = delete;
  ~lowered_limit() { ::setrlimit(resource_, &before_); }

private:
  __rlimit_resource_t resource_;
  rlimit before_{};
};

} // namespace sysipc_asio::test

#endif
