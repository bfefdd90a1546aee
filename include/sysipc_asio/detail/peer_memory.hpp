// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_PEER_MEMORY_HPP
#define SYSIPC_ASIO_DETAIL_PEER_MEMORY_HPP

#include <atomic>
#include <boost/interprocess/mapped_region.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <sysipc_asio/detail/doorbell.hpp>
#include <sysipc_asio/detail/fork_guard.hpp>
#include <sysipc_asio/fence.hpp>
#include <sysipc_asio/layout.hpp>
#include <sysipc_asio/segment.hpp>
#include <utility>

namespace sysipc_asio::detail {

/// The peer's pool, mapped read-only. Inherited across fork(), as a message that lies in it is.
class peer_pool {
public:
  peer_pool() = default;

  /// Checks and maps a descriptor that a peer made with send_pool::create().
  /**
   * @param fd stays the caller's.
   * @param size what was agreed on, in bytes.
   * @param ec `error::bad_peer_descriptor` if `fd` is not a memfd of that size, sealed against
   * all that could change it under a reader; system errors if it can't be mapped.
   */
  static peer_pool open(int fd, std::size_t size, error_code& ec);

  /// In bytes; 0 if there is none.
  std::size_t size() const noexcept { return region_.get_size(); }

  /// What a lease is about; empty if it lies outside, or can't be one.
  std::span<const std::byte> at(const layout::lease_record& lease) const noexcept {
    if (lease.size == 0 || lease.size > size() || lease.offset > size() - lease.size ||
        lease.offset % layout::pool_alignment != 0 || lease.id >= layout::release_count ||
        lease.generation == 0)
      return {};
    return {static_cast<const std::byte*>(region_.get_address()) + lease.offset,
            static_cast<std::size_t>(lease.size)};
  }

private:
  boost::interprocess::mapped_region region_;
};

/// What outlives a channel as long as there are messages that lie in the peer's pool.
/**
 * @par Thread Safety
 * give_back() and close() are safe, the rest is const.
 */
class peer_memory {
public:
  peer_memory(segment own, peer_segment peer, peer_pool pool, fence_mode fences);

  segment own;
  peer_segment peer;
  peer_pool pool;

  /// Whom to wake if the peer waits for a lease; until close().
  void open(const kicker& space) noexcept;
  void close() noexcept;

  /// The payload of this lease is not needed any more.
  void give_back(std::uint32_t id, std::uint32_t generation) noexcept {
    // In a fork()ed child the words are not there: the lease is the parent's.
    if (mark_.load(std::memory_order_relaxed) != usable)
      return;
    // Release: pairs with the acquire load in send_pool's collect(). This side has read the
    // payload before the peer writes its bytes again.
    own.words().release[id].store(generation, std::memory_order_release);
    // As in kick_gate::due(), but for any number of threads.
    light_fence(fences_); // pairs with the heavy fence in arm_word::arm()
    const std::uint64_t word = peer.words().tx_arm.load(std::memory_order_relaxed);
    if ((word & 1) != 0 && kicked_.exchange(word, std::memory_order_relaxed) != word) [[unlikely]]
      kick();
  }

private:
  static constexpr unsigned char usable = 0;
  static constexpr unsigned char inherited = 1;

  void kick() noexcept;

  fence_mode fences_;
  std::atomic<unsigned char> mark_{usable};
  std::atomic<std::uint64_t> kicked_{0};
  std::mutex mutex_;
  const kicker* space_ = nullptr; ///< guarded by mutex_
  fork_guard guard_;
};

/// The right to read a payload in the peer's pool, until it is given back.
class lease {
public:
  lease() = default;
  lease(std::shared_ptr<peer_memory> memory, const layout::lease_record& record) noexcept
      : memory_(std::move(memory)), id_(record.id), generation_(record.generation) {}
  lease(lease&&) noexcept = default;
  lease& operator=(lease&& other) noexcept {
    if (this != &other) {
      give_back();
      memory_ = std::move(other.memory_);
      id_ = other.id_;
      generation_ = other.generation_;
    }
    return *this;
  }
  ~lease() { give_back(); }

  explicit operator bool() const noexcept { return memory_ != nullptr; }

private:
  void give_back() noexcept {
    if (memory_) {
      memory_->give_back(id_, generation_);
      memory_.reset();
    }
  }

  std::shared_ptr<peer_memory> memory_;
  std::uint32_t id_ = 0;
  std::uint32_t generation_ = 0;
};

} // namespace sysipc_asio::detail

#endif
