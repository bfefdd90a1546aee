// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_RING_HPP
#define SYSIPC_ASIO_RING_HPP

#include <algorithm>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <sysipc_asio/detail/copy.hpp>
#include <sysipc_asio/layout.hpp>
#include <sysipc_asio/segment.hpp>

namespace sysipc_asio {

/// The outcome of one step on a ring.
enum class ring_status : std::uint8_t {
  ok,
  would_block,       ///< full for the producer, empty for the consumer
  message_size,      ///< the message is larger than the ring or than the buffer
  end,               ///< the producer finished the ring and everything is consumed
  no_memory,         ///< of a channel: for a message in pieces, which stays
  protocol_violation ///< the peer wrote what the layout forbids; permanent
};

/// The writing end of a single-producer single-consumer ring of messages.
/**
 * The ring lies in the producer's own segment. Each record is a commit word and
 * a contiguous payload; readiness travels in the record's own cache line, and
 * the consumer's index is read only when the ring looks full.
 *
 * No call blocks or enters the kernel.
 *
 * @par Thread Safety
 * Distinct objects: Safe. Shared objects: Unsafe. One `ring_producer` and one
 * `ring_consumer` of the same ring may be used by two threads or processes.
 *
 * @par Object lifetimes
 * The segments outlive the producer.
 */
class ring_producer {
public:
  /// Of no ring: may only be assigned to or destroyed.
  ring_producer() = default;

  /// Writes the ring in `own`, whose consumer publishes its progress in `peer`.
  ring_producer(const segment& own, const peer_segment& peer) noexcept
      : ring_(own.ring()), capacity_(own.ring_capacity()), mask_(capacity_ - 1),
        peer_head_(&peer.words().rx_head), words_(&own.words()) {}

  /// Bytes in the ring.
  std::size_t capacity() const noexcept { return capacity_; }

  /// The largest message that can ever be pushed, in bytes.
  std::size_t max_message_size() const noexcept { return layout::max_payload(capacity_); }

  /// Bytes produced since the ring was made, records' overhead included.
  std::uint64_t position() const noexcept { return tail_; }

  /// Appends one message.
  /**
   * @returns `ok`; `would_block` when there is no room yet; `message_size` when
   * there never will be; `end` after finish(); `protocol_violation`.
   */
  template <typename ConstBufferSequence>
  ring_status try_push(const ConstBufferSequence& buffers) noexcept {
    const std::size_t n = asio::buffer_size(buffers);
    const ring_status status = reserve(n);
    if (status == ring_status::ok) [[likely]] {
      detail::copy_from_buffers(payload(), buffers, n);
      publish(n);
    }
    return status;
  }

  /// A contiguous area for a message of up to `n` bytes, to be built in place.
  /**
   * The area is valid until the next call on this producer.
   *
   * @returns the area; one whose `data()` is null when try_push() of `n` bytes
   * would not give `ok`.
   */
  std::span<std::byte> prepare(std::size_t n) noexcept {
    if (reserve(n) != ring_status::ok)
      return {};
    return {payload(), n};
  }

  /// Makes the first `n` bytes of the prepared area the next message.
  /** Precondition: prepare(m) with `m >= n` succeeded and nothing came after. */
  void commit(std::size_t n) noexcept { publish(n); }

  /// As commit(), of a record that is not a whole message by itself.
  void commit(layout::record_kind kind, std::size_t n) noexcept { publish(n, kind); }

  /// True if the consumer has said that it consumed what was produced before `position`.
  /** False when reserve() gives an error. */
  bool consumed(std::uint64_t position) noexcept {
    const auto known = [&] { return tail_ - cached_head_ <= tail_ - position; };
    if (known()) [[likely]]
      return true;
    const ring_status status = reserve_slowly(0);
    return (status == ring_status::ok || status == ring_status::would_block) && known();
  }

  /// True if a message of `n` bytes would fit now; otherwise why not.
  ring_status reserve(std::size_t n) noexcept {
    const std::uint64_t after = tail_ + layout::record_size(n) + layout::commit_word_size;
    if (n <= max_message_size() && after - cached_head_ <= capacity_) [[likely]]
      return ring_status::ok;
    return reserve_slowly(n);
  }

  /// Ends the ring: the consumer finds `end` after the last message.
  /**
   * Always succeeds, also when the ring is full: the word takes the place of
   * the sentinel that every record leaves behind itself.
   */
  void finish() noexcept {
    if (finished_ || violated_)
      return;
    finished_ = true;
    store_commit_word(layout::commit_word(layout::record_kind::end, 0));
    // Nothing fits any more: reserve() takes its slow path, which says `end`.
    cached_head_ = tail_ - capacity_;
  }

  /// Writes position() to the segment, for diagnosis.
  void publish_tail() noexcept { words_->tx_tail.store(tail_, std::memory_order_relaxed); }

private:
  static constexpr std::size_t write_ahead = 512;

