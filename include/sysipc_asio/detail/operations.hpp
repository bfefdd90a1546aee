// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_OPERATIONS_HPP
#define SYSIPC_ASIO_DETAIL_OPERATIONS_HPP

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <cstddef>
#include <cstring>
#include <new>
#include <sysipc_asio/detail/channel_impl.hpp>
#include <sysipc_asio/error.hpp>
#include <sysipc_asio/loan.hpp>
#include <sysipc_asio/message.hpp>

/// What can be done on a channel, each as one attempt that never blocks.
/**
 * An operation has
 *   side(channel)        the direction it belongs to,
 *   attempt(channel, ec) true when it is over (`ec` says how), false when it
 *                        would have to wait; then nothing has happened,
 *   ready(channel)       whether an attempt would be over, or would get on; consumes nothing,
 *   at_once(channel)     whether an attempt would be over,
 *   look(channel)        the same, of one who has nothing else to do than to wait for it,
 *   pace(channel)        delays the first look of a spin,
 *   before_sleep(channel) publishes what the peer should know of this direction,
 *   result()             what it yields, of type result_type.
 *
 * The ways to wait (waiting.hpp) work for all of them.
 */
namespace sysipc_asio::detail {

/// The part that all sending operations share.
class sending {
public:
  static outbound& side(channel_impl& channel) noexcept { return channel.out; }
  static void before_sleep(channel_impl& channel) noexcept { channel.out.before_sleep(channel); }
  static void pace(channel_impl& channel) noexcept { channel.out.pace(); }

protected:
  static bool closed(channel_impl& channel, error_code& ec) noexcept {
    if (channel.state() == condition::open) [[likely]]
      return false;
    ec = channel.send_error();
    return true;
  }

  static bool room(channel_impl& channel, std::size_t size, std::size_t sent) noexcept {
    return channel.state() != condition::open || channel.out.would_get_on(size, sent);
  }

  /// One attempt to send a message, of which `sent` bytes are on their way in pieces.
  template <typename ConstBufferSequence>
  static bool send(channel_impl& channel, const ConstBufferSequence& buffers, std::size_t size,
                   std::size_t& sent, error_code& ec) {
    if (closed(channel, ec))
      return true;
    if (size <= channel.out.inline_limit) [[likely]]
      return finish(channel, channel.out.ring.try_push(buffers), size, ec);
    return send_large(channel, buffers, size, sent, ec);
  }

  template <typename ConstBufferSequence>
  static bool send_large(channel_impl& channel, const ConstBufferSequence& buffers,
                         std::size_t size, std::size_t& sent, error_code& ec) {
    outbound& out = channel.out;
    if (size > out.max_message) {
      ec = asio::error::message_size;
      return true;
    }
    if (sent == 0) {
      if (out.way_for(size) == outbound::way::in_pool) {
        const ring_status status = out.ring.reserve(sizeof(layout::lease_record));
        if (status != ring_status::ok)
          return finish(channel, status, size, ec);
        if (out.window_full())
          return finish(channel, ring_status::would_block, size, ec);
        send_pool::block* block = nullptr;
        switch (out.pool->take(size, block)) {
        case send_pool::status::ok:
          copy_from_buffers<&copy_for_reader>(block->data, buffers, size);
          out.push_block(channel, *block);
          out.wanted = 0;
          ec = {};
          return true;
        case send_pool::status::exhausted:
          // What the peer has not received yet, it will give back. What it keeps may be all.
          if (!out.ring.consumed(out.ring.position()))
            return finish(channel, ring_status::would_block, size, ec);
          break;
        case send_pool::status::no_memory:
        case send_pool::status::never:
          break;
        }
      }
      if (size <= out.ring.max_message_size())
        return finish(channel, out.ring.try_push(buffers), size, ec);
    }
    return send_pieces(channel, buffers, size, sent, ec);
  }

  template <typename ConstBufferSequence>
  static bool send_pieces(channel_impl& channel, const ConstBufferSequence& buffers,
                          std::size_t size, std::size_t& sent, error_code& ec) {
    outbound& out = channel.out;
    while (sent != size) {
      const std::size_t left = size - sent;
      const std::size_t wanted = out.piece_room(left);
      const ring_status status = out.ring.reserve(wanted);
      if (status != ring_status::ok)
        return finish(channel, status, size, ec);
      using enum layout::record_kind;
      const std::size_t header = sent == 0 ? layout::piece_header : 0;
      std::size_t n = std::min(left, wanted - header);
      const auto kind = header != 0 ? first : n == left ? last : more;
      if (kind == first) // is never all of it
        n = std::min(n, left - 1);
      std::byte* const to = out.ring.prepare(header + n).data();
      if (const std::uint64_t total = size; header != 0)
        std::memcpy(to, &total, sizeof total);
      copy_from_buffers(to + header, buffers, n, sent);
      sent += n;
      out.ring.commit(kind, header + n);
      out.wake_peer(channel);
    }
    return finish(channel, ring_status::ok, size, ec);
  }

