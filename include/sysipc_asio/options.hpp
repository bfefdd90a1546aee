// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_OPTIONS_HPP
#define SYSIPC_ASIO_OPTIONS_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <sys/types.h>
#include <sysipc_asio/detail/config.hpp>
#include <sysipc_asio/fence.hpp>
#include <sysipc_asio/wait.hpp>

namespace sysipc_asio {

/// Where the memory and the doorbell of a channel come from.
enum class backend : std::uint8_t {
  automatic,   ///< the driver if it is there, may be used and has room; else interprocess
  kernel,      ///< the driver, `/dev/sysipc`
  interprocess ///< sealed memfds and pipes
};

/// Who is at the other end, as the kernel knows it from SO_PEERCRED.
struct peer_credentials {
  pid_t pid = -1;
  uid_t uid = static_cast<uid_t>(-1);
  gid_t gid = static_cast<gid_t>(-1);
};

/// Decides whether a channel to this process may be opened.
/** Called on the listener's or connector's executor; must not throw, nor use the acceptor. */
using admission_predicate = std::function<bool(const peer_credentials&)>;

/// The default: the same effective user as this process, or root.
bool same_user_or_root(const peer_credentials& peer) noexcept;

/// Lets the library choose.
inline constexpr std::size_t automatic_size = static_cast<std::size_t>(-1);

/// How one side of a channel behaves. Nothing here has to match the peer.
struct channel_options {
  static constexpr std::size_t default_pool = std::size_t{sizeof(void*) == 8 ? 128U : 4U} << 20;

  /// The ring for what this side sends, in bytes; becomes a power of two. The
  /// listener bounds what connectors ask for.
  std::size_t send_capacity = 256 * 1024;
  /// The ring for what this side receives, in bytes; a wish to the peer.
  std::size_t receive_capacity = 256 * 1024;
  /// The pool for the large messages that this side sends, in bytes; 0 for none. It takes memory
  /// from the host as it needs it, and keeps it until the channel is closed.
  std::size_t send_pool = default_pool;
  /// The pool of the peer; a wish.
  std::size_t receive_pool = default_pool;
  /// Larger messages are sent by way of the pool, up to here in the ring itself; in bytes.
  std::size_t inline_limit = automatic_size;
  /// How many bytes of messages in the pool the peer may be behind in receiving. It may always be
  /// two messages behind, whatever their size. What it received and still holds does not count.
  std::size_t send_window = automatic_size;
  /// The largest message that this side takes, in bytes. The peer's sends beyond it fail.
  std::size_t max_message_size = std::size_t{64} << 20;
  /// Messages in the pool at a time, those included that are still being built; 1 to 768.
  std::size_t max_leases = 256;
  /// Asks for huge pages for the pool. Where the host has none for shared memory
  /// (/sys/kernel/mm/transparent_hugepage/shmem_enabled), it has ordinary ones.
  bool huge_pages = false;
  /// Takes all memory of the pool when the channel is opened, and maps that and the ring.
  bool prefault = false;
  /// Keeps the memory that this side owns from being swapped out; needs RLIMIT_MEMLOCK.
  bool lock_memory = false;
  wait_policy policy = wait_policy::adaptive;
  /// `symmetric` forces the fences that work without membarrier(2); the channel
  /// is asymmetric only if both sides want and can.
  fence_mode fences = fence_mode::asymmetric;
  /// The longest spin without giving other handlers a turn.
  std::chrono::nanoseconds spin_slice = std::chrono::microseconds(2);
  /// The longest spin before sleeping, slices included.
  std::chrono::nanoseconds spin_limit = std::chrono::microseconds(20);
};

/// What a connector needs to know.
struct connect_options {
  channel_options channel{};
  /// For the whole of connecting: the socket, the hello and its answer.
  std::chrono::nanoseconds timeout = std::chrono::seconds(5);
  /// Asked about the listener; empty means same_user_or_root().
  admission_predicate admit{};
};

/// What a listener needs to know.
struct listen_options {
  channel_options channel{};
  /// `kernel` fails with `error::backend_unavailable` where there is no driver.
  sysipc_asio::backend backend = sysipc_asio::backend::automatic;
  /// For one client's handshake.
  std::chrono::nanoseconds handshake_timeout = std::chrono::seconds(5);
  /// Handshakes at a time; further clients wait in the socket's backlog, until one
  /// ends or has had 100 ms. Each may take both rings' memory, see `max_capacity`.
  std::size_t max_pending = 64;
  /// The largest ring that a connector gets, in bytes.
  std::size_t max_capacity = 16 * 1024 * 1024;
  /// The largest pool that a connector gets, either way, in bytes.
  std::size_t max_pool = std::size_t{1} << 30;
  int backlog = 128;
  /// Asked about each connector; empty means same_user_or_root().
  admission_predicate admit{};
};

} // namespace sysipc_asio

#endif
