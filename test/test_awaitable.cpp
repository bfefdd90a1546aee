// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// Built a second time with SYSIPC_ASIO_NO_AWAITABLE_FAST_PATH.

#include "every_form.hpp"
#include "giving_way.hpp"
#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <sysipc_asio/acceptor.hpp>
#include <sysipc_asio/awaitable_operators.hpp>
#include <sysipc_asio/connect.hpp>
#include <sysipc_asio/error.hpp>
#include <thread>

using namespace sysipc_asio;
using namespace sysipc_asio::test;
using asio::awaitable;

#if defined(SYSIPC_ASIO_NO_AWAITABLE_FAST_PATH) && defined(SYSIPC_ASIO_HAS_AWAITABLE_FAST_PATH)
#error "SYSIPC_ASIO_NO_AWAITABLE_FAST_PATH has no effect"
#endif

namespace {

struct finished {
  void operator()(const std::exception_ptr& e) { *result = code_of(e); }
  std::optional<error_code>* result;
};

/// A coroutine that runs, and how it ended.
class running {
public:
  running(two_ends& ends, awaitable<void> coroutine) {
    asio::co_spawn(ends.context, std::move(coroutine),
                   asio::bind_cancellation_slot(signal_.slot(), finished{&result_}));
  }
  running(const running&) = delete;
  running& operator=(const running&) = delete;

  bool over() const { return result_.has_value(); }
  error_code result() const { return result_.value(); }
  void cancel(asio::cancellation_type type) { signal_.emit(type); }

private:
  asio::cancellation_signal signal_;
  std::optional<error_code> result_;
};

awaitable<void> ask(channel& ch, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await ch.push(i);
    const int answer = co_await ch.pop<int>();
    BOOST_REQUIRE(answer == i + 1);
  }
}

awaitable<void> answer(channel& ch, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const int question = co_await ch.pop<int>();
    co_await ch.push(question + 1);
  }
}

awaitable<void> receive_text(channel& ch, std::string& to) {
  message m = co_await ch.receive();
  to = m.view();
}

awaitable<void> receive_text_or_error(channel& ch, error_code& ec) {
  message m = co_await ch.receive(ec);
  BOOST_TEST(m.empty());
}

awaitable<void> wait_and_consume(channel& ch, std::size_t& consumed) {
  co_await ch.wait(wait_receive);
  consumed = ch.consume([](std::span<const std::byte>) {});
}

awaitable<void> send_text(channel& ch, std::string text) {
  co_await ch.send(asio::buffer(text));
}

} // namespace

BOOST_AUTO_TEST_SUITE(co_awaited)

BOOST_AUTO_TEST_CASE(pushes_and_pops_make_a_ping_pong) {
  two_ends ends;
  running asking(ends, ask(ends.here, 1000));
  running answering(ends, answer(ends.there, 1000));
  BOOST_REQUIRE(ends.run_until([&] { return asking.over() && answering.over(); }));
  BOOST_TEST(!asking.result());
  BOOST_TEST(!answering.result());
}

BOOST_AUTO_TEST_CASE(receive_suspends_until_there_is_a_message) {
  two_ends ends;
  std::string text;
  running receiving(ends, receive_text(ends.there, text));
  ends.poll();
  BOOST_TEST(!receiving.over());
  ends.here.try_send(asio::buffer("hello", 5));
  BOOST_REQUIRE(ends.run_until([&] { return receiving.over(); }));
  BOOST_TEST(text == "hello");
}

BOOST_AUTO_TEST_CASE(send_suspends_until_there_is_room) {
  two_ends ends;
  const std::size_t before = fill(ends.here);
  running sending(ends, send_text(ends.here, "last"));
  ends.poll();
  BOOST_TEST(!sending.over());
  const auto ignore = [](std::span<const std::byte>) {};
  BOOST_TEST(ends.there.consume(ignore, before) == before);
  BOOST_REQUIRE(ends.run_until([&] { return sending.over(); }));
  BOOST_TEST(ends.there.try_receive().value().view() == "last");
}

