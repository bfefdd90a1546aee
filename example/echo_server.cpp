// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

/// Sends back what it gets: over channels, TCP and a Unix socket, from one thread.

#include "program.hpp"
#include "session_group.hpp"

#include <boost/asio/write.hpp>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <sysipc_asio/acceptor.hpp>
#include <vector>

namespace {

using namespace example;

/// A listening Unix socket that takes its file with it.
class unix_acceptor : public unix_stream::acceptor {
public:
  unix_acceptor(asio::io_context& io, const unix_stream::endpoint& address)
      : unix_stream::acceptor(io), path_(address.path()) {
    const std::string what = "unix " + path_.string();
    error_code ec;
    unix_stream::socket probe(io);
    probe.connect(address, ec);
    if (!ec)
      throw failure(what, asio::error::address_in_use);
    std::error_code ignored;
    // A plain file refuses connections as well, and is not ours to remove.
    if (ec == asio::error::connection_refused && std::filesystem::is_socket(path_, ignored))
      std::filesystem::remove(path_, ignored);
    listen_on(*this, address, what);
  }

  unix_acceptor(unix_acceptor&&) = default;

  ~unix_acceptor() {
    std::error_code ignored;
    if (is_open()) // not moved from; and still listening, so that nobody else took the path
      std::filesystem::remove(path_, ignored);
  }

private:
  std::filesystem::path path_;
};

asio::awaitable<void> echo(sysipc_asio::channel client) {
  for (;;) {
    const sysipc_asio::message m = co_await client.receive();
    co_await client.send(m.buffer());
  }
}

template <typename Socket>
asio::awaitable<void> echo_stream(Socket client) {
  std::vector<std::byte> chunk(64 * 1024);
  for (;;) {
    const std::size_t n = co_await client.async_read_some(asio::buffer(chunk), asio::deferred);
    co_await asio::async_write(client, asio::buffer(chunk, n), asio::deferred);
  }
}

asio::awaitable<void> echo(tcp::socket client) {
  error_code ignored; // of a client that is gone already, as its session will find
  client.set_option(tcp::no_delay(true), ignored);
  return echo_stream(std::move(client));
}

asio::awaitable<void> echo(unix_stream::socket client) {
  return echo_stream(std::move(client));
}

void serve(const po::variables_map& values) {
  if (values.count("name") + values.count("tcp") + values.count("unix") == 0)
    throw usage_error("at least one of --name, --tcp and --unix is needed");
  sysipc_asio::listen_options options;
  options.channel.policy = wait_policy(values);
  std::optional<tcp::endpoint> tcp_at;
  if (values.count("tcp") != 0)
    tcp_at = tcp_address(values["tcp"].as<std::string>());
  std::optional<unix_stream::endpoint> unix_at;
  if (values.count("unix") != 0)
    unix_at = unix_address(values["unix"].as<std::string>());

  asio::io_context io(1);
  session_group sessions(io, "echo_server");
  const auto serve_clients_of = [&sessions](auto acceptor) {
    sessions.spawn(accept_each(std::move(acceptor), sessions,
                               [](auto client) { return echo(std::move(client)); }));
  };
  if (values.count("name") != 0) {
    const auto& name = values["name"].as<std::string>();
    sysipc_asio::acceptor acceptor(io);
    error_code ec;
    acceptor.open(name, options, ec);
    check(ec, "channel " + name);
    serve_clients_of(std::move(acceptor));
    std::cout << "listening on channel " << name << std::endl;
  }
  if (tcp_at) {
    tcp::acceptor acceptor(io);
    listen_on(acceptor, *tcp_at, "tcp " + values["tcp"].as<std::string>());
    const tcp::endpoint bound = acceptor.local_endpoint();
    serve_clients_of(std::move(acceptor));
    std::cout << "listening on tcp " << bound << std::endl;
  }
  if (unix_at) {
    serve_clients_of(unix_acceptor(io, *unix_at));
    std::cout << "listening on unix " << unix_at->path() << std::endl;
  }
  io.run();
}

} // namespace

int main(int argc, char** argv) {
  return run_program("echo_server", [&] {
    po::options_description known("Usage: echo_server [--name NAME] [--tcp ADDRESS:PORT] "
                                  "[--unix PATH] [--policy POLICY]\n\n"
                                  "Sends back what it gets, until SIGINT or SIGTERM. Options",
                                  100);
    known.add_options()("help", "print this and exit") //
        ("name", po::value<std::string>()->value_name("NAME"),
         "serve channels under NAME: a bare name, @abstract or a path with a slash") //
        ("tcp", po::value<std::string>()->value_name("ADDRESS:PORT"),
         "serve TCP, as in 127.0.0.1:7000 or [::1]:0; port 0 picks one") //
        ("unix", po::value<std::string>()->value_name("PATH"),
         "serve a Unix stream socket") //
        ("policy", po::value<std::string>()->value_name("POLICY")->default_value("adaptive"),
         "how channels wait: adaptive, busy or sleepy");
    po::variables_map values;
    if (parse(argc, argv, known, values))
      serve(values);
  });
}