  std::byte* payload() const noexcept { return ring_ + (tail_ & mask_) + layout::commit_word_size; }

  layout::word64& commit_word_at(std::uint64_t position) const noexcept {
    return *reinterpret_cast<layout::word64*>(ring_ + (position & mask_));
  }

  void store_commit_word(std::uint64_t word) noexcept {
    // Release: pairs with the acquire load in ring_consumer::peek(). The payload
    // and the sentinel behind it are visible before the word that announces them.
    commit_word_at(tail_).store(word, std::memory_order_release);
  }

  void publish(std::size_t n, layout::record_kind kind = layout::record_kind::data) noexcept {
    const std::uint64_t next = tail_ + layout::record_size(n);
    // The sentinel first: whoever sees this record must find the next one empty.
    commit_word_at(next).store(0, std::memory_order_relaxed);
    store_commit_word(layout::commit_word(kind, n));
    tail_ = next;
    // The lines there were read by the consumer a lap ago: asking for them back early
    // keeps stores from queueing up behind them. Two of them, since records of 72 bytes
    // that ask for one each leave out every ninth line, and to wait for that one costs
    // as much as the other eight. The second mapping makes it safe.
    std::byte* const ahead = ring_ + (next & mask_) + write_ahead;
    detail::prefetch_for_write(ahead - layout::commit_word_size);
    detail::prefetch_for_write(ahead);
  }

  ring_status reserve_slowly(std::size_t n) noexcept {
    if (violated_)
      return ring_status::protocol_violation;
    if (finished_)
      return ring_status::end;
    if (n > max_message_size())
      return ring_status::message_size;
    // Acquire: pairs with the release store in ring_consumer::publish_head(). The
    // consumer has read the payload before its bytes are written again.
    const std::uint64_t head = peer_head_->load(std::memory_order_acquire);
    if (head - cached_head_ > tail_ - cached_head_) {
      // Behind what it said before, or beyond what was ever produced.
      violated_ = true;
      cached_head_ = tail_ - capacity_;
      return ring_status::protocol_violation;
    }
    cached_head_ = head;
    const std::uint64_t after = tail_ + layout::record_size(n) + layout::commit_word_size;
    return after - head <= capacity_ ? ring_status::ok : ring_status::would_block;
  }

  std::byte* ring_ = nullptr;
  std::size_t capacity_ = 0;
  std::uint64_t mask_ = 0;
  std::uint64_t tail_ = 0;
  std::uint64_t cached_head_ = 0;
  const layout::word64* peer_head_ = nullptr;
  layout::words* words_ = nullptr;
  bool finished_ = false;
  bool violated_ = false;
};

/// The reading end of a single-producer single-consumer ring of messages.
/**
 * The ring lies in the peer's segment, which this process can only read.
 * Everything in it is checked before it is used: a peer that writes nonsense
 * gets `protocol_violation`, for good.
 *
 * The producer learns how far the consumer is when an eighth of the ring has
 * been consumed since it last did, when the consumer has caught up, and on
 * publish_head().
 *
 * @par Thread Safety
 * As `ring_producer`.
 *
 * @par Object lifetimes
 * The segments outlive the consumer.
 */
class ring_consumer {
public:
  /// A message in place, not yet popped.
  struct record {
    ring_status status = ring_status::would_block;
    layout::record_kind kind = layout::record_kind::none;
    std::span<const std::byte> payload{};
  };

  /// Of no ring: may only be assigned to or destroyed.
  ring_consumer() = default;

  /// Reads the ring in `peer` and publishes the progress in `own`.
  ring_consumer(const segment& own, const peer_segment& peer) noexcept
      : ring_(peer.ring()), capacity_(peer.ring_capacity()), mask_(capacity_ - 1),
        words_(&own.words()) {}

  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t max_message_size() const noexcept { return layout::max_payload(capacity_); }

  /// Bytes consumed since the ring was made, records' overhead included.
  std::uint64_t position() const noexcept { return head_; }

  /// What position() the producer has been told.
  std::uint64_t published_position() const noexcept { return published_; }

  /// True if peek() would not give `would_block`. One load.
  bool ready() const noexcept {
    return commit_word_here().load(std::memory_order_relaxed) != 0 || violated_;
  }

  /// True if the next record is a whole message by itself. One load.
  bool message_ready() const noexcept {
    const std::uint64_t word = commit_word_here().load(std::memory_order_relaxed);
    return word >> 32 == static_cast<std::uint32_t>(layout::record_kind::data) && !violated_;
  }

  /// As ready(), for one who waits for nothing but the next message.
  /**
   * Has the line that follows come here, too, so that a message on two lines is read
   * as quickly as one on a single line. In a stream of messages it would take the line
   * away from the producer: not to be called before a second look found nothing.
   */
  bool look() const noexcept {
    if (ready())
      return true;
    detail::prefetch_for_read(ring_ + (head_ & mask_) + layout::line);
    return false;
  }

