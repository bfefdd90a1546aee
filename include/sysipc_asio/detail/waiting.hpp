// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_WAITING_HPP
#define SYSIPC_ASIO_DETAIL_WAITING_HPP

#include <cstdint>
#include <memory>
#include <sched.h>
#include <sysipc_asio/detail/channel_impl.hpp>
#include <sysipc_asio/detail/doorbell.hpp>
#include <sysipc_asio/detail/operations.hpp>
#include <sysipc_asio/wait.hpp>
#include <utility>

/// The pieces that every way of waiting is made of.
namespace sysipc_asio::detail {

/// Holds one direction for one operation; lets go of it however the operation ends.
class direction_lock {
public:
  direction_lock() = default;
  direction_lock(direction_lock&& other) noexcept
      : channel_(std::move(other.channel_)), direction_(std::exchange(other.direction_, nullptr)) {}
  direction_lock& operator=(direction_lock&&) = delete;
  ~direction_lock() { unlock(); }

  /// False if another operation holds it.
  bool lock(const std::shared_ptr<channel_impl>& channel, direction& d) noexcept {
    if (!d.acquire())
      return false;
    channel_ = channel;
    direction_ = &d;
    return true;
  }

  void unlock() noexcept {
    if (direction_ == nullptr)
      return;
    // Abandoned while it slept: a coroutine or handler that was destroyed. After
    // a close the word stays odd, see channel_impl::close().
    if (direction_->armed() && channel_->state() < condition::closed)
      direction_->disarm();
    direction_->release();
    direction_ = nullptr;
    channel_.reset();
  }

private:
  std::shared_ptr<channel_impl> channel_;
  direction* direction_ = nullptr;
};

/// The action `spin`: true as soon as there is something.
template <typename Operation>
bool spin(channel_impl& channel, const Operation& operation, std::uint32_t looks) noexcept {
  constexpr std::uint32_t in_a_stream = 2; // the next message is there by then
  std::uint32_t done = 0;
  for (operation.pace(channel);
       !(done < in_a_stream ? operation.ready(channel) : operation.look(channel)); cpu_relax())
    if (++done >= looks)
      return false;
  return true;
}

/// The action `arm`.
template <typename Operation>
void arm(channel_impl& channel, const Operation& operation) noexcept {
  operation.before_sleep(channel);
  operation.side(channel).arm();
}

/// The action `disarm`.
inline void disarm(channel_impl& channel, direction& side) noexcept {
  if (channel.state() < condition::closed)
    side.disarm();
}

/// After a sleep: takes the kick, or hears the hang-up.
template <typename Operation>
void wake(channel_impl& channel, const Operation& operation) noexcept {
  if (channel.state() >= condition::closed)
    return;
  const direction& side = operation.side(channel);
  // Where no kick is to be taken, the kernel need only be asked if there is nothing: while
  // there is, the hang-up stays where it is.
  if (side.kicks_are_taken() ? side.take_kick() == bell::hung_up
                             : !operation.ready(channel) && side.hung_up())
    channel.note_hang_up();
}

/// At every yield of a side that may never sleep.
inline void give_way(channel_impl& channel, direction& side) noexcept {
  if (side.waiting().limits.total == 0) // both sides on one CPU: the peer needs it
    ::sched_yield();
  // It must hear of its peer's death, too.
  if (side.hang_up_check_due() && channel.state() == condition::open && side.hung_up())
    channel.note_hang_up();
}

/// Performs an operation, blocking this thread until it is over.
template <typename Operation>
void perform_blocking(const std::shared_ptr<channel_impl>& channel, Operation& operation,
                      error_code& ec) {
  auto& side = operation.side(*channel);
  direction_lock lock;
  if (!lock.lock(channel, side)) {
    ec = busy_error(*channel);
    return;
  }
  wait_machine machine(side.waiting(), true);
  for (auto action = machine.start();;) {
    switch (action) {
    case wait_machine::action::attempt:
      action = machine.attempted(operation.attempt(*channel, ec));
      break;
    case wait_machine::action::spin:
      action = machine.spun(spin(*channel, operation, machine.slice()));
      break;
    case wait_machine::action::yield:
      if (side.waiting().policy == wait_policy::busy)
        give_way(*channel, side);
      action = machine.yielded();
      break;
    case wait_machine::action::arm:
      arm(*channel, operation);
      action = machine.armed();
      break;
    case wait_machine::action::sleep:
      if (side.sleep() == bell::hung_up)
        channel->note_hang_up();
      action = machine.woken();
      break;
    case wait_machine::action::disarm:
      disarm(*channel, side);
      action = machine.disarmed();
      break;
    case wait_machine::action::complete:
    case wait_machine::action::abandon:
      return;
    }
  }
}

} // namespace sysipc_asio::detail

#endif
