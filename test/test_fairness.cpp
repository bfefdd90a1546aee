// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "every_form.hpp"
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <sysipc_asio/channel_pair.hpp>

using namespace sysipc_asio;
using namespace sysipc_asio::test;
using asio::awaitable;
using asio::use_awaitable;
using asio::ip::tcp;

namespace {

constexpr int tcp_rounds = 200;

awaitable<void> tcp_echo(tcp::socket& socket) {
  char byte[1];
  for (int i = 0; i < tcp_rounds; ++i) {
    co_await asio::async_read(socket, asio::buffer(byte), use_awaitable);
    co_await asio::async_write(socket, asio::buffer(byte), use_awaitable);
  }
}

awaitable<void> tcp_ask(tcp::socket& socket, int& done) {
  char byte[1] = {'x'};
  while (done < tcp_rounds) {
    co_await asio::async_write(socket, asio::buffer(byte), use_awaitable);
    co_await asio::async_read(socket, asio::buffer(byte), use_awaitable);
    ++done;
  }
}

/// Never lacks a message. Ends when TCP is through, or gives it up.
awaitable<void> receive_while_tcp_runs(channel& from, channel& to, const int& done, bool& starved) {
  for (int received = 0; done < tcp_rounds && received < 20'000'000; ++received) {
    from.try_push(1);
    co_await to.pop<int>();
  }
  starved = done < tcp_rounds;
}

} // namespace

BOOST_AUTO_TEST_SUITE(a_coroutine_that_never_lacks_a_message)

BOOST_AUTO_TEST_CASE(lets_a_tcp_echo_in_the_same_context_get_through) {
  two_ends ends;
  tcp::acceptor acceptor(ends.context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  tcp::socket client(ends.context);
  client.connect(acceptor.local_endpoint());
  tcp::socket server = acceptor.accept();
  int done = 0;
  int over = 0;
  bool starved = false;
  const auto finish = [&](const std::exception_ptr& e) {
    BOOST_TEST(!code_of(e));
    ++over;
  };
  asio::co_spawn(ends.context, tcp_echo(server), finish);
  asio::co_spawn(ends.context, tcp_ask(client, done), finish);
  asio::co_spawn(ends.context, receive_while_tcp_runs(ends.here, ends.there, done, starved),
                 finish);
  BOOST_REQUIRE(ends.run_until([&] { return over == 3; }));
  BOOST_TEST(!starved);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(operations_that_spin_in_one_context)

BOOST_AUTO_TEST_CASE(are_counted_while_they_wait_for_their_turn_and_not_afterwards) {
  channel_options options;
  options.policy = wait_policy::busy;
  asio::io_context context;
  const asio::any_io_executor executor = context.get_executor();
  auto& crowd = detail::crowd::of(executor);
  {
    auto first = make_channel_pair(executor, executor, options);
    auto second = make_channel_pair(executor, executor, options);
    int over = 0;
    bool crowded = false;
    const auto finish = [&](const std::exception_ptr&) { ++over; };
    const auto wait_on = [](channel& ch) -> awaitable<void> { co_await ch.pop<int>(); };
    asio::co_spawn(context, wait_on(first.first), finish);
    asio::co_spawn(context, wait_on(second.first), finish);
    for (int i = 0; i != 100; ++i) {
      context.run_one();
      crowded = crowded || crowd.waiting() != 0;
    }
    BOOST_TEST(crowded);
    first.second.try_push(1); // one ends with its message,
    second.first.close();     // one with its channel
    while (over != 2)
      context.run_one();
    BOOST_TEST(crowd.waiting() == 0U);
  }
}

BOOST_AUTO_TEST_SUITE_END()
