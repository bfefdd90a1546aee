// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "every_form.hpp"
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <random>
#include <sysipc_asio/awaitable_operators.hpp>
#include <variant>

using namespace sysipc_asio;
using namespace sysipc_asio::test;
using namespace boost::asio::experimental::awaitable_operators;
using asio::awaitable;
using asio::use_awaitable;

namespace {

awaitable<void> nothing() {
  co_return;
}

asio::steady_timer expired(two_ends& ends) {
  return asio::steady_timer(ends.context, std::chrono::seconds(-1));
}
asio::steady_timer far_away(two_ends& ends) {
  return asio::steady_timer(ends.context, std::chrono::hours(1));
}

} // namespace

BOOST_AUTO_TEST_SUITE(one_of_two)

awaitable<void> receive_or_timer(two_ends& ends, asio::steady_timer& timer, std::size_t& winner) {
  auto r = co_await (ends.there.receive() || timer.async_wait(use_awaitable));
  winner = r.index();
}

BOOST_AUTO_TEST_CASE(is_the_message_that_is_there) {
  two_ends ends;
  ends.here.try_push(1);
  asio::steady_timer timer = far_away(ends);
  std::size_t winner = 9;
  BOOST_TEST(!run(ends, receive_or_timer(ends, timer, winner)));
  BOOST_TEST(winner == 0U);
  BOOST_TEST(!ends.there.try_receive().has_value());
}

BOOST_AUTO_TEST_CASE(is_the_timer_when_there_is_no_message_and_the_receive_is_over) {
  two_ends ends;
  asio::steady_timer timer = expired(ends);
  std::size_t winner = 9;
  BOOST_TEST(!run(ends, receive_or_timer(ends, timer, winner)));
  BOOST_TEST(winner == 1U);
  ends.here.try_push(1);
  BOOST_TEST(ends.there.try_pop<int>().value() == 1);
}

awaitable<void> send_or_timer(two_ends& ends, asio::steady_timer& timer, std::size_t& winner) {
  auto r = co_await (ends.here.push(1) || timer.async_wait(use_awaitable));
  winner = r.index();
}

BOOST_AUTO_TEST_CASE(is_the_timer_when_there_is_no_room_and_nothing_is_sent) {
  two_ends ends;
  const std::size_t filled = fill(ends.here);
  asio::steady_timer timer = expired(ends);
  std::size_t winner = 9;
  BOOST_TEST(!run(ends, send_or_timer(ends, timer, winner)));
  BOOST_TEST(winner == 1U);
  BOOST_TEST(drain(ends.there) == filled);
}

awaitable<void> receive_from_either(channel& a, channel& b, std::size_t& winner) {
  auto r = co_await (a.receive() || b.receive());
  winner = r.index();
}

awaitable<void> async_receive_from_either(channel& a, channel& b, std::size_t& winner) {
  auto r = co_await (a.async_receive(use_awaitable) || b.async_receive(use_awaitable));
  winner = r.index();
}

BOOST_AUTO_TEST_CASE(of_two_ready_receives_the_loser_has_consumed_nothing) {
  two_ends ends;
  ends.here.try_push(1);
  ends.there.try_push(2);
  std::size_t winner = 9;
  BOOST_TEST(!run(ends, receive_from_either(ends.here, ends.there, winner)));
  BOOST_TEST(drain(ends.here) + drain(ends.there) == 1U);
}

BOOST_AUTO_TEST_CASE(of_two_ready_async_receives_the_loser_has_consumed_nothing) {
  two_ends ends;
  ends.here.try_push(1);
  ends.there.try_push(2);
  std::size_t winner = 9;
  BOOST_TEST(!run(ends, async_receive_from_either(ends.here, ends.there, winner)));
  BOOST_TEST(drain(ends.here) + drain(ends.there) == 1U);
}

awaitable<void> nothing_or_receive(channel& ch, std::size_t& winner) {
  auto r = co_await (nothing() || ch.receive());
  winner = r.index();
}

BOOST_AUTO_TEST_CASE(may_be_done_at_once_and_then_the_other_has_consumed_nothing) {
  two_ends ends;
  ends.here.try_push(1);
  std::size_t winner = 9;
  BOOST_TEST(!run(ends, nothing_or_receive(ends.there, winner)));
  BOOST_TEST(drain(ends.there) == (winner == 0 ? 1U : 0U));
}

awaitable<void> nothing_or_send(channel& ch, std::size_t& winner) {
  auto r = co_await (nothing() || ch.push(1));
  winner = r.index();
}

