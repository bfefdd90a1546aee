// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_CHANNEL_IMPL_HPP
#define SYSIPC_ASIO_DETAIL_CHANNEL_IMPL_HPP

#include <algorithm>
#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <memory>
#include <sysipc_asio/detail/crowd.hpp>
#include <sysipc_asio/detail/endpoint.hpp>
#include <sysipc_asio/detail/fork_guard.hpp>
#include <sysipc_asio/detail/peer_memory.hpp>
#include <sysipc_asio/detail/send_pool.hpp>
#include <sysipc_asio/error.hpp>
#include <sysipc_asio/ring.hpp>
#include <sysipc_asio/statistics.hpp>
#include <sysipc_asio/wait.hpp>
#include <thread>
#include <utility>

namespace sysipc_asio::detail {

/// What the channel as a whole is in; it only ever leaves `open` once, but for a close.
enum class condition : std::uint8_t { open, peer_closed, peer_died, violated, closed, inherited };

/// Completions without the scheduler before the other handlers get a turn.
inline constexpr unsigned completion_budget = 256;

class channel_impl;

/// What sending and receiving have in common: where to sleep, whom to wake.
class direction {
public:
  direction(asio::any_io_executor executor, unique_fd bell, bell_kind kind, kicker waker,
            layout::word64& arm, const layout::word64& peer_arm, fence_mode fences, bool may_spin,
            const channel_options& options);

  /// Wakes the peer if it sleeps. After everything that it may wait for is stored.
  void wake_peer(channel_impl& channel) noexcept {
    if (gate_.due() || always_kick_) [[unlikely]]
      kick(channel);
  }

  void hang_up() noexcept;

  void arm() noexcept {
    roused_before_.store(rouses_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    arm_.arm(gate_.mode());
  }
  void disarm() noexcept { arm_.disarm(); }
  bool armed() const noexcept { return arm_.armed(); }
  /// An odd value that the peer has not kicked yet, and that no operation takes back.
  void arm_for_good() noexcept {
    if (armed())
      disarm();
    // Release: whoever sees the word must see what it is about, the state. Pairs with
    // the acquire fence in kick_gate::due().
    release_fence();
    arm();
  }

  /// One operation of a kind at a time.
  bool busy() const noexcept { return busy_.load(std::memory_order_relaxed); }
  bool acquire() noexcept { return !busy_.exchange(true, std::memory_order_relaxed); }
  void release() noexcept { busy_.store(false, std::memory_order_relaxed); }

  /// How often cancel() was called: an operation that is not asleep compares.
  unsigned cancellations() const noexcept { return cancellations_.load(std::memory_order_relaxed); }
  void cancel() noexcept;
  /// Has a sleeper look again.
  void rouse() noexcept;
  /// True if rouse() was called since arm(): there may have been no sleeper yet.
  bool roused() const noexcept {
    return rouses_.load(std::memory_order_relaxed) !=
           roused_before_.load(std::memory_order_relaxed);
  }

  /// False when the operation should go through the scheduler once.
  bool take_turn() noexcept {
    const unsigned taken = turns_.load(std::memory_order_relaxed) + 1;
    turns_.store(taken, std::memory_order_relaxed);
    if (taken == 1) [[unlikely]]
      note_thread();
    return taken < completion_budget;
  }
  void restart_turns() noexcept { turns_.store(0, std::memory_order_relaxed); }
  /// True if it was this thread that took the first of the turns that are counted.
  bool turns_are_of_this_thread() const noexcept;

  /// Those whose operations spin in the same execution context.
  crowd& others() noexcept { return *others_; }

  wait_context& waiting() noexcept { return wait_; }
  const wait_context& waiting() const noexcept { return wait_; }
  /// Sleeps in the execution context until the bell rings or hangs up.
  template <typename Handler>
  void async_sleep(Handler&& handler) {
    bell_.async_wait(kind_ == bell_kind::endpoint_space ? asio::posix::stream_descriptor::wait_write
                                                        : asio::posix::stream_descriptor::wait_read,
                     std::forward<Handler>(handler));
  }
  /// Sleeps in this thread, and takes the kick; `quiet` now and then.
  bell sleep() const noexcept { return wait_bell(bell_fd_, kind_); }
  /// True of a pipe. To the driver, the arm word itself says that a kick was heard.
  bool kicks_are_taken() const noexcept { return kind_ == bell_kind::pipe; }
  /// After async_sleep(), if kicks_are_taken().
  bell take_kick() const noexcept { return drain_bell(bell_fd_); }
  bool hung_up() const noexcept { return bell_hung_up(bell_fd_); }
  int bell_fd() const noexcept { return bell_fd_; }
  const kicker& waker() const noexcept { return waker_; }
  /// Now and then true: time to ask the kernel whether a peer we never sleep on still lives.
  bool hang_up_check_due() noexcept { return ++yields_ % 64 == 0; }

protected:
  direction_statistics stats(std::uint64_t messages, std::uint64_t bytes,
                             std::uint64_t chances) const noexcept;
  static void publish(layout::counter_block& to, const direction_statistics& from) noexcept;

private:
  void kick(channel_impl& channel) noexcept;
  void note_thread() noexcept;

  arm_word arm_;
  kick_gate gate_;
  kicker waker_;
  int bell_fd_;
  bell_kind kind_;
  bool always_kick_;
  std::atomic<bool> busy_{false};
  std::atomic<unsigned> cancellations_{0};
  std::atomic<unsigned> rouses_{0};
  std::atomic<unsigned> roused_before_{0};
  std::atomic<unsigned> turns_{0}; ///< the other direction may restart them
  std::atomic<std::thread::id> thread_{};
  unsigned yields_ = 0;
  std::uint64_t kicks_ = 0;
  wait_context wait_;
  crowd* others_;
  asio::posix::stream_descriptor bell_;
};

/// The sending half.
class outbound : public direction {
public:
  outbound(asio::any_io_executor executor, peer_memory& memory, endpoint& e,
           const channel_options& options);

