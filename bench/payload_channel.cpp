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

/// Large messages through a channel, from a buffer into a buffer.
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

asio::awaitable<void> receive(channel& ch, const settings& s, side_report& report) {
  std::vector<std::byte> message(s.size);
  const asio::mutable_buffer in(message.data(), message.size());
  auto start = round_trips::clock::now();
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i) {
    if (i == s.warmup)
      start = round_trips::clock::now();
    const std::size_t n = co_await ch.receive(in);
    read_payload(std::span(message).first(n), s.size, i, s.receiver);
  }
  report.per_second = rate_since(start, s.count);
}

/// Nothing comes back: that ring is as small as can be.
side_of_channel open(unique_fd socket, const settings& s, role as) {
  return {std::move(socket), s, as, sysipc_asio::layout::min_ring_capacity};
}

} // namespace

workload channel_payload(const settings& s) {
  return {[s](unique_fd socket) {
            side_of_channel own = open(std::move(socket), s, role::first);
            run_coroutine(own.context, send(own.ch, s));
            return own.report();
          },
          [s](unique_fd socket) {
            side_of_channel own = open(std::move(socket), s, role::second);
            side_report report = own.report();
            run_coroutine(own.context, receive(own.ch, s, report));
            return report;
          }};
}

} // namespace bench
