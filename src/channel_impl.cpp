// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <boost/asio/error.hpp>
#include <cstring>
#include <new>
#include <sysipc_asio/detail/channel_impl.hpp>
#include <sysipc_asio/error.hpp>

namespace sysipc_asio::detail {

namespace {

/// See doc/tuning.md for the curve.
constexpr std::size_t automatic_inline_limit = 1024;
constexpr std::size_t automatic_window = std::size_t{1} << 20;

/// What a side sleeps on for `what`.
bell_kind kind_for(const endpoint& e, bell_kind what) noexcept {
  return e.backend == backend::kernel ? what : bell_kind::pipe;
}

} // namespace

direction::direction(asio::any_io_executor executor, unique_fd bell, bell_kind kind, kicker waker,
                     layout::word64& arm, const layout::word64& peer_arm, fence_mode fences,
                     bool may_spin, const channel_options& options)
    : arm_(arm), gate_(peer_arm, fences), waker_(std::move(waker)), bell_fd_(bell.get()),
      kind_(kind), always_kick_(options.policy == wait_policy::kick_always),
      others_(&crowd::of(executor)), bell_(std::move(executor), bell_fd_) {
  bell.release(); // bell_ closes it from here on
  wait_.policy = options.policy;
  if (may_spin && !quota_below_two_cpus())
    wait_.limits = spin_limits::for_durations(options.spin_slice, options.spin_limit);
}

void direction::kick(channel_impl& channel) noexcept {
  // A peer that closed leaves its words odd, so that the next message leads here.
  if (channel.peer_says_closed())
    return channel.note_hang_up();
  ++kicks_;
  const bool heard = waker_.kick();
  if (!heard || (kicks_are_taken() && hung_up()))
    channel.note_hang_up();
}

void direction::cancel() noexcept {
  cancellations_.fetch_add(1, std::memory_order_relaxed);
  rouse();
}

void direction::rouse() noexcept {
  rouses_.fetch_add(1, std::memory_order_relaxed);
  error_code ignored;
  bell_.cancel(ignored);
}

void direction::note_thread() noexcept {
  thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
}

bool direction::turns_are_of_this_thread() const noexcept {
  return thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

void direction::hang_up() noexcept {
  waker_ = {};
  error_code ignored;
  bell_.close(ignored);
}

direction_statistics direction::stats(std::uint64_t messages, std::uint64_t bytes,
                                      std::uint64_t chances) const noexcept {
  direction_statistics s;
  s.messages = messages;
  s.bytes = bytes;
  s.kicks = kicks_;
  s.kicks_avoided = chances > kicks_ ? chances - kicks_ : 0;
  s.sleeps = wait_.sleeps;
  s.spin_hits = wait_.spin_hits;
  s.spin_misses = wait_.spin_misses;
  s.empty_wakes = wait_.empty_wakes;
  return s;
}

void direction::publish(layout::counter_block& to, const direction_statistics& from) noexcept {
  to.messages.store(from.messages, std::memory_order_relaxed);
  to.bytes.store(from.bytes, std::memory_order_relaxed);
  to.kicks.store(from.kicks, std::memory_order_relaxed);
  to.sleeps.store(from.sleeps, std::memory_order_relaxed);
  to.spin_hits.store(from.spin_hits, std::memory_order_relaxed);
  to.spin_misses.store(from.spin_misses, std::memory_order_relaxed);
}

outbound::outbound(asio::any_io_executor executor, peer_memory& memory, endpoint& e,
                   const channel_options& options)
    : direction(std::move(executor), std::move(e.space_bell),
                kind_for(e, bell_kind::endpoint_space), std::move(e.data_kick),
                memory.own.words().tx_arm, memory.peer.words().rx_arm, e.fences, e.may_spin,
                options),
      ring(memory.own, memory.peer), pool(std::move(e.pool)),
      inline_limit(std::min(options.inline_limit == automatic_size ? automatic_inline_limit
                                                                   : options.inline_limit,
                            ring.max_message_size())),
      max_message(e.peer_max_message),
      half_window_(
          (options.send_window == automatic_size ? automatic_window : options.send_window) / 2),
      counters_(&memory.own.words().sent) {
  if (pool)
    pool->set_releases(memory.peer.words().release);
}

bool outbound::would_get_on(std::size_t n, std::size_t sent) noexcept {
  if (n > max_message)
    return true;
  if (sent == 0) {
    if (n <= inline_limit)
      return ring.reserve(n) != ring_status::would_block;
    if (way_for(n) == way::in_pool) {
      if (ring.reserve(sizeof(layout::lease_record)) == ring_status::would_block)
        return false;
      return !window_full() && (pool->could_take(n) || ring.consumed(ring.position()));
    }
    if (n <= ring.max_message_size())
      return ring.reserve(n) != ring_status::would_block;
  }
  return ring.reserve(piece_room(n - sent)) != ring_status::would_block;
}

void outbound::push_block(channel_impl& channel, send_pool::block& block) noexcept {
  const std::size_t n = block.size;
  // Made where it lies: to copy what was stored just now may have to wait for the payload.
  new (ring.prepare(sizeof(layout::lease_record)).data())
      layout::lease_record(pool->describe(block));
  pool->sent(block);
  ring.commit(layout::record_kind::lease, sizeof(layout::lease_record));
  in_younger_half_ += n;
  if (in_younger_half_ >= half_window_) {
    window_start_ = window_middle_;
    window_middle_ = ring.position();
    in_younger_half_ = 0;
  }
  pushed(channel, n);
}

void outbound::before_sleep(channel_impl&) noexcept {
  ring.publish_tail();
  publish(*counters_, stats());
}

inbound::inbound(asio::any_io_executor executor, peer_memory& memory, endpoint& e,
                 const channel_options& options)
    : direction(std::move(executor), std::move(e.data_bell), kind_for(e, bell_kind::endpoint_data),
                std::move(e.space_kick), memory.own.words().rx_arm, memory.peer.words().tx_arm,
                e.fences, e.may_spin, options),
      ring(memory.own, memory.peer), max_message(options.max_message_size),
      next_check_(laps_between_checks * ring.capacity()), counters_(&memory.own.words().received) {}

ring_consumer::record inbound::violation() noexcept {
  ring.reject();
  return ring.peek_record();
}

ring_consumer::record inbound::settle(channel_impl& channel, ring_consumer::record r) noexcept {
  using enum layout::record_kind;
  for (; r.status == ring_status::ok && r.kind != data; r = ring.peek_record()) {
    if (r.kind == lease) {
      if (r.payload.size() != sizeof lease_)
        return violation();
      // A copy first: what is checked must be what is used.
      std::memcpy(&lease_, r.payload.data(), sizeof lease_);
      const auto payload = channel.memory()->pool.at(lease_);
      if (payload.empty() || payload.size() > max_message)
        return violation();
      return {ring_status::ok, lease, payload};
    }
    ring_status status = ring_status::ok;
    if (!assemble(r, status))
      return status == ring_status::no_memory ? ring_consumer::record{status} : violation();
    if (r.kind == last) {
      last_piece_ = r.payload.size();
      return {ring_status::ok, last, {assembled_.get(), total_}};
    }
    ring.pop_front(r.payload.size());
    if (ring.published_position() != announced_)
      announce(channel);
  }
  return r;
}

bool inbound::assemble(const ring_consumer::record& r, ring_status& status) noexcept {
  using enum layout::record_kind;
  std::span<const std::byte> piece = r.payload;
  status = ring_status::protocol_violation;
  if (r.kind == first) {
    std::uint64_t total = 0;
    if (piece.size() <= sizeof total)
      return false;
    std::memcpy(&total, piece.data(), sizeof total);
    piece = piece.subspan(sizeof total);
    if (total > max_message || piece.size() >= total)
      return false;
    assembled_.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(total)]);
    if (!assembled_) {
      status = ring_status::no_memory;
      return false;
    }
    total_ = static_cast<std::size_t>(total);
    have_ = 0;
  }
  if (!assembled_)
    return false;
  if (r.kind == last) {
    if (have_ == total_) // seen before, and still not consumed
      return true;
    if (piece.size() != total_ - have_)
      return false;
  } else if (piece.size() >= total_ - have_) {
    return false;
  }
  std::memcpy(assembled_.get() + have_, piece.data(), piece.size());
  have_ += piece.size();
  return true;
}

