// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// The other process of the tests: connects to NAME and does what it is told.

#include "numbered.hpp"
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <sysipc_asio/acceptor.hpp>
#include <sysipc_asio/connect.hpp>
#include <unistd.h>

using namespace sysipc_asio;

namespace {

void send_numbered(channel& ch, std::uint64_t count) {
  std::vector<std::byte> payload;
  for (std::uint64_t n = 0; n != count; ++n) {
    test::make_numbered(n, payload);
    error_code ec;
    ch.blocking_send(asio::buffer(payload), ec);
    if (ec)
      return; // the test is over
  }
}

/// Receives until the end; the number of messages.
std::uint64_t receive_numbered(channel& ch, error_code& ec) {
  test::numbered_stream stream;
  for (;;) {
    const message m = ch.blocking_receive(ec);
    if (ec)
      return stream.count();
    if (!stream.take(m.bytes())) {
      std::fputs("peer: a message is wrong\n", stderr);
      std::exit(3);
    }
  }
}

void sleep_for_good(channel& ch) {
  ch.blocking_push('s');
  for (;;)
    ::pause();
}

void echo(channel& ch) {
  error_code ec;
  for (;;) {
    const message m = ch.blocking_receive(ec);
    if (!ec)
      ch.blocking_send(m.buffer(), ec);
    if (ec)
      return;
  }
}

/// Exit status 0 if the other side ends as it should after `count` messages.
int receive_to_eof(channel& ch, std::uint64_t count) {
  error_code ec;
  const bool all = receive_numbered(ch, ec) == count;
  return all && ec == asio::error::eof ? 0 : 4;
}

/// Has a child which lives on when this process is killed.
[[noreturn]] void fork_and_sleep(channel& ch) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60); // in case nobody kills it
    for (;;)
      ::pause();
  }
  std::printf("%d\n", static_cast<int>(child));
  std::fflush(stdout);
  for (;;) {
    ch.blocking_push('s');
    ch.blocking_pop<char>();
  }
}

/// Waits for a byte on standard input, connects, and prints how that went.
int try_once(std::string_view name) {
  char byte = 0;
  std::puts("ready");
  std::fflush(stdout);
  if (::read(0, &byte, 1) != 1)
    return 5;
  asio::io_context context;
  error_code ec;
  connect_options options;
  options.timeout = std::chrono::seconds(30);
  channel ch = connect(context.get_executor(), name, options, ec);
  if (!ec)
    ch.blocking_push('t', ec);
  std::printf("%s:%d\n", ec.category().name(), ec.value());
  return 0;
}

int run(std::string_view what, const char* name, std::uint64_t count) {
  if (what == "try")
    return try_once(name);
  asio::io_context context;
  if (what == "serve") { // one client after the other
    acceptor a(context, name);
    std::puts("ready");
    std::fflush(stdout);
    for (;;) {
      channel ch = a.accept();
      echo(ch);
    }
  }
  channel ch = connect(context.get_executor(), name);
  if (what == "flood")
    send_numbered(ch, ~std::uint64_t{0});
  else if (what == "sink")
    for (;;)
      ch.blocking_receive();
  else if (what == "echo")
    echo(ch);
  else if (what == "sleeper")
    sleep_for_good(ch);
  else if (what == "receive")
    return receive_to_eof(ch, count);
  else if (what == "forker")
    fork_and_sleep(ch);
  else if (what == "send") // and close
    send_numbered(ch, count);
  else if (what == "half") { // shuts its own direction down, and receives on
    send_numbered(ch, count);
    ch.shutdown();
    return receive_to_eof(ch, count);
  } else
    return 2;
  return 0;
}

} // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fputs("usage: sysipc_test_peer WHAT NAME [COUNT]\n", stderr);
    return 2;
  }
  return run(argv[1], argv[2], argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0);
} catch (const std::exception& e) {
  std::fprintf(stderr, "peer: %s\n", e.what());
  return 1;
}
