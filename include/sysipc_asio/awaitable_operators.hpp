// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_AWAITABLE_OPERATORS_HPP
#define SYSIPC_ASIO_AWAITABLE_OPERATORS_HPP

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <sysipc_asio/detail/channel_operation.hpp>
#include <utility>

/// `co_await (ch.receive() || timer.async_wait(use_awaitable))` and its like.
/**
 * What Asio's operators do for `asio::awaitable`, for the operations that the
 * members of basic_channel return. The side that loses is cancelled and has
 * consumed nothing.
 */
namespace sysipc_asio::detail {

template <typename Operation, typename Executor, typename T>
auto operator||(channel_operation<Operation, Executor> a, asio::awaitable<T, Executor> b) {
  using asio::experimental::awaitable_operators::operator||;
  return as_awaitable(std::move(a).detach()) || std::move(b);
}

template <typename Operation, typename Executor, typename T>
auto operator||(asio::awaitable<T, Executor> a, channel_operation<Operation, Executor> b) {
  using asio::experimental::awaitable_operators::operator||;
  return std::move(a) || as_awaitable(std::move(b).detach());
}

template <typename Operation1, typename Operation2, typename Executor>
auto operator||(channel_operation<Operation1, Executor> a,
                channel_operation<Operation2, Executor> b) {
  using asio::experimental::awaitable_operators::operator||;
  return as_awaitable(std::move(a).detach()) || as_awaitable(std::move(b).detach());
}

template <typename Operation, typename Executor, typename T>
auto operator&&(channel_operation<Operation, Executor> a, asio::awaitable<T, Executor> b) {
  using asio::experimental::awaitable_operators::operator&&;
  return as_awaitable(std::move(a).detach()) && std::move(b);
}

template <typename Operation, typename Executor, typename T>
auto operator&&(asio::awaitable<T, Executor> a, channel_operation<Operation, Executor> b) {
  using asio::experimental::awaitable_operators::operator&&;
  return std::move(a) && as_awaitable(std::move(b).detach());
}

template <typename Operation1, typename Operation2, typename Executor>
auto operator&&(channel_operation<Operation1, Executor> a,
                channel_operation<Operation2, Executor> b) {
  using asio::experimental::awaitable_operators::operator&&;
  return as_awaitable(std::move(a).detach()) && as_awaitable(std::move(b).detach());
}

} // namespace sysipc_asio::detail

#endif
