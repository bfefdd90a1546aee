// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

/// Carries TCP connections over channels: one channel for each connection.

#include "program.hpp"
#include "session_group.hpp"

#include <algorithm>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/write.hpp>
#include <cstddef>
#include <sysipc_asio/connect.hpp>
#include <vector>

namespace {

using namespace example;

/// Sends each piece that comes as one message, and ends the channel's side with the socket's.
asio::awaitable<void> socket_to_channel(tcp::socket& from, sysipc_asio::channel& to) {
  std::vector<std::byte> piece(std::min<std::size_t>(64 * 1024, to.max_send_size()));
  for (;;) {
    const auto [ec, n] =
        co_await from.async_read_some(asio::buffer(piece), asio::as_tuple(asio::deferred));
    if (ec == asio::error::eof)
      break;
    if (ec)
      throw boost::system::system_error(ec);
    co_await to.send(asio::buffer(piece, n));
  }
  to.shutdown();
}

/// Writes each message that comes, and ends the socket's side with the channel's.
asio::awaitable<void> channel_to_socket(sysipc_asio::channel& from, tcp::socket& to) {
  for (;;) {
    error_code ec;
    const sysipc_asio::message m = co_await from.receive(ec);
    if (ec == asio::error::eof)
      break;
    if (ec)
      throw boost::system::system_error(ec);
    co_await asio::async_write(to, m.buffer(), asio::deferred);
  }
  error_code ignored; // of a client that left without waiting for the end
  to.shutdown(tcp::socket::shutdown_send, ignored);
}

/// Runs both until both have returned; the first that throws cancels the other and is the reason.
asio::awaitable<void> both(asio::awaitable<void> a, asio::awaitable<void> b) {
  const auto executor = co_await asio::this_coro::executor;
  const auto [order, of_a, of_b] =
      co_await asio::experimental::make_parallel_group(
          asio::co_spawn(executor, std::move(a), asio::deferred),
          asio::co_spawn(executor, std::move(b), asio::deferred))
          .async_wait(asio::experimental::wait_for_one_error(), asio::deferred);
  const auto& first = order.front() == 0 ? of_a : of_b;
  const auto& second = order.front() == 0 ? of_b : of_a;
  if (first || second)
    std::rethrow_exception(first ? first : second);
}

asio::awaitable<void> carry(tcp::socket& socket, const std::string& name) {
  auto [ec, channel] = co_await sysipc_asio::async_connect(socket.get_executor(), name,
                                                           asio::as_tuple(asio::deferred));
  if (ec == asio::error::operation_aborted)
    throw boost::system::system_error(ec);
  check(ec, "channel " + name);
  co_await both(socket_to_channel(socket, channel), channel_to_socket(channel, socket));
}

asio::awaitable<void> session(tcp::socket client, const std::string& name) {
  error_code ignored; // of a client that is gone already, as carry() will find
  client.set_option(tcp::no_delay(true), ignored);
  try {
    co_await carry(client, name);
  } catch (...) {
    // A reset, so that the client does not take this for the orderly end.
    client.set_option(asio::socket_base::linger(true, 0), ignored);
    client.close(ignored);
    throw;
  }
}

void serve(const po::variables_map& values) {
  if (values.count("name") == 0 || values.count("tcp") == 0)
    throw usage_error("both --name and --tcp are needed");
  const auto& name = values["name"].as<std::string>();
  const auto& text = values["tcp"].as<std::string>();
  if (name.empty())
    throw usage_error("--name must not be empty");

  asio::io_context io(1);
  session_group sessions(io, "bridge");
  tcp::acceptor acceptor(io);
  listen_on(acceptor, tcp_address(text), "tcp " + text);
  const tcp::endpoint bound = acceptor.local_endpoint();
  sessions.spawn(accept_each(std::move(acceptor), sessions, [&name](tcp::socket client) {
    return session(std::move(client), name);
  }));
  std::cout << "listening on tcp " << bound << std::endl;
  io.run();
}

} // namespace

int main(int argc, char** argv) {
  return run_program("bridge", [&] {
    po::options_description known("Usage: bridge --tcp ADDRESS:PORT --name NAME\n\n"
                                  "Carries the bytes of TCP clients to the channel NAME and back, "
                                  "until SIGINT or SIGTERM.\nOptions",
                                  100);
    known.add_options()("help", "print this and exit") //
        ("tcp", po::value<std::string>()->value_name("ADDRESS:PORT"),
         "listen here, as in 127.0.0.1:7000 or [::1]:0; port 0 picks one") //
        ("name", po::value<std::string>()->value_name("NAME"),
         "the channel to connect each client to: a bare name, @abstract or a path with a slash");
    po::variables_map values;
    if (parse(argc, argv, known, values))
      serve(values);
  });
}