  /// What a push that gave `status` means; `size` is its message's.
  static bool finish(channel_impl& channel, ring_status status, std::size_t size, error_code& ec) {
    if (status == ring_status::ok) [[likely]] {
      channel.out.pushed(channel, size);
      channel.out.wanted = 0;
      ec = {};
      return true;
    }
    switch (status) {
    case ring_status::ok:
    case ring_status::no_memory: // of receivers only
      break;
    case ring_status::would_block:
      channel.out.wanted = size;
      channel.out.wanted_loan = 0;
      ec = asio::error::would_block;
      return false;
    case ring_status::message_size:
      ec = asio::error::message_size;
      return true;
    case ring_status::end: // after our own shutdown
      ec = asio::error::shut_down;
      return true;
    case ring_status::protocol_violation:
      break;
    }
    channel.fail();
    ec = error::peer_protocol_violation;
    return true;
  }
};

template <typename ConstBufferSequence>
class send_buffers : public sending {
public:
  using result_type = std::size_t;

  explicit send_buffers(const ConstBufferSequence& buffers)
      : buffers_(buffers), size_(asio::buffer_size(buffers)) {}

  bool attempt(channel_impl& channel, error_code& ec) {
    return send(channel, buffers_, size_, sent_, ec);
  }
  bool ready(channel_impl& channel) const noexcept { return room(channel, size_, sent_); }
  bool at_once(channel_impl& channel) const noexcept {
    return channel.out.way_for(size_) == outbound::way::in_ring && ready(channel);
  }
  bool look(channel_impl& channel) const noexcept { return ready(channel); }
  std::size_t result() const noexcept { return size_; }

private:
  ConstBufferSequence buffers_;
  std::size_t size_;
  std::size_t sent_ = 0; ///< in pieces
};

template <typename T>
class push_value : public sending {
public:
  using result_type = void;

  explicit push_value(const T& value) : value_(value) {}

  bool attempt(channel_impl& channel, error_code& ec) {
    return send(channel, asio::const_buffer(&value_, sizeof value_), sizeof value_, sent_, ec);
  }
  bool ready(channel_impl& channel) const noexcept { return room(channel, sizeof(T), sent_); }
  bool at_once(channel_impl& channel) const noexcept {
    return channel.out.way_for(sizeof(T)) == outbound::way::in_ring && ready(channel);
  }
  bool look(channel_impl& channel) const noexcept { return ready(channel); }
  void result() const noexcept {}

private:
  T value_;
  std::size_t sent_ = 0; ///< in pieces
};

/// A message that was built in the pool.
class send_loan : public sending {
public:
  using result_type = std::size_t;

  /// `l` is sent from where it is, and stays there if it is not.
  explicit send_loan(loan& l) noexcept : loan_(&l), size_(l.size()) {}
  /// Takes `l` over.
  explicit send_loan(loan&& l) noexcept : size_(l.size()), own_(std::move(l)) {}
  send_loan(send_loan&&) noexcept = default;

  bool attempt(channel_impl& channel, error_code& ec) {
    if (closed(channel, ec))
      return true;
    loan& l = loan_ != nullptr ? *loan_ : own_;
    if (!loan_access::is_of(l, channel.out.pool.get())) {
      ec = asio::error::invalid_argument;
      return true;
    }
    if (size_ > channel.out.max_message) {
      ec = asio::error::message_size;
      return true;
    }
    const ring_status status = channel.out.ring.reserve(sizeof(layout::lease_record));
    if (status != ring_status::ok)
      return finish(channel, status, sizeof(layout::lease_record), ec);
    if (size_ == 0) { // there is nothing to lend
      l = loan();
      return finish(channel, channel.out.ring.try_push(asio::const_buffer()), 0, ec);
    }
    channel.out.push_block(channel, loan_access::take_block(l));
    ec = {};
    return true;
  }
  bool ready(channel_impl& channel) const noexcept {
    return channel.state() != condition::open ||
           channel.out.ring.reserve(sizeof(layout::lease_record)) != ring_status::would_block;
  }
  bool at_once(channel_impl& channel) const noexcept { return ready(channel); }
  bool look(channel_impl& channel) const noexcept { return ready(channel); }
  std::size_t result() const noexcept { return size_; }

private:
  loan* loan_ = nullptr;
  std::size_t size_;
  loan own_;
};

/// Memory for a message, of the pool.
class take_loan : public sending {
public:
  using result_type = loan;

