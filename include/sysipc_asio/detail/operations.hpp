// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_OPERATIONS_HPP
#define SYSIPC_ASIO_DETAIL_OPERATIONS_HPP

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <cstddef>
#include <new>
#include <sysipc_asio/detail/channel_impl.hpp>
#include <sysipc_asio/error.hpp>
#include <sysipc_asio/message.hpp>

/// What can be done on a channel, each as one attempt that never blocks.
/**
 * An operation has
 *   side(channel)        the direction it belongs to,
 *   attempt(channel, ec) true when it is over (`ec` says how), false when it
 *                        would have to wait; then nothing has happened,
 *   ready(channel)       whether an attempt would be over; consumes nothing,
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

  static bool room(channel_impl& channel, std::size_t size) noexcept {
    return channel.state() != condition::open ||
           channel.out.ring.reserve(size) != ring_status::would_block;
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
      break;
    case ring_status::would_block:
      channel.out.wanted = size;
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
    return closed(channel, ec) || finish(channel, channel.out.ring.try_push(buffers_), size_, ec);
  }
  bool ready(channel_impl& channel) const noexcept { return room(channel, size_); }
  bool look(channel_impl& channel) const noexcept { return ready(channel); }
  std::size_t result() const noexcept { return size_; }

private:
  ConstBufferSequence buffers_;
  std::size_t size_;
};

template <typename T>
class push_value : public sending {
public:
  using result_type = void;

  explicit push_value(const T& value) : value_(value) {}

  bool attempt(channel_impl& channel, error_code& ec) {
    return closed(channel, ec) ||
           finish(channel, channel.out.ring.try_push(asio::const_buffer(&value_, sizeof value_)),
                  sizeof value_, ec);
  }
  bool ready(channel_impl& channel) const noexcept { return room(channel, sizeof(T)); }
  bool look(channel_impl& channel) const noexcept { return ready(channel); }
  void result() const noexcept {}

private:
  T value_;
};

/// The part that all receiving operations share.
class receiving {
public:
  static inbound& side(channel_impl& channel) noexcept { return channel.in; }
  static void before_sleep(channel_impl& channel) noexcept { channel.in.before_sleep(channel); }
  static void pace(channel_impl& channel) noexcept { channel.in.pace(); }

  bool ready(channel_impl& channel) const noexcept {
    return channel.state() != condition::open || channel.in.ring.ready();
  }
  bool look(channel_impl& channel) const noexcept {
    return channel.state() != condition::open || channel.in.ring.look();
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
    const ring_status status = channel.in.ring.try_pop(buffers_, size_);
    if (status == ring_status::ok) [[likely]]
      channel.in.popped(channel, size_);
    return finish(channel, state, status, ec);
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
    const ring_consumer::record record = channel.in.ring.peek();
    if (record.status == ring_status::ok) [[likely]] {
      const std::size_t size = record.payload.size();
      try {
        message_.assign(record.payload);
      } catch (const std::bad_alloc&) { // the message stays
        ec = asio::error::no_memory;
        return true;
      }
      channel.in.ring.pop_front(size);
      channel.in.popped(channel, size);
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
    ring_consumer::record record = channel.in.ring.peek();
    if (record.status == ring_status::ok) [[likely]] {
      if (record.payload.size() == sizeof(T)) [[likely]] {
        std::memcpy(&value_, record.payload.data(), sizeof(T));
        channel.in.ring.pop_front(sizeof(T));
        channel.in.popped(channel, sizeof(T));
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
    return what_ == wait_receive ? channel.in.ring.ready() : channel.out.ready();
  }
  bool look(channel_impl& channel) const noexcept {
    if (what_ != wait_receive || channel.state() != condition::open)
      return ready(channel);
    return channel.in.ring.look();
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
  ring_consumer& ring = channel.in.ring;
  max = std::min(max, ring.max_batch());
  while (done != max) {
    const ring_consumer::record record = ring.peek();
    if (record.status != ring_status::ok) {
      if (done == 0)
        receiving::finish(channel, state, record.status, ec);
      break;
    }
    fn(record.payload);
    ring.pop_front(record.payload.size());
    channel.in.popped(channel, record.payload.size());
    ++done;
  }
  return done;
}

} // namespace sysipc_asio::detail

#endif
