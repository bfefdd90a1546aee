// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_HANDSHAKE_SESSION_HPP
#define SYSIPC_ASIO_DETAIL_HANDSHAKE_SESSION_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <sysipc_asio/detail/handshake.hpp>

namespace sysipc_asio::detail {

/// A handshake in an execution context, with a deadline.
/**
 * Its handlers may run on any thread of the context; a mutex keeps them apart,
 * since the user's strand, if there is one, is not ours to use.
 */
class handshake_session : public std::enable_shared_from_this<handshake_session> {
public:
  /// Called once, without any lock held, from a handler of the context or from abort().
  /** Does not throw. */
  using done_function = std::function<void(handshake_session&, error_code, endpoint)>;

  /// @throws boost::system::system_error if the reactor can't take the socket
  handshake_session(asio::any_io_executor executor, std::unique_ptr<handshake> h,
                    done_function done);

  void start(std::chrono::nanoseconds timeout) noexcept;

  /// Ends the handshake with `ec`, unless it is over already.
  void abort(const error_code& ec) noexcept;

private:
  void advance() noexcept;
  void finish(std::unique_lock<std::mutex> lock) noexcept;

  std::mutex mutex_;
  std::unique_ptr<handshake> handshake_;
  asio::posix::stream_descriptor socket_; ///< owns the handshake's socket
  asio::steady_timer timer_;
  done_function done_;
  bool over_ = false;
};

} // namespace sysipc_asio::detail

#endif
