// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_SILENCE_HPP
#define SYSIPC_BENCH_SILENCE_HPP

#include "round_trips.hpp"
#include "settings.hpp"
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <thread>

/// `settings::silence`, for code that blocks and for coroutines.
namespace bench {

inline bool wants_silence(const settings& s) noexcept {
  return s.silence.count() != 0;
}

inline void be_silent(const settings& s) {
  if (wants_silence(s))
    std::this_thread::sleep_for(s.silence);
}

/// The time of the next round trip begins afterwards.
inline void be_silent(const settings& s, round_trips& trips) {
  if (!wants_silence(s)) [[likely]]
    return;
  be_silent(s);
  trips.resume();
}

/// Only if wants_silence(): it is not free.
inline boost::asio::awaitable<void> async_silence(const settings& s, round_trips& trips) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, s.silence);
  co_await timer.async_wait(boost::asio::use_awaitable);
  trips.resume();
}

} // namespace bench

#endif
