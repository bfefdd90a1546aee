// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "payload.hpp"
#include "round_trips.hpp"
#include "silence.hpp"
#include "spinning.hpp"
#include "usage_meter.hpp"
#include "workload.hpp"
#include <boost/asio/buffer.hpp>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <sys/socket.h>
#include <sysipc_asio/ring.hpp>
#include <sysipc_asio/segment.hpp>
#include <sysipc_asio/wait.hpp>
#include <system_error>
#include <vector>

/// Nothing but the rings, between two processes that spin.
namespace bench {
namespace {

namespace asio = boost::asio;
using sysipc_asio::ring_status;

void send_descriptor(int socket, int fd) {
  char byte = 0;
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

unique_fd receive_descriptor(int socket) {
  char byte = 0;
  iovec part{&byte, 1};
  int fd = -1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)]{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  if (::recvmsg(socket, &header, MSG_CMSG_CLOEXEC) != 1)
    throw std::runtime_error("the peer sent no descriptor");
  const cmsghdr* const c = CMSG_FIRSTHDR(&header);
  if (c == nullptr || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
    throw std::runtime_error("the peer sent no descriptor");
  std::memcpy(&fd, CMSG_DATA(c), sizeof fd);
  return unique_fd(fd);
}

/// A side's two segments and its end of each ring.
class rings {
public:
  /// Both sides construct it at the same time. Not before fork(): the mappings are
  /// not inherited.
  rings(unique_fd socket, std::size_t capacity)
      : own(sysipc_asio::segment::create(capacity)), peer(exchange(socket.get())), out(own, peer),
        in(own, peer) {}

  sysipc_asio::segment own;
  sysipc_asio::peer_segment peer;
  sysipc_asio::ring_producer out;
  sysipc_asio::ring_consumer in;

private:
  sysipc_asio::peer_segment exchange(int socket) const {
    send_descriptor(socket, own.native_handle());
    const unique_fd fd = receive_descriptor(socket);
    return sysipc_asio::peer_segment::open(fd.get(), own.ring_capacity());
  }
};

[[noreturn]] void fail() {
  throw std::runtime_error("the ring refused a message");
}

template <typename Idle>
void push(rings& r, const asio::const_buffer& message, Idle idle) {
  for (;;) {
    const ring_status status = r.out.try_push(message);
    if (status == ring_status::ok) [[likely]]
      return;
    if (status != ring_status::would_block)
      fail();
    idle();
  }
}

/// `consumed` is for the pacing only.
template <typename Idle>
void pop(rings& r, const asio::mutable_buffer& message, std::uint64_t consumed, Idle& idle) {
  for (;;) {
    std::size_t n = 0;
    const ring_status status = r.in.try_pop(message, n);
    if (status == ring_status::ok) [[likely]]
      return expect_size(n, message.size());
    if (status != ring_status::would_block)
      fail();
    idle(consumed);
  }
}

template <typename Idle>
side_report ask(unique_fd socket, const settings& s, Idle idle) {
  rings r(std::move(socket), s.capacity);
  round_trips trips(s.count);
  const auto question = make_payload(s.size);
  std::vector<std::byte> answer(s.size);
  const auto trip = [&] {
    push(r, asio::buffer(question), idle);
    pop(r, asio::buffer(answer), 0, idle);
  };
  for (std::uint64_t i = 0; i != s.warmup; ++i)
    trip();
  trips.start();
  for (std::uint64_t i = 0; i != s.count; ++i) {
    trip();
    trips.lap();
  }
  expect_payload(answer);
  side_report report;
  report.fences = s.fences;
  trips.report_to(report);
  return report;
}

template <typename Idle>
side_report answer(unique_fd socket, const settings& s, Idle idle) {
  rings r(std::move(socket), s.capacity);
  std::vector<std::byte> message(s.size);
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i) {
    pop(r, asio::buffer(message), 0, idle);
    push(r, asio::buffer(message), idle);
  }
  return {};
}

template <typename Idle>
side_report send(unique_fd socket, const settings& s, Idle idle) {
  rings r(std::move(socket), s.capacity);
  // The peer never sleeps; the look at its arm word is what a channel pays.
  sysipc_asio::kick_gate gate(r.peer.words().rx_arm, s.fences);
  const auto message = make_payload(s.size);
  side_report report;
  report.fences = s.fences;
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i) {
    if (i == s.warmup)
      be_silent(s);
    push(r, asio::buffer(message), idle);
    if (gate.due())
      ++report.kicks;
  }
  report.kicks_avoided = s.warmup + s.count - report.kicks;
  return report;
}

template <typename Idle>
side_report receive(unique_fd socket, const settings& s, Idle idle) {
  rings r(std::move(socket), s.capacity);
  std::vector<std::byte> message(s.size);
  usage_meter usage;
  auto start = round_trips::clock::now();
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i) {
    if (i == s.warmup) {
      usage = usage_meter();
      start = round_trips::clock::now();
    }
    pop(r, asio::buffer(message), i, idle);
  }
  side_report report;
  report.per_second = rate_since(start, s.count);
  usage.report_to(report);
  expect_payload(message);
  return report;
}

} // namespace

workload ring_rtt(const settings& s) {
  if (s.cpus.shared())
    return {[s](unique_fd socket) { return ask(std::move(socket), s, yield_cpu()); },
            [s](unique_fd socket) { return answer(std::move(socket), s, yield_cpu()); }};
  return {[s](unique_fd socket) { return ask(std::move(socket), s, look_again()); },
          [s](unique_fd socket) { return answer(std::move(socket), s, look_again()); }};
}

workload ring_throughput(const settings& s) {
  if (s.cpus.shared())
    return {[s](unique_fd socket) { return send(std::move(socket), s, yield_cpu()); },
            [s](unique_fd socket) { return receive(std::move(socket), s, yield_cpu()); }};
  return {[s](unique_fd socket) { return send(std::move(socket), s, relax_cpu()); },
          [s](unique_fd socket) { return receive(std::move(socket), s, paced_look()); }};
}

} // namespace bench
