// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_DOORBELL_HPP
#define SYSIPC_ASIO_DETAIL_DOORBELL_HPP

#include <sysipc_asio/detail/config.hpp>
#include <sysipc_asio/detail/fork_guard.hpp>
#include <sysipc_asio/detail/unique_fd.hpp>

/// What a side sleeps on, and how it wakes the other one.
/**
 * With the driver it is the endpoint itself: readable unless the side's read word is armed
 * and was not kicked, writable likewise by its write word, hung up when the peer is gone.
 *
 * Without it there are pipes, one for each thing that a side can sleep for. A kick is one
 * byte; the peer's death is the hang-up of the same descriptor. Pipes and not eventfds, because
 * O_NONBLOCK belongs to the open file and both processes share an eventfd's: a hostile peer clears
 * the flag, fills the counter and so blocks the kick for ever. Of a pipe, the side that kicks makes
 * it and gives away only the reading end; nobody else can touch its writing end's flags.
 * doc/design.md has the measurements, and what a peer can still do.
 */
namespace sysipc_asio::detail {

enum class bell : unsigned char { quiet, rung, hung_up };

enum class bell_kind : unsigned char { pipe, endpoint_data, endpoint_space };

/// The end that kicks.
class kicker {
public:
  /// A pipe.
  static kicker create(error_code& ec);
  /// The driver's endpoint `fd`; the peer's side of it sleeps on `wakes`.
  static kicker of_endpoint(unique_fd fd, bell_kind wakes, error_code& ec);

  kicker() = default;
  kicker(kicker&&) noexcept = default;
  kicker& operator=(kicker&& other) noexcept;
  /// The peer hears the hang-up.
  ~kicker() { close(); }

  /// Wakes whoever waits at the other end. Never blocks, never raises SIGPIPE.
  /** @returns false if nobody is there any more, which only the driver can tell. */
  bool kick() const noexcept;

  /// The end of the pipe to send to the peer.
  int reading_end() const noexcept { return reading_end_.get(); }
  int writing_end() const noexcept { return writing_end_.get(); }

private:
  void close() noexcept;

  unique_fd writing_end_; ///< or the endpoint
  /// Kept, since a write to a pipe without readers raises SIGPIPE.
  unique_fd reading_end_;
  fork_guard guard_;
  bell_kind wakes_ = bell_kind::pipe;
};

/// True if `fd` is the reading end of a pipe.
bool is_reading_end(int fd) noexcept;

/// Takes the kicks that are there. Never blocks, whatever the peer did to `fd`'s flags.
bell drain_bell(int fd) noexcept;

/// Waits for a kick or a hang-up and takes it; returns `quiet` on a signal and once a second.
bell wait_bell(int fd, bell_kind kind = bell_kind::pipe) noexcept;

/// True if the other end is gone; takes no kick.
bool bell_hung_up(int fd) noexcept;

} // namespace sysipc_asio::detail

#endif
