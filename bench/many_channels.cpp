// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "payload.hpp"
#include "rendezvous.hpp"
#include "round_trips.hpp"
#include "run_coroutine.hpp"
#include "side_of_channel.hpp"
#include "temporary_directory.hpp"
#include "workload.hpp"
#include <boost/asio/buffer.hpp>
#include <boost/system/system_error.hpp>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <sysipc_asio/acceptor.hpp>
#include <sysipc_asio/connect.hpp>
#include <system_error>
#include <vector>

/// Echoes over many channels of two processes, each with one thread and one io_context.
namespace bench {
namespace {

namespace asio = boost::asio;
using sysipc_asio::channel;

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    throw std::system_error(errno, std::system_category(), "getrlimit");
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0)
    throw std::system_error(errno, std::system_category(), "setrlimit");
}

/// Each of the clients that are busy makes so many round trips, one after the other.
std::uint64_t share_of(std::uint64_t total, const settings& s) {
  return (total + s.busy_channels - 1) / s.busy_channels;
}

asio::awaitable<void> connect_all(asio::io_context& context, std::string name, const settings& s,
                                  std::vector<channel>& channels) {
  for (unsigned i = 0; i != s.channels; ++i)
    channels.push_back(
        co_await sysipc_asio::async_connect(asio::any_io_executor(context.get_executor()), name,
                                            connect_options_for(s), asio::use_awaitable));
}

asio::awaitable<void> ask(channel& ch, std::size_t size, std::uint64_t count, round_trips* trips) {
  const auto question = make_payload(size);
  std::vector<std::byte> reply(size);
  for (std::uint64_t i = 0; i != count; ++i) {
    const auto start = round_trips::clock::now();
    co_await ch.send(asio::buffer(question));
    expect_size(co_await ch.receive(asio::buffer(reply)), size);
    if (trips != nullptr)
      trips->lap_since(start);
  }
  if (count != 0)
    expect_payload(reply);
}

/// All busy ones at the same time, until each has had its share.
void ask_all(asio::io_context& context, std::vector<channel>& channels, const settings& s,
             std::uint64_t total, round_trips* trips) {
  context.restart();
  for (unsigned i = 0; i != s.busy_channels; ++i)
    asio::co_spawn(context, ask(channels[i], s.size, share_of(total, s), trips), rethrow);
  context.run();
}

side_report run_clients(unique_fd socket, const std::string& name, const settings& s) {
  raise_descriptor_limit();
  asio::io_context context(1);
  std::vector<channel> channels;
  hear(socket.get());
  run_coroutine(context, connect_all(context, name, s, channels));
  ask_all(context, channels, s, s.warmup, nullptr);
  round_trips trips(share_of(s.count, s) * s.busy_channels);
  trips.start();
  ask_all(context, channels, s, s.count, &trips);
  side_report report;
  trips.report_to(report);
  report.backend = channels.front().backend();
  report.fences = channels.front().fences();
  return report;
}

asio::awaitable<void> echo(channel ch, std::size_t size) {
  std::vector<std::byte> message(size);
  try {
    for (;;) {
      const std::size_t n = co_await ch.receive(asio::buffer(message));
      co_await ch.send(asio::buffer(message.data(), n));
    }
  } catch (const boost::system::system_error& end) {
    if (end.code() != asio::error::eof)
      throw;
  }
}

asio::awaitable<void> serve(sysipc_asio::acceptor& acceptor, const settings& s) {
  for (unsigned i = 0; i != s.channels; ++i)
    asio::co_spawn(acceptor.get_executor(),
                   echo(co_await acceptor.async_accept(asio::use_awaitable), s.size), rethrow);
  acceptor.close(); // it would keep the context busy
}

side_report run_server(unique_fd socket, const std::string& name, const settings& s) {
  raise_descriptor_limit();
  asio::io_context context(1);
  sysipc_asio::acceptor acceptor(context, name, listen_options_for(s));
  tell(socket.get());
  run_coroutine(context, serve(acceptor, s)); // and the echoes, until the clients are gone
  return {};
}

} // namespace

workload many_channels_rtt(const settings& s) {
  const auto directory = std::make_shared<temporary_directory>();
  const std::string name = (directory->path() / "scale").string();
  return {
      [=](unique_fd socket) { return run_clients(std::move(socket), name, s); },
      [=, keep = directory](unique_fd socket) { return run_server(std::move(socket), name, s); }};
}

} // namespace bench