BOOST_AUTO_TEST_CASE(wait_suspends_and_leaves_the_messages_to_consume) {
  two_ends ends;
  std::size_t consumed = 0;
  running waiting(ends, wait_and_consume(ends.there, consumed));
  ends.poll();
  ends.here.try_push(1);
  ends.here.try_push(2);
  BOOST_REQUIRE(ends.run_until([&] { return waiting.over(); }));
  BOOST_TEST(consumed == 2U);
}

BOOST_AUTO_TEST_CASE(forms_throw_also_after_they_were_suspended) {
  two_ends ends;
  std::string text;
  running receiving(ends, receive_text(ends.there, text));
  ends.poll();
  ends.here.shutdown();
  BOOST_REQUIRE(ends.run_until([&] { return receiving.over(); }));
  BOOST_TEST(receiving.result() == asio::error::eof);
}

BOOST_AUTO_TEST_CASE(forms_with_an_error_code_set_it_also_after_they_were_suspended) {
  two_ends ends;
  error_code ec;
  running receiving(ends, receive_text_or_error(ends.there, ec));
  ends.poll();
  ends.here.shutdown();
  BOOST_REQUIRE(ends.run_until([&] { return receiving.over(); }));
  BOOST_TEST(!receiving.result());
  BOOST_TEST(ec == asio::error::eof);
}

BOOST_AUTO_TEST_CASE(forms_find_another_operation_in_progress) {
  two_ends ends;
  ends.there.async_receive([](error_code, const message&) {});
  error_code ec;
  running receiving(ends, receive_text_or_error(ends.there, ec));
  BOOST_REQUIRE(ends.run_until([&] { return receiving.over(); }));
  BOOST_TEST(ec == error::operation_in_progress);
}

BOOST_AUTO_TEST_CASE(forms_are_aborted_with_their_coroutine_and_take_nothing) {
  two_ends ends;
  std::string text;
  running receiving(ends, receive_text(ends.there, text));
  ends.poll();
  receiving.cancel(asio::cancellation_type::terminal);
  ends.here.try_send(asio::buffer("stays", 5));
  BOOST_REQUIRE(ends.run_until([&] { return receiving.over(); }));
  BOOST_TEST(receiving.result() == asio::error::operation_aborted);
  BOOST_TEST(ends.there.try_receive().value().view() == "stays");
}

awaitable<void> be_cancelled_and_receive(asio::cancellation_signal& signal, channel& ch,
                                         error_code& ec) {
  signal.emit(asio::cancellation_type::terminal);
  try {
    message m = co_await ch.receive();
  } catch (const boost::system::system_error& e) {
    ec = e.code();
  }
  // In Boost 1.81 the end of a coroutine may be a co_await, which would throw, too.
  co_await asio::this_coro::throw_if_cancelled(false);
}

