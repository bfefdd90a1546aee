// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// Clients that are silent, many, or simply leave; and what is left of a thousand
// that came and went.

#include "listening.hpp"
#include "resources.hpp"
#include <sysipc_asio/handshake.hpp>

using namespace sysipc_asio;
using namespace sysipc_asio::test;
using detail::attach_frame;
using detail::reject_reason;
using detail::welcome_frame;

namespace {

using milliseconds = std::chrono::milliseconds;

/// Silent clients, each after the first hello if `after_hello`.
std::vector<raw_peer> silent_clients(const listening& here, std::size_t n, bool after_hello) {
  std::vector<raw_peer> result;
  for (std::size_t i = 0; i != n; ++i) {
    result.push_back(here.client());
    if (after_hello)
      result.back().send(good_hello());
  }
  return result;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_hand_made_client_that_follows_the_rules_gets_a_channel) {
  listening here;
  const offer own;
  raw_peer client = here.client();
  client.send(good_hello());
  const auto welcome = client.expect<welcome_frame>();
  BOOST_TEST(welcome.abi == layout::abi_version);
  BOOST_TEST(welcome.connector_capacity == 4096U);
  BOOST_TEST(client.reader().descriptor_count() == 3U);
  client.send(attach_frame(), own.descriptors());
  client.expect<detail::ready_frame>();
  channel accepted = here.s.accepted();
  BOOST_TEST(accepted.is_open());
  BOOST_TEST(accepted.credentials().pid == ::getpid());
}

BOOST_AUTO_TEST_CASE(frames_that_were_sent_ahead_are_not_lost) {
  listening here;
  const offer own;
  raw_peer client = here.client();
  client.send(good_hello());
  client.send(attach_frame(), own.descriptors());
  client.expect<welcome_frame>();
  client.expect<detail::ready_frame>();
  BOOST_TEST(here.s.accepted().is_open());
}

BOOST_AUTO_TEST_CASE(a_client_that_never_says_hello_is_told_that_its_time_is_over) {
  listening here(with_timeout(milliseconds(50)));
  raw_peer client = here.client();
  BOOST_TEST(client.refusal() == reject_reason::timeout);
  BOOST_TEST(eventually([&] { return here.s.failed_handshakes() == 1; }));
}

BOOST_AUTO_TEST_CASE(a_client_that_stops_in_its_hello_is_told_that_its_time_is_over) {
  listening here(with_timeout(milliseconds(50)));
  raw_peer client = here.client();
  const byte_string hello = encode(good_hello());
  client.send(std::span(hello).first(39));
  BOOST_TEST(client.refusal() == reject_reason::timeout);
}

BOOST_AUTO_TEST_CASE(a_client_that_never_attaches_is_told_that_its_time_is_over) {
  listening here(with_timeout(milliseconds(50)));
  raw_peer client = here.client();
  client.send(good_hello());
  client.expect<welcome_frame>();
  BOOST_TEST(client.refusal() == reject_reason::timeout);
}

BOOST_AUTO_TEST_CASE(a_client_that_dribbles_does_not_get_more_time) {
  listening here(with_timeout(milliseconds(100)));
  const byte_string hello = encode(good_hello());
  raw_peer client = here.client();
  std::size_t sent = 0;
  // A byte now and then, until it is cut off; the last one never comes.
  BOOST_TEST(eventually([&] {
    std::this_thread::sleep_for(milliseconds(10));
    sent = std::min(sent + 1, hello.size() - 1);
    return !client.send(std::span(hello).subspan(sent - 1, 1));
  }));
}

BOOST_AUTO_TEST_CASE(silent_clients_do_not_keep_others_out) {
  for (const bool after_hello : {false, true}) {
    listening here;
    const auto silent = silent_clients(here, 200, after_hello);
    for (int i = 0; i != 5; ++i)
      BOOST_TEST(serves(here.s));
    // All but the youngest had to go.
    BOOST_TEST(eventually([&] { return here.s.failed_handshakes() >= 200 - 64U; }));
    BOOST_TEST(here.s.failed_handshakes() <= 200U);
  }
}

BOOST_AUTO_TEST_CASE(silent_clients_do_not_keep_others_out_of_a_blocking_accept) {
  const scratch_directory directory;
  asio::io_context context;
  acceptor listener(context, "blocking", with_timeout(std::chrono::seconds(60)));
  std::vector<raw_peer> silent;
  for (int i = 0; i != 100; ++i)
    silent.push_back(raw_peer::connect("blocking"));
  std::optional<channel> client;
  std::thread connecting([&] { client.emplace(connect(context.get_executor(), "blocking")); });
  channel accepted = listener.accept();
  connecting.join();
  BOOST_TEST(can_talk(*client, accepted));
  BOOST_TEST(listener.failed_handshakes() >= 100 - 64U);
}

BOOST_AUTO_TEST_CASE(silent_clients_are_let_go_when_the_acceptor_closes) {
  const scratch_directory directory;
  std::vector<raw_peer> silent;
  const holdings before = holdings::now();
  {
    server s(with_timeout(std::chrono::seconds(60)));
    for (int i = 0; i != 20; ++i)
      silent.push_back(raw_peer::connect(s.name()));
    silent.front().send(good_hello());
    silent.front().expect<welcome_frame>();
  }
  for (auto& client : silent)
    client.refusal();
  silent.clear();
  BOOST_TEST(nothing_leaked_since(before));
}

BOOST_AUTO_TEST_CASE(every_failure_is_counted_once) {
  listening here(with_timeout(milliseconds(50)));
  here.client().close();
  {
    raw_peer silent = here.client();
    silent.refusal();
    raw_peer liar = here.client();
    liar.send(attach_frame());
    liar.refusal();
  }
  BOOST_TEST(eventually([&] { return here.s.failed_handshakes() == 3; }));
  BOOST_TEST(serves(here.s));
  BOOST_TEST(here.s.failed_handshakes() == 3U);
}

BOOST_AUTO_TEST_CASE(a_thousand_clients_that_came_and_went_leave_nothing_behind) {
  const std::size_t clients = sanitized ? 200 : 1000;
  listening here;
  const holdings before = here.before;
  for (std::size_t i = 0; i != clients; ++i) {
    asio::io_context context;
    channel client = connect(context.get_executor(), here.s.name());
    channel accepted = here.s.accepted();
    BOOST_REQUIRE(passes(client, accepted, "one message"));
    (i % 2 == 0 ? client : accepted).close();
  }
  BOOST_TEST(nothing_leaked_since(before));
  BOOST_TEST(here.s.failed_handshakes() == 0U);
}

// More than may be pending; none of them is slow.
BOOST_AUTO_TEST_CASE(many_clients_at_once_are_all_served) {
  listening here;
  running_context context;
  std::mutex mutex;
  std::vector<channel> clients;
  std::vector<error_code> failures;
  for (int i = 0; i != 100; ++i)
    async_connect(asio::any_io_executor(context.get().get_executor()), here.s.name(),
                  [&](error_code ec, channel c) {
                    const std::lock_guard lock(mutex);
                    if (ec)
                      failures.push_back(ec);
                    else
                      clients.push_back(std::move(c));
                  });
  BOOST_TEST(eventually([&] {
    const std::lock_guard lock(mutex);
    return clients.size() + failures.size() == 100;
  }));
  context.finish();
  BOOST_TEST(failures == std::vector<error_code>(), boost::test_tools::per_element());
  for (std::size_t i = 0; i != clients.size(); ++i)
    here.s.accepted();
}

BOOST_AUTO_TEST_CASE(a_blocking_accept_does_not_cut_off_clients_that_are_not_through_yet) {
  const scratch_directory directory;
  asio::io_context context;
  acceptor listener(context, "blocking");
  const offer own;
  raw_peer slow = raw_peer::connect("blocking");
  slow.send(good_hello());
  raw_peer quick = raw_peer::connect("blocking");
  std::thread attaching([&] {
    slow.expect<welcome_frame>();
    quick.send(good_hello());
    quick.expect<welcome_frame>();
    quick.send(attach_frame(), own.descriptors());
  });
  const channel accepted = listener.accept();
  attaching.join();
  BOOST_TEST(accepted.is_open());
  BOOST_TEST(slow.send(attach_frame(), own.descriptors()));
}

BOOST_AUTO_TEST_CASE(a_socketpair_becomes_a_channel) {
  const holdings before = holdings::now();
  {
    running_context context;
    auto [one, other] = socket_pair();
    using socket = asio::local::stream_protocol::socket;
    asio::io_context& c = context.get();
    socket first(c, asio::local::stream_protocol(), one.release());
    socket second(c, asio::local::stream_protocol(), other.release());
    std::optional<channel> connected;
    std::thread connecting([&] {
      connected.emplace(connect_on(asio::any_io_executor(c.get_executor()), std::move(second)));
    });
    channel accepted = accept_on(asio::any_io_executor(c.get_executor()), std::move(first));
    connecting.join();
    BOOST_TEST(can_talk(*connected, accepted));
  }
  BOOST_TEST(nothing_leaked_since(before));
}