  explicit take_loan(std::size_t size) noexcept : size_(size) {}

  bool attempt(channel_impl& channel, error_code& ec) {
    if (closed(channel, ec))
      return true;
    outbound& out = channel.out;
    send_pool::block* block = nullptr;
    ec = asio::error::message_size;
    if (!out.pool || size_ > out.max_message)
      return true;
    if (const ring_status status = out.ring_error(); status != ring_status::ok)
      return finish(channel, status, size_, ec);
    if (out.window_full())
      return wait(out, ec);
    switch (out.pool->take(size_, block)) {
    case send_pool::status::ok:
      loan_ = loan_access::make(*block);
      out.wanted_loan = 0;
      ec = {};
      return true;
    case send_pool::status::exhausted:
      return wait(out, ec);
    case send_pool::status::no_memory:
      ec = asio::error::no_memory;
      break;
    case send_pool::status::never:
      break;
    }
    return true;
  }
  bool ready(channel_impl& channel) const noexcept {
    return channel.state() != condition::open || size_ > channel.out.max_message ||
           channel.out.could_loan(size_);
  }
  bool at_once(channel_impl& channel) const noexcept { return ready(channel); }
  bool look(channel_impl& channel) const noexcept { return ready(channel); }
  loan result() noexcept { return std::move(loan_); }

private:
  bool wait(outbound& out, error_code& ec) const noexcept {
    out.wanted_loan = std::max<std::size_t>(size_, 1);
    ec = asio::error::would_block;
    return false;
  }

  std::size_t size_;
  loan loan_;
};

/// The part that all receiving operations share.
class receiving {
public:
  static inbound& side(channel_impl& channel) noexcept { return channel.in; }
  static void before_sleep(channel_impl& channel) noexcept { channel.in.before_sleep(channel); }
  static void pace(channel_impl& channel) noexcept { channel.in.pace(); }

  bool ready(channel_impl& channel) const noexcept {
    return channel.state() != condition::open || channel.in.ready(channel);
  }
  bool at_once(channel_impl& channel) const noexcept { return ready(channel); }
  bool look(channel_impl& channel) const noexcept {
    return channel.state() != condition::open || channel.in.look(channel);
  }

  static bool closed(condition state, error_code& ec) noexcept {
    if (state < condition::violated) [[likely]]
      return false;
    ec = state == condition::violated ? error_code(error::peer_protocol_violation)
                                      : error_code(asio::error::bad_descriptor);
    return true;
  }

  /// What a look that gave `status` means; `state` was read before it.
  static bool finish(channel_impl& channel, condition state, ring_status status, error_code& ec) {
    if (status == ring_status::ok) [[likely]] {
      ec = {};
      return true;
    }
    switch (status) {
    case ring_status::ok:
      break;
    case ring_status::would_block:
      if (state == condition::open) {
        ec = asio::error::would_block;
        return false;
      }
      ec = channel.receive_error();
      return true;
    case ring_status::message_size:
      ec = asio::error::message_size;
      return true;
    case ring_status::end:
      ec = asio::error::eof;
      return true;
    case ring_status::no_memory:
      ec = asio::error::no_memory;
      return true;
    case ring_status::protocol_violation:
      break;
    }
    channel.fail();
    ec = error::peer_protocol_violation;
    return true;
  }
};

template <typename MutableBufferSequence>
class receive_buffers : public receiving {
public:
  using result_type = std::size_t;

  explicit receive_buffers(const MutableBufferSequence& buffers) : buffers_(buffers) {}

  bool attempt(channel_impl& channel, error_code& ec) {
    // Before the look: what a peer sent before it went must still be found.
    const condition state = channel.state();
    if (closed(state, ec))
      return true;
    ring_consumer::record record = channel.in.next(channel);
    if (record.status == ring_status::ok) [[likely]] {
      size_ = record.payload.size();
      if (size_ <= asio::buffer_size(buffers_)) [[likely]] {
        copy_to_buffers(buffers_, record.payload.data(), size_);
        lease done;
        if (record.kind == layout::record_kind::lease)
          done = channel.in.take_lease(channel);
        channel.in.consumed(channel, record);
      } else {
        record.status = ring_status::message_size;
      }
    }
    return finish(channel, state, record.status, ec);
  }
  std::size_t result() const noexcept { return size_; }

private:
  MutableBufferSequence buffers_;
  std::size_t size_ = 0;
};

class receive_message : public receiving {
public:
  using result_type = message;

