// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_SEGMENT_HPP
#define SYSIPC_ASIO_SEGMENT_HPP

#include <boost/interprocess/mapped_region.hpp>
#include <cstddef>
#include <cstdint>
#include <sysipc_asio/detail/config.hpp>
#include <sysipc_asio/detail/fork_guard.hpp>
#include <sysipc_asio/detail/unique_fd.hpp>
#include <sysipc_asio/layout.hpp>

namespace sysipc_asio {

namespace detail {

/// A segment's pages mapped once, and the ring a second time right behind.
/**
 * A record that crosses the end of the ring is then contiguous all the same.
 * The pages are not inherited across fork().
 */
class mirrored_mapping {
public:
  mirrored_mapping() = default;

  /// Maps `fd` from `offset` on; on failure `ec` is set and the result is empty.
  static mirrored_mapping map(int fd, std::uint64_t offset, const layout::geometry& geometry,
                              boost::interprocess::mode_t mode, error_code& ec);

  std::byte* data() const noexcept { return static_cast<std::byte*>(segment_.get_address()); }

private:
  boost::interprocess::mapped_region segment_;
  boost::interprocess::mapped_region mirror_;
  fork_guard guard_; ///< last, to be gone before the addresses are free
};

} // namespace detail

/// The memory that this side owns: it alone can write it.
/**
 * A sealed memfd: its size is fixed, no new writable mapping can be made of it,
 * and its pages are allocated, so that a full host is an error here and not a
 * SIGBUS later. Or the driver's memory, of which all that is true, too. The
 * memory is zero but for its identity page.
 *
 * @par Thread Safety
 * Distinct objects: Safe. Shared objects: Unsafe.
 */
class segment {
public:
  segment() = default;

  /// Makes a segment with a ring of at least `ring_capacity` bytes.
  /**
   * @param ring_capacity in bytes; becomes a power of two within
   * [layout::min_ring_capacity, layout::max_ring_capacity].
   * @param ec `no_memory`, `no_space`, `too_many_files_open`, ... on failure.
   */
  static segment create(std::size_t ring_capacity, error_code& ec);
  static segment create(std::size_t ring_capacity);

  /// Maps and initialises the own segment of the driver's endpoint `fd`, which stays the
  /// caller's and has a ring of exactly `ring_capacity` bytes.
  static segment of_endpoint(int fd, std::size_t ring_capacity, error_code& ec);

  explicit operator bool() const noexcept { return mapping_.data() != nullptr; }

  /// The sealed memfd, to be sent to the peer; -1 of an endpoint's.
  int native_handle() const noexcept { return fd_.get(); }
  /// Closes the memfd; the mapping stays.
  void close_handle() noexcept { fd_.reset(); }

  /// Has each page mapped now, not when it is touched first, as far as the host can.
  void prefault() noexcept;
  /// Keeps it from being swapped out. @param ec `no_memory` beyond RLIMIT_MEMLOCK
  void lock(error_code& ec) noexcept;

  layout::words& words() const noexcept {
    return *reinterpret_cast<layout::words*>(mapping_.data() + layout::page);
  }
  std::byte* ring() const noexcept { return mapping_.data() + geometry_.ring_offset; }
  std::size_t ring_capacity() const noexcept { return geometry_.ring_capacity; }
  std::size_t size() const noexcept { return geometry_.segment_size(); }

private:
  void initialise() noexcept;

  detail::unique_fd fd_;
  detail::mirrored_mapping mapping_;
  layout::geometry geometry_;
};

/// The memory that the peer owns, mapped read-only.
/**
 * The geometry is kept in private memory after open(): what the peer writes to
 * its identity page later is never looked at.
 *
 * @par Thread Safety
 * Distinct objects: Safe. Shared objects: Unsafe.
 */
class peer_segment {
public:
  peer_segment() = default;

  /// Checks and maps a descriptor that a peer made with segment::create().
  /**
   * @param fd stays the caller's.
   * @param ring_capacity what the peer announced, in bytes.
   * @param ec `error::bad_peer_descriptor` if `fd` is not a memfd of exactly
   * the size for that capacity, with all its pages allocated, sealed against
   * shrinking, growing, further writers and further seals, and with the
   * identity of this layout; system errors if it can't be mapped.
   */
  static peer_segment open(int fd, std::size_t ring_capacity, error_code& ec);
  static peer_segment open(int fd, std::size_t ring_capacity);

  /// Maps the peer's segment of the driver's endpoint `fd`, which stays the caller's. Once
  /// the peer has initialised it: else `error::bad_peer_descriptor`.
  static peer_segment of_endpoint(int fd, std::size_t ring_capacity, error_code& ec);

  const layout::words& words() const noexcept {
    return *reinterpret_cast<const layout::words*>(mapping_.data() + layout::page);
  }
  const std::byte* ring() const noexcept { return mapping_.data() + geometry_.ring_offset; }
  std::size_t ring_capacity() const noexcept { return geometry_.ring_capacity; }

private:
  /// Maps what has been found to be of the right kind and size, and checks what is in it.
  void map(int fd, std::uint64_t offset, error_code& ec);

  detail::mirrored_mapping mapping_;
  layout::geometry geometry_;
};

} // namespace sysipc_asio

#endif