BOOST_AUTO_TEST_CASE(forms_do_not_begin_in_a_coroutine_that_is_cancelled_already) {
  two_ends ends;
  ends.here.try_send(asio::buffer("stays", 5));
  asio::cancellation_signal signal;
  error_code ec;
  std::optional<error_code> result;
  asio::co_spawn(ends.context, be_cancelled_and_receive(signal, ends.there, ec),
                 asio::bind_cancellation_slot(signal.slot(), finished{&result}));
  BOOST_REQUIRE(ends.run_until([&] { return result.has_value(); }));
  BOOST_TEST(ec == asio::error::operation_aborted);
  BOOST_TEST(ends.there.try_receive().value().view() == "stays");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(without_the_scheduler)

constexpr int budget = detail::completion_budget;

/// Completions in a row.
#if defined(SYSIPC_ASIO_HAS_AWAITABLE_FAST_PATH)
constexpr int in_a_row = budget - 1;
#else
constexpr int in_a_row = 0;
#endif

/// Receives `n` messages that are there; `seen` is how many had been received when
/// a handler that was posted before the first one ran.
awaitable<void> receive_behind_a_handler(channel& from, channel& ch, int n, int& received,
                                         int& seen) {
  asio::post(ch.get_executor(), [&] { seen = received; });
  for (int i = 0; i < n; ++i) {
    from.try_push(i);
    const int value = co_await ch.pop<int>();
    BOOST_REQUIRE(value == i);
    ++received;
  }
}

awaitable<void> send_behind_a_handler(channel& ch, channel& to, int n, int& sent, int& seen) {
  asio::post(ch.get_executor(), [&] { seen = sent; });
  for (int i = 0; i < n; ++i) {
    co_await ch.push(i);
    ++sent;
    BOOST_REQUIRE(to.try_pop<int>() == i);
  }
}

BOOST_AUTO_TEST_CASE(receives_complete_until_their_budget_is_spent) {
  two_ends ends;
  int received = 0;
  int seen = -1;
  running receiving(ends,
                    receive_behind_a_handler(ends.here, ends.there, budget + 9, received, seen));
  BOOST_REQUIRE(ends.run_until([&] { return receiving.over(); }));
  BOOST_TEST(received == budget + 9);
  BOOST_TEST(seen == in_a_row);
}

BOOST_AUTO_TEST_CASE(sends_complete_until_their_budget_is_spent) {
  two_ends ends;
  int sent = 0;
  int seen = -1;
  running sending(ends, send_behind_a_handler(ends.here, ends.there, budget + 9, sent, seen));
  BOOST_REQUIRE(ends.run_until([&] { return sending.over(); }));
  BOOST_TEST(sent == budget + 9);
  BOOST_TEST(seen == in_a_row);
}

awaitable<void> receive_without_end(channel& from, channel& to, int n, int& received) {
  for (int i = 0; i < n; ++i) {
    from.try_push(i);
    const int value = co_await to.pop<int>();
    BOOST_REQUIRE(value == i);
    ++received;
  }
}

awaitable<void> send_without_end(channel& from, channel& to, int n, int& sent) {
  for (int i = 0; i < n; ++i) {
    co_await from.push(i);
    to.try_pop<int>();
    ++sent;
  }
}

/// A handler that posts itself again, and the most that `count` grew between two runs.
class bystander {
public:
  bystander(two_ends& ends, const int& count) : ends_(ends), count_(count) {}
  void again() {
    most_ = std::max(most_, count_ - last_);
    last_ = count_;
    asio::post(ends_.context, [this] { again(); });
  }
  int most() const { return most_; }

private:
  two_ends& ends_;
  const int& count_;
  int last_ = 0;
  int most_ = 0;
};

BOOST_AUTO_TEST_CASE(endless_receives_let_a_handler_run_when_their_budget_is_spent) {
  two_ends ends;
  int received = 0;
  bystander other(ends, received);
  other.again();
  running receiving(ends, receive_without_end(ends.here, ends.there, 10000, received));
  BOOST_REQUIRE(ends.run_until([&] { return receiving.over(); }));
  BOOST_TEST(other.most() <= budget);
  BOOST_TEST(other.most() >= in_a_row);
}

BOOST_AUTO_TEST_CASE(endless_sends_let_a_handler_run_when_their_budget_is_spent) {
  two_ends ends;
  int sent = 0;
  bystander other(ends, sent);
  other.again();
  running sending(ends, send_without_end(ends.here, ends.there, 10000, sent));
  BOOST_REQUIRE(ends.run_until([&] { return sending.over(); }));
  BOOST_TEST(other.most() <= budget);
  BOOST_TEST(other.most() >= in_a_row);
}

/// Whether a handler that is posted before `coroutine` is awaited runs before it is over.
awaitable<bool> gives_way(awaitable<void> coroutine) {
  bool ran = false;
  asio::post(co_await asio::this_coro::executor, [&] { ran = true; });
  co_await std::move(coroutine);
  const bool result = ran;
  while (!ran) // the handler must not outlive the variable
    co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  co_return result;
}

awaitable<void> push_one(channel& ch) {
  co_await ch.push(1);
}

awaitable<void> pop_one(channel& ch) {
  co_await ch.pop<int>();
}

constexpr bool gives_way_always = in_a_row == 0;

awaitable<void> be_answered(channel& here, channel& there) {
  for (int i = 0; i < in_a_row; ++i) {
    co_await here.push(i);
    there.try_push(there.try_pop<int>().value());
    co_await here.pop<int>();
  }
  there.try_push(0);
  there.try_push(1);
  const bool sending = co_await gives_way(push_one(here));
  const bool receiving = co_await gives_way(pop_one(here));
  const bool receiving_again = co_await gives_way(pop_one(here));
  BOOST_TEST(sending);
  BOOST_TEST(receiving == gives_way_always);
  BOOST_TEST(receiving_again == gives_way_always);
}

BOOST_AUTO_TEST_CASE(both_directions_have_a_new_budget_when_one_has_spent_it) {
  two_ends ends;
  running asking(ends, be_answered(ends.here, ends.there));
  BOOST_REQUIRE(ends.run_until([&] { return asking.over(); }));
  BOOST_TEST(!asking.result());
}

awaitable<void> wait_and_receive(channel& from, channel& to) {
  co_await receive_one_by_one(from, to, in_a_row);
  BOOST_TEST(!to.try_pop<int>().has_value());
  from.try_push(1);
  from.try_push(2);
  from.try_push(3);
  BOOST_TEST(to.blocking_pop<int>() == 1);
  BOOST_TEST(to.try_pop<int>().value() == 2);
  const bool gave_way = co_await gives_way(pop_one(to));
  BOOST_TEST(gave_way);
}

BOOST_AUTO_TEST_CASE(calls_that_block_or_do_not_wait_give_no_new_budget) {
  two_ends ends;
  running receiving(ends, wait_and_receive(ends.here, ends.there));
  BOOST_REQUIRE(ends.run_until([&] { return receiving.over(); }));
  BOOST_TEST(!receiving.result());
}

#if defined(SYSIPC_ASIO_HAS_AWAITABLE_FAST_PATH)
awaitable<void> receive_while_another_thread_sends(channel& from, channel& to) {
  co_await receive_one_by_one(from, to, in_a_row);
  std::thread([&] {
    asio::io_context context;
    asio::co_spawn(context, send_one_by_one(to, from, budget), asio::detached);
    context.run();
  }).join();
  from.try_push(1);
  const bool gave_way = co_await gives_way(pop_one(to));
  BOOST_TEST(gave_way);
}

BOOST_AUTO_TEST_CASE(another_thread_that_spends_its_budget_gives_no_new_one_to_this) {
  two_ends ends;
  running receiving(ends, receive_while_another_thread_sends(ends.here, ends.there));
  BOOST_REQUIRE(ends.run_until([&] { return receiving.over(); }));
  BOOST_TEST(!receiving.result());
}
#endif

awaitable<void> receive_in_vain(channel& ch) {
  for (int i = 0; i < 2 * budget; ++i) {
    error_code ec;
    co_await ch.pop<int>(ec);
    BOOST_REQUIRE(ec == asio::error::bad_descriptor);
    const std::size_t n = co_await ch.send(asio::buffer("text", 4), ec);
    BOOST_REQUIRE(n == 0U);
    BOOST_REQUIRE(ec == asio::error::bad_descriptor);
  }
}

BOOST_AUTO_TEST_CASE(a_closed_channel_is_said_to_be_closed_whatever_is_left_of_the_budget) {
  two_ends ends;
  ends.there.close();
  running receiving(ends, receive_in_vain(ends.there));
  BOOST_REQUIRE(ends.run_until([&] { return receiving.over(); }));
  BOOST_TEST(!receiving.result());
}

BOOST_AUTO_TEST_SUITE_END()
