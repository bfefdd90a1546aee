// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "payload.hpp"
#include "round_trips.hpp"
#include "run_coroutine.hpp"
#include "workload.hpp"
#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <vector>

/// What a Unix stream socket gives to coroutines: what a channel replaces.
namespace bench {
namespace {

namespace asio = boost::asio;
using stream_socket = asio::local::stream_protocol::socket;

asio::awaitable<void> ask(stream_socket& socket, const settings& s, side_report& report) {
  round_trips trips(s.count);
  const auto question = make_payload(s.size);
  std::vector<std::byte> reply(s.size);
  const asio::const_buffer out(question.data(), question.size());
  const asio::mutable_buffer in(reply.data(), reply.size());
  for (std::uint64_t i = 0; i != s.warmup; ++i) {
    co_await asio::async_write(socket, out, asio::use_awaitable);
    co_await asio::async_read(socket, in, asio::use_awaitable);
  }
  trips.start();
  for (std::uint64_t i = 0; i != s.count; ++i) {
    co_await asio::async_write(socket, out, asio::use_awaitable);
    co_await asio::async_read(socket, in, asio::use_awaitable);
    trips.lap();
  }
  expect_payload(reply);
  trips.report_to(report);
}

asio::awaitable<void> answer(stream_socket& socket, const settings& s, side_report&) {
  std::vector<std::byte> message(s.size);
  const asio::mutable_buffer in(message.data(), message.size());
  const asio::const_buffer out(in);
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i) {
    co_await asio::async_read(socket, in, asio::use_awaitable);
    co_await asio::async_write(socket, out, asio::use_awaitable);
  }
}

asio::awaitable<void> send(stream_socket& socket, const settings& s, side_report&) {
  const auto message = make_payload(s.size);
  const asio::const_buffer out(message.data(), message.size());
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i)
    co_await asio::async_write(socket, out, asio::use_awaitable);
}

asio::awaitable<void> receive(stream_socket& socket, const settings& s, side_report& report) {
  std::vector<std::byte> message(s.size);
  const asio::mutable_buffer in(message.data(), message.size());
  for (std::uint64_t i = 0; i != s.warmup; ++i)
    co_await asio::async_read(socket, in, asio::use_awaitable);
  const auto start = round_trips::clock::now();
  for (std::uint64_t i = 0; i != s.count; ++i)
    co_await asio::async_read(socket, in, asio::use_awaitable);
  report.per_second = rate_since(start, s.count);
  expect_payload(message);
}

using part = asio::awaitable<void> (*)(stream_socket&, const settings&, side_report&);

side run(const settings& s, part task) {
  return [s, task](unique_fd fd) {
    asio::io_context context(1);
    stream_socket socket(context, asio::local::stream_protocol(), fd.release());
    side_report report;
    run_coroutine(context, task(socket, s, report));
    return report;
  };
}

} // namespace

workload uds_asio_rtt(const settings& s) {
  return {run(s, ask), run(s, answer)};
}

workload uds_asio_throughput(const settings& s) {
  return {run(s, send), run(s, receive)};
}

} // namespace bench
