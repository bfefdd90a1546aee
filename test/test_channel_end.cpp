// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "every_form.hpp"
#include <sysipc_asio/error.hpp>

using namespace sysipc_asio;
using namespace sysipc_asio::test;

namespace {

const std::string sixteen = "sixteen bytes, 1";

/// The most sends that may succeed before one reports that the peer is gone.
constexpr int sends_until_noticed = 2;

error_code first_error_of_sending(two_ends& ends, send_form send, channel& ch) {
  error_code ec;
  for (int i = 0; i <= sends_until_noticed && !ec; ++i)
    ec = send(ends, ch, sixteen);
  return ec;
}

} // namespace

BOOST_AUTO_TEST_SUITE(after_shutdown)

BOOST_AUTO_TEST_CASE(every_form_of_sending_gives_shut_down) {
  two_ends ends;
  ends.here.shutdown();
  BOOST_TEST(ends.here.is_open());
  with_each_sending_form([&](send_form send) {
    BOOST_TEST(send(ends, ends.here, sixteen) == asio::error::shut_down);
  });
}

BOOST_AUTO_TEST_CASE(the_peer_gets_eof_in_every_form_but_first_what_was_sent) {
  with_each_receiving_form([](receive_form receive) {
    two_ends ends;
    ends.here.try_send(asio::buffer(sixteen));
    ends.here.shutdown();
    BOOST_TEST(receive(ends, ends.there, 64).bytes == sixteen);
    BOOST_TEST(receive(ends, ends.there, 64).ec == asio::error::eof);
    BOOST_TEST(receive(ends, ends.there, 64).ec == asio::error::eof);
  });
}

BOOST_AUTO_TEST_CASE(the_other_direction_works_in_every_form) {
  two_ends ends;
  ends.here.shutdown();
  with_each_sending_form([&](send_form send) {
    BOOST_TEST(!send(ends, ends.there, sixteen));
    BOOST_TEST(ends.here.try_receive().value().view() == sixteen);
  });
}

BOOST_AUTO_TEST_CASE(of_a_full_ring_everything_still_arrives) {
  two_ends ends;
  const std::size_t sent = fill(ends.here);
  ends.here.shutdown();
  ends.here.shutdown();
  BOOST_TEST(drain(ends.there) == sent);
  BOOST_TEST(thrown_by([&] { ends.there.try_receive(); }) == asio::error::eof);
}

BOOST_AUTO_TEST_CASE(a_waiting_receive_of_the_peer_gets_eof) {
  two_ends ends;
  error_code result;
  ends.there.async_receive([&](error_code ec, const message&) { result = ec; });
  ends.poll();
  BOOST_TEST(!result);
  ends.here.shutdown();
  BOOST_REQUIRE(ends.run_until([&] { return result.failed(); }));
  BOOST_TEST(result == asio::error::eof);
}

