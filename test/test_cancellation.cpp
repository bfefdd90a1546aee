// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "every_form.hpp"
#include "giving_way.hpp"
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/use_future.hpp>
#include <functional>

using namespace sysipc_asio;
using namespace sysipc_asio::test;

namespace {

using asio::cancellation_type;
constexpr cancellation_type all_types[] = {cancellation_type::terminal, cancellation_type::partial,
                                           cancellation_type::total};

/// An operation with a signal of its own, and its outcome.
struct cancellable {
  asio::cancellation_signal signal{};
  std::optional<error_code> result{};
  std::function<void()> then{};

  template <typename... Results>
  void operator()(error_code ec, Results&&...) {
    BOOST_TEST(!result.has_value());
    result = ec;
    if (then)
      then();
  }
  auto handler() { return asio::bind_cancellation_slot(signal.slot(), std::ref(*this)); }
  bool over() const { return result.has_value(); }
  bool aborted() const { return result == asio::error::operation_aborted; }
};

using starter = void (*)(channel&, cancellable&);
struct operation {
  const char* name;
  starter start;
};

char buffer[4096];

const operation receiving[] = {
    {"async_receive", [](channel& ch, cancellable& c) { ch.async_receive(c.handler()); }},
    {"async_receive into",
     [](channel& ch, cancellable& c) { ch.async_receive(asio::buffer(buffer), c.handler()); }},
    {"async_pop", [](channel& ch, cancellable& c) { ch.async_pop<int>(c.handler()); }},
    {"async_wait", [](channel& ch, cancellable& c) { ch.async_wait(wait_receive, c.handler()); }},
};
const operation sending[] = {
    {"async_send",
     [](channel& ch, cancellable& c) { ch.async_send(asio::buffer("text", 4), c.handler()); }},
    {"async_push", [](channel& ch, cancellable& c) { ch.async_push(1, c.handler()); }},
    {"async_wait", [](channel& ch, cancellable& c) { ch.async_wait(wait_send, c.handler()); }},
};

template <typename Operations, typename F>
void with_each(const Operations& operations, F f) {
  for (const operation& op : operations)
    for (cancellation_type type : all_types)
      BOOST_TEST_CONTEXT(op.name << ", type " << static_cast<int>(type)) {
        f(op, type);
      }
}

} // namespace

BOOST_AUTO_TEST_SUITE(a_signal)

BOOST_AUTO_TEST_CASE(aborts_a_receive_that_sleeps_and_the_next_message_stays) {
  with_each(receiving, [](const operation& op, cancellation_type type) {
    two_ends ends;
    cancellable c;
    op.start(ends.there, c);
    ends.poll();
    c.signal.emit(type);
    BOOST_TEST(!c.over());
    ends.here.try_push(1);
    BOOST_REQUIRE(ends.run_until([&] { return c.over(); }));
    BOOST_TEST(c.aborted());
    BOOST_TEST(ends.there.try_pop<int>().value() == 1);
  });
}

BOOST_AUTO_TEST_CASE(aborts_a_receive_that_was_started_just_now_and_its_message_stays) {
  with_each(receiving, [](const operation& op, cancellation_type type) {
    two_ends ends;
    ends.here.try_push(1);
    cancellable c;
    op.start(ends.there, c);
    c.signal.emit(type);
    ends.poll();
    BOOST_TEST(c.aborted());
    BOOST_TEST(ends.there.try_pop<int>().value() == 1);
  });
}

/// Two channels in one context whose operations end together; the handler that runs
/// first cancels the other operation, whose wake-up is on its way already.
template <typename Start>
void require_that_one_is_aborted(two_ends& ends, Start start, cancellation_type type) {
  cancellable first, second;
  first.then = [&] { second.signal.emit(type); };
  second.then = [&] { first.signal.emit(type); };
  start(first, second);
  BOOST_REQUIRE(ends.run_until([&] { return first.over() && second.over(); }));
  BOOST_TEST(first.aborted() + second.aborted() == 1);
}