lease inbound::take_lease(channel_impl& channel) noexcept {
  return {channel.memory(), lease_};
}

void inbound::pop_large(layout::record_kind kind) noexcept {
  if (kind == layout::record_kind::lease) {
    ring.pop_front(sizeof lease_);
    ring.publish_head(); // the sender's window moves with each
    return;
  }
  assembled_.reset();
  ring.pop_front(last_piece_);
}

/// A peer that always has another message is never slept on, and yet it must be seen to die.
/// What it leaves may be a circle of records: a dead peer gets its ring drained once.
void inbound::check_peer(channel_impl& channel) noexcept {
  if (peer_gone_)
    return ring.reject();
  if (channel.state() == condition::open && hung_up())
    channel.note_hang_up();
  peer_gone_ = channel.state() != condition::open;
  next_check_ = announced_ + (peer_gone_ ? 1 : laps_between_checks) * ring.capacity();
}

void inbound::before_sleep(channel_impl& channel) noexcept {
  ring.publish_head();
  if (ring.published_position() != announced_)
    announce(channel);
  publish(*counters_, stats());
}

channel_impl::channel_impl(asio::any_io_executor executor, endpoint&& e,
                           const channel_options& options)
    : memory_(std::make_shared<peer_memory>(std::move(e.own), std::move(e.peer),
                                            std::move(e.peers_pool), e.fences)),
      out(executor, *memory_, e, options), in(executor, *memory_, e, options),
      credentials_(e.credentials), backend_(e.backend), fences_(e.fences) {
  memory_->own.close_handle();
  fork_claim claim{{in.bell_fd(), out.bell_fd()}};
  claim.mark = &condition_;
  claim.inherited = static_cast<unsigned char>(condition::inherited);
  guard_ = fork_guard(claim);
  memory_->open(in.waker());
  if (out.pool)
    out.pool->set_listener([this] { out.rouse(); });
}