  ring_producer ring;
  send_pool_ptr pool; ///< may be null
  /// Larger messages go into the pool if they can.
  std::size_t inline_limit;
  /// What the peer takes.
  std::size_t max_message;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  /// The size that did not fit last; what async_wait(wait_send) waits for.
  std::size_t wanted = 0;
  /// The loan that was not to be had, if it was that; at least 1.
  std::size_t wanted_loan = 0;

  void pushed(channel_impl& channel, std::size_t n) noexcept {
    ++messages;
    bytes += n;
    wake_peer(channel);
  }

  /// How a message of `n` bytes goes, if there is no lack of anything.
  enum class way : std::uint8_t { in_ring, in_pool, in_pieces };
  way way_for(std::size_t n) const noexcept {
    if (n <= inline_limit)
      return way::in_ring;
    if (pool && n <= pool->max_block())
      return way::in_pool;
    return n <= ring.max_message_size() ? way::in_ring : way::in_pieces;
  }

  /// The room that the next piece of a message must find, of which `left` bytes remain.
  std::size_t piece_room(std::size_t left) const noexcept {
    return std::min(left + layout::piece_header, ring.capacity() / 4);
  }

  /// True if the peer must receive some of what lies in the pool before more is put there.
  bool window_full() noexcept { return !ring.consumed(window_start_); }

  /// True if an attempt to send `n` bytes, of which so many have been, would get on.
  bool would_get_on(std::size_t n, std::size_t sent) noexcept;
  bool ready() noexcept {
    return wanted_loan != 0 ? could_loan(wanted_loan) : would_get_on(wanted, 0);
  }
  /// What a sender would hear now even of a message that always fits: `ok` or an error.
  ring_status ring_error() noexcept {
    const ring_status status = ring.reserve(0);
    return status == ring_status::would_block ? ring_status::ok : status;
  }
  /// True unless a block for `n` bytes must be waited for.
  bool could_loan(std::size_t n) noexcept {
    return !pool || (!window_full() && pool->could_take(n)) || ring_error() != ring_status::ok;
  }

  /// Sends what lies in a block of the pool, once the ring has room for it.
  void push_block(channel_impl& channel, send_pool::block& block) noexcept;

  void pace() noexcept { cpu_relax(); }
  void before_sleep(channel_impl& channel) noexcept;
  direction_statistics stats() const noexcept {
    return direction::stats(messages, bytes, messages);
  }

private:
  /// Of the window of messages in the pool that the peer has not received: two halves, each
  /// of which is full when it has so many bytes. The ring's positions where the older one
  /// begins and ends, and what the younger one has.
  std::size_t half_window_;
  std::uint64_t window_start_ = 0;
  std::uint64_t window_middle_ = 0;
  std::size_t in_younger_half_ = 0;
  layout::counter_block* counters_;
};

/// The receiving half.
class inbound : public direction {
public:
  inbound(asio::any_io_executor executor, peer_memory& memory, endpoint& e,
          const channel_options& options);

  ring_consumer ring;
  /// What this side takes.
  std::size_t max_message;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t announcements = 0;

  /// The next message, left where it is: in the ring, in the peer's pool, or put together here.
  /** It is there until consumed(); its kind says where: `data`, `lease` or `last`. */
  ring_consumer::record next(channel_impl& channel) noexcept {
    const ring_consumer::record r = ring.peek_record();
    if (r.kind == layout::record_kind::data) [[likely]]
      return r;
    return settle(channel, r);
  }

