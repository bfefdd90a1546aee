// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_TEST_GIVING_WAY_HPP
#define SYSIPC_ASIO_TEST_GIVING_WAY_HPP

#include "every_form.hpp"
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <functional>
#include <vector>

/// For tests of what may happen while a co_awaited operation gives others their turn.
namespace sysipc_asio::test {

inline asio::awaitable<void> receive_one_by_one(channel& from, channel& to, int n) {
  for (int i = 0; i < n; ++i) {
    from.try_push(i);
    co_await to.pop<int>();
  }
}

inline asio::awaitable<void> send_one_by_one(channel& from, channel& to, int n) {
  for (int i = 0; i < n; ++i) {
    co_await from.push(i);
    to.try_pop<int>();
  }
}

/// An operation that is co_awaited. What it transfers is an int.
struct awaited {
  const char* name;
  bool receives;
  bool transfers;
  asio::awaitable<void> (*run)(channel&, error_code&);
};

inline const std::array<awaited, 7> every_awaited = {
    {{"receive", true, true,
      [](channel& ch, error_code& ec) -> asio::awaitable<void> {
        message m = co_await ch.receive(ec);
        BOOST_TEST(m.size() == (ec ? 0U : sizeof(int)));
      }},
     {"receive into", true, true,
      [](channel& ch, error_code& ec) -> asio::awaitable<void> {
        int i = 0;
        std::size_t n = co_await ch.receive(asio::buffer(&i, sizeof i), ec);
        BOOST_TEST(n == (ec ? 0U : sizeof i));
      }},
     {"pop", true, true,
      [](channel& ch, error_code& ec) -> asio::awaitable<void> { co_await ch.pop<int>(ec); }},
     {"wait to receive", true, false,
      [](channel& ch, error_code& ec) -> asio::awaitable<void> {
        co_await ch.wait(wait_receive, ec);
      }},
     {"send", false, true,
      [](channel& ch, error_code& ec) -> asio::awaitable<void> {
        const int i = 1;
        std::size_t n = co_await ch.send(asio::buffer(&i, sizeof i), ec);
        BOOST_TEST(n == (ec ? 0U : sizeof i));
      }},
     {"push", false, true,
      [](channel& ch, error_code& ec) -> asio::awaitable<void> { co_await ch.push(1, ec); }},
     {"wait to send", false, false, [](channel& ch, error_code& ec) -> asio::awaitable<void> {
        co_await ch.wait(wait_send, ec);
      }}}};

template <typename F>
void with_each_awaited(F f) {
  for (const awaited& what : every_awaited)
    BOOST_TEST_CONTEXT(what.name) {
      f(what);
    }
}

/// Calls `meanwhile` when `what` has found that it can be done and gives others their turn.
/** To receive, `ch` finds a message. The outcome is in `ec`, which has a value then. */
inline asio::awaitable<void> give_way(const awaited& what, channel& ch, channel& peer,
                                      std::function<void()> meanwhile,
                                      std::optional<error_code>& outcome) {
  constexpr int all_but_one = detail::completion_budget - 1;
  if (what.receives) {
    co_await receive_one_by_one(peer, ch, all_but_one);
    peer.try_push(1);
  } else {
    co_await send_one_by_one(ch, peer, all_but_one);
  }
  asio::post(co_await asio::this_coro::executor, [&] {
    BOOST_TEST(!outcome.has_value());
    meanwhile();
  });
  error_code ec;
  co_await what.run(ch, ec);
  outcome = ec;
}

} // namespace sysipc_asio::test

#endif
