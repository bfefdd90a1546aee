// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "payload.hpp"
#include "round_trips.hpp"
#include "run_coroutine.hpp"
#include "side_of_channel.hpp"
#include "silence.hpp"
#include "usage_meter.hpp"
#include "workload.hpp"
#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <span>
#include <vector>

/// The channel as a program would use it: co_await on both sides.
namespace bench {
namespace {

namespace asio = boost::asio;
using sysipc_asio::channel;

asio::awaitable<void> ask(channel& ch, const settings& s, round_trips& trips) {
  const auto question = make_payload(s.size);
  std::vector<std::byte> reply(s.size);
  const asio::const_buffer out(question.data(), question.size());
  const asio::mutable_buffer in(reply.data(), reply.size());
  for (std::uint64_t i = 0; i != s.warmup; ++i) {
    co_await ch.send(out);
    co_await ch.receive(in);
  }
  trips.start();
  for (std::uint64_t i = 0; i != s.count; ++i) {
    if (wants_silence(s))
      co_await async_silence(s, trips);
    co_await ch.send(out);
    expect_size(co_await ch.receive(in), s.size);
    trips.lap();
  }
  expect_payload(reply);
}

asio::awaitable<void> answer(channel& ch, const settings& s) {
  std::vector<std::byte> message(s.size);
  const asio::mutable_buffer in(message.data(), message.size());
  const asio::const_buffer out(in);
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i) {
    expect_size(co_await ch.receive(in), s.size);
    co_await ch.send(out);
  }
}

asio::awaitable<void> send(channel& ch, const settings& s, side_report& report) {
  const auto message = make_payload(s.size);
  const asio::const_buffer out(message.data(), message.size());
  for (std::uint64_t i = 0; i != s.warmup; ++i)
    co_await ch.send(out);
  be_silent(s);
  const auto before = ch.stats().sent;
  for (std::uint64_t i = 0; i != s.count; ++i)
    co_await ch.send(out);
  const auto after = ch.stats().sent;
  report.kicks = after.kicks - before.kicks;
  report.kicks_avoided = after.kicks_avoided - before.kicks_avoided;
}

/// Sends a batch without co_await, and then gives the others their turn.
asio::awaitable<void> send_batch(channel& ch, asio::const_buffer out, std::uint64_t count) {
  constexpr std::uint64_t batch = 256;
  for (std::uint64_t sent = 0; sent != count;) {
    const std::uint64_t end = std::min(count, sent + batch);
    while (sent != end && ch.try_send(out))
      ++sent;
    co_await ch.wait(sysipc_asio::wait_send);
  }
}

asio::awaitable<void> send_in_batches(channel& ch, const settings& s, side_report& report) {
  const auto message = make_payload(s.size);
  const asio::const_buffer out(message.data(), message.size());
  co_await send_batch(ch, out, s.warmup);
  const auto before = ch.stats().sent;
  co_await send_batch(ch, out, s.count);
  const auto after = ch.stats().sent;
  report.kicks = after.kicks - before.kicks;
  report.kicks_avoided = after.kicks_avoided - before.kicks_avoided;
}

asio::awaitable<void> receive(channel& ch, const settings& s, side_report& report) {
  std::vector<std::byte> message(s.size);
  const asio::mutable_buffer in(message.data(), message.size());
  for (std::uint64_t i = 0; i != s.warmup; ++i)
    co_await ch.receive(in);
  const auto sleeps_before = ch.stats().received.sleeps;
  const usage_meter usage;
  const auto start = round_trips::clock::now();
  for (std::uint64_t i = 0; i != s.count; ++i)
    expect_size(co_await ch.receive(in), s.size);
  report.per_second = rate_since(start, s.count);
  usage.report_to(report);
  report.sleeps = ch.stats().received.sleeps - sleeps_before;
  expect_payload(message);
}

/// Consumes `count` messages in place, a batch at a time.
asio::awaitable<void> consume(channel& ch, std::vector<std::byte>& message, std::uint64_t count) {
  constexpr std::uint64_t batch = 256;
  const auto take = [&message](std::span<const std::byte> payload) {
    expect_size(payload.size(), message.size());
    take_payload(message.data(), payload.data(), payload.size());
  };
  while (count != 0) {
    co_await ch.wait(sysipc_asio::wait_receive);
    count -= ch.consume(take, std::min(batch, count));
  }
}

asio::awaitable<void> receive_in_place(channel& ch, const settings& s, side_report& report) {
  std::vector<std::byte> message(s.size);
  co_await consume(ch, message, s.warmup);
  const auto sleeps_before = ch.stats().received.sleeps;
  const auto start = round_trips::clock::now();
  co_await consume(ch, message, s.count);
  report.per_second = rate_since(start, s.count);
  report.sleeps = ch.stats().received.sleeps - sleeps_before;
  expect_payload(message);
}

using measured = asio::awaitable<void> (*)(channel&, const settings&, side_report&);

side_report measure(unique_fd socket, const settings& s, role as, measured task) {
  side_of_channel side(std::move(socket), s, as);
  side_report report = side.report();
  run_coroutine(side.context, task(side.ch, s, report));
  return report;
}

side_report run_ask(unique_fd socket, const settings& s) {
  side_of_channel side(std::move(socket), s, role::first);
  round_trips trips(s.count);
  run_coroutine(side.context, ask(side.ch, s, trips));
  side_report report = side.report();
  trips.report_to(report);
  return report;
}

side_report run_answer(unique_fd socket, const settings& s) {
  side_of_channel side(std::move(socket), s, role::second);
  run_coroutine(side.context, answer(side.ch, s));
  return side.report();
}

workload throughput(const settings& s, measured sender, measured receiver) {
  return {
      [s, sender](unique_fd socket) { return measure(std::move(socket), s, role::first, sender); },
      [s, receiver](unique_fd socket) {
        return measure(std::move(socket), s, role::second, receiver);
      },
  };
}

} // namespace

workload channel_rtt(const settings& s) {
  return {[s](unique_fd socket) { return run_ask(std::move(socket), s); },
          [s](unique_fd socket) { return run_answer(std::move(socket), s); }};
}

workload channel_throughput(const settings& s) {
  return throughput(s, send, receive);
}

workload channel_consume_throughput(const settings& s) {
  return throughput(s, send_in_batches, receive_in_place);
}

} // namespace bench
