// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_STREAM_COROUTINES_HPP
#define SYSIPC_BENCH_STREAM_COROUTINES_HPP

#include "payload.hpp"
#include "round_trips.hpp"
#include "silence.hpp"
#include "usage_meter.hpp"
#include "workload.hpp"
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cstdint>
#include <vector>

/// The four parts of the benchmarks, over Asio's stream sockets.
namespace bench {

template <typename Socket>
boost::asio::awaitable<void> stream_ask(Socket& socket, const settings& s, side_report& report) {
  round_trips trips(s.count);
  const auto question = make_payload(s.size);
  std::vector<std::byte> reply(s.size);
  const boost::asio::const_buffer out(question.data(), question.size());
  const boost::asio::mutable_buffer in(reply.data(), reply.size());
  for (std::uint64_t i = 0; i != s.warmup; ++i) {
    co_await boost::asio::async_write(socket, out, boost::asio::use_awaitable);
    co_await boost::asio::async_read(socket, in, boost::asio::use_awaitable);
  }
  trips.start();
  for (std::uint64_t i = 0; i != s.count; ++i) {
    if (wants_silence(s))
      co_await async_silence(s, trips);
    co_await boost::asio::async_write(socket, out, boost::asio::use_awaitable);
    co_await boost::asio::async_read(socket, in, boost::asio::use_awaitable);
    trips.lap();
  }
  expect_payload(reply);
  trips.report_to(report);
}

template <typename Socket>
boost::asio::awaitable<void> stream_answer(Socket& socket, const settings& s, side_report&) {
  std::vector<std::byte> message(s.size);
  const boost::asio::mutable_buffer in(message.data(), message.size());
  const boost::asio::const_buffer out(in);
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i) {
    co_await boost::asio::async_read(socket, in, boost::asio::use_awaitable);
    co_await boost::asio::async_write(socket, out, boost::asio::use_awaitable);
  }
}

template <typename Socket>
boost::asio::awaitable<void> stream_send(Socket& socket, const settings& s, side_report&) {
  const auto message = make_payload(s.size);
  const boost::asio::const_buffer out(message.data(), message.size());
  for (std::uint64_t i = 0; i != s.warmup; ++i)
    co_await boost::asio::async_write(socket, out, boost::asio::use_awaitable);
  be_silent(s);
  for (std::uint64_t i = 0; i != s.count; ++i)
    co_await boost::asio::async_write(socket, out, boost::asio::use_awaitable);
}

template <typename Socket>
boost::asio::awaitable<void> stream_receive(Socket& socket, const settings& s,
                                            side_report& report) {
  std::vector<std::byte> message(s.size);
  const boost::asio::mutable_buffer in(message.data(), message.size());
  for (std::uint64_t i = 0; i != s.warmup; ++i)
    co_await boost::asio::async_read(socket, in, boost::asio::use_awaitable);
  const usage_meter usage;
  const auto start = round_trips::clock::now();
  for (std::uint64_t i = 0; i != s.count; ++i)
    co_await boost::asio::async_read(socket, in, boost::asio::use_awaitable);
  report.per_second = rate_since(start, s.count);
  usage.report_to(report);
  expect_payload(message);
}

} // namespace bench

#endif
