// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "serialized_rounds.hpp"
#include "workload.hpp"
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>
#include <fcntl.h>
#include <linux/futex.h>
#include <memory>
#include <stdexcept>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>
#include <utility>

/// The rungs that the kernel offers to everybody, with blocking calls.
namespace bench {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::system_category(), what);
}

/// Sleeps on the word itself.
class futex_rung : public plain_rung {
public:
  void wake(round_word& word) const {
    if (futex(word, FUTEX_WAKE, INT_MAX) < 0)
      fail("FUTEX_WAKE");
  }

  void await(round_word& word, std::uint32_t round) const {
    for (;;) {
      const std::uint32_t seen = word.load(std::memory_order_acquire);
      if (seen == round)
        return;
      if (futex(word, FUTEX_WAIT, seen) < 0 && errno != EAGAIN && errno != EINTR)
        fail("FUTEX_WAIT");
    }
  }

private:
  static_assert(sizeof(round_word) == sizeof(std::uint32_t));

  /// Without FUTEX_PRIVATE_FLAG: the word is shared.
  static long futex(round_word& word, int operation, std::uint32_t value) noexcept {
    return ::syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
  }
};

/// Looks again and again.
class poll_rung : public plain_rung {
public:
  void wake(round_word&) const noexcept {}

  void await(round_word& word, std::uint32_t round) const noexcept {
    constexpr timespec pause{0, 1'000'000};
    while (word.load(std::memory_order_acquire) != round)
      ::nanosleep(&pause, nullptr);
  }
};

/// A token through a descriptor; one of 8 bytes, as an eventfd wants it.
class token_rung : public plain_rung {
public:
  /// `out` may be invalid: then `in` serves both ways.
  explicit token_rung(unique_fd in, unique_fd out = {})
      : in_(std::move(in)), out_(std::move(out)), writing_(out_ ? out_.get() : in_.get()) {}

  void wake(round_word&) const {
    const std::uint64_t token = 1;
    while (::write(writing_, &token, sizeof token) != sizeof token)
      if (errno != EINTR)
        fail("write");
  }

  void await(round_word&, std::uint32_t) const {
    std::uint64_t token = 0;
    ssize_t n = 0;
    do
      n = ::read(in_.get(), &token, sizeof token);
    while (n < 0 && errno == EINTR);
    if (n < 0)
      fail("read");
    if (n != sizeof token || token != 1)
      throw std::runtime_error("the other side is gone");
  }

private:
  unique_fd in_;
  unique_fd out_;
  int writing_;
};

/// Both descriptors of one way; of an eventfd, the same twice.
struct way {
  unique_fd reading;
  unique_fd writing;
};

way make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0)
    fail("pipe2");
  return {unique_fd(fds[0]), unique_fd(fds[1])};
}

way make_eventfd() {
  unique_fd fd(::eventfd(0, EFD_CLOEXEC));
  if (!fd)
    fail("eventfd");
  unique_fd same(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!same)
    fail("fcntl");
  return {std::move(fd), std::move(same)};
}

/// They are there before fork(); each side keeps what it needs.
workload rounds_over(const settings& s, way there, way back) {
  using ways = std::array<way, 2>;
  const auto both = std::make_shared<ways>(ways{std::move(there), std::move(back)});
  return serialized_rounds(s, [both](unique_fd, role as) {
    way& out = (*both)[as == role::first ? 0 : 1];
    way& in = (*both)[as == role::first ? 1 : 0];
    out.reading.reset();
    in.writing.reset();
    return token_rung(std::move(in.reading), std::move(out.writing));
  });
}

} // namespace

workload futex_rounds(const settings& s) {
  return serialized_rounds(s, [](unique_fd, role) { return futex_rung(); });
}

workload poll_rounds(const settings& s) {
  return serialized_rounds(s, [](unique_fd, role) { return poll_rung(); });
}

workload pipe_rounds(const settings& s) {
  return rounds_over(s, make_pipe(), make_pipe());
}

workload eventfd_rounds(const settings& s) {
  return rounds_over(s, make_eventfd(), make_eventfd());
}

/// The stream socket that the sides are given.
workload uds_rounds(const settings& s) {
  return serialized_rounds(s, [](unique_fd socket, role) { return token_rung(std::move(socket)); });
}

} // namespace bench
