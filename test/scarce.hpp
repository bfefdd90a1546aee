// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_TEST_SCARCE_HPP
#define SYSIPC_ASIO_TEST_SCARCE_HPP

#include "resources.hpp"
#include "two_processes.hpp"
#include <fcntl.h>
#include <fstream>
#include <functional>

namespace sysipc_asio::test {

/// Room for exactly `n` more descriptors, for the life of this object.
class few_descriptors {
public:
  explicit few_descriptors(int n) : limit_(RLIMIT_NOFILE, limit_for(n)) {}

private:
  static rlim_t limit_for(int n) {
    int fd = 0;
    for (int free = 0;; ++fd)
      if (::fcntl(fd, F_GETFD) < 0 && free++ == n)
        return static_cast<rlim_t>(fd);
  }

  lowered_limit limit_;
};

/// Room for `bytes` more of address space, for the life of this object.
class little_memory {
public:
  explicit little_memory(std::size_t bytes) : limit_(RLIMIT_AS, in_use() + bytes) {}

private:
  static std::size_t in_use() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<std::size_t>(::getpagesize());
  }

  lowered_limit limit_;
};

/// Runs `f` in a child; its exit status, 99 if it threw.
inline int in_child(const std::function<int()>& f) {
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid != 0)
    return child_process(pid).wait();
  int status = 99;
  try {
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
      ::signal(signal, SIG_DFL); // not Boost.Test's
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    status = f();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "child: %s\n", e.what());
  }
  std::fflush(nullptr);
  ::_exit(status);
}

} // namespace sysipc_asio::test

#endif
