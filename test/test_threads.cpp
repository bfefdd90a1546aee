// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "resources.hpp"
#include "two_ends.hpp"
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <sysipc_asio/channel_pair.hpp>
#include <thread>
#include <vector>

using namespace sysipc_asio;
using namespace sysipc_asio::test;
using asio::awaitable;

namespace {

constexpr int rounds = 500;

awaitable<int> ask(channel& ch, int n) {
  int right = 0;
  for (int i = 0; i < n; ++i) {
    co_await ch.push(i);
    int answer = co_await ch.pop<int>();
    right += answer == i + 1;
  }
  ch.shutdown();
  co_return right;
}

awaitable<int> answer_until_the_end(channel& ch) {
  error_code ec;
  int answered = 0;
  for (;;) {
    int question = co_await ch.pop<int>(ec);
    if (ec)
      break;
    co_await ch.push(question + 1);
    ++answered;
  }
  co_return answered;
}

awaitable<int> send_numbers(channel& ch, int n) {
  for (int i = 0; i < n; ++i)
    co_await ch.push(i);
  ch.shutdown();
  co_return n;
}

awaitable<int> receive_numbers(channel& ch) {
  error_code ec;
  int right = 0;
  for (;;) {
    int got = co_await ch.pop<int>(ec);
    if (ec)
      break;
    right += got == right;
  }
  co_return right;
}

awaitable<void> send_for_ever(channel& ch) {
  for (int i = 0;; ++i)
    co_await ch.push(i);
}

/// Threads that run an io_context for the life of this object.
class runners {
public:
  runners(asio::io_context& context, int n) : work_(context.get_executor()) {
    for (int i = 0; i < n; ++i)
      threads_.emplace_back([&context] { context.run(); });
  }
  runners(const runners&) = delete;
  runners& operator=(const runners&) = delete;
  ~runners() {
    work_.reset();
    for (std::thread& t : threads_)
      t.join();
  }

private:
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::vector<std::thread> threads_;
};

using ends_pair = std::pair<channel, channel>;

template <typename Executor1, typename Executor2>
ends_pair make_ends(const Executor1& first, const Executor2& second,
                    wait_policy policy = wait_policy::adaptive) {
  return make_channel_pair(asio::any_io_executor(first), asio::any_io_executor(second),
                           small_rings(policy));
}

} // namespace

BOOST_AUTO_TEST_SUITE(two_threads)

BOOST_AUTO_TEST_CASE(with_an_io_context_each_play_ping_pong) {
  for (wait_policy policy : all_policies)
    BOOST_TEST_CONTEXT(policy) {
      asio::io_context one, two;
      ends_pair ends = make_ends(one.get_executor(), two.get_executor(), policy);
      auto right = asio::co_spawn(one, ask(ends.first, rounds), asio::use_future);
      auto answered = asio::co_spawn(two, answer_until_the_end(ends.second), asio::use_future);
      {
        runners first(one, 1), second(two, 1);
        BOOST_TEST(right.get() == rounds);
        BOOST_TEST(answered.get() == rounds);
      }
    }
}

BOOST_AUTO_TEST_CASE(with_an_io_context_each_stream_through_a_small_ring) {
  for (wait_policy policy : all_policies)
    BOOST_TEST_CONTEXT(policy) {
      asio::io_context one, two;
      ends_pair ends = make_ends(one.get_executor(), two.get_executor(), policy);
      auto sent = asio::co_spawn(one, send_numbers(ends.first, 5000), asio::use_future);
      auto right = asio::co_spawn(two, receive_numbers(ends.second), asio::use_future);
      {
        runners first(one, 1), second(two, 1);
        BOOST_TEST(sent.get() == 5000);
        BOOST_TEST(right.get() == 5000);
      }
    }
}

BOOST_AUTO_TEST_CASE(use_the_two_directions_of_one_channel) {
  asio::io_context context;
  ends_pair ends = make_ends(context.get_executor(), context.get_executor());
  constexpr int n = 5000;
  std::thread echo([&] {
    error_code ec;
    for (int v = ends.second.blocking_pop<int>(ec); !ec; v = ends.second.blocking_pop<int>(ec))
      ends.second.blocking_push(v);
    ends.second.shutdown();
  });
  std::thread sender([&] {
    for (int i = 0; i < n; ++i)
      ends.first.blocking_push(i);
    ends.first.shutdown();
  });
  int right = 0;
  error_code ec;
  for (int v = ends.first.blocking_pop<int>(ec); !ec; v = ends.first.blocking_pop<int>(ec))
    right += v == right;
  sender.join();
  echo.join();
  BOOST_TEST(ec == asio::error::eof);
  BOOST_TEST(right == n);
}

