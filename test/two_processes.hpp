// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_TEST_TWO_PROCESSES_HPP
#define SYSIPC_ASIO_TEST_TWO_PROCESSES_HPP

#include "resources.hpp"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <sched.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sysipc_asio/detail/doorbell.hpp>
#include <sysipc_asio/detail/unique_fd.hpp>
#include <sysipc_asio/segment.hpp>
#include <sysipc_asio/wait.hpp>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sysipc_asio::test {

/// The CPUs that the test may use.
inline std::vector<int> usable_cpus() {
  cpu_set_t set;
  std::vector<int> result;
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu != CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set))
        result.push_back(cpu);
  return result;
}

/// Where each side runs; -1 is anywhere.
struct placement {
  int parent = -1;
  int child = -1;

  static placement anywhere() { return {}; }
  static placement one_cpu() { return {usable_cpus().front(), usable_cpus().front()}; }
  /// The same as one_cpu() where there is no second.
  static placement two_cpus() { return {usable_cpus().front(), usable_cpus().back()}; }
};

/// Keeps this thread on one CPU for the life of this object.
class pinned {
public:
  explicit pinned(int cpu) {
    ::sched_getaffinity(0, sizeof before_, &before_);
    if (cpu < 0)
      return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0)
      throw std::system_error(errno, std::system_category(), "sched_setaffinity");
  }
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;
  ~pinned() { ::sched_setaffinity(0, sizeof before_, &before_); }

private:
  cpu_set_t before_;
};

/// Throws when there was no progress for ten seconds.
class deadline {
public:
  void progress() noexcept { ++progress_; }
  /// To be called while there is nothing to do.
  void check() {
    const auto now = std::chrono::steady_clock::now();
    if (progress_ != seen_) {
      seen_ = progress_;
      since_ = now;
    } else if (now - since_ > std::chrono::seconds(10)) {
      throw std::runtime_error("no progress for ten seconds");
    }
  }

private:
  std::uint64_t progress_ = 0;
  std::uint64_t seen_ = 0;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

inline void send_descriptor(int socket, int fd) {
  char byte = 'd';
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)]{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  cmsghdr* const c = CMSG_FIRSTHDR(&header);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(c), &fd, sizeof fd);
  if (::sendmsg(socket, &header, MSG_NOSIGNAL) != 1)
    throw std::system_error(errno, std::system_category(), "sendmsg");
}

inline detail::unique_fd receive_descriptor(int socket) {
  char byte = 0;
  int fd = -1;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)]{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  if (::recvmsg(socket, &header, MSG_CMSG_CLOEXEC) != 1 || CMSG_FIRSTHDR(&header) == nullptr)
    throw std::runtime_error("the other process sent no descriptor");
  std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof fd);
  return detail::unique_fd(fd);
}

/// Sends this side's descriptor and takes the other's.
inline detail::unique_fd exchange_descriptors(int socket, int fd) {
  send_descriptor(socket, fd);
  return receive_descriptor(socket);
}

/// A child that does not outlive this object.
class child_process {
public:
  explicit child_process(pid_t pid) noexcept : pid_(pid) {}
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;
  ~child_process() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      wait();
    }
  }

  /// The exit status as the shell has it: 128 and the signal for a child that was killed.
  int wait() noexcept {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR)
      ;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

private:
  pid_t pid_;
};

namespace two_processes_detail {

template <typename F>
auto run_side(int socket, std::size_t capacity, int cpu, F& f) {
  const pinned here(cpu);
  segment own = segment::create(capacity);
  const auto fd = exchange_descriptors(socket, own.native_handle());
  peer_segment peer = peer_segment::open(fd.get(), own.ring_capacity());
  return f(own, peer, socket);
}

template <typename F>
[[noreturn]] void run_child(int socket, std::size_t capacity, int cpu, F& f) {
  int status = 99;
  try {
    // Boost.Test's handlers would report the parent's test from here.
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
      ::signal(signal, SIG_DFL);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    status = run_side(socket, capacity, cpu, f);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "child: %s\n", e.what());
  }
  std::fflush(nullptr);
  ::_exit(status);
}

} // namespace two_processes_detail

/// Runs each function in a process of its own, connected as by a handshake.
/**
 * Both get `(segment& own, peer_segment& peer, int socket)`. The child must not use
 * Boost.Test; it returns its exit status. An exception in the parent ends the child.
 *
 * @returns the child's exit status; 99 if it threw.
 */
template <typename ParentFunction, typename ChildFunction>
int run_two_processes(std::size_t capacity, ParentFunction parent, ChildFunction child,
                      placement where = {}) {
  using namespace two_processes_detail;
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    throw std::system_error(errno, std::system_category(), "socketpair");
  detail::unique_fd parents(sockets[0]);
  detail::unique_fd childs(sockets[1]);
  // Before any segment is made: mappings are not inherited.
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0)
    throw std::system_error(errno, std::system_category(), "fork");
  if (pid == 0) {
    parents.reset();
    run_child(childs.get(), capacity, where.child, child);
  }
  child_process process(pid);
  childs.reset();
  run_side(parents.get(), capacity, where.parent, parent);
  return process.wait();
}

/// Returns after a kick only: a look after some time would hide one that was lost.
inline void await_kick(int bell, deadline& limit) {
  for (;;)
    switch (detail::wait_bell(bell)) {
    case detail::bell::rung:
      return;
    case detail::bell::hung_up:
      throw std::runtime_error("the other process is gone");
    case detail::bell::quiet:
      limit.check();
    }
}

/// Sleeps until a condition holds which the peer makes true before it kicks.
class sleeper {
public:
  sleeper(layout::word64& word, fence_mode mode, detail::unique_fd bell)
      : arm_(word), mode_(mode), bell_(std::move(bell)) {}

  /// `ready` is not called again once it gave true.
  template <typename Ready>
  void wait(Ready ready, int looks = 100) {
    for (int i = 0; i != looks; ++i) {
      if (ready())
        return deadline_.progress();
      cpu_relax();
    }
    while (!armed_look(ready))
      if (ready())
        break;
    deadline_.progress();
  }

  std::uint64_t sleeps() const noexcept { return sleeps_; }

private:
  /// Sleeps unless it is ready after all.
  template <typename Ready>
  bool armed_look(Ready& ready) {
    arm_.arm(mode_);
    const bool found = ready();
    if (!found)
      await_kick(bell_.get(), deadline_);
    arm_.disarm();
    sleeps_ += !found;
    return found;
  }

  arm_word arm_;
  fence_mode mode_;
  detail::unique_fd bell_;
  deadline deadline_;
  std::uint64_t sleeps_ = 0;
};

/// The number in the environment, or the default; fewer under sanitizers.
inline std::uint64_t count_from_environment(const char* name, std::uint64_t normally,
                                            std::uint64_t under_sanitizers) {
  if (const char* const text = std::getenv(name))
    return std::strtoull(text, nullptr, 10);
  return sanitized ? under_sanitizers : normally;
}

} // namespace sysipc_asio::test

#endif