  /// The next message, left where it is.
  /**
   * The payload is shared memory: a hostile peer can change it while it is
   * read. Copy it before it is checked, or use try_pop().
   *
   * Here only whole messages are allowed; channels look with peek_record().
   */
  record peek() noexcept {
    const record r = peek_record();
    if (r.status == ring_status::ok && r.kind != layout::record_kind::data) [[unlikely]] {
      violated_ = true;
      return {ring_status::protocol_violation};
    }
    return r;
  }

  /// The next record of whatever kind, left where it is.
  record peek_record() noexcept {
    // Acquire: pairs with the release store of the commit word in the producer.
    const std::uint64_t word = commit_word_here().load(std::memory_order_acquire);
    if (word == 0 && !violated_) {
      if (found_empty_at_ == head_)
        look();
      found_empty_at_ = head_;
      return {};
    }
    using enum layout::record_kind;
    const auto kind = static_cast<layout::record_kind>(word >> 32);
    const std::size_t length = static_cast<std::uint32_t>(word);
    if ((kind == data || (kind >= lease && kind <= last)) && length <= max_message_size() &&
        !violated_) [[likely]]
      return {ring_status::ok, kind, {ring_ + (head_ & mask_) + layout::commit_word_size, length}};
    if (kind == end && length == 0 && !violated_)
      return {ring_status::end, kind};
    violated_ = true;
    return {ring_status::protocol_violation};
  }

  /// The payload of the next message, or nothing. See peek() for the caveat.
  std::optional<std::span<const std::byte>> front() noexcept {
    const record r = peek();
    if (r.status != ring_status::ok)
      return std::nullopt;
    return r.payload;
  }

  /// Removes the message that front() or peek() showed last.
  /** Precondition: it did show one, and it has not been popped since. */
  void pop_front(std::size_t length) noexcept {
    head_ += layout::record_size(length);
    if (head_ - published_ >= capacity_ / 8 || !ready())
      publish_head();
  }

  /// Removes the next message. Precondition: front() gave one just now.
  void pop_front() noexcept {
    const record r = peek();
    if (r.status == ring_status::ok)
      pop_front(r.payload.size());
  }

  /// Copies the next message to `buffers` and removes it.
  /**
   * @param n receives the size of the message, also with `message_size`.
   * @returns `ok`; `would_block`; `message_size` when `buffers` are too small
   * (the message stays); `end`; `protocol_violation`.
   */
  template <typename MutableBufferSequence>
  ring_status try_pop(const MutableBufferSequence& buffers, std::size_t& n) noexcept {
    const record r = peek();
    if (r.status != ring_status::ok)
      return r.status;
    n = r.payload.size();
    if (n > asio::buffer_size(buffers)) [[unlikely]]
      return ring_status::message_size;
    detail::copy_to_buffers(buffers, r.payload.data(), n);
    pop_front(n);
    return ring_status::ok;
  }

  /// Calls `fn(std::span<const std::byte>)` for up to `max` messages in place.
  /**
   * Each message is removed after `fn` returned for it; if `fn` throws, that
   * message stays and those before it are gone.
   *
   * One call takes no more messages than the ring has words, however fast the peer makes
   * new ones.
   *
   * @returns the number of messages consumed. If it is less than `max`, peek()
   * tells why.
   */
  template <typename F>
  std::size_t consume(F&& fn, std::size_t max = std::numeric_limits<std::size_t>::max()) {
    max = std::min(max, max_batch());
    std::size_t done = 0;
    while (done != max) {
      const record r = peek();
      if (r.status != ring_status::ok)
        break;
      fn(r.payload);
      pop_front(r.payload.size());
      ++done;
    }
    return done;
  }

  /// No honest producer has more messages in its ring at once.
  std::size_t max_batch() const noexcept { return capacity_ / layout::commit_word_size; }

  /// From here on peek() gives `protocol_violation`.
  void reject() noexcept { violated_ = true; }

  /// Tells the producer how far this consumer is.
  void publish_head() noexcept {
    if (published_ == head_)
      return;
    published_ = head_;
    // Release: pairs with the acquire load in ring_producer::reserve_slowly().
    words_->rx_head.store(head_, std::memory_order_release);
  }

private:
  const layout::word64& commit_word_here() const noexcept {
    return *reinterpret_cast<const layout::word64*>(ring_ + (head_ & mask_));
  }

  const std::byte* ring_ = nullptr;
  std::size_t capacity_ = 0;
  std::uint64_t mask_ = 0;
  std::uint64_t head_ = 0;
  std::uint64_t published_ = 0;
  std::uint64_t found_empty_at_ = std::numeric_limits<std::uint64_t>::max();
  layout::words* words_ = nullptr;
  bool violated_ = false;
};

} // namespace sysipc_asio

#endif