BOOST_AUTO_TEST_CASE(mix_blocking_calls_with_coroutines) {
  asio::io_context context;
  ends_pair ends = make_ends(context.get_executor(), context.get_executor());
  auto answered = asio::co_spawn(context, answer_until_the_end(ends.second), asio::use_future);
  runners thread(context, 1);
  int right = 0;
  for (int i = 0; i < rounds; ++i) {
    ends.first.blocking_push(i);
    right += ends.first.blocking_pop<int>() == i + 1;
  }
  ends.first.shutdown();
  BOOST_TEST(answered.get() == rounds);
  BOOST_TEST(right == rounds);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(an_io_context_of_four_threads)

struct strand_pair {
  explicit strand_pair(asio::io_context& context)
      : first(asio::make_strand(context)), second(asio::make_strand(context)),
        ends(make_ends(first, second)) {}

  asio::strand<asio::io_context::executor_type> first, second;
  ends_pair ends;
  std::future<int> asking{}, answering{};
};

BOOST_AUTO_TEST_CASE(runs_many_channels_in_strands) {
  asio::io_context context;
  std::vector<std::unique_ptr<strand_pair>> pairs;
  for (int i = 0; i < 8; ++i) {
    pairs.push_back(std::make_unique<strand_pair>(context));
    strand_pair& p = *pairs.back();
    p.asking = asio::co_spawn(p.first, ask(p.ends.first, rounds), asio::use_future);
    p.answering = asio::co_spawn(p.second, answer_until_the_end(p.ends.second), asio::use_future);
  }
  runners threads(context, 4);
  for (auto& p : pairs) {
    BOOST_TEST(p->asking.get() == rounds);
    BOOST_TEST(p->answering.get() == rounds);
  }
}

BOOST_AUTO_TEST_CASE(runs_both_directions_of_a_channel_in_strands_of_their_own) {
  asio::io_context context;
  auto sending = asio::make_strand(context);
  auto receiving = asio::make_strand(context);
  // Each direction's coroutine stays in its strand, wherever the channel's executor is.
  ends_pair ends = make_ends(context.get_executor(), context.get_executor());
  auto sent = asio::co_spawn(sending, send_numbers(ends.first, 5000), asio::use_future);
  auto answered = asio::co_spawn(context, answer_until_the_end(ends.second), asio::use_future);
  std::atomic<int> received{0};
  auto right = asio::co_spawn(
      receiving,
      [](channel& ch, std::atomic<int>& count) -> awaitable<void> {
        for (int i = 0; i < 5000; ++i) {
          int got = co_await ch.pop<int>();
          count += got == i + 1;
        }
      }(ends.first, received),
      asio::use_future);
  runners threads(context, 4);
  right.get();
  BOOST_TEST(sent.get() == 5000);
  BOOST_TEST(answered.get() == 5000);
  BOOST_TEST(received == 5000);
}

BOOST_AUTO_TEST_CASE(opens_and_closes_channels_in_strands) {
  asio::io_context context;
  std::vector<std::future<int>> results;
  for (int i = 0; i < 50; ++i)
    results.push_back(asio::co_spawn(
        asio::make_strand(context),
        []() -> awaitable<int> {
          auto executor = co_await asio::this_coro::executor;
          ends_pair ends = make_ends(executor, executor);
          co_await ends.first.push(1);
          int got = co_await ends.second.pop<int>();
          co_return got;
        },
        asio::use_future));
  runners threads(context, 4);
  for (auto& r : results)
    BOOST_TEST(r.get() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(a_thread_pool)

BOOST_AUTO_TEST_CASE(is_an_executor_for_channels) {
  asio::thread_pool pool(2);
  auto one = asio::make_strand(pool);
  auto two = asio::make_strand(pool);
  {
    ends_pair ends = make_ends(one, two);
    auto right = asio::co_spawn(one, ask(ends.first, rounds), asio::use_future);
    auto answered = asio::co_spawn(two, answer_until_the_end(ends.second), asio::use_future);
    BOOST_TEST(right.get() == rounds);
    BOOST_TEST(answered.get() == rounds);
  }
  pool.join();
}

BOOST_AUTO_TEST_CASE(runs_the_coroutines_of_channels_that_belong_to_an_io_context) {
  constexpr int n = sanitized ? 20'000 : 50'000;
  asio::io_context context;
  asio::thread_pool pool(2);
  {
    ends_pair ends = make_ends(context.get_executor(), context.get_executor());
    ends_pair stream = make_ends(context.get_executor(), context.get_executor());
    runners thread(context, 1);
    auto right = asio::co_spawn(pool, ask(ends.first, n), asio::use_future);
    auto answered = asio::co_spawn(pool, answer_until_the_end(ends.second), asio::use_future);
    auto sent = asio::co_spawn(pool, send_numbers(stream.first, n), asio::use_future);
    auto received = asio::co_spawn(pool, receive_numbers(stream.second), asio::use_future);
    BOOST_TEST(right.get() == n);
    BOOST_TEST(answered.get() == n);
    BOOST_TEST(sent.get() == n);
    BOOST_TEST(received.get() == n);
  }
  pool.join();
}

BOOST_AUTO_TEST_CASE(cancels_the_coroutines_of_such_channels_and_loses_nothing) {
  asio::io_context context;
  asio::thread_pool pool(2);
  runners thread(context, 1);
  for (int i = 0; i < (sanitized ? 100 : 1000); ++i) {
    ends_pair ends = make_ends(context.get_executor(), context.get_executor());
    asio::cancellation_signal signal;
    auto strand = asio::make_strand(pool);
    std::promise<std::exception_ptr> end;
    auto received = asio::co_spawn(pool, receive_numbers(ends.second), asio::use_future);
    asio::co_spawn(strand, send_for_ever(ends.first),
                   asio::bind_cancellation_slot(
                       signal.slot(), [&](const std::exception_ptr& e) { end.set_value(e); }));
    asio::post(strand, [&] { signal.emit(asio::cancellation_type::terminal); });
    BOOST_TEST((end.get_future().get() != nullptr));
    const auto sent = ends.first.stats().sent.messages;
    ends.first.shutdown();
    BOOST_TEST(static_cast<std::uint64_t>(received.get()) == sent);
  }
  pool.join();
}

BOOST_AUTO_TEST_SUITE_END()
