// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "every_form.hpp"
#include "tracker_executor.hpp"
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <sysipc_asio/channel_pair.hpp>

using namespace sysipc_asio;
using namespace sysipc_asio::test;
using asio::awaitable;

namespace {

/// Runs what there is to run, and gives the result.
template <typename T>
T result(two_ends& ends, std::future<T>& f) {
  ends.context.restart();
  ends.context.run();
  return f.get();
}

} // namespace

BOOST_AUTO_TEST_SUITE(use_future)

BOOST_AUTO_TEST_CASE(gives_the_result_of_each_operation) {
  two_ends ends;
  char into[8];
  auto sent = ends.here.async_send(asio::buffer("hello", 5), asio::use_future);
  auto received = ends.there.async_receive(asio::buffer(into), asio::use_future);
  BOOST_TEST(result(ends, sent) == 5U);
  BOOST_TEST(result(ends, received) == 5U);
  auto pushed = ends.here.async_push(7, asio::use_future);
  auto popped = ends.there.async_pop<int>(asio::use_future);
  result(ends, pushed);
  BOOST_TEST(result(ends, popped) == 7);
  auto waited = ends.there.async_wait(wait_receive, asio::use_future);
  auto sent_text = ends.here.async_send(asio::buffer("text", 4), asio::use_future);
  result(ends, waited);
  auto text = ends.there.async_receive(asio::use_future);
  BOOST_TEST(result(ends, text).view() == "text");
}

BOOST_AUTO_TEST_CASE(is_served_by_the_threads_that_run_the_channels_context) {
  two_ends ends;
  ends.here.try_push(1);
  auto received = ends.there.async_pop<int>(asio::use_future);
  BOOST_TEST(ends.poll() > 0U);
  BOOST_TEST(result(ends, received) == 1);
}

