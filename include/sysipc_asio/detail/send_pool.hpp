// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_SEND_POOL_HPP
#define SYSIPC_ASIO_DETAIL_SEND_POOL_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <sysipc_asio/detail/config.hpp>
#include <sysipc_asio/layout.hpp>
#include <sysipc_asio/options.hpp>

namespace sysipc_asio::detail {

class send_pool;

/// Ends the use of a pool by its channel.
struct detach_pool {
  void operator()(send_pool* pool) const noexcept;
};
using send_pool_ptr = std::unique_ptr<send_pool, detach_pool>;

/// The memory from which this side lends blocks to its peer.
/**
 * A sealed memfd that only this side can write. It is sparse: memory is taken from the host
 * as more of it is used at a time, and a host that has none left is an error here. What is in
 * use is known to this process alone; the peer says in its own release words what it is done
 * with, and these words are only ever compared.
 *
 * A block is free, or held by this side (to be filled), or out (sent, the peer has it).
 *
 * @par Thread Safety
 * give_back() is safe. All else is for the channel's sending operations.
 */
class send_pool {
public:
  /// A place for a payload; whoever holds it may write the bytes and the size.
  struct block {
    std::byte* data = nullptr;
    std::size_t capacity = 0;
    std::size_t size = 0; ///< what will be sent
    send_pool* pool = nullptr;
    std::uint32_t generation = 0;
    std::uint32_t next_given_back = 0;
  };

  enum class status : std::uint8_t {
    ok,
    exhausted, ///< until the peer gives something back, or this side does
    no_memory, ///< the host has none, and there is nothing to be given back
    never      ///< not even if all of it were free
  };

  /// A pool of `size` bytes, as `options` say.
  static send_pool_ptr create(std::size_t size, const channel_options& options, error_code& ec);
  send_pool(const send_pool&) = delete;
  send_pool& operator=(const send_pool&) = delete;

  /// The sealed memfd, to be sent to the peer.
  int native_handle() const noexcept;
  /// In bytes.
  std::size_t size() const noexcept;
  /// The largest block that there can be, in bytes.
  std::size_t max_block() const noexcept;

  /// The words in which the peer gives leases back; until null.
  void set_releases(const layout::word32* words) noexcept;

  /// Called when this side gives a block back, by whatever thread that does.
  void set_listener(std::function<void()> given_back) noexcept;

  /// Sets `result` to a block of that size.
  status take(std::size_t n, block*& result) noexcept;

  /// True if take() would not give `exhausted`.
  bool could_take(std::size_t n) noexcept;

  /// What to tell the peer when a block is sent.
  layout::lease_record describe(const block& b) const noexcept;

  /// The block is out.
  void sent(block& b) noexcept;

  /// The block is free again, without having been sent. Also after the channel's end.
  void give_back(block& b) noexcept;

  struct usage {
    std::size_t held = 0;      ///< blocks
    std::size_t out = 0;       ///< blocks
    std::size_t committed = 0; ///< bytes that the host has given
  };
  usage used() noexcept;

private:
  friend detach_pool;

  struct state;
  explicit send_pool(std::unique_ptr<state> s) noexcept;
  ~send_pool();

  /// From here on only give_back() is called; the last of them destroys the pool.
  void detach() noexcept;

  std::unique_ptr<state> state_;
};

} // namespace sysipc_asio::detail

#endif
