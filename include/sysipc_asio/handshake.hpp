// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_HANDSHAKE_HPP
#define SYSIPC_ASIO_HANDSHAKE_HPP

#include <boost/asio/local/stream_protocol.hpp>
#include <sysipc_asio/connect.hpp>

namespace sysipc_asio {

namespace detail {

class start_handshake {
public:
  start_handshake(std::unique_ptr<handshake> h, std::chrono::nanoseconds timeout)
      : handshake_(std::move(h)), timeout_(timeout) {}

  void operator()(const asio::any_io_executor& executor, std::shared_ptr<endpoint_waiter> waiter) {
    handshake_async(executor, std::move(handshake_), timeout_, std::move(waiter));
  }

private:
  std::unique_ptr<handshake> handshake_;
  std::chrono::nanoseconds timeout_;
};

/// Takes the descriptor out of its socket, ready for a handshake.
template <typename Socket>
unique_fd release_socket(Socket& socket, error_code& ec) {
  socket.native_non_blocking(true, ec);
  return ec ? unique_fd() : unique_fd(socket.release(ec));
}

} // namespace detail

/// Turns a connected Unix stream socket into a channel, as the accepting side.
/**
 * For sockets that were not made by an acceptor: one of a socketpair() across
 * fork() and exec(), or one that was passed to this process. The other process
 * calls connect_on(). Nothing may be in flight on the socket. On failure it is
 * closed.
 *
 * @param ec as for connect()
 */
template <typename Executor>
basic_channel<Executor> accept_on(const Executor& executor,
                                  asio::local::stream_protocol::socket socket,
                                  const listen_options& options, error_code& ec) {
  basic_channel<Executor> result(executor);
  detail::choose_backend(options.backend, ec);
  if (ec)
    return result;
  detail::unique_fd fd = detail::release_socket(socket, ec);
  if (ec)
    return result;
  const auto h = detail::make_listener_handshake(std::move(fd),
                                                 std::make_shared<const listen_options>(options));
  detail::endpoint e = detail::run_blocking(*h, options.handshake_timeout, ec);
  if (!ec)
    result = detail::open_channel(executor, std::move(e), options.channel, ec);
  return result;
}

/// Turns a connected Unix stream socket into a channel, as the connecting side.
/** See accept_on(). */
template <typename Executor>
basic_channel<Executor> connect_on(const Executor& executor,
                                   asio::local::stream_protocol::socket socket,
                                   const connect_options& options, error_code& ec) {
  basic_channel<Executor> result(executor);
  detail::unique_fd fd = detail::release_socket(socket, ec);
  if (ec)
    return result;
  const auto h = detail::make_connector_handshake(std::move(fd), options);
  detail::endpoint e = detail::run_blocking(*h, options.timeout, ec);
  if (!ec)
    result = detail::open_channel(executor, std::move(e), options.channel, ec);
  return result;
}

/// accept_on(), throwing boost::system::system_error.
template <typename Executor>
basic_channel<Executor> accept_on(const Executor& executor,
                                  asio::local::stream_protocol::socket socket,
                                  const listen_options& options = {}) {
  error_code ec;
  auto result = accept_on(executor, std::move(socket), options, ec);
  if (ec)
    throw boost::system::system_error(ec, "accept_on");
  return result;
}

/// connect_on(), throwing boost::system::system_error.
template <typename Executor>
basic_channel<Executor> connect_on(const Executor& executor,
                                   asio::local::stream_protocol::socket socket,
                                   const connect_options& options = {}) {
  error_code ec;
  auto result = connect_on(executor, std::move(socket), options, ec);
  if (ec)
    throw boost::system::system_error(ec, "connect_on");
  return result;
}

/// accept_on() as an asynchronous operation.
/** Signature: `void(error_code, basic_channel<Executor>)`. */
template <typename Executor, asio::completion_token_for<void(error_code, basic_channel<Executor>)>
                                 CompletionToken = detail::default_token_t<Executor>>
auto async_accept_on(const Executor& executor, asio::local::stream_protocol::socket socket,
                     const listen_options& options,
                     CompletionToken&& token = detail::default_token_t<Executor>()) {
  error_code ec;
  auto h = detail::make_listener_handshake(detail::release_socket(socket, ec),
                                           std::make_shared<const listen_options>(options));
  return asio::async_initiate<CompletionToken, void(error_code, basic_channel<Executor>)>(
      detail::initiate_channel<Executor, detail::start_handshake>(
          executor, options.channel,
          detail::start_handshake(std::move(h), options.handshake_timeout)),
      token);
}

/// connect_on() as an asynchronous operation.
/** Signature: `void(error_code, basic_channel<Executor>)`. */
template <typename Executor, asio::completion_token_for<void(error_code, basic_channel<Executor>)>
                                 CompletionToken = detail::default_token_t<Executor>>
auto async_connect_on(const Executor& executor, asio::local::stream_protocol::socket socket,
                      const connect_options& options,
                      CompletionToken&& token = detail::default_token_t<Executor>()) {
  error_code ec;
  auto h = detail::make_connector_handshake(detail::release_socket(socket, ec), options);
  return asio::async_initiate<CompletionToken, void(error_code, basic_channel<Executor>)>(
      detail::initiate_channel<Executor, detail::start_handshake>(
          executor, options.channel, detail::start_handshake(std::move(h), options.timeout)),
      token);
}

} // namespace sysipc_asio

#endif
