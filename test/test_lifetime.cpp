// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "every_form.hpp"
#include "giving_way.hpp"
#include "resources.hpp"
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <memory>

using namespace sysipc_asio;
using namespace sysipc_asio::test;

BOOST_AUTO_TEST_SUITE(a_channel)

BOOST_AUTO_TEST_CASE(may_be_destroyed_while_both_directions_wait) {
  two_ends ends;
  fill(ends.here);
  int aborted = 0;
  {
    channel gone(std::move(ends.here));
    gone.async_push(1, [&](error_code ec) { aborted += ec == asio::error::operation_aborted; });
    gone.async_pop<int>(
        [&](error_code ec, int) { aborted += ec == asio::error::operation_aborted; });
    ends.poll();
  }
  BOOST_TEST(aborted == 0);
  ends.poll();
  BOOST_TEST(aborted == 2);
}

BOOST_AUTO_TEST_CASE(may_be_destroyed_with_operations_started_just_now) {
  two_ends ends;
  int aborted = 0;
  ends.there.try_push(1);
  {
    channel gone(std::move(ends.here));
    gone.async_push(1, [&](error_code ec) { aborted += ec == asio::error::operation_aborted; });
    gone.async_pop<int>(
        [&](error_code ec, int) { aborted += ec == asio::error::operation_aborted; });
  }
  ends.poll();
  BOOST_TEST(aborted == 2);
}

BOOST_AUTO_TEST_CASE(may_be_destroyed_when_the_kick_came_but_the_handler_did_not_run) {
  for (bool receive_first : {false, true}) {
    two_ends ends;
    two_ends* const e = &ends;
    int called = 0;
    // Two sleepers that are woken together: the first to run destroys both channels.
    const auto handler = [e, &called](error_code, int) {
      ++called;
      e->here = channel(e->context);
      e->there = channel(e->context);
    };
    ends.here.async_pop<int>(handler);
    ends.there.async_pop<int>(handler);
    ends.poll();
    (receive_first ? ends.here : ends.there).try_push(1);
    (receive_first ? ends.there : ends.here).try_push(2);
    BOOST_TEST(ends.run_until([&] { return called == 2; }));
  }
}

BOOST_AUTO_TEST_CASE(may_be_moved_while_operations_wait) {
  two_ends ends;
  int got = 0;
  ends.there.async_pop<int>([&](error_code ec, int value) { got = ec ? -1 : value; });
  ends.poll();
  channel moved(std::move(ends.there));
  auto onto = std::make_unique<channel>(ends.context);
  *onto = std::move(moved);
  ends.here.try_push(5);
  BOOST_REQUIRE(ends.run_until([&] { return got != 0; }));
  BOOST_TEST(got == 5);
}

BOOST_AUTO_TEST_CASE(may_be_destroyed_in_its_own_handler) {
  two_ends ends;
  auto own = std::make_unique<channel>(std::move(ends.there));
  bool called = false;
  own->async_pop<int>([&](error_code ec, int) {
    own.reset();
    called = !ec;
  });
  ends.here.try_push(1);
  BOOST_TEST(ends.run_until([&] { return called; }));
}

BOOST_AUTO_TEST_CASE(may_be_destroyed_in_the_handler_of_its_other_direction) {
  two_ends ends;
  fill(ends.there);
  auto own = std::make_unique<channel>(std::move(ends.there));
  error_code sent;
  bool received = false;
  own->async_push(1, [&](error_code ec) { sent = ec; });
  own->async_pop<int>([&](error_code, int) {
    own.reset();
    received = true;
  });
  ends.here.try_push(1);
  BOOST_REQUIRE(ends.run_until([&] { return received && sent.failed(); }));
  BOOST_TEST(sent == asio::error::operation_aborted);
}

BOOST_AUTO_TEST_CASE(may_be_destroyed_while_an_operation_gives_others_their_turn) {
  with_each_awaited([](const awaited& what) {
    two_ends ends;
    auto own = std::make_unique<channel>(std::move(ends.there));
    std::optional<error_code> outcome;
    asio::co_spawn(ends.context,
                   give_way(
                       what, *own, ends.here, [&] { own.reset(); }, outcome),
                   asio::detached);
    BOOST_REQUIRE(ends.run_until([&] { return outcome.has_value(); }));
    BOOST_TEST(*outcome == asio::error::operation_aborted);
    BOOST_TEST(thrown_by([&] { ends.here.try_pop<int>(); }) == asio::error::eof);
  });
}

BOOST_AUTO_TEST_CASE(may_be_moved_while_an_operation_gives_others_their_turn) {
  with_each_awaited([](const awaited& what) {
    two_ends ends;
    auto own = std::make_unique<channel>(std::move(ends.there));
    std::optional<error_code> outcome;
    const auto move = [&] {
      ends.there = std::move(*own);
      own.reset();
    };
    asio::co_spawn(ends.context, give_way(what, *own, ends.here, move, outcome), asio::detached);
    BOOST_REQUIRE(ends.run_until([&] { return outcome.has_value(); }));
    BOOST_TEST(!*outcome);
    BOOST_TEST(drain(ends.here) == (!what.receives && what.transfers ? 1U : 0U));
    BOOST_TEST(drain(ends.there) == (what.receives && !what.transfers ? 1U : 0U));
  });
}

