// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "tracker_executor.hpp"
#include "two_ends.hpp"
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <sysipc_asio/acceptor.hpp>
#include <sysipc_asio/connect.hpp>
#include <unistd.h>

using namespace sysipc_asio;
using namespace sysipc_asio::test;

namespace {

using asio::cancellation_type;
constexpr cancellation_type all_types[] = {cancellation_type::terminal, cancellation_type::partial,
                                           cancellation_type::total};

std::string fresh_name() {
  static int n = 0;
  return "@sysipc-test-" + std::to_string(::getpid()) + "-" + std::to_string(++n);
}

/// What became of an accept or a connect.
struct meeting {
  asio::cancellation_signal signal{};
  std::optional<error_code> result{};
  std::optional<channel> opened{};

  void operator()(error_code ec, channel ch) {
    BOOST_TEST(!result.has_value());
    BOOST_TEST(ch.is_open() == !ec);
    result = ec;
    opened = std::move(ch);
  }
  auto handler() { return asio::bind_cancellation_slot(signal.slot(), std::ref(*this)); }
  bool over() const { return result.has_value(); }
  bool aborted() const { return result == asio::error::operation_aborted; }
};

struct listening {
  asio::io_context context{};
  asio::any_io_executor executor = context.get_executor();
  std::string name = fresh_name();
  acceptor acc{executor, name};

  template <typename Done>
  bool run_until(Done done) {
    context.restart();
    while (!done())
      if (context.run_one_for(std::chrono::seconds(20)) == 0)
        return done();
    return true;
  }
  void poll() {
    context.restart();
    context.poll();
  }
  /// An accept and a connect find each other.
  void require_meeting() {
    meeting accepted, connected;
    acc.async_accept(accepted.handler());
    async_connect(executor, name, connected.handler());
    BOOST_REQUIRE(run_until([&] { return accepted.over() && connected.over(); }));
    BOOST_TEST(!*accepted.result);
    BOOST_TEST(!*connected.result);
    connected.opened->try_push(1);
    BOOST_TEST(accepted.opened->try_pop<int>().value() == 1);
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(an_accept)

BOOST_AUTO_TEST_CASE(is_aborted_by_a_signal_of_any_type_and_the_acceptor_goes_on) {
  for (cancellation_type type : all_types)
    for (bool waiting : {false, true}) {
      listening l;
      meeting m;
      l.acc.async_accept(m.handler());
      if (waiting)
        l.poll();
      m.signal.emit(type);
      BOOST_TEST(!m.over());
      BOOST_REQUIRE(l.run_until([&] { return m.over(); }));
      BOOST_TEST(m.aborted());
      l.require_meeting();
    }
}

BOOST_AUTO_TEST_CASE(is_aborted_alone_among_several) {
  listening l;
  meeting first, second, third, connected;
  l.acc.async_accept(first.handler());
  l.acc.async_accept(second.handler());
  l.acc.async_accept(third.handler());
  l.poll();
  second.signal.emit(cancellation_type::total);
  BOOST_REQUIRE(l.run_until([&] { return second.over(); }));
  BOOST_TEST(second.aborted());
  async_connect(l.executor, l.name, connected.handler());
  BOOST_REQUIRE(l.run_until([&] { return connected.over() && first.over(); }));
  BOOST_TEST(!*first.result);
  BOOST_TEST(!third.over());
}

BOOST_AUTO_TEST_CASE(is_aborted_by_cancel_close_and_destruction_but_not_inside) {
  for (int how : {0, 1, 2}) {
    listening l;
    meeting first, second;
    l.acc.async_accept(first.handler());
    l.acc.async_accept(second.handler());
    l.poll();
    if (how == 0)
      l.acc.cancel();
    else if (how == 1)
      l.acc.close();
    else
      l.acc = acceptor(l.executor);
    BOOST_TEST(!first.over());
    BOOST_REQUIRE(l.run_until([&] { return first.over() && second.over(); }));
    BOOST_TEST(first.aborted());
    BOOST_TEST(second.aborted());
    if (how == 0)
      l.require_meeting();
  }
}

BOOST_AUTO_TEST_CASE(gives_bad_descriptor_on_an_acceptor_that_is_not_open_or_was_moved_from) {
  listening l;
  const acceptor taken(std::move(l.acc));
  acceptor never(l.executor);
  for (acceptor* a : {&l.acc, &never}) {
    meeting m;
    BOOST_TEST((a->get_executor() == l.executor));
    a->async_accept(m.handler());
    BOOST_TEST(!m.over());
    BOOST_REQUIRE(l.run_until([&] { return m.over(); }));
    BOOST_TEST(*m.result == asio::error::bad_descriptor);
  }
}

BOOST_AUTO_TEST_CASE(completes_on_the_handlers_executor) {
  listening l;
  track t;
  bool called = false;
  meeting connected;
  l.acc.async_accept(
      asio::bind_executor(tracker_executor(l.executor, t), [&](error_code ec, channel) {
        BOOST_TEST(!ec);
        BOOST_TEST(t.inside > 0);
        called = true;
      }));
  async_connect(l.executor, l.name, connected.handler());
  BOOST_TEST(l.run_until([&] { return called; }));
}

BOOST_AUTO_TEST_CASE(is_destroyed_uncalled_with_its_context) {
  const auto alive = std::make_shared<int>(0);
  {
    listening l;
    l.acc.async_accept([alive](error_code, const channel&) { ++*alive; });
    l.poll();
    async_connect(l.executor, "@sysipc-test-nobody",
                  [alive](error_code, const channel&) { ++*alive; });
    BOOST_TEST(alive.use_count() == 3);
  }
  BOOST_TEST(alive.use_count() == 1);
  BOOST_TEST(*alive == 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(a_connect)

BOOST_AUTO_TEST_CASE(is_aborted_by_a_signal_of_any_type) {
  for (cancellation_type type : all_types)
    for (bool waiting : {false, true}) {
      listening l; // whose acceptor accepts nothing, so that nobody answers
      meeting m;
      async_connect(l.executor, l.name, m.handler());
      if (waiting)
        for (int i = 0; i < 2; ++i)
          l.context.poll_one();
      m.signal.emit(type);
      BOOST_REQUIRE(l.run_until([&] { return m.over(); }));
      BOOST_TEST(m.aborted());
    }
}

BOOST_AUTO_TEST_CASE(is_never_completed_inside_the_initiating_function) {
  listening l;
  for (const std::string& name : {l.name, std::string("@sysipc-test-nobody"), std::string("/")}) {
    meeting m;
    async_connect(l.executor, name, m.handler());
    BOOST_TEST(!m.over());
    m.signal.emit(cancellation_type::terminal);
    BOOST_TEST(!m.over());
    BOOST_REQUIRE(l.run_until([&] { return m.over(); }));
  }
}

BOOST_AUTO_TEST_SUITE_END()
