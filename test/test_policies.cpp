// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "every_form.hpp"
#include <boost/asio/co_spawn.hpp>
#include <thread>

using namespace sysipc_asio;
using namespace sysipc_asio::test;
using asio::awaitable;

namespace {

/// Calls `f` with the options of each policy and each kind of fence.
template <typename F>
void with_each_policy(F f) {
  for (wait_policy policy : all_policies)
    for (fence_mode fences : both_fences)
      BOOST_TEST_CONTEXT(policy << ", " << fences) {
        f(small_rings(policy, fences));
      }
}

awaitable<void> ask(channel& ch, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await ch.push(i);
    int answer = co_await ch.pop<int>();
    BOOST_REQUIRE(answer == i + 1);
  }
}

awaitable<void> answer(channel& ch, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    int question = co_await ch.pop<int>();
    co_await ch.push(question + 1);
  }
}

awaitable<void> send_stream(channel& ch, int n) {
  for (int i = 0; i < n; ++i)
    co_await ch.push(i);
}

awaitable<void> receive_stream(channel& ch, int n) {
  for (int i = 0; i < n; ++i) {
    int got = co_await ch.pop<int>();
    BOOST_REQUIRE(got == i);
  }
}

/// Runs two coroutines, each with one end.
void run_both(two_ends& ends, awaitable<void> first, awaitable<void> second) {
  int over = 0;
  const auto done = [&](const std::exception_ptr& e) {
    BOOST_TEST(!code_of(e));
    ++over;
  };
  asio::co_spawn(ends.context, std::move(first), done);
  asio::co_spawn(ends.context, std::move(second), done);
  BOOST_REQUIRE(ends.run_until([&] { return over == 2; }));
}

} // namespace

BOOST_AUTO_TEST_SUITE(in_every_policy)

BOOST_AUTO_TEST_CASE(the_fences_are_what_both_sides_ask_for) {
  two_ends forced(small_rings(wait_policy::adaptive, fence_mode::symmetric));
  BOOST_TEST(forced.here.fences() == fence_mode::symmetric);
  BOOST_TEST(forced.there.fences() == fence_mode::symmetric);
  two_ends free(small_rings(wait_policy::adaptive, fence_mode::asymmetric));
  BOOST_TEST(free.here.fences() == free.there.fences());
}

BOOST_AUTO_TEST_CASE(coroutines_of_one_thread_play_ping_pong) {
  with_each_policy([](const channel_options& options) {
    two_ends ends(options);
    run_both(ends, ask(ends.here, 500), answer(ends.there, 500));
  });
}

BOOST_AUTO_TEST_CASE(coroutines_of_one_thread_stream_through_a_small_ring) {
  with_each_policy([](const channel_options& options) {
    two_ends ends(options);
    run_both(ends, send_stream(ends.here, 5000), receive_stream(ends.there, 5000));
    BOOST_TEST(ends.there.stats().received.messages == 5000U);
  });
}

BOOST_AUTO_TEST_CASE(coroutines_stream_both_ways_at_once) {
  with_each_policy([](const channel_options& options) {
    two_ends ends(options);
    int over = 0;
    const auto done = [&](const std::exception_ptr& e) {
      BOOST_TEST(!code_of(e));
      ++over;
    };
    asio::co_spawn(ends.context, send_stream(ends.here, 2000), done);
    asio::co_spawn(ends.context, receive_stream(ends.there, 2000), done);
    asio::co_spawn(ends.context, send_stream(ends.there, 2000), done);
    asio::co_spawn(ends.context, receive_stream(ends.here, 2000), done);
    BOOST_REQUIRE(ends.run_until([&] { return over == 4; }));
  });
}

