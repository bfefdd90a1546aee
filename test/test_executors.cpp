// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "tracker_executor.hpp"
#include "two_ends.hpp"
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/strand.hpp>
#include <optional>
#include <sysipc_asio/channel_pair.hpp>
#include <sysipc_asio/error.hpp>

using namespace sysipc_asio;
using namespace sysipc_asio::test;

namespace {

/// The states that an operation can be in when it is started, each with how to end it.
struct situation {
  const char* name;
  void (*before)(two_ends&);
  void (*after)(two_ends&);
};
void nothing(two_ends&) {}

const situation situations[] = {
    {"a message is there", [](two_ends& ends) { ends.here.try_push(1); }, nothing},
    {"a message comes later", nothing, [](two_ends& ends) { ends.here.try_push(1); }},
    {"it is cancelled", nothing, [](two_ends& ends) { ends.there.cancel(); }},
    {"the channel is closed", nothing, [](two_ends& ends) { ends.there.close(); }},
    {"the peer closes", nothing, [](two_ends& ends) { ends.here.close(); }},
    {"the channel is not open", [](two_ends& ends) { ends.there.close(); }, nothing},
    {"the channel never was open", [](two_ends& ends) { ends.there = channel(ends.context); },
     nothing},
    {"another operation is in progress",
     [](two_ends& ends) { ends.there.async_receive([](error_code, const message&) {}); },
     [](two_ends& ends) { ends.there.cancel(); }},
};

template <typename F>
void in_each_situation(F f) {
  for (const situation& s : situations)
    BOOST_TEST_CONTEXT(s.name) {
      two_ends ends;
      f(ends, s);
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(the_handler)

BOOST_AUTO_TEST_CASE(runs_on_its_associated_executor) {
  in_each_situation([](two_ends& ends, const situation& s) {
    track t;
    s.before(ends);
    bool called = false;
    ends.there.async_receive(asio::bind_executor(tracker_executor(ends.context.get_executor(), t),
                                                 [&](error_code, const message&) {
                                                   called = true;
                                                   BOOST_TEST(t.inside > 0);
                                                 }));
    s.after(ends);
    BOOST_TEST(ends.run_until([&] { return called; }));
  });
}

BOOST_AUTO_TEST_CASE(runs_on_the_channels_executor_if_it_has_none) {
  for (bool ready : {false, true}) {
    asio::io_context context;
    track t;
    const tracker_executor executor(context.get_executor(), t);
    auto ends = make_channel_pair(executor, executor, small_rings());
    if (ready)
      ends.first.try_push(1);
    bool called = false;
    ends.second.async_receive([&](error_code, const message&) {
      called = true;
      BOOST_TEST(t.inside > 0);
    });
    if (!ready)
      ends.first.try_push(1);
    while (!called && context.run_one_for(std::chrono::seconds(20)) != 0)
      ;
    BOOST_TEST(called);
  }
}

BOOST_AUTO_TEST_CASE(never_runs_inside_the_initiating_function) {
  in_each_situation([](two_ends& ends, const situation& s) {
    s.before(ends);
    bool called = false;
    bool initiating = false;
    // Also when the executor would allow it: inside a handler of the same context.
    asio::post(ends.context, [&] {
      initiating = true;
      ends.there.async_receive([&](error_code, const message&) {
        BOOST_TEST(!initiating);
        called = true;
      });
      initiating = false;
    });
    ends.poll();
    s.after(ends);
    BOOST_TEST(ends.run_until([&] { return called; }));
  });
}

BOOST_AUTO_TEST_CASE(never_runs_inside_cancel_close_or_the_destructor) {
  for (int how : {0, 1, 2}) {
    two_ends ends;
    bool called = false;
    ends.there.async_receive([&](error_code ec, const message&) {
      BOOST_TEST(ec == asio::error::operation_aborted);
      called = true;
    });
    asio::post(ends.context, [&] {
      if (how == 0)
        ends.there.cancel();
      else if (how == 1)
        ends.there.close();
      else
        ends.there = channel(ends.context);
      BOOST_TEST(!called);
    });
    BOOST_TEST(ends.run_until([&] { return called; }));
  }
}

BOOST_AUTO_TEST_CASE(runs_in_its_strand) {
  two_ends ends;
  auto strand = asio::make_strand(ends.context);
  for (bool ready : {false, true}) {
    bool called = false;
    if (ready)
      ends.here.try_push(1);
    ends.there.async_receive(asio::bind_executor(strand, [&](error_code, const message&) {
      called = true;
      BOOST_TEST(strand.running_in_this_thread());
    }));
    if (!ready)
      ends.here.try_push(1);
    BOOST_TEST(ends.run_until([&] { return called; }));
  }
}

BOOST_AUTO_TEST_CASE(runs_in_the_strand_of_its_channel) {
  asio::io_context context;
  auto strand = asio::make_strand(context);
  auto ends = make_channel_pair(strand, context.get_executor(), small_rings());
  bool called = false;
  ends.first.async_receive([&](error_code, const message&) {
    called = true;
    BOOST_TEST(strand.running_in_this_thread());
  });
  ends.second.try_push(1);
  context.run();
  BOOST_TEST(called);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(the_channels_executor)

using io_channel = basic_channel<asio::io_context::executor_type>;

static_assert(std::is_same_v<channel::executor_type, asio::any_io_executor>);
static_assert(
    std::is_same_v<channel::rebind_executor<asio::io_context::executor_type>::other, io_channel>);
static_assert(!std::is_copy_constructible_v<channel>);
static_assert(std::is_nothrow_move_constructible_v<channel>);
static_assert(!std::is_constructible_v<io_channel, channel&&>, "any_io_executor is wider");

BOOST_AUTO_TEST_CASE(may_be_a_static_type_and_converts_to_a_wider_one) {
  asio::io_context context;
  auto ends = make_channel_pair(context.get_executor(), context.get_executor(), small_rings());
  static_assert(std::is_same_v<decltype(ends.first), io_channel>);
  bool called = false;
  ends.second.async_pop<int>([&](error_code ec, int) { called = !ec; });
  channel wider(std::move(ends.second));
  BOOST_TEST((wider.get_executor() == asio::any_io_executor(context.get_executor())));
  BOOST_TEST(!ends.second.is_open());
  ends.first.try_push(1);
  context.run();
  BOOST_TEST(called);
  ends.first.try_push(2);
  BOOST_TEST(wider.try_pop<int>().value() == 2);
}

BOOST_AUTO_TEST_CASE(is_the_one_that_was_given) {
  asio::io_context context;
  channel from_context(context);
  channel from_executor(context.get_executor());
  BOOST_TEST((from_context.get_executor() == context.get_executor()));
  BOOST_TEST((from_executor.get_executor() == from_context.get_executor()));
}

BOOST_AUTO_TEST_CASE(stays_with_a_channel_that_was_moved_from) {
  two_ends ends;
  const channel taken(std::move(ends.here));
  BOOST_TEST((ends.here.get_executor() == taken.get_executor()));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(run)

BOOST_AUTO_TEST_CASE(returns_at_once_when_a_channel_is_idle) {
  two_ends ends;
  BOOST_TEST(ends.context.run() == 0U);
  ends.here.try_push(1);
  ends.there.try_pop<int>();
  ends.context.restart();
  BOOST_TEST(ends.context.run() == 0U);
}

BOOST_AUTO_TEST_CASE(does_not_return_while_an_operation_waits) {
  for (wait_policy policy : {wait_policy::adaptive, wait_policy::busy, wait_policy::sleepy}) {
    two_ends ends(small_rings(policy));
    bool called = false;
    ends.there.async_receive([&](error_code, const message&) { called = true; });
    for (int i = 0; i < 10; ++i)
      ends.context.poll_one();
    BOOST_TEST(!ends.context.stopped());
    ends.here.try_push(1);
    ends.context.run();
    BOOST_TEST(called);
    BOOST_TEST(ends.context.stopped());
  }
}

BOOST_AUTO_TEST_CASE(waits_for_a_handler_on_another_context) {
  asio::io_context handlers;
  two_ends ends;
  bool called = false;
  ends.there.async_receive(asio::bind_executor(handlers.get_executor(),
                                               [&](error_code, const message&) { called = true; }));
  BOOST_TEST(handlers.poll() == 0U);
  BOOST_TEST(!handlers.stopped());
  ends.here.try_push(1);
  ends.poll();
  BOOST_TEST(!called);
  handlers.run();
  BOOST_TEST(called);
  ends.context.restart();
  ends.context.run();
}

BOOST_AUTO_TEST_CASE(returns_after_close_with_both_directions_waiting) {
  two_ends ends;
  fill(ends.here);
  int aborted = 0;
  ends.here.async_push(1, [&](error_code ec) { aborted += ec == asio::error::operation_aborted; });
  ends.here.async_pop<int>(
      [&](error_code ec, int) { aborted += ec == asio::error::operation_aborted; });
  ends.poll();
  ends.here.close();
  ends.context.restart();
  ends.context.run();
  BOOST_TEST(aborted == 2);
}

BOOST_AUTO_TEST_SUITE_END()
