// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "numbered_payload.hpp"
#include "round_trips.hpp"
#include "run_coroutine.hpp"
#include "side_of_channel.hpp"
#include "workload.hpp"
#include <boost/asio/buffer.hpp>
#include <sysipc_asio/layout.hpp>
#include <utility>
#include <vector>

/// Large messages through a channel: copied from a buffer, or built in place; read in place.
namespace bench {
namespace {

namespace asio = boost::asio;
using sysipc_asio::channel;

asio::awaitable<void> send(channel& ch, const settings& s) {
  std::vector<std::byte> message(s.size);
  const asio::const_buffer out(message.data(), message.size());
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i) {
    fill_payload(message, i);
    co_await ch.send(out);
  }
}

asio::awaitable<void> send_loans(channel& ch, const settings& s) {
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i) {
    sysipc_asio::loan l = co_await ch.loan(s.size);
    fill_payload(l.bytes(), i);
    co_await ch.send(std::move(l));
  }
}

asio::awaitable<void> receive(channel& ch, const settings& s, side_report& report) {
  auto start = round_trips::clock::now();
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i) {
    if (i == s.warmup)
      start = round_trips::clock::now();
    const sysipc_asio::message m = co_await ch.receive();
    read_payload(m.bytes(), s.size, i, s.receiver);
  }
  report.per_second = rate_since(start, s.count);
}

/// Nothing comes back: that ring is as small as can be.
side_of_channel open(unique_fd socket, const settings& s, role as) {
  return {std::move(socket), s, as, sysipc_asio::layout::min_ring_capacity};
}

workload payload(const settings& s, asio::awaitable<void> (*sender)(channel&, const settings&)) {
  return {[s, sender](unique_fd socket) {
            side_of_channel own = open(std::move(socket), s, role::first);
            run_coroutine(own.context, sender(own.ch, s));
            return own.report();
          },
          [s](unique_fd socket) {
            side_of_channel own = open(std::move(socket), s, role::second);
            side_report report = own.report();
            run_coroutine(own.context, receive(own.ch, s, report));
            return report;
          }};
}

} // namespace

workload channel_payload(const settings& s) {
  return payload(s, send);
}

workload channel_loan_payload(const settings& s) {
  return payload(s, send_loans);
}

} // namespace bench
