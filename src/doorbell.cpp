// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sysipc_asio/detail/doorbell.hpp>
#include <sysipc_asio/detail/exceptions_as_errors.hpp>
#include <sysipc_asio/detail/kernel_endpoint.hpp>
#include <unistd.h>

namespace sysipc_asio::detail {
namespace {

constexpr int gone = POLLHUP | POLLERR;

/// Where taken kicks go; -1 and errno if it can't be opened now.
int null_device() noexcept {
  static std::atomic<int> shared{-1};
  if (const int fd = shared.load(std::memory_order_relaxed); fd >= 0) [[likely]]
    return fd;
  const int fd = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  int expected = -1;
  if (fd < 0 || shared.compare_exchange_strong(expected, fd, std::memory_order_relaxed))
    return fd;
  ::close(fd); // another thread was first
  return expected;
}

} // namespace

kicker kicker::create(error_code& ec) {
  int fds[2];
  if (null_device() < 0 || ::pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0) {
    ec.assign(errno, boost::system::system_category());
    return {};
  }
  kicker result;
  result.reading_end_.reset(fds[0]);
  result.writing_end_.reset(fds[1]);
  ec = exceptions_as_errors([&] { result.guard_ = fork_guard(fork_claim{{fds[0], fds[1]}}); });
  if (ec)
    return {};
  // One page is plenty; the kernel bounds the pages of all pipes of a user.
  ::fcntl(fds[1], F_SETPIPE_SZ, ::getpagesize());
  // A pipe keeps the page of its first byte: kicks need no memory from here on.
  const char byte = 1;
  if (::write(fds[1], &byte, 1) != 1) {
    ec.assign(errno, boost::system::system_category());
    return {};
  }
  drain_bell(fds[0]);
  ec = {};
  return result;
}

kicker& kicker::operator=(kicker&& other) noexcept {
  if (this != &other) {
    close();
    writing_end_ = std::move(other.writing_end_);
    reading_end_ = std::move(other.reading_end_);
    guard_ = std::move(other.guard_);
    wakes_ = other.wakes_;
  }
  return *this;
}

kicker kicker::of_endpoint(unique_fd fd, bell_kind wakes, error_code& ec) {
  kicker result;
  ec = exceptions_as_errors([&] { result.guard_ = fork_guard(fork_claim{{fd.get(), -1}}); });
  if (ec)
    return {};
  result.writing_end_ = std::move(fd);
  result.wakes_ = wakes;
  return result;
}

void kicker::close() noexcept {
  if (!writing_end_)
    return;
  // To close it would not do: mappings keep an endpoint open.
  if (wakes_ != bell_kind::pipe)
    shut_endpoint_down(writing_end_.get());
  // A child forked in between would keep the writing end, and the peer would never
  // see the hang-up.
  guard_.lift([this] {
    writing_end_.reset();
    reading_end_.reset();
  });
}

bool kicker::kick() const noexcept {
  if (wakes_ != bell_kind::pipe)
    return kick_endpoint(writing_end_.get(), wakes_);
  const char byte = 1;
  // EAGAIN means full of kicks that the peer has not taken: it will wake. After
  // ENOMEM a kick that is dropped would leave it asleep for good.
  while (::write(writing_end_.get(), &byte, 1) < 0 && (errno == EINTR || errno == ENOMEM))
    ::sched_yield();
  return true;
}

bool is_reading_end(int fd) noexcept {
  // Not fstat(): of a file of the peer's own file system, that asks the peer.
  const int flags = ::fcntl(fd, F_GETFL);
  return ::fcntl(fd, F_GETPIPE_SZ) >= 0 && flags >= 0 && (flags & O_ACCMODE) == O_RDONLY;
}

bell drain_bell(int fd) noexcept {
  for (;;) {
    // The peer shares this open file and can clear O_NONBLOCK; the flag of a
    // splice is the call's own.
    const ssize_t n = ::splice(fd, nullptr, null_device(), nullptr, 4096, SPLICE_F_NONBLOCK);
    if (n > 0)
      return bell::rung;
    if (n == 0)
      return bell::hung_up;
    if (errno == EAGAIN)
      return bell::quiet;
    if (errno != EINTR)
      return bell::hung_up;
  }
}

bell wait_bell(int fd, bell_kind kind) noexcept {
  pollfd entry{fd, static_cast<short>(kind == bell_kind::endpoint_space ? POLLOUT : POLLIN), 0};
  // The limit is for a violation that the other direction's thread found meanwhile.
  if (::poll(&entry, 1, 1000) != 1)
    return bell::quiet;
  if (kind == bell_kind::pipe)
    return drain_bell(fd);
  return (entry.revents & gone) != 0 ? bell::hung_up : bell::rung;
}

bool bell_hung_up(int fd) noexcept {
  pollfd entry{fd, 0, 0};
  return ::poll(&entry, 1, 0) == 1 && (entry.revents & gone) != 0;
}

} // namespace sysipc_asio::detail
