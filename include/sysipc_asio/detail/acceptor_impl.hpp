// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_ACCEPTOR_IMPL_HPP
#define SYSIPC_ASIO_DETAIL_ACCEPTOR_IMPL_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <sysipc_asio/detail/endpoint_waiter.hpp>
#include <sysipc_asio/detail/handshake_session.hpp>
#include <sysipc_asio/detail/listening_socket.hpp>
#include <sysipc_asio/options.hpp>

namespace sysipc_asio::detail {

/// A listener: takes clients off the socket and shakes hands with many at once.
/**
 * Clients are taken only while an accept waits; handshakes that have begun go on
 * without one, for their timeout at most. When there are `max_pending` of them, one
 * that has been silent for a while gives way, so that silent clients can't shut
 * others out.
 *
 * Memory or descriptors that run out are the error of the accepts that wait, or of the
 * client that came; none of them throws from a handler.
 */
class acceptor_impl final : public endpoint_source,
                            public std::enable_shared_from_this<acceptor_impl> {
public:
  /// @throws boost::system::system_error if the reactor can't take the socket
  acceptor_impl(asio::any_io_executor executor, listening_socket socket, listen_options options);

  void async_accept(std::shared_ptr<endpoint_waiter> waiter) noexcept;
  endpoint accept(error_code& ec);
  void cancel() noexcept;
  void close() noexcept;
  bool is_open() const;
  std::uint64_t failed_handshakes() const;
  const listen_options& options() const noexcept { return *options_; }

private:
  using clock = std::chrono::steady_clock;

  struct session {
    std::weak_ptr<handshake_session> handshake;
    clock::time_point begun;
  };

  /// A handshake that accept() carries on from one call to the next.
  struct blocking_client {
    std::unique_ptr<handshake> h;
    clock::time_point deadline;
  };

  // All of these with mutex_ held.
  void watch() noexcept;
  void wait_for_client();
  void make_room_later();
  void stop_watching() noexcept;
  bool give(const error_code& ec, endpoint&& e = {}) noexcept;
  void abort_waiting(const error_code& ec) noexcept;
  void forget(const handshake_session& done);

  unique_fd take_client(error_code& ec) noexcept;
  void take_clients() noexcept;
  void begin(unique_fd client) noexcept;
  void finished(const handshake_session& done, const error_code& ec, endpoint e) noexcept;
  void given_up(const endpoint_waiter& who) noexcept override;
  endpoint accept_blocking(error_code& ec);

  mutable std::mutex mutex_;
  asio::any_io_executor executor_;
  std::shared_ptr<const listen_options> options_;
  listening_socket file_;
  asio::posix::stream_descriptor socket_;
  fork_guard guard_;
  asio::steady_timer relief_;
  bool watching_ = false;
  std::uint64_t failed_ = 0;
  std::list<std::shared_ptr<endpoint_waiter>> waiting_;
  std::list<session> sessions_; ///< the oldest first
  std::list<endpoint> ready_;
  std::deque<blocking_client> blocking_clients_;
};

} // namespace sysipc_asio::detail

#endif
