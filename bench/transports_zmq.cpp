// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "blocking_end.hpp"
#include "payload_stream.hpp"
#include "rendezvous.hpp"
#include "temporary_directory.hpp"
#include "workload.hpp"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <zmq.h>

/// libzmq: a pair of PAIR sockets over ipc://, with its blocking calls.
namespace bench {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + ::zmq_strerror(::zmq_errno()));
}

/// 0MQ's calls end with EINTR when the process was stopped and goes on.
template <typename Call>
void call(const char* name, Call c) {
  while (c() < 0)
    if (::zmq_errno() != EINTR)
      fail(name);
}

struct context_deleter {
  void operator()(void* context) const noexcept { ::zmq_ctx_term(context); }
};
struct socket_deleter {
  void operator()(void* socket) const noexcept { ::zmq_close(socket); }
};

class message {
public:
  message() noexcept { ::zmq_msg_init(&value); }
  message(const message&) = delete;
  message& operator=(const message&) = delete;
  ~message() { ::zmq_msg_close(&value); }

  zmq_msg_t value;
};

class pair_end : public plain_end {
public:
  /// What waits on its way is bounded in messages, `most` on each side.
  pair_end(unique_fd other_side, const std::string& address, std::size_t size, int most, role as)
      : other_side_(std::move(other_side)), context_(::zmq_ctx_new()),
        socket_(context_ ? ::zmq_socket(context_.get(), ZMQ_PAIR) : nullptr),
        payload_(make_payload(size)) {
    if (!socket_)
      fail("zmq_socket");
    set(ZMQ_SNDHWM, most);
    set(ZMQ_RCVHWM, most);
    set(ZMQ_LINGER, 0); // await_received() does better; a failed side ends at once
    if (as == role::first) {
      call("zmq_bind", [&] { return ::zmq_bind(socket_.get(), address.c_str()); });
      tell(other_side_.get());
    } else {
      hear(other_side_.get());
      call("zmq_connect", [&] { return ::zmq_connect(socket_.get(), address.c_str()); });
    }
  }

  void send() {
    send_filled([this](std::span<std::byte> to) {
      std::memcpy(to.data(), payload_.data(), payload_.size());
    });
  }

  /// The library owns what is sent: each message is made anew, filled in place.
  template <typename Fill>
  void send_filled(Fill fill) {
    message m;
    if (::zmq_msg_init_size(&m.value, payload_.size()) != 0)
      fail("zmq_msg_init_size");
    fill(std::span(static_cast<std::byte*>(::zmq_msg_data(&m.value)), payload_.size()));
    send(m);
  }

  void send_back() { send(received_); }

  /// The same message object for all: it lets go of what it held before.
  std::span<const std::byte> receive() {
    call("zmq_msg_recv", [&] { return ::zmq_msg_recv(&received_.value, socket_.get(), 0); });
    return {static_cast<const std::byte*>(::zmq_msg_data(&received_.value)),
            ::zmq_msg_size(&received_.value)};
  }

  void tell_received() const { tell(other_side_.get()); }
  void await_received() const { hear(other_side_.get()); }

private:
  void set(int option, int value) {
    if (::zmq_setsockopt(socket_.get(), option, &value, sizeof value) != 0)
      fail("zmq_setsockopt");
  }

  /// Leaves `m` empty.
  void send(message& m) {
    call("zmq_msg_send", [&] { return ::zmq_msg_send(&m.value, socket_.get(), 0); });
  }

  unique_fd other_side_;
  std::unique_ptr<void, context_deleter> context_;
  std::unique_ptr<void, socket_deleter> socket_;
  message received_;
  std::vector<std::byte> payload_;
};

/// The library's own bound is 1000 messages. Of large ones that would be far more than caches
/// hold, and a sender far ahead of its receiver: then as many as our ring holds, or `least`.
auto opener(const settings& s, std::size_t least) {
  const int most = static_cast<int>(std::clamp<std::size_t>(s.capacity / s.size, least, 1000));
  return [size = s.size, most,
          directory = std::make_shared<temporary_directory>()](unique_fd other_side, role as) {
    return pair_end(std::move(other_side), "ipc://" + (directory->path() / "zmq").string(), size,
                    most, as);
  };
}

constexpr std::size_t least_small_messages = 16;
constexpr std::size_t least_large_messages = 4;

} // namespace

workload zmq_rtt(const settings& s) {
  return blocking_rtt(s, opener(s, least_small_messages));
}

workload zmq_throughput(const settings& s) {
  return blocking_throughput(s, opener(s, least_small_messages));
}

workload zmq_payload(const settings& s) {
  return payload_stream(s, opener(s, least_large_messages));
}

} // namespace bench