channel_impl::~channel_impl() {
  close();
}

bool channel_impl::change(condition from, condition to) noexcept {
  auto expected = static_cast<unsigned char>(from);
  return condition_.compare_exchange_strong(expected, static_cast<unsigned char>(to),
                                            std::memory_order_acq_rel);
}

void channel_impl::note_hang_up() noexcept {
  change(condition::open, peer_says_closed() ? condition::peer_closed : condition::peer_died);
}

bool channel_impl::peer_says_closed() const noexcept {
  // Acquire: pairs with the release store in close(); what the peer sent before is in its ring.
  return memory_->peer.words().state.load(std::memory_order_acquire) ==
         static_cast<std::uint32_t>(layout::side_state::closed);
}

void channel_impl::fail() noexcept {
  if (!change(condition::open, condition::violated))
    return;
  // Whoever sleeps in the other direction finds the violation.
  in.rouse();
  out.rouse();
}

void channel_impl::restart_turns(direction& mine) noexcept {
  mine.restart_turns();
  // Not those of another thread, whose handlers would never have a turn.
  direction& other = &mine == &in ? static_cast<direction&>(out) : in;
  if (other.turns_are_of_this_thread())
    other.restart_turns();
}

void channel_impl::shutdown() noexcept {
  out.ring.finish();
  memory_->own.words().state.store(static_cast<std::uint32_t>(layout::side_state::shut_down),
                                   std::memory_order_release);
  out.wake_peer(*this);
}

void channel_impl::close() noexcept {
  const condition before = state();
  if (before < condition::closed) {
    condition_.store(static_cast<unsigned char>(condition::closed), std::memory_order_release);
    out.ring.finish();
    memory_->own.words().state.store(static_cast<std::uint32_t>(layout::side_state::closed),
                                     std::memory_order_release);
    // A peer that is awake looks at these words with its next message; one that
    // sleeps hears the hang-up.
    in.arm_for_good();
    out.arm_for_good();
  }
  memory_->close();
  if (out.pool)
    out.pool->set_listener({});
  in.hang_up();
  out.hang_up();
  guard_.lift([] {});
}

void channel_impl::cancel() noexcept {
  in.cancel();
  out.cancel();
}

error_code channel_impl::send_error() noexcept {
  switch (state()) {
  case condition::open:
    return {};
  case condition::peer_closed:
    return asio::error::broken_pipe;
  case condition::peer_died:
    if (reset_reported_.exchange(true, std::memory_order_relaxed))
      return asio::error::broken_pipe;
    return asio::error::connection_reset;
  case condition::violated:
    return error::peer_protocol_violation;
  case condition::closed:
  case condition::inherited:
    break;
  }
  return asio::error::bad_descriptor;
}

error_code channel_impl::receive_error() noexcept {
  switch (state()) {
  case condition::open:
    return {};
  case condition::peer_closed: // yet no end in its ring: it lies, or died while closing
  case condition::peer_died:
    reset_reported_.store(true, std::memory_order_relaxed);
    return asio::error::connection_reset;
  case condition::violated:
    return error::peer_protocol_violation;
  case condition::closed:
  case condition::inherited:
    break;
  }
  return asio::error::bad_descriptor;
}

sysipc_asio::statistics channel_impl::stats() const noexcept {
  return {out.stats(), in.stats()};
}

} // namespace sysipc_asio::detail