BOOST_AUTO_TEST_CASE(senders_that_wait_in_both_full_directions_are_woken) {
  with_each_policy([](const channel_options& options) {
    two_ends ends(options);
    const std::size_t filled = fill(ends.here) + fill(ends.there);
    int sent = 0;
    ends.here.async_push(1, [&](error_code ec) { sent += !ec; });
    ends.there.async_push(2, [&](error_code ec) { sent += !ec; });
    for (int i = 0; i < 10; ++i)
      ends.context.poll_one();
    BOOST_TEST(sent == 0);
    std::size_t received = drain(ends.here) + drain(ends.there);
    BOOST_REQUIRE(ends.run_until([&] { return sent == 2; }));
    received += drain(ends.here) + drain(ends.there);
    BOOST_TEST(received == filled + 2);
  });
}

BOOST_AUTO_TEST_CASE(a_waiting_receive_hears_of_shutdown_and_of_close) {
  with_each_policy([](const channel_options& options) {
    for (bool close : {false, true}) {
      two_ends ends(options);
      error_code result;
      ends.there.async_pop<int>([&](error_code ec, int) { result = ec; });
      for (int i = 0; i < 10; ++i)
        ends.context.poll_one();
      close ? ends.here.close() : ends.here.shutdown();
      BOOST_REQUIRE(ends.run_until([&] { return result.failed(); }));
      BOOST_TEST(result == asio::error::eof);
    }
  });
}

BOOST_AUTO_TEST_CASE(a_waiting_send_hears_of_close) {
  with_each_policy([](const channel_options& options) {
    two_ends ends(options);
    fill(ends.there);
    error_code result;
    ends.there.async_push(1, [&](error_code ec) { result = ec; });
    for (int i = 0; i < 10; ++i)
      ends.context.poll_one();
    ends.here.close();
    BOOST_REQUIRE(ends.run_until([&] { return result.failed(); }));
    BOOST_TEST(result == asio::error::broken_pipe);
  });
}

BOOST_AUTO_TEST_CASE(blocking_threads_play_ping_pong) {
  with_each_policy([](const channel_options& options) {
    two_ends ends(options);
    bool right = true;
    std::thread other([&] {
      for (int i = 0; i < 500; ++i)
        ends.there.blocking_push(ends.there.blocking_pop<int>() + 1);
    });
    for (int i = 0; i < 500; ++i) {
      ends.here.blocking_push(i);
      right = right && ends.here.blocking_pop<int>() == i + 1;
    }
    other.join();
    BOOST_TEST(right);
  });
}

BOOST_AUTO_TEST_CASE(blocking_threads_stream_through_a_small_ring) {
  with_each_policy([](const channel_options& options) {
    two_ends ends(options);
    constexpr int n = 20000;
    std::thread sender([&] {
      for (int i = 0; i < n; ++i)
        ends.here.blocking_push(i);
      ends.here.shutdown();
    });
    int right = 0;
    error_code ec;
    for (int got = ends.there.blocking_pop<int>(ec); !ec; got = ends.there.blocking_pop<int>(ec))
      right += got == right;
    sender.join();
    BOOST_TEST(ec == asio::error::eof);
    BOOST_TEST(right == n);
    const auto sent = ends.here.stats().sent;
    BOOST_TEST(sent.messages == static_cast<std::uint64_t>(n));
    BOOST_TEST(sent.kicks + sent.kicks_avoided >= sent.messages);
    BOOST_TEST(sent.kicks + sent.kicks_avoided <= sent.messages + 1); // the shutdown's
    if (options.policy == wait_policy::busy)
      BOOST_TEST(sent.kicks == 0U);
    if (options.policy == wait_policy::kick_always)
      BOOST_TEST(sent.kicks >= sent.messages);
  });
}

BOOST_AUTO_TEST_CASE(a_blocked_thread_hears_of_close) {
  with_each_policy([](const channel_options& options) {
    two_ends ends(options);
    fill(ends.there);
    error_code received, sent;
    std::thread receiver([&] { ends.there.blocking_receive(received); });
    std::thread sender([&] { ends.there.blocking_push(1, sent); });
    ends.here.close();
    receiver.join();
    sender.join();
    BOOST_TEST(received == asio::error::eof);
    BOOST_TEST(sent == asio::error::broken_pipe);
  });
}

BOOST_AUTO_TEST_SUITE_END()