BOOST_AUTO_TEST_CASE(throws_the_error) {
  two_ends ends;
  auto received = ends.there.async_receive(asio::use_future);
  auto too_many = ends.there.async_receive(asio::use_future);
  ends.here.close();
  BOOST_TEST(thrown_by([&] { result(ends, too_many); }) == error::operation_in_progress);
  BOOST_TEST(thrown_by([&] { result(ends, received); }) == asio::error::eof);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(deferred)

BOOST_AUTO_TEST_CASE(starts_nothing_before_it_is_run) {
  two_ends ends;
  ends.here.try_push(1);
  auto later = ends.there.async_pop<int>(asio::deferred);
  ends.poll();
  BOOST_TEST(ends.there.try_pop<int>().value() == 1);
  int got = 0;
  std::move(later)([&](error_code, int value) { got = value; });
  ends.here.try_push(2);
  ends.poll();
  BOOST_TEST(got == 2);
}

BOOST_AUTO_TEST_CASE(may_be_stored_and_run_after_the_channel_was_moved) {
  two_ends ends;
  auto later = ends.there.async_receive(asio::deferred);
  const channel moved(std::move(ends.there));
  ends.here.try_send(asio::buffer("text", 4));
  std::string got;
  std::move(later)([&](error_code, const message& m) { got = m.view(); });
  ends.poll();
  BOOST_TEST(got == "text");
}

BOOST_AUTO_TEST_CASE(chains) {
  two_ends ends;
  int got = 0;
  ends.here.async_push(20, asio::deferred([&](error_code) {
                         return ends.there.async_pop<int>(asio::deferred);
                       }))([&](error_code ec, int value) { got = ec ? -1 : value; });
  ends.poll();
  BOOST_TEST(got == 20);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(use_awaitable)

awaitable<void> with_adapters(channel& from, channel& to) {
  std::size_t n = co_await from.async_send(asio::buffer("text", 4), asio::use_awaitable);
  BOOST_TEST(n == 4U);
  std::tuple<error_code, message> r =
      co_await to.async_receive(asio::as_tuple(asio::use_awaitable));
  BOOST_TEST(!std::get<0>(r));
  BOOST_TEST(std::get<1>(r).view() == "text");
  std::tuple<error_code> pushed = co_await from.async_push(1, asio::as_tuple(asio::use_awaitable));
  BOOST_TEST(!std::get<0>(pushed));
  error_code ec;
  int v = co_await to.async_pop<int>(asio::redirect_error(asio::use_awaitable, ec));
  BOOST_TEST(v == 1);
  from.shutdown();
  v = co_await to.async_pop<int>(asio::redirect_error(asio::use_awaitable, ec));
  BOOST_TEST(ec == asio::error::eof);
  co_await to.async_pop<int>(asio::use_awaitable);
}

BOOST_AUTO_TEST_CASE(works_with_as_tuple_and_redirect_error_and_throws_without) {
  two_ends ends;
  BOOST_TEST(run(ends, with_adapters(ends.here, ends.there)) == asio::error::eof);
}

awaitable<void> with_deferred(channel& from, channel& to) {
  co_await from.async_push(1, asio::deferred);
  auto later = to.async_pop<int>(asio::deferred);
  int v = co_await std::move(later);
  BOOST_TEST(v == 1);
  from.shutdown();
  std::tuple<error_code, int> r = co_await to.async_pop<int>(asio::as_tuple(asio::deferred));
  BOOST_TEST(std::get<0>(r) == asio::error::eof);
}

BOOST_AUTO_TEST_CASE(is_what_a_deferred_operation_becomes_in_a_coroutine) {
  two_ends ends;
  BOOST_TEST(!run(ends, with_deferred(ends.here, ends.there)));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(default_token)

awaitable<void> of_any_channel(channel& from, channel& to) {
  std::size_t n = co_await from.async_send(asio::buffer("text", 4));
  BOOST_TEST(n == 4U);
  message m = co_await to.async_receive();
  BOOST_TEST(m.view() == "text");
  co_await from.async_push(1);
  co_await to.async_wait(wait_receive);
  int v = co_await to.async_pop<int>();
  BOOST_TEST(v == 1);
}

BOOST_AUTO_TEST_CASE(is_deferred) {
  two_ends ends;
  static_assert(std::is_same_v<decltype(ends.here.async_receive()),
                               decltype(ends.here.async_receive(asio::deferred))>);
  BOOST_TEST(!run(ends, of_any_channel(ends.here, ends.there)));
}

using awaitable_channel = asio::use_awaitable_t<>::as_default_on_t<channel>;

awaitable<void> of_awaitable_channel(awaitable_channel& from, awaitable_channel& to) {
  co_await from.async_push(1);
  int v = co_await to.async_pop<int>();
  BOOST_TEST(v == 1);
  // The awaitable members do not depend on it.
  co_await from.push(2);
  v = co_await to.pop<int>();
  BOOST_TEST(v == 2);
}

BOOST_AUTO_TEST_CASE(is_that_of_the_executor_if_it_has_one) {
  two_ends ends;
  awaitable_channel from(std::move(ends.here));
  awaitable_channel to(std::move(ends.there));
  static_assert(std::is_same_v<decltype(from.async_push(1)), awaitable<void>>);
  BOOST_TEST(!run(ends, of_awaitable_channel(from, to)));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(any_token)

BOOST_AUTO_TEST_CASE(may_hold_what_can_only_be_moved) {
  two_ends ends;
  ends.here.try_push(1);
  int got = 0;
  auto owned = std::make_unique<int>(41);
  ends.there.async_pop<int>(
      [&, owned = std::move(owned)](error_code, int value) { got = *owned + value; });
  ends.poll();
  BOOST_TEST(got == 42);
}

BOOST_AUTO_TEST_CASE(may_be_bound_to_an_executor) {
  two_ends ends;
  track t;
  auto f = ends.there.async_pop<int>(
      asio::bind_executor(tracker_executor(ends.context.get_executor(), t), asio::use_future));
  ends.here.try_push(1);
  BOOST_TEST(result(ends, f) == 1);
}

BOOST_AUTO_TEST_CASE(may_be_given_to_an_awaitable_member_instead_of_co_await) {
  two_ends ends;
  auto received = ends.there.receive()(asio::use_future);
  auto sent = ends.here.send(asio::buffer("text", 4))(asio::use_future);
  BOOST_TEST(result(ends, sent) == 4U);
  BOOST_TEST(result(ends, received).view() == "text");
  int got = 0;
  ends.there.pop<int>()([&](error_code ec, int value) { got = ec ? -1 : value; });
  BOOST_TEST(got == 0);
  ends.here.push(3)([](error_code ec) { BOOST_TEST(!ec); });
  ends.poll();
  BOOST_TEST(got == 3);
  channel closed(ends.context);
  auto failed = closed.receive()(asio::use_future);
  BOOST_TEST(thrown_by([&] { result(ends, failed); }) == asio::error::bad_descriptor);
}

BOOST_AUTO_TEST_SUITE_END()
