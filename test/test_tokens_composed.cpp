// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "every_form.hpp"
#include "resources.hpp"
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/spawn.hpp>
#include <boost/asio/steady_timer.hpp>

using namespace sysipc_asio;
using namespace sysipc_asio::test;

BOOST_AUTO_TEST_SUITE(a_fiber)

BOOST_AUTO_TEST_CASE(sends_and_receives_with_its_yield_context) {
  two_ends ends;
  std::exception_ptr failure;
  int sum = 0;
  asio::spawn(
      ends.context,
      [&](asio::yield_context yield) {
        for (int i = 0; i < 100; ++i) {
          ends.here.async_push(i, yield);
          sum += ends.here.async_pop<int>(yield);
        }
        ends.here.shutdown();
      },
      [&](const std::exception_ptr& e) { failure = e; });
  error_code end;
  bool over = false;
  asio::spawn(
      ends.context,
      [&](asio::yield_context yield) {
        while (!end) {
          const message m = ends.there.async_receive(yield[end]);
          if (!end)
            ends.there.async_send(m.buffer(), yield);
        }
        over = true;
      },
      [](const std::exception_ptr&) {});
  BOOST_REQUIRE(ends.run_until([&] { return over; }));
  BOOST_TEST(!code_of(failure));
  BOOST_TEST(sum == 4950);
  BOOST_TEST(end == asio::error::eof);
}

// AddressSanitizer takes the stack of a fiber that throws for an overflow of the thread's.
BOOST_AUTO_TEST_CASE(gets_errors_as_exceptions, *boost::unit_test::enable_if<!sanitized>()) {
  two_ends ends;
  error_code thrown;
  asio::spawn(
      ends.context,
      [&](asio::yield_context yield) {
        thrown = thrown_by([&] { ends.there.async_receive(yield); });
      },
      [](const std::exception_ptr&) {});
  ends.poll();
  ends.here.close();
  ends.poll();
  BOOST_TEST(thrown == asio::error::eof);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(a_parallel_group)

using asio::experimental::make_parallel_group;
using asio::experimental::wait_for_all;
using asio::experimental::wait_for_one;

BOOST_AUTO_TEST_CASE(completes_when_both_directions_have) {
  two_ends ends;
  std::optional<int> got;
  make_parallel_group(ends.here.async_push(5, asio::deferred),
                      ends.there.async_pop<int>(asio::deferred))
      .async_wait(wait_for_all(),
                  [&](std::array<std::size_t, 2>, error_code pushed, error_code popped, int value) {
                    BOOST_TEST(!pushed);
                    BOOST_TEST(!popped);
                    got = value;
                  });
  BOOST_REQUIRE(ends.run_until([&] { return got.has_value(); }));
  BOOST_TEST(*got == 5);
}

BOOST_AUTO_TEST_CASE(cancels_the_receive_that_loses_against_a_timer) {
  two_ends ends;
  asio::steady_timer timer(ends.context, std::chrono::seconds(-1));
  std::optional<error_code> result;
  make_parallel_group(ends.there.async_pop<int>(asio::deferred), timer.async_wait(asio::deferred))
      .async_wait(wait_for_one(),
                  [&](std::array<std::size_t, 2> order, error_code popped, int, error_code) {
                    BOOST_TEST(order[0] == 1U);
                    result = popped;
                  });
  BOOST_REQUIRE(ends.run_until([&] { return result.has_value(); }));
  BOOST_TEST(*result == asio::error::operation_aborted);
  ends.here.try_push(1);
  BOOST_TEST(ends.there.try_pop<int>().value() == 1);
}

BOOST_AUTO_TEST_CASE(consumes_only_what_it_reports_when_two_receives_are_ready) {
  two_ends ends;
  ends.here.try_push(1);
  ends.there.try_push(2);
  bool over = false;
  int succeeded = 0;
  make_parallel_group(ends.here.async_pop<int>(asio::deferred),
                      ends.there.async_pop<int>(asio::deferred))
      .async_wait(wait_for_one(),
                  [&](std::array<std::size_t, 2>, error_code first, int, error_code second, int) {
                    succeeded = !first + !second;
                    over = true;
                  });
  BOOST_REQUIRE(ends.run_until([&] { return over; }));
  BOOST_TEST(succeeded == 1);
  BOOST_TEST(drain(ends.here) + drain(ends.there) == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