BOOST_AUTO_TEST_CASE(aborts_a_receive_whose_kick_came_but_whose_handler_did_not_run) {
  with_each(receiving, [](const operation& op, cancellation_type type) {
    two_ends ends;
    require_that_one_is_aborted(
        ends,
        [&](cancellable& first, cancellable& second) {
          op.start(ends.here, first);
          op.start(ends.there, second);
          ends.poll();
          ends.here.try_push(1);
          ends.there.try_push(2);
        },
        type);
    const bool takes = op.start != receiving[3].start;
    BOOST_TEST(drain(ends.here) + drain(ends.there) == (takes ? 1U : 2U));
  });
}

BOOST_AUTO_TEST_CASE(aborts_a_send_that_sleeps_and_nothing_is_sent) {
  with_each(sending, [](const operation& op, cancellation_type type) {
    two_ends ends;
    const std::size_t filled = fill(ends.here);
    cancellable c;
    op.start(ends.here, c);
    ends.poll();
    c.signal.emit(type);
    BOOST_TEST(drain(ends.there) == filled);
    BOOST_REQUIRE(ends.run_until([&] { return c.over(); }));
    BOOST_TEST(c.aborted());
    BOOST_TEST(drain(ends.there) == 0U);
    BOOST_TEST(ends.here.try_push(1));
  });
}

BOOST_AUTO_TEST_CASE(aborts_a_send_that_was_started_just_now_and_nothing_is_sent) {
  with_each(sending, [](const operation& op, cancellation_type type) {
    two_ends ends;
    cancellable c;
    op.start(ends.here, c);
    c.signal.emit(type);
    ends.poll();
    BOOST_TEST(c.aborted());
    BOOST_TEST(drain(ends.there) == 0U);
  });
}

BOOST_AUTO_TEST_CASE(aborts_a_send_whose_kick_came_but_whose_handler_did_not_run) {
  with_each(sending, [](const operation& op, cancellation_type type) {
    two_ends ends;
    std::size_t filled = 0;
    std::size_t received = 0;
    require_that_one_is_aborted(
        ends,
        [&](cancellable& first, cancellable& second) {
          filled = fill(ends.here) + fill(ends.there);
          op.start(ends.here, first);
          op.start(ends.there, second);
          ends.poll();
          received = drain(ends.here) + drain(ends.there);
        },
        type);
    const bool sends = op.start != sending[2].start;
    received += drain(ends.here) + drain(ends.there);
    BOOST_TEST(received == filled + (sends ? 1U : 0U));
  });
}

/// The wake-up has gone from the channel's context to that of the handler, and waits there.
template <typename Start, typename Wake>
void require_abort_after_the_wake_up(two_ends& ends, Start start, Wake wake,
                                     cancellation_type type) {
  asio::io_context handlers;
  cancellable c;
  start(asio::bind_executor(handlers.get_executor(), c.handler()));
  ends.poll();
  wake();
  ends.poll();
  c.signal.emit(type);
  BOOST_TEST(!c.over());
  handlers.run();
  BOOST_TEST(c.aborted());
}

BOOST_AUTO_TEST_CASE(aborts_a_receive_whose_wake_up_waits_for_its_turn_and_the_message_stays) {
  for (cancellation_type type : all_types) {
    two_ends ends;
    require_abort_after_the_wake_up(
        ends, [&](auto handler) { ends.there.async_pop<int>(std::move(handler)); },
        [&] { ends.here.try_push(1); }, type);
    BOOST_TEST(drain(ends.there) == 1U);
  }
}

BOOST_AUTO_TEST_CASE(aborts_a_send_whose_wake_up_waits_for_its_turn_and_nothing_is_sent) {
  for (cancellation_type type : all_types) {
    two_ends ends;
    fill(ends.here);
    require_abort_after_the_wake_up(
        ends, [&](auto handler) { ends.here.async_push(1, std::move(handler)); },
        [&] { drain(ends.there); }, type);
    BOOST_TEST(drain(ends.there) == 0U);
  }
}

