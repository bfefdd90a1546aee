// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_RUN_COROUTINE_HPP
#define SYSIPC_BENCH_RUN_COROUTINE_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <utility>

namespace bench {

/// For co_spawn(): out of run().
inline void rethrow(std::exception_ptr failure) {
  if (failure)
    std::rethrow_exception(failure);
}

/// Runs `context` until `task` is over; throws what it throws.
inline void run_coroutine(boost::asio::io_context& context, boost::asio::awaitable<void> task) {
  boost::asio::co_spawn(context, std::move(task), rethrow);
  context.run();
}

} // namespace bench

#endif