  /// What to give back after a message of kind `lease`; to be asked for before consumed().
  lease take_lease(channel_impl& channel) noexcept;
  /// The message of kind `last`.
  std::unique_ptr<std::byte[]> take_assembled() noexcept { return std::move(assembled_); }

  /// The message that next() showed is no longer needed.
  void consumed(channel_impl& channel, const ring_consumer::record& r) noexcept {
    if (r.kind == layout::record_kind::data) [[likely]]
      ring.pop_front(r.payload.size());
    else
      pop_large(r.kind);
    popped(channel, r.payload.size());
  }

  /// True if next() would not give `would_block`.
  bool ready(channel_impl& channel) noexcept {
    return ring.message_ready() ||
           (ring.ready() && next(channel).status != ring_status::would_block);
  }
  /// As ready(), see ring_consumer::look().
  bool look(channel_impl& channel) noexcept { return ring.look() && ready(channel); }

  void popped(channel_impl& channel, std::size_t n) noexcept {
    ++messages;
    bytes += n;
    if (ring.published_position() != announced_) [[unlikely]]
      announce(channel);
  }

  /// The head was published: whoever waits for space must hear of it.
  void announce(channel_impl& channel) noexcept {
    announced_ = ring.published_position();
    ++announcements;
    wake_peer(channel);
    if (announced_ >= next_check_) [[unlikely]]
      check_peer(channel);
  }

  void pace() noexcept { pacer_.pause(messages); }
  void before_sleep(channel_impl& channel) noexcept;
  direction_statistics stats() const noexcept {
    return direction::stats(messages, bytes, announcements);
  }

private:
  /// Laps of the ring between two questions to the kernel whether the peer still lives.
  static constexpr std::size_t laps_between_checks = 16;

  void check_peer(channel_impl& channel) noexcept;
  ring_consumer::record settle(channel_impl& channel, ring_consumer::record r) noexcept;
  ring_consumer::record violation() noexcept;
  /// Copies what there is of a message in pieces. False if it can't be: `status` says why.
  bool assemble(const ring_consumer::record& r, ring_status& status) noexcept;
  void pop_large(layout::record_kind kind) noexcept;

  layout::lease_record lease_{};
  std::size_t last_piece_ = 0;
  std::unique_ptr<std::byte[]> assembled_;
  std::size_t total_ = 0;
  std::size_t have_ = 0;
  std::uint64_t announced_ = 0;
  std::uint64_t next_check_;
  bool peer_gone_ = false;
  look_pacer pacer_;
  layout::counter_block* counters_;
};

/// One side of an open channel. Operations that sleep share its ownership.
class channel_impl final : public std::enable_shared_from_this<channel_impl> {
public:
  /// @throws boost::system::system_error if the reactor can't take the descriptors
  channel_impl(asio::any_io_executor executor, endpoint&& e, const channel_options& options);
  ~channel_impl();

private:
  /// Before the directions, which refer to it.
  std::shared_ptr<peer_memory> memory_;

public:
  outbound out;
  inbound in;

  const std::shared_ptr<peer_memory>& memory() const noexcept { return memory_; }

  condition state() const noexcept {
    return static_cast<condition>(condition_.load(std::memory_order_acquire));
  }

  void note_hang_up() noexcept;
  /// The peer broke the rules: nothing more is exchanged.
  void fail() noexcept;
  void shutdown() noexcept;
  void close() noexcept;
  void cancel() noexcept;

  /// The error for a send or a receive that can't succeed any more.
  error_code send_error() noexcept;
  error_code receive_error() noexcept;

  /// The scheduler has its turn, in an operation of `mine`.
  void restart_turns(direction& mine) noexcept;

  sysipc_asio::statistics stats() const noexcept;
  const peer_credentials& credentials() const noexcept { return credentials_; }
  sysipc_asio::backend backend() const noexcept { return backend_; }
  fence_mode fences() const noexcept { return fences_; }
  bool peer_says_closed() const noexcept;

private:
  peer_credentials credentials_;
  sysipc_asio::backend backend_;
  fence_mode fences_;
  /// Leaves `from` for `to`; false if it was something else.
  bool change(condition from, condition to) noexcept;

  std::atomic<unsigned char> condition_{static_cast<unsigned char>(condition::open)};
  std::atomic<bool> reset_reported_{false};
  fork_guard guard_;
};

/// Why an operation can't begin while another one of its kind waits.
inline error_code busy_error(const channel_impl& channel) noexcept {
  if (channel.state() >= condition::closed) // in a fork()ed child, the parent's waits for ever
    return asio::error::bad_descriptor;
  return error::operation_in_progress;
}

} // namespace sysipc_asio::detail

#endif