BOOST_AUTO_TEST_CASE(aborts_an_operation_that_spins_under_wait_policy_busy) {
  with_each(receiving, [](const operation& op, cancellation_type type) {
    two_ends ends(small_rings(wait_policy::busy));
    cancellable c;
    op.start(ends.there, c);
    for (int i = 0; i < 10; ++i)
      ends.context.poll_one();
    BOOST_TEST(!c.over());
    c.signal.emit(type);
    BOOST_REQUIRE(ends.run_until([&] { return c.over(); }));
    BOOST_TEST(c.aborted());
  });
}

BOOST_AUTO_TEST_CASE(after_the_end_or_before_the_start_of_an_operation_does_nothing) {
  two_ends ends;
  cancellable c;
  c.signal.emit(cancellation_type::terminal);
  ends.there.async_pop<int>(c.handler());
  ends.here.try_push(1);
  BOOST_REQUIRE(ends.run_until([&] { return c.over(); }));
  BOOST_TEST(!*c.result);
  c.signal.emit(cancellation_type::terminal);
  ends.here.try_push(2);
  BOOST_TEST(ends.there.try_pop<int>().value() == 2);
}

BOOST_AUTO_TEST_CASE(leaves_the_channel_as_good_as_before) {
  two_ends ends;
  for (int i = 0; i < 1000; ++i) {
    cancellable c;
    ends.there.async_pop<int>(c.handler());
    if (i % 2 == 0)
      ends.poll();
    c.signal.emit(cancellation_type::total);
    ends.poll();
    BOOST_TEST(c.aborted());
  }
  cancellable c;
  ends.there.async_pop<int>(c.handler());
  ends.here.try_push(1);
  BOOST_REQUIRE(ends.run_until([&] { return c.over(); }));
  BOOST_TEST(!*c.result);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(cancelling)

BOOST_AUTO_TEST_CASE(aborts_both_directions_and_the_channel_goes_on) {
  two_ends ends;
  const std::size_t filled = fill(ends.here);
  cancellable send, receive;
  ends.here.async_push(1, send.handler());
  ends.here.async_pop<int>(receive.handler());
  ends.poll();
  ends.here.cancel();
  ends.poll();
  BOOST_TEST(send.aborted());
  BOOST_TEST(receive.aborted());
  BOOST_TEST(drain(ends.there) == filled);
  ends.there.try_push(2);
  BOOST_TEST(ends.here.try_pop<int>().value() == 2);
  BOOST_TEST(ends.here.try_push(3));
}

BOOST_AUTO_TEST_CASE(without_an_operation_does_not_disturb_the_next_one) {
  two_ends ends;
  ends.there.cancel();
  cancellable c;
  ends.there.async_pop<int>(c.handler());
  ends.here.try_push(1);
  BOOST_REQUIRE(ends.run_until([&] { return c.over(); }));
  BOOST_TEST(!*c.result);
}

BOOST_AUTO_TEST_CASE(aborts_what_waits_under_wait_policy_busy) {
  two_ends ends(small_rings(wait_policy::busy));
  cancellable c;
  ends.there.async_pop<int>(c.handler());
  for (int i = 0; i < 10; ++i)
    ends.context.poll_one();
  ends.there.cancel();
  for (int i = 0; i < 1000 && !c.over(); ++i)
    ends.context.poll_one();
  BOOST_TEST(c.aborted());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(closing)

BOOST_AUTO_TEST_CASE(aborts_both_directions) {
  two_ends ends;
  fill(ends.here);
  cancellable send, receive;
  ends.here.async_push(1, send.handler());
  ends.here.async_pop<int>(receive.handler());
  ends.poll();
  ends.here.close();
  BOOST_TEST(!send.over());
  ends.poll();
  BOOST_TEST(send.aborted());
  BOOST_TEST(receive.aborted());
}

BOOST_AUTO_TEST_CASE(aborts_what_waits_under_wait_policy_busy) {
  two_ends ends(small_rings(wait_policy::busy));
  cancellable c;
  ends.there.async_pop<int>(c.handler());
  for (int i = 0; i < 10; ++i)
    ends.context.poll_one();
  ends.there.close();
  BOOST_REQUIRE(ends.run_until([&] { return c.over(); }));
  BOOST_TEST(c.aborted());
}

BOOST_AUTO_TEST_CASE(aborts_what_was_started_just_now) {
  two_ends ends;
  cancellable send, receive;
  ends.there.try_push(1);
  ends.here.async_push(1, send.handler());
  ends.here.async_pop<int>(receive.handler());
  ends.here.close();
  ends.poll();
  BOOST_TEST(*send.result == asio::error::operation_aborted);
  BOOST_TEST(*receive.result == asio::error::operation_aborted);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(in_progress)

BOOST_AUTO_TEST_CASE(is_what_every_form_of_receiving_gives_while_one_waits) {
  for (const operation& op : receiving)
    BOOST_TEST_CONTEXT(op.name) {
      two_ends ends;
      cancellable c;
      op.start(ends.there, c);
      ends.poll();
      with_each_receiving_form([&](receive_form receive) {
        BOOST_TEST(receive(ends, ends.there, 64).ec == error::operation_in_progress);
      });
      error_code ec;
      const auto ignore = [](std::span<const std::byte>) {};
      BOOST_TEST(ends.there.consume(ignore, 1, ec) == 0U);
      BOOST_TEST(ec == error::operation_in_progress);
      BOOST_TEST(!c.over());
      ends.here.try_push(1);
      BOOST_REQUIRE(ends.run_until([&] { return c.over(); }));
      BOOST_TEST(!*c.result);
    }
}

BOOST_AUTO_TEST_CASE(is_what_every_form_of_sending_gives_while_one_waits) {
  for (const operation& op : sending)
    BOOST_TEST_CONTEXT(op.name) {
      two_ends ends;
      fill(ends.here);
      cancellable c;
      op.start(ends.here, c);
      ends.poll();
      with_each_sending_form([&](send_form send) {
        BOOST_TEST(send(ends, ends.here, "sixteen bytes, 1") == error::operation_in_progress);
      });
      drain(ends.there);
      BOOST_REQUIRE(ends.run_until([&] { return c.over(); }));
      BOOST_TEST(!*c.result);
    }
}

BOOST_AUTO_TEST_CASE(does_not_concern_the_other_direction) {
  two_ends ends;
  cancellable c;
  ends.there.async_pop<int>(c.handler());
  BOOST_TEST(ends.there.try_push(1));
  BOOST_TEST(ends.here.try_pop<int>().value() == 1);
}

BOOST_AUTO_TEST_CASE(is_over_when_the_handler_runs) {
  two_ends ends;
  cancellable first, second;
  first.then = [&] { ends.there.async_pop<int>(second.handler()); };
  ends.there.async_pop<int>(first.handler());
  ends.here.try_push(1);
  ends.here.try_push(2);
  BOOST_REQUIRE(ends.run_until([&] { return second.over(); }));
  BOOST_TEST(!*second.result);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(while_others_have_their_turn)

/// The outcome of `what` on `ends.there`, if this happens meanwhile.
error_code outcome_of(const awaited& what, two_ends& ends, std::function<void()> meanwhile) {
  std::optional<error_code> outcome;
  asio::co_spawn(ends.context, give_way(what, ends.there, ends.here, std::move(meanwhile), outcome),
                 asio::detached);
  BOOST_REQUIRE(ends.run_until([&] { return outcome.has_value(); }));
  return *outcome;
}

/// Nothing was received, and nothing was sent.
void require_that_nothing_moved(const awaited& what, two_ends& ends) {
  BOOST_TEST(drain(ends.there) == (what.receives ? 1U : 0U));
  BOOST_TEST(drain(ends.here) == 0U);
}

asio::awaitable<void> give_way_and_go_on(const awaited& what, two_ends& ends,
                                         std::function<void()> meanwhile, error_code& ec,
                                         error_code& next, bool& over) {
  co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
  co_await asio::this_coro::throw_if_cancelled(false);
  std::optional<error_code> outcome;
  co_await give_way(what, ends.there, ends.here, std::move(meanwhile), outcome);
  ec = outcome.value();
  require_that_nothing_moved(what, ends);
  co_await ends.there.pop<int>(next); // this one sleeps
  over = true;
}

/// Cancels one operation in its turn, and then one that sleeps, with the same signal.
template <typename Executor>
void require_abort_by_signal(const awaited& what, two_ends& ends, const Executor& executor,
                             cancellation_type type) {
  asio::cancellation_signal signal;
  error_code ec, next;
  bool over = false;
  asio::co_spawn(executor,
                 give_way_and_go_on(
                     what, ends, [&] { signal.emit(type); }, ec, next, over),
                 asio::bind_cancellation_slot(signal.slot(), asio::detached));
  ends.poll();
  BOOST_TEST(ec == asio::error::operation_aborted);
  BOOST_TEST(!over);
  signal.emit(type);
  BOOST_REQUIRE(ends.run_until([&] { return over; }));
  BOOST_TEST(next == asio::error::operation_aborted);
}

BOOST_AUTO_TEST_CASE(a_signal_aborts_and_nothing_moves) {
  with_each_awaited([](const awaited& what) {
    for (cancellation_type type : all_types) {
      two_ends ends;
      require_abort_by_signal(what, ends, ends.context.get_executor(), type);
      two_ends others;
      require_abort_by_signal(what, others, asio::make_strand(others.context), type);
    }
  });
}

BOOST_AUTO_TEST_CASE(cancel_aborts_and_nothing_moves) {
  with_each_awaited([](const awaited& what) {
    two_ends ends;
    BOOST_TEST(outcome_of(what, ends, [&] { ends.there.cancel(); }) ==
               asio::error::operation_aborted);
    require_that_nothing_moved(what, ends);
  });
}

BOOST_AUTO_TEST_CASE(close_aborts_and_nothing_is_sent) {
  with_each_awaited([](const awaited& what) {
    two_ends ends;
    BOOST_TEST(outcome_of(what, ends, [&] { ends.there.close(); }) ==
               asio::error::operation_aborted);
    BOOST_TEST(thrown_by([&] { ends.here.try_pop<int>(); }) == asio::error::eof);
  });
}

BOOST_AUTO_TEST_CASE(nothing_that_happens_lets_it_be_done) {
  with_each_awaited([](const awaited& what) {
    two_ends ends;
    BOOST_TEST(!outcome_of(what, ends, [] {}));
    BOOST_TEST(drain(ends.there) == (what.receives && !what.transfers ? 1U : 0U));
    BOOST_TEST(drain(ends.here) == (!what.receives && what.transfers ? 1U : 0U));
  });
}

BOOST_AUTO_TEST_CASE(another_operation_of_its_kind_finds_it_in_progress) {
  with_each_awaited([](const awaited& what) {
    two_ends ends;
    error_code tried;
    std::optional<error_code> started, awaited_too;
    const error_code outcome = outcome_of(what, ends, [&] {
      if (what.receives) {
        ends.there.consume([](auto) {}, 1, tried);
        ends.there.async_pop<int>([&](error_code ec, int) { started = ec; });
      } else {
        ends.there.try_push(1, tried);
        ends.there.async_push(1, [&](error_code ec) { started = ec; });
      }
      asio::co_spawn(
          asio::system_executor(),
          [&]() -> asio::awaitable<void> {
            error_code ec;
            co_await what.run(ends.there, ec);
            awaited_too = ec;
          },
          asio::use_future)
          .get();
    });
    BOOST_TEST(!outcome);
    BOOST_TEST(tried == error::operation_in_progress);
    BOOST_TEST(awaited_too.value() == error::operation_in_progress);
    BOOST_REQUIRE(ends.run_until([&] { return started.has_value(); }));
    BOOST_TEST(*started == error::operation_in_progress);
    BOOST_TEST(drain(ends.there) == (what.receives && !what.transfers ? 1U : 0U));
    BOOST_TEST(drain(ends.here) == (!what.receives && what.transfers ? 1U : 0U));
  });
}

BOOST_AUTO_TEST_SUITE_END()