BOOST_AUTO_TEST_CASE(an_own_waiting_receive_goes_on) {
  two_ends ends;
  std::string result;
  ends.here.async_receive([&](error_code, const message& m) { result = m.view(); });
  ends.here.shutdown();
  ends.poll();
  ends.there.try_send(asio::buffer(sixteen));
  BOOST_REQUIRE(ends.run_until([&] { return !result.empty(); }));
  BOOST_TEST(result == sixteen);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(after_close)

BOOST_AUTO_TEST_CASE(the_peer_gets_eof_in_every_form_but_first_what_was_sent) {
  with_each_receiving_form([](receive_form receive) {
    two_ends ends;
    ends.here.try_send(asio::buffer(sixteen));
    ends.here.close();
    BOOST_TEST(receive(ends, ends.there, 64).bytes == sixteen);
    BOOST_TEST(receive(ends, ends.there, 64).ec == asio::error::eof);
    BOOST_TEST(receive(ends, ends.there, 64).ec == asio::error::eof);
  });
}

BOOST_AUTO_TEST_CASE(the_peers_sends_soon_give_broken_pipe_in_every_form) {
  with_each_sending_form([](send_form send) {
    two_ends ends;
    ends.here.close();
    BOOST_TEST(first_error_of_sending(ends, send, ends.there) == asio::error::broken_pipe);
    BOOST_TEST(send(ends, ends.there, sixteen) == asio::error::broken_pipe);
  });
}

BOOST_AUTO_TEST_CASE(the_peers_sends_soon_give_broken_pipe_also_when_this_side_was_asleep) {
  with_each_sending_form([](send_form send) {
    two_ends ends;
    ends.here.async_receive([](error_code, const message&) {});
    ends.poll();
    ends.here.close();
    BOOST_TEST(first_error_of_sending(ends, send, ends.there) == asio::error::broken_pipe);
  });
}

BOOST_AUTO_TEST_CASE(the_peers_send_that_waits_for_room_gives_broken_pipe) {
  two_ends ends;
  fill(ends.there);
  error_code result;
  ends.there.async_send(asio::buffer(sixteen), [&](error_code ec, std::size_t) { result = ec; });
  ends.poll();
  BOOST_TEST(!result);
  ends.here.close();
  BOOST_REQUIRE(ends.run_until([&] { return result.failed(); }));
  BOOST_TEST(result == asio::error::broken_pipe);
}

BOOST_AUTO_TEST_CASE(the_peers_wait_for_room_is_over_and_reports_nothing) {
  two_ends ends;
  fill(ends.there);
  std::optional<error_code> result;
  ends.there.async_wait(wait_send, [&](error_code ec) { result = ec; });
  ends.poll();
  BOOST_TEST(!result.has_value());
  ends.here.close();
  BOOST_REQUIRE(ends.run_until([&] { return result.has_value(); }));
  BOOST_TEST(!*result);
}

BOOST_AUTO_TEST_CASE(the_peer_still_receives_after_its_send_has_failed) {
  two_ends ends;
  ends.here.try_push(1);
  ends.here.close();
  first_error_of_sending(ends, send_forms[0].run, ends.there);
  BOOST_TEST(ends.there.try_pop<int>().value() == 1);
  BOOST_TEST(thrown_by([&] { ends.there.try_pop<int>(); }) == asio::error::eof);
}

BOOST_AUTO_TEST_CASE(both_ends_may_close_in_any_order_and_twice) {
  two_ends ends;
  ends.here.close();
  ends.there.close();
  ends.here.close();
  ends.there.close();
  BOOST_TEST(!ends.here.is_open());
  BOOST_TEST(!ends.there.is_open());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(consume)

BOOST_AUTO_TEST_CASE(shows_messages_in_place_and_removes_them) {
  two_ends ends;
  for (int i = 0; i < 5; ++i)
    ends.here.try_push(i);
  int expected = 0;
  const auto check = [&](std::span<const std::byte> bytes) {
    int got = -1;
    BOOST_REQUIRE(bytes.size() == sizeof got);
    std::memcpy(&got, bytes.data(), sizeof got);
    BOOST_TEST(got == expected++);
  };
  BOOST_TEST(ends.there.consume(check, 2) == 2U);
  BOOST_TEST(ends.there.consume(check) == 3U);
  BOOST_TEST(ends.there.consume(check) == 0U);
  BOOST_TEST(ends.there.stats().received.messages == 5U);
}

BOOST_AUTO_TEST_CASE(gives_would_block_only_to_the_error_code) {
  two_ends ends;
  error_code ec;
  const auto ignore = [](std::span<const std::byte>) {};
  BOOST_TEST(ends.there.consume(ignore, 9, ec) == 0U);
  BOOST_TEST(ec == asio::error::would_block);
  BOOST_TEST(ends.there.consume(ignore) == 0U);
}

BOOST_AUTO_TEST_CASE(keeps_the_message_whose_function_threw) {
  two_ends ends;
  for (int i = 0; i < 3; ++i)
    ends.here.try_push(i);
  int calls = 0;
  const auto throws_at_the_second = [&](std::span<const std::byte>) {
    if (++calls == 2)
      throw std::runtime_error("no");
  };
  BOOST_CHECK_THROW(ends.there.consume(throws_at_the_second), std::runtime_error);
  BOOST_TEST(ends.there.try_pop<int>().value() == 1);
  BOOST_TEST(ends.there.try_pop<int>().value() == 2);
  BOOST_TEST(ends.there.stats().received.messages == 3U);
}

BOOST_AUTO_TEST_CASE(reports_the_end_only_when_nothing_was_consumed) {
  two_ends ends;
  ends.here.try_push(1);
  ends.here.shutdown();
  error_code ec = asio::error::fault;
  const auto ignore = [](std::span<const std::byte>) {};
  BOOST_TEST(ends.there.consume(ignore, 9, ec) == 1U);
  BOOST_TEST(!ec);
  BOOST_TEST(ends.there.consume(ignore, 9, ec) == 0U);
  BOOST_TEST(ec == asio::error::eof);
  BOOST_TEST(thrown_by([&] { ends.there.consume(ignore); }) == asio::error::eof);
}

BOOST_AUTO_TEST_CASE(wakes_a_sender_that_waits_for_room) {
  two_ends ends;
  fill(ends.here);
  bool sent = false;
  ends.here.async_push(1, [&](error_code ec) { sent = !ec; });
  ends.poll();
  BOOST_TEST(!sent);
  drain(ends.there);
  BOOST_TEST(ends.run_until([&] { return sent; }));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(wait_for)

struct waited {
  explicit waited(channel& ch, wait_type what) {
    ch.async_wait(what, [this](error_code ec) { result = ec; });
  }
  bool over() const { return result.has_value(); }
  std::optional<error_code> result;
};

BOOST_AUTO_TEST_CASE(receive_completes_when_there_is_a_message_and_takes_nothing) {
  two_ends ends;
  waited first(ends.there, wait_receive);
  ends.poll();
  BOOST_TEST(!first.over());
  ends.here.try_push(1);
  BOOST_REQUIRE(ends.run_until([&] { return first.over(); }));
  waited second(ends.there, wait_receive);
  BOOST_REQUIRE(ends.run_until([&] { return second.over(); }));
  BOOST_TEST(!*first.result);
  BOOST_TEST(!*second.result);
  BOOST_TEST(ends.there.try_pop<int>().value() == 1);
}

BOOST_AUTO_TEST_CASE(receive_completes_without_error_at_the_end) {
  two_ends ends;
  waited end(ends.there, wait_receive);
  ends.poll();
  ends.here.shutdown();
  BOOST_REQUIRE(ends.run_until([&] { return end.over(); }));
  BOOST_TEST(!*end.result);
  BOOST_TEST(thrown_by([&] { ends.there.try_pop<int>(); }) == asio::error::eof);
}

BOOST_AUTO_TEST_CASE(send_completes_at_once_when_the_smallest_message_would_fit) {
  two_ends ends;
  waited room(ends.here, wait_send);
  ends.poll();
  BOOST_TEST(room.over());
}

BOOST_AUTO_TEST_CASE(send_completes_when_the_message_that_was_refused_fits) {
  two_ends ends;
  const std::string large(2000, 'l');
  fill(ends.here, 40);
  error_code ec;
  BOOST_TEST(!ends.here.try_send(asio::buffer(large), ec));
  waited room(ends.here, wait_send);
  ends.poll();
  BOOST_TEST(!room.over());
  // An eighth of the ring is room enough for a small message, not for this one.
  const auto ignore = [](std::span<const std::byte>) {};
  BOOST_TEST(ends.there.consume(ignore, 15) == 15U);
  ends.poll();
  BOOST_TEST(!room.over());
  drain(ends.there);
  BOOST_REQUIRE(ends.run_until([&] { return room.over(); }));
  BOOST_TEST(ends.here.try_send(asio::buffer(large)));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(statistics_of)

BOOST_AUTO_TEST_CASE(both_sides_count_messages_and_bytes) {
  two_ends ends;
  for (std::size_t size : {0U, 7U, 300U})
    ends.here.try_send(asio::buffer(std::string(size, 's')));
  drain(ends.there);
  const auto sent = ends.here.stats().sent;
  const auto received = ends.there.stats().received;
  BOOST_TEST(sent.messages == 3U);
  BOOST_TEST(sent.bytes == 307U);
  BOOST_TEST(received.messages == 3U);
  BOOST_TEST(received.bytes == 307U);
  BOOST_TEST(ends.there.stats().sent.messages == 0U);
}

BOOST_AUTO_TEST_CASE(every_message_either_kicked_or_avoided_it) {
  two_ends ends;
  int received = 0;
  for (int round = 0; round < 10; ++round) {
    ends.there.async_pop<int>([&](error_code ec, int) { received += !ec; });
    ends.poll();
    for (int i = 0; i < 5; ++i)
      ends.here.try_push(i);
    BOOST_REQUIRE(ends.run_until([&] { return received == round + 1; }));
    drain(ends.there);
  }
  const auto sent = ends.here.stats().sent;
  BOOST_TEST(sent.messages == 50U);
  BOOST_TEST(sent.kicks == 10U); // one for each sleep, not one for each message
  BOOST_TEST(sent.kicks + sent.kicks_avoided == sent.messages);
  BOOST_TEST(ends.there.stats().received.sleeps == 10U);
  BOOST_TEST(ends.there.stats().received.empty_wakes == 0U);
}

BOOST_AUTO_TEST_CASE(a_peer_that_does_not_sleep_shows_no_kicks) {
  two_ends ends;
  for (int i = 0; i < 100; ++i) {
    ends.here.try_push(i);
    ends.there.try_pop<int>();
  }
  BOOST_TEST(ends.here.stats().sent.kicks == 0U);
  BOOST_TEST(ends.here.stats().sent.kicks_avoided == 100U);
}

BOOST_AUTO_TEST_CASE(kick_always_kicks_for_every_message) {
  two_ends ends(small_rings(wait_policy::kick_always));
  for (int i = 0; i < 10; ++i)
    ends.here.try_push(i);
  BOOST_TEST(ends.here.stats().sent.kicks == 10U);
  BOOST_TEST(ends.here.stats().sent.kicks_avoided == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