BOOST_AUTO_TEST_CASE(may_be_done_at_once_and_then_the_other_has_sent_nothing) {
  two_ends ends;
  std::size_t winner = 9;
  BOOST_TEST(!run(ends, nothing_or_send(ends.here, winner)));
  BOOST_TEST(drain(ends.there) == (winner == 0 ? 0U : 1U));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(both)

awaitable<void> receive_both(two_ends& ends, int& sum) {
  auto r = co_await (ends.here.pop<int>() && ends.there.pop<int>());
  sum = std::get<0>(r) + std::get<1>(r);
}

awaitable<void> send_and_receive(two_ends& ends, int& got) {
  got = co_await (ends.here.push(5) && ends.there.pop<int>());
}

BOOST_AUTO_TEST_CASE(are_awaited_by_and) {
  two_ends ends;
  ends.here.try_push(1);
  ends.there.try_push(2);
  int sum = 0;
  BOOST_TEST(!run(ends, receive_both(ends, sum)));
  BOOST_TEST(sum == 3);
  int got = 0;
  BOOST_TEST(!run(ends, send_and_receive(ends, got)));
  BOOST_TEST(got == 5);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(a_hundred_thousand_times)

using number = std::uint64_t;

/// Sends 0, 1, 2, ... now and then, from a handler that posts itself again.
class sender {
public:
  explicit sender(two_ends& ends) : ends_(ends) {}
  void again() {
    if (stopped_)
      return;
    error_code ec;
    if (random_() % 3 == 0 && ends_.here.try_push(sent_, ec))
      ++sent_;
    asio::post(ends_.context, [this] { again(); });
  }
  void stop() { stopped_ = true; }
  number sent() const { return sent_; }

private:
  two_ends& ends_;
  std::minstd_rand random_;
  number sent_ = 0;
  bool stopped_ = false;
};

constexpr int iterations = 100000;

awaitable<void> pop_or_timer(two_ends& ends, sender& s, number& next, int& expiries) {
  asio::steady_timer timer(ends.context);
  for (int i = 0; i < iterations; ++i) {
    timer.expires_after(std::chrono::nanoseconds(0));
    auto r = co_await (ends.there.pop<number>() || timer.async_wait(use_awaitable));
    if (r.index() == 1)
      ++expiries;
    else
      BOOST_REQUIRE(std::get<0>(r) == next++);
  }
  s.stop();
}

awaitable<void> timer_or_pop(two_ends& ends, sender& s, number& next, int& expiries) {
  asio::steady_timer timer(ends.context);
  for (int i = 0; i < iterations; ++i) {
    timer.expires_after(std::chrono::nanoseconds(0));
    auto r = co_await (timer.async_wait(use_awaitable) || ends.there.pop<number>());
    if (r.index() == 0)
      ++expiries;
    else
      BOOST_REQUIRE(std::get<1>(r) == next++);
  }
  s.stop();
}

awaitable<void> async_pop_or_timer(two_ends& ends, sender& s, number& next, int& expiries) {
  asio::steady_timer timer(ends.context);
  for (int i = 0; i < iterations; ++i) {
    timer.expires_after(std::chrono::nanoseconds(0));
    auto r =
        co_await (ends.there.async_pop<number>(use_awaitable) || timer.async_wait(use_awaitable));
    if (r.index() == 1)
      ++expiries;
    else
      BOOST_REQUIRE(std::get<0>(r) == next++);
  }
  s.stop();
}

template <typename Coroutine>
void require_that_nothing_is_lost_or_doubled(Coroutine coroutine) {
  two_ends ends;
  sender s(ends);
  number next = 0;
  int expiries = 0;
  s.again();
  BOOST_TEST(!run(ends, coroutine(ends, s, next, expiries)));
  BOOST_TEST(expiries > 0);
  BOOST_TEST(next > 0U);
  while (const auto rest = ends.there.try_pop<number>())
    BOOST_REQUIRE(*rest == next++);
  BOOST_TEST(next == s.sent());
}

BOOST_AUTO_TEST_CASE(pop_or_timer_loses_and_doubles_nothing) {
  require_that_nothing_is_lost_or_doubled(pop_or_timer);
}
BOOST_AUTO_TEST_CASE(timer_or_pop_loses_and_doubles_nothing) {
  require_that_nothing_is_lost_or_doubled(timer_or_pop);
}
BOOST_AUTO_TEST_CASE(async_pop_or_timer_loses_and_doubles_nothing) {
  require_that_nothing_is_lost_or_doubled(async_pop_or_timer);
}

BOOST_AUTO_TEST_SUITE_END()
