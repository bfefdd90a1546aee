// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_CONNECT_HPP
#define SYSIPC_ASIO_CONNECT_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution/executor.hpp>
#include <boost/asio/is_executor.hpp>
#include <boost/system/system_error.hpp>
#include <string>
#include <string_view>
#include <sysipc_asio/channel.hpp>
#include <sysipc_asio/detail/connector.hpp>
#include <sysipc_asio/detail/default_token.hpp>
#include <sysipc_asio/options.hpp>

namespace sysipc_asio {

namespace detail {

/// The initiation of everything here that ends in a channel.
template <typename Executor, typename Start>
class initiate_channel {
public:
  using executor_type = Executor;

  initiate_channel(const Executor& executor, const channel_options& options, Start start)
      : executor_(executor), options_(options), start_(std::move(start)) {}

  executor_type get_executor() const noexcept { return executor_; }

  template <typename Handler>
  void operator()(Handler&& handler) {
    start_(executor_, wait_for_channel(std::forward<Handler>(handler), executor_, options_));
  }

private:
  Executor executor_;
  channel_options options_;
  Start start_;
};

class start_connect {
public:
  start_connect(std::string_view name, connect_options options)
      : name_(name), options_(std::move(options)) {}

  void operator()(const asio::any_io_executor& executor, std::shared_ptr<endpoint_waiter> waiter) {
    connect_async(executor, name_, options_, std::move(waiter));
  }

private:
  std::string name_;
  connect_options options_;
};

} // namespace detail

/// Connects to the acceptor that listens under `name`, blocking this thread.
/**
 * @param executor for the channel
 * @param name as for basic_acceptor
 * @param ec `connection_refused` or `no_such_file_or_directory`: nobody listens;
 * `error::handshake_timeout`; `error::not_admitted`, by either side;
 * `error::peer_out_of_resources`; `error::handshake_version`;
 * `error::handshake_malformed`; `error::bad_peer_descriptor`;
 * `error::invalid_name`; `error::unsafe_directory`; `connection_reset`: the
 * listener went away; system errors.
 */
template <typename Executor>
basic_channel<Executor> connect(const Executor& executor, std::string_view name,
                                const connect_options& options, error_code& ec) {
  basic_channel<Executor> result(executor);
  detail::endpoint e = detail::connect_blocking(name, options, ec);
  if (!ec)
    result = detail::open_channel(executor, std::move(e), options.channel, ec);
  return result;
}

/// As above; throws boost::system::system_error.
template <typename Executor>
basic_channel<Executor> connect(const Executor& executor, std::string_view name,
                                const connect_options& options = {}) {
  error_code ec;
  auto result = connect(executor, name, options, ec);
  if (ec)
    throw boost::system::system_error(ec, "connect");
  return result;
}

/// Connects to the acceptor that listens under `name`.
/**
 * Signature: `void(error_code, basic_channel<Executor>)`.
 *
 * @par Executor
 * The handler runs on its associated executor, or on `executor`; never inside
 * this call. The channel uses `executor`.
 * @par Per-operation cancellation
 * Terminal, partial and total.
 * @par Errors
 * As for connect(), and `operation_aborted`.
 */
template <typename Executor, asio::completion_token_for<void(error_code, basic_channel<Executor>)>
                                 CompletionToken = detail::default_token_t<Executor>>
auto async_connect(const Executor& executor, std::string_view name, connect_options options,
                   CompletionToken&& token = detail::default_token_t<Executor>()) {
  const channel_options for_channel = options.channel;
  return asio::async_initiate<CompletionToken, void(error_code, basic_channel<Executor>)>(
      detail::initiate_channel<Executor, detail::start_connect>(
          executor, for_channel, detail::start_connect(name, std::move(options))),
      token);
}

/// As above, with the default options.
template <typename Executor, asio::completion_token_for<void(error_code, basic_channel<Executor>)>
                                 CompletionToken = detail::default_token_t<Executor>>
auto async_connect(const Executor& executor, std::string_view name,
                   CompletionToken&& token = detail::default_token_t<Executor>()) {
  return async_connect(executor, name, connect_options(), std::forward<CompletionToken>(token));
}

} // namespace sysipc_asio

#endif