  receive_message() = default;

  bool attempt(channel_impl& channel, error_code& ec) {
    const condition state = channel.state();
    if (closed(state, ec))
      return true;
    const ring_consumer::record record = channel.in.next(channel);
    if (record.status == ring_status::ok) [[likely]] {
      if (record.kind == layout::record_kind::data) [[likely]] {
        try {
          message_.assign(record.payload);
        } catch (const std::bad_alloc&) { // the message stays
          ec = asio::error::no_memory;
          return true;
        }
      } else if (record.kind == layout::record_kind::lease) {
        message_.assign(record.payload, channel.in.take_lease(channel));
      } else {
        message_.assign(channel.in.take_assembled(), record.payload.size());
      }
      channel.in.consumed(channel, record);
    }
    return finish(channel, state, record.status, ec);
  }
  message result() noexcept { return std::move(message_); }

private:
  message message_;
};

template <typename T>
class pop_value : public receiving {
public:
  using result_type = T;

  pop_value() = default;

  bool attempt(channel_impl& channel, error_code& ec) {
    const condition state = channel.state();
    if (closed(state, ec))
      return true;
    ring_consumer::record record = channel.in.next(channel);
    if (record.status == ring_status::ok) [[likely]] {
      if (record.payload.size() == sizeof(T)) [[likely]] {
        std::memcpy(&value_, record.payload.data(), sizeof(T));
        lease done;
        if (record.kind == layout::record_kind::lease)
          done = channel.in.take_lease(channel);
        channel.in.consumed(channel, record);
      } else {
        record.status = ring_status::message_size;
      }
    }
    return finish(channel, state, record.status, ec);
  }
  T result() const noexcept { return value_; }

private:
  T value_{};
};

/// Consumes nothing. See wait_type.
class wait_for {
public:
  using result_type = void;

  explicit wait_for(wait_type what) noexcept : what_(what) {}

  direction& side(channel_impl& channel) const noexcept {
    if (what_ == wait_receive)
      return channel.in;
    return channel.out;
  }
  void before_sleep(channel_impl& channel) const noexcept {
    if (what_ == wait_receive)
      channel.in.before_sleep(channel);
    else
      channel.out.before_sleep(channel);
  }
  void pace(channel_impl& channel) const noexcept {
    if (what_ == wait_receive)
      channel.in.pace();
    else
      channel.out.pace();
  }
  bool ready(channel_impl& channel) const noexcept {
    if (channel.state() != condition::open)
      return true;
    return what_ == wait_receive ? channel.in.ready(channel) : channel.out.ready();
  }
  bool at_once(channel_impl& channel) const noexcept { return ready(channel); }
  bool look(channel_impl& channel) const noexcept {
    if (what_ != wait_receive || channel.state() != condition::open)
      return ready(channel);
    return channel.in.look(channel);
  }
  bool attempt(channel_impl& channel, error_code& ec) const noexcept {
    if (!ready(channel)) {
      ec = asio::error::would_block;
      return false;
    }
    // Whatever there is to report, the operation that was waited for reports it.
    ec = {};
    if (channel.state() >= condition::closed)
      ec = asio::error::bad_descriptor;
    return true;
  }
  void result() const noexcept {}

private:
  wait_type what_;
};

/// basic_channel::consume().
template <typename F>
std::size_t consume(channel_impl& channel, F& fn, std::size_t max, error_code& ec) {
  const condition state = channel.state();
  std::size_t done = 0;
  ec = {};
  if (receiving::closed(state, ec))
    return 0;
  max = std::min(max, channel.in.ring.max_batch());
  while (done != max) {
    const ring_consumer::record record = channel.in.next(channel);
    if (record.status != ring_status::ok) {
      if (done == 0)
        receiving::finish(channel, state, record.status, ec);
      break;
    }
    fn(record.payload);
    lease read;
    if (record.kind == layout::record_kind::lease)
      read = channel.in.take_lease(channel);
    channel.in.consumed(channel, record);
    ++done;
  }
  return done;
}

} // namespace sysipc_asio::detail

#endif
