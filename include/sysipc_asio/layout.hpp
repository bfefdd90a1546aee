// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_LAYOUT_HPP
#define SYSIPC_ASIO_LAYOUT_HPP

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <sysipc_asio/detail/config.hpp>

/// The bytes of a side segment, version 1. `doc/layout.md` is the picture.
/**
 * Everything is little-endian and fixed-width, so that 32-bit and 64-bit
 * processes interoperate. One side owns a segment and is the only one that can
 * write it; its peer maps it read-only.
 */
namespace sysipc_asio::layout {

static_assert(std::endian::native == std::endian::little, "the layout is little-endian");

using word64 = std::atomic<std::uint64_t>;
using word32 = std::atomic<std::uint32_t>;
static_assert(sizeof(word64) == 8 && word64::is_always_lock_free);
static_assert(sizeof(word32) == 4 && word32::is_always_lock_free);

/// "SYSIPC01"
inline constexpr std::uint64_t magic = 0x3130'4350'4953'5953ULL;
inline constexpr std::uint16_t abi_version = 1;
/// The unit of the header; the ring starts at a multiple of the system's page.
inline constexpr std::size_t page = 4096;
inline constexpr std::size_t line = 64;
/// Two lines: the adjacent-line prefetcher pulls pairs.
inline constexpr std::size_t block = 2 * line;

/// Page 0: written once by the owner before the descriptor is sent.
struct identity {
  std::uint64_t magic;
  std::uint16_t abi_version;
  std::uint16_t reserved16;
  std::uint32_t features;
  std::uint64_t segment_size;
  std::uint64_t words_offset;
  std::uint64_t ring_offset;
  std::uint64_t ring_capacity;
  std::uint64_t release_offset; ///< of the words in which the owner gives leases back
  std::uint64_t release_count;
};
static_assert(offsetof(identity, magic) == 0);
static_assert(offsetof(identity, abi_version) == 8);
static_assert(offsetof(identity, features) == 12);
static_assert(offsetof(identity, segment_size) == 16);
static_assert(offsetof(identity, words_offset) == 24);
static_assert(offsetof(identity, ring_offset) == 32);
static_assert(offsetof(identity, ring_capacity) == 40);
static_assert(offsetof(identity, release_offset) == 48);
static_assert(offsetof(identity, release_count) == 56);
static_assert(sizeof(identity) == 64);

/// What `words::state` says.
enum class side_state : std::uint32_t { open = 1, shut_down = 2, closed = 3 };

/// One direction's counters as its owner last published them; for diagnosis.
struct counter_block {
  word64 messages;
  word64 bytes;
  word64 kicks;
  word64 sleeps;
  word64 spin_hits;
  word64 spin_misses;
  word64 reserved[10];
};
static_assert(sizeof(counter_block) == block);

/// The leases of one pool that can be out at the same time.
inline constexpr std::size_t release_count = 768;

/// Page 1: the words this side owns, each alone in its block but for the last.
struct words {
  alignas(block) word64 rx_head; ///< bytes of the peer's ring that I consumed
  alignas(block) word64 rx_arm;  ///< odd: I sleep until the peer commits a record
  alignas(block) word64 tx_arm;  ///< odd: I sleep until the peer frees space
  alignas(block) word64 tx_tail; ///< bytes I produced; lazily, for diagnosis only
  alignas(block) word32 state;   ///< `side_state`
  alignas(block) counter_block sent;
  alignas(block) counter_block received;
  alignas(block) word64 reserved[16];
  /// By lease of the peer's pool: the generation that I gave back last.
  alignas(block) word32 release[release_count];
};
static_assert(offsetof(words, rx_head) == 0);
static_assert(offsetof(words, rx_arm) == 128);
static_assert(offsetof(words, tx_arm) == 256);
static_assert(offsetof(words, tx_tail) == 384);
static_assert(offsetof(words, state) == 512);
static_assert(offsetof(words, sent) == 640);
static_assert(offsetof(words, received) == 768);
static_assert(offsetof(words, release) == 1024);
static_assert(sizeof(words) == page);

/// What follows a commit word.
enum class record_kind : std::uint32_t {
  none = 0,  ///< not committed yet
  data = 1,  ///< a message
  end = 2,   ///< the owner sends no more; nothing follows
  lease = 3, ///< a message that lies in the owner's pool: a `lease_record`
  /// The beginning of a message in pieces: its size, u64, and bytes of it. One that was begun
  /// before and has no `last` is abandoned.
  first = 4,
  more = 5, ///< more bytes of it
  last = 6, ///< the rest of it
};

/// The payload of a record of kind `lease`.
struct lease_record {
  std::uint64_t offset; ///< in the pool, in bytes
  std::uint64_t size;   ///< in bytes, at least 1
  std::uint32_t id;     ///< below `release_count`
  /// What to write to `words::release[id]` to give the lease back; never 0.
  std::uint32_t generation;
};
static_assert(sizeof(lease_record) == 24);

/// What precedes the bytes of the first piece.
inline constexpr std::size_t piece_header = 8;

inline constexpr std::size_t commit_word_size = 8;

/// A commit word: payload length in the low half, kind in the high half.
constexpr std::uint64_t commit_word(record_kind kind, std::size_t length) noexcept {
  return static_cast<std::uint64_t>(kind) << 32 | static_cast<std::uint32_t>(length);
}

/// The bytes that a record with `length` bytes of payload takes in the ring.
constexpr std::size_t record_size(std::size_t length) noexcept {
  return commit_word_size + ((length + 7) & ~std::size_t{7});
}

/// The largest payload a ring can carry: one record and the sentinel after it.
constexpr std::size_t max_payload(std::size_t capacity) noexcept {
  return capacity - 2 * commit_word_size;
}

/// Payloads in a pool start at multiples of it.
inline constexpr std::size_t pool_alignment = line;
/// Offsets and sizes inside a pool stay far from overflow.
inline constexpr std::size_t max_pool_size =
    sizeof(void*) == 8 ? std::size_t{1} << 40 : std::size_t{1} << 30;

inline constexpr std::size_t min_ring_capacity = page;
/// Lengths and positions inside the ring stay far from 32-bit overflow.
inline constexpr std::size_t max_ring_capacity = std::size_t{1} << 30;

/// Where the parts of a segment lie.
struct geometry {
  std::size_t ring_offset = 0;
  std::size_t ring_capacity = 0;

  std::size_t segment_size() const noexcept { return ring_offset + ring_capacity; }
};

/// The geometry for a ring of at least `capacity` bytes.
/**
 * The capacity becomes a power of two and a multiple of `system_page`, within
 * [min_ring_capacity, max_ring_capacity].
 */
constexpr geometry make_geometry(std::size_t capacity, std::size_t system_page) noexcept {
  const std::size_t floor = system_page > min_ring_capacity ? system_page : min_ring_capacity;
  if (capacity < floor)
    capacity = floor;
  if (capacity > max_ring_capacity)
    capacity = max_ring_capacity;
  const std::size_t header = 2 * page;
  return {(header + system_page - 1) / system_page * system_page, std::bit_ceil(capacity)};
}

} // namespace sysipc_asio::layout

#endif
