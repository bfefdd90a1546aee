// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <boost/asio/error.hpp>
#include <sysipc_asio/detail/channel_impl.hpp>
#include <sysipc_asio/error.hpp>

namespace sysipc_asio::detail {

namespace {

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

outbound::outbound(asio::any_io_executor executor, endpoint& e, const channel_options& options)
    : direction(std::move(executor), std::move(e.space_bell),
                kind_for(e, bell_kind::endpoint_space), std::move(e.data_kick),
                e.own.words().tx_arm, e.peer.words().rx_arm, e.fences, e.may_spin, options),
      ring(e.own, e.peer), counters_(&e.own.words().sent) {}

void outbound::before_sleep(channel_impl&) noexcept {
  ring.publish_tail();
  publish(*counters_, stats());
}

inbound::inbound(asio::any_io_executor executor, endpoint& e, const channel_options& options)
    : direction(std::move(executor), std::move(e.data_bell), kind_for(e, bell_kind::endpoint_data),
                std::move(e.space_kick), e.own.words().rx_arm, e.peer.words().tx_arm, e.fences,
                e.may_spin, options),
      ring(e.own, e.peer), next_check_(laps_between_checks * ring.capacity()),
      counters_(&e.own.words().received) {}

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
    : out(executor, e, options), in(executor, e, options), own_(std::move(e.own)),
      peer_(std::move(e.peer)), credentials_(e.credentials), backend_(e.backend),
      fences_(e.fences) {
  own_.close_handle();
  fork_claim claim{{in.bell_fd(), out.bell_fd()}};
  claim.mark = &condition_;
  claim.inherited = static_cast<unsigned char>(condition::inherited);
  guard_ = fork_guard(claim);
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
  return peer_.words().state.load(std::memory_order_acquire) ==
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
  own_.words().state.store(static_cast<std::uint32_t>(layout::side_state::shut_down),
                           std::memory_order_release);
  out.wake_peer(*this);
}

void channel_impl::close() noexcept {
  const condition before = state();
  if (before < condition::closed) {
    condition_.store(static_cast<unsigned char>(condition::closed), std::memory_order_release);
    out.ring.finish();
    own_.words().state.store(static_cast<std::uint32_t>(layout::side_state::closed),
                             std::memory_order_release);
    // A peer that is awake looks at these words with its next message; one that
    // sleeps hears the hang-up.
    in.arm_for_good();
    out.arm_for_good();
  }
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
