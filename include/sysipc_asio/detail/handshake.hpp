// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_HANDSHAKE_HPP
#define SYSIPC_ASIO_DETAIL_HANDSHAKE_HPP

#include <chrono>
#include <memory>
#include <sysipc_asio/detail/endpoint.hpp>
#include <sysipc_asio/detail/fork_guard.hpp>
#include <sysipc_asio/detail/frames.hpp>
#include <sysipc_asio/options.hpp>

namespace sysipc_asio::detail {

/// One side of the handshake over a connected Unix stream socket.
/**
 * Never blocks and does not know how it is waited for: run() does what can be
 * done and says what it needs to go on.
 */
class handshake {
public:
  explicit handshake(unique_fd socket)
      : owned_(std::move(socket)), socket_(owned_.get()), guard_(fork_claim{{socket_, -1}}) {}
  handshake(const handshake&) = delete;
  handshake& operator=(const handshake&) = delete;
  virtual ~handshake() = default;

  int socket() const noexcept { return socket_; }

  /// The socket is closed by the caller from here on, after this object is done with it.
  void release_socket() noexcept { owned_.release(); }

  /// Goes as far as possible. True if it is over: see take(). Else it needs socket() to
  /// become readable.
  bool run() noexcept;

  /// The outcome.
  endpoint take(error_code& ec) noexcept {
    ec = error_;
    return std::move(result_);
  }

  /// Gives up, telling the other side if it can still be told.
  void abort(const error_code& ec) noexcept { fail(ec); }

protected:
  /// One step; `ec` ends the handshake, `would_block` pauses it. True: over.
  virtual bool step(error_code& ec) = 0;

  /// Reads the next frame into reader_. False: not all there yet, or `ec`.
  bool read_frame(error_code& ec);

  void check_peer(const admission_predicate& admit, error_code& ec);
  /// The peer's segment, and its bells if they are pipes, from an `attach` or `welcome`.
  void attach_peer(std::size_t ring_capacity, std::size_t peers_pool, error_code& ec);
  /// The peer's pool, of the descriptor at that place; none if `size` is 0.
  void attach_pool(std::size_t place, std::size_t size, error_code& ec);
  /// What this side has made; of the driver's channel, `endpoint` is the peer's.
  template <typename Frame>
  void send_with_descriptors(const Frame& frame, int endpoint, error_code& ec) {
    send_frame(socket(), frame,
               {endpoint, result_.own.native_handle(), result_.data_kick.reading_end(),
                result_.space_kick.reading_end(),
                result_.pool ? result_.pool->native_handle() : -1},
               ec);
  }
  /// As much of `half` as make_own_half() made.
  void adopt(endpoint half, const channel_options& options, error_code& ec) noexcept;
  void agree(bool fences, std::int32_t peer_only_cpu) noexcept;
  virtual void fail(const error_code& ec) noexcept;

private:
  unique_fd owned_;
  int socket_;
  fork_guard guard_;

protected:
  frame_reader reader_;
  endpoint result_;

private:
  error_code error_;
  bool over_ = false;
};

/// The side that called accept.
std::unique_ptr<handshake> make_listener_handshake(unique_fd socket,
                                                   std::shared_ptr<const listen_options> options);

/// The side that called connect.
std::unique_ptr<handshake> make_connector_handshake(unique_fd socket, connect_options options);

/// `timeout` from now, however large it is.
std::chrono::steady_clock::time_point deadline_after(std::chrono::nanoseconds timeout) noexcept;

/// Runs a handshake to its end, blocking this thread for `timeout` at most.
endpoint run_blocking(handshake& h, std::chrono::nanoseconds timeout, error_code& ec);

} // namespace sysipc_asio::detail

#endif
