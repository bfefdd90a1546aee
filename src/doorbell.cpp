// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/stat.h>
#include <sysipc_asio/detail/doorbell.hpp>
#include <unistd.h>

namespace sysipc_asio::detail {
namespace {

/// Where taken kicks go.
int null_device() noexcept {
  static const int fd = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  return fd;
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

void kicker::kick() const noexcept {
  const char byte = 1;
  // EAGAIN means full of kicks that the peer has not taken: it will wake. After
  // ENOMEM a kick that is dropped would leave it asleep for good.
  while (::write(writing_end_.get(), &byte, 1) < 0 && (errno == EINTR || errno == ENOMEM))
    ::sched_yield();
}

bool is_reading_end(int fd) noexcept {
  struct stat status {};
  const int flags = ::fcntl(fd, F_GETFL);
  return ::fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode) && flags >= 0 &&
         (flags & O_ACCMODE) == O_RDONLY;
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

bell wait_bell(int fd) noexcept {
  pollfd entry{fd, POLLIN, 0};
  // The limit is for a violation that the other direction's thread found meanwhile.
  if (::poll(&entry, 1, 1000) != 1)
    return bell::quiet;
  return drain_bell(fd);
}

bool bell_hung_up(int fd) noexcept {
  pollfd entry{fd, 0, 0};
  return ::poll(&entry, 1, 0) == 1 && (entry.revents & (POLLHUP | POLLERR)) != 0;
}

} // namespace sysipc_asio::detail