BOOST_AUTO_TEST_CASE(may_lose_its_peer_in_a_handler) {
  two_ends ends;
  error_code result;
  ends.there.async_pop<int>([&](error_code, int) {
    ends.here = channel(ends.context);
    ends.there.async_pop<int>([&](error_code ec, int) { result = ec; });
  });
  ends.here.try_push(1);
  BOOST_REQUIRE(ends.run_until([&] { return result.failed(); }));
  BOOST_TEST(result == asio::error::eof);
}

BOOST_AUTO_TEST_CASE(may_be_owned_by_its_handler) {
  two_ends ends;
  int got = 0;
  {
    auto own = std::make_shared<channel>(std::move(ends.there));
    own->async_pop<int>([&got, own](error_code, int value) { got = value; });
  }
  ends.here.try_push(4);
  BOOST_REQUIRE(ends.run_until([&] { return got != 0; }));
  BOOST_TEST(got == 4);
  BOOST_TEST(thrown_by([&] { ends.here.try_pop<int>(); }) == asio::error::eof);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(an_io_context)

asio::awaitable<void> receive_for_ever(channel ch, std::shared_ptr<int> alive) {
  for (;;) {
    message m = co_await ch.receive();
    *alive += static_cast<int>(m.size());
  }
}

asio::awaitable<void> send_for_ever(channel ch, std::shared_ptr<int> alive) {
  for (;;) {
    co_await ch.push(*alive);
    ++*alive;
  }
}

asio::awaitable<void> wait_for_ever(channel ch, std::shared_ptr<int> alive) {
  for (;;) {
    co_await ch.wait(wait_receive);
    ++*alive;
  }
}

BOOST_AUTO_TEST_CASE(may_be_destroyed_with_coroutines_that_wait_in_channels_of_theirs) {
  const auto alive = std::make_shared<int>(0);
  {
    two_ends ends, others;
    asio::co_spawn(ends.context, receive_for_ever(std::move(ends.here), alive), asio::detached);
    asio::co_spawn(ends.context, send_for_ever(std::move(ends.there), alive), asio::detached);
    asio::co_spawn(others.context, wait_for_ever(std::move(others.here), alive), asio::detached);
    asio::co_spawn(others.context, send_for_ever(std::move(others.there), alive), asio::detached);
    for (int i = 0; i < 100; ++i)
      ends.context.poll_one();
    others.context.poll_one();
    BOOST_TEST(alive.use_count() > 1);
  }
  BOOST_TEST(alive.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(may_be_destroyed_with_coroutines_that_sleep_in_channels_of_others) {
  const auto alive = std::make_shared<int>(0);
  {
    two_ends ends;
    asio::co_spawn(ends.context, receive_for_ever(std::move(ends.here), alive), asio::detached);
    ends.poll();
    asio::co_spawn(ends.context, send_for_ever(std::move(ends.there), alive), asio::detached);
    BOOST_TEST(alive.use_count() > 1);
  }
  BOOST_TEST(alive.use_count() == 1);
}

asio::awaitable<void> give_way_in_its_own(const awaited& what, channel ch, channel peer,
                                          bool& in_the_turn, std::shared_ptr<int>) {
  std::optional<error_code> outcome;
  const std::function<void()> note = [&] { in_the_turn = true; };
  co_await give_way(what, ch, peer, note, outcome);
  BOOST_ERROR("went on after the turn");
}

BOOST_AUTO_TEST_CASE(may_be_destroyed_with_coroutines_that_give_others_their_turn) {
  with_each_awaited([](const awaited& what) {
    const auto alive = std::make_shared<int>(0);
    const resources before = resources::now();
    {
      two_ends ends;
      bool in_the_turn = false;
      asio::co_spawn(ends.context,
                     give_way_in_its_own(what, std::move(ends.there), std::move(ends.here),
                                         in_the_turn, alive),
                     asio::detached);
      while (!in_the_turn)
        BOOST_REQUIRE(ends.context.poll_one() == 1U);
    }
    BOOST_TEST(alive.use_count() == 1);
    BOOST_TEST(resources::now().descriptors == before.descriptors);
  });
}

BOOST_AUTO_TEST_CASE(gives_back_all_descriptors_of_its_channels) {
  const auto use_a_channel = [] {
    two_ends ends;
    fill(ends.there);
    ends.there.async_pop<int>([](error_code, int) {});
    ends.there.async_push(1, [](error_code) {});
    ends.poll();
  };
  use_a_channel(); // what is made once for the process
  const resources before = resources::now();
  for (int i = 0; i < 10; ++i)
    use_a_channel();
  BOOST_TEST(resources::now().descriptors == before.descriptors);
}

BOOST_AUTO_TEST_CASE(is_left_without_the_descriptors_of_a_channel_that_is_closed) {
  two_ends ends;
  ends.here.close();
  ends.there.close();
  ends.here = channel(ends.context);
  ends.there = channel(ends.context);
  const resources before = resources::now();
  {
    two_ends more;
    more.there.async_pop<int>([](error_code, int) {});
    more.poll();
    more.here = channel(more.context);
    more.there = channel(more.context);
    more.poll();
  }
  BOOST_TEST(resources::now().descriptors == before.descriptors);
}

BOOST_AUTO_TEST_SUITE_END()
