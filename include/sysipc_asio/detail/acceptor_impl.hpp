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
 * Waiting handlers are owned by the operations in the execution context that will call
 * them (the wait for a client, a handshake), never by this object: a handler that owns
 * the acceptor would be a cycle that outlives the context.
 */
class acceptor_impl : public std::enable_shared_from_this<acceptor_impl> {
public:
  /// @throws boost::system::system_error if the reactor can't take the socket
  acceptor_impl(asio::any_io_executor executor, listening_socket socket, listen_options options);

  void async_accept(endpoint_handler handler);
  endpoint accept(error_code& ec);
  void cancel();
  void close();
  bool is_open() const;
  std::uint64_t failed_handshakes() const;
  const listen_options& options() const noexcept { return *options_; }

private:
  using clock = std::chrono::steady_clock;

  struct waiting {
    std::uint64_t id;
    endpoint_waiter waiter;
  };
  // A list: 1.81's any_completion_handler can't be move-assigned.
  using waiters = std::list<waiting>;
  using shared_waiters = std::shared_ptr<waiters>;

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
  void watch(const shared_waiters& waiting_here);
  void make_room_later(const shared_waiters& waiting_here);
  void complete_front(waiters& from, const error_code& ec, endpoint e);
  void forget(const handshake_session& done);
  waiters take_waiting();

  unique_fd take_client(error_code& ec) noexcept;
  void take_clients(const shared_waiters& waiting_here);
  void begin(unique_fd client, const shared_waiters& waiting_here);
  void finished(const handshake_session& done, const error_code& ec, endpoint e,
                const shared_waiters& waiting_here);
  void cancel_one(std::uint64_t id);
  static void abort_all(waiters aborted);

  mutable std::mutex mutex_;
  asio::any_io_executor executor_;
  std::shared_ptr<const listen_options> options_;
  listening_socket file_;
  asio::posix::stream_descriptor socket_;
  fork_guard guard_;
  asio::steady_timer relief_;
  bool watching_ = false;
  std::uint64_t next_id_ = 0;
  std::uint64_t failed_ = 0;
  std::weak_ptr<waiters> waiting_;
  std::list<session> sessions_; ///< the oldest first
  std::deque<endpoint> ready_;
  std::deque<blocking_client> blocking_clients_;
};

} // namespace sysipc_asio::detail

#endif
