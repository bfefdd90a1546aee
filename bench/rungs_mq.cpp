// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "rungs_mq.hpp"
#include "serialized_rounds.hpp"
#include "workload.hpp"
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <mqueue.h>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>

/// POSIX message queues, one each way.
namespace bench {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::system_category(), what);
}

class queue {
public:
  /// Nobody else will open it: it loses its name at once.
  queue() {
    const std::string name = "/sysipc-bench-" + std::to_string(::getpid());
    mq_attr attributes{};
    attributes.mq_maxmsg = 1;
    attributes.mq_msgsize = 1;
    value_ = ::mq_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attributes);
    if (value_ < 0)
      fail("mq_open");
    ::mq_unlink(name.c_str());
  }
  queue(const queue&) = delete;
  queue& operator=(const queue&) = delete;
  ~queue() { ::mq_close(value_); }

  void send() const {
    const char token = 1;
    while (::mq_send(value_, &token, 1, 0) != 0)
      if (errno != EINTR)
        fail("mq_send");
  }

  void receive() const {
    char token = 0;
    while (::mq_receive(value_, &token, 1, nullptr) != 1)
      if (errno != EINTR)
        fail("mq_receive");
  }

private:
  mqd_t value_ = -1;
};

using queues = std::array<queue, 2>;

class queue_rung : public plain_rung {
public:
  queue_rung(std::shared_ptr<queues> both, role as)
      : both_(std::move(both)), out_((*both_)[as == role::first ? 0 : 1]),
        in_((*both_)[as == role::first ? 1 : 0]) {}

  void wake(round_word&) const { out_.send(); }
  void await(round_word&, std::uint32_t) const { in_.receive(); }

private:
  std::shared_ptr<queues> both_;
  const queue& out_;
  const queue& in_;
};

} // namespace

std::string why_no_mq() {
  try {
    const queues both;
    return {};
  } catch (const std::system_error& failure) {
    return std::string("no POSIX message queues here: ") + failure.what();
  }
}

workload mq_rounds(const settings& s) {
  const auto both = std::make_shared<queues>();
  return serialized_rounds(s, [both](unique_fd, role as) { return queue_rung(both, as); });
}

} // namespace bench
