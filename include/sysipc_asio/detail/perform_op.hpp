// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_PERFORM_OP_HPP
#define SYSIPC_ASIO_DETAIL_PERFORM_OP_HPP

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/version.hpp>
#include <memory>
#include <sysipc_asio/detail/error_sink.hpp>
#include <sysipc_asio/detail/waiting.hpp>
#include <type_traits>

#if BOOST_ASIO_VERSION >= 102700
#include <boost/asio/associated_immediate_executor.hpp>
#endif

namespace sysipc_asio::detail {

/// The completion signature of an operation.
template <typename Result>
struct signature {
  using type = void(error_code, Result);
};
template <>
struct signature<void> {
  using type = void(error_code);
};
template <typename Operation>
using signature_t = typename signature<typename Operation::result_type>::type;

/// How far a wait has come: what the machine wants next, and the machine.
struct wait_progress {
  wait_machine machine{};
  wait_machine::action next = wait_machine::action::attempt;

  wait_progress() = default;
  wait_progress(direction& side, bool may_spin) noexcept
      : machine(side.waiting(), may_spin), next(machine.start()) {}
};

/// The implementation of an asynchronous operation, for asio::async_compose().
/**
 * Nothing is consumed before the completion handler is about to run: an
 * operation that finds its message at once goes through the executor first and
 * takes it then. So a cancellation that arrives in between loses nothing.
 */
template <typename Operation>
class perform_op {
public:
  /// From the beginning; `channel` may be null.
  perform_op(std::shared_ptr<channel_impl> channel, Operation operation)
      : channel_(std::move(channel)), operation_(std::move(operation)),
        wait_(channel_ ? wait_progress(side(), false) : wait_progress()) {}

  /// From where an attempt without suspension had to leave off.
  perform_op(std::shared_ptr<channel_impl> channel, Operation operation, const wait_progress& wait,
             error_sink sink)
      : channel_(std::move(channel)), operation_(std::move(operation)), wait_(wait), sink_(sink) {}

  template <typename Self>
  void operator()(Self& self, error_code ec = {}) {
    switch (stage_) {
    case stage::initiated:
      self.reset_cancellation_state(asio::enable_total_cancellation());
      if (!channel_)
        return fail(self, asio::error::bad_descriptor);
      if (!lock_.lock(channel_, side()))
        return fail(self, busy_error(*channel_));
      channel_->restart_turns(side());
      if (channel_->state() >= condition::closed)
        return fail(self, asio::error::bad_descriptor);
      cancellations_ = side().cancellations();
      return initiate(self);
    case stage::failed:
      return complete(self, error_);
    case stage::posted:
      if (is_cancelled(self))
        wait_.next = wait_.machine.cancelled();
      return run(self);
    case stage::yielded:
      side().others().leave();
      wait_.machine.share_with(side().others().waiting());
      give_way(*channel_, side());
      wait_.next = is_cancelled(self) ? wait_.machine.cancelled() : wait_.machine.yielded();
      return run(self);
    case stage::sleeping:
      wake(*channel_, operation_);
      // A cancellation that came after the wake-up counts, too. direction::rouse()
      // cancels the wait only to have it look again.
      if ((ec && ec != asio::error::operation_aborted) || is_cancelled(self))
        wait_.next = wait_.machine.cancelled();
      else
        wait_.next = wait_.machine.woken();
      return run(self);
    }
  }

private:
  using action = wait_machine::action;
  enum class stage : unsigned char { initiated, failed, posted, yielded, sleeping };

  direction& side() noexcept { return operation_.side(*channel_); }

  /// By its slot, by cancel(), or by close(), also while it was not asleep.
  template <typename Self>
  bool is_cancelled(Self& self) noexcept {
    return self.get_cancellation_state().cancelled() != asio::cancellation_type::none ||
           side().cancellations() != cancellations_ || channel_->state() >= condition::closed;
  }

  /// Inside the initiating function: looks and arms, but neither takes nor spins.
  template <typename Self>
  void initiate(Self& self) {
    for (;;) {
      switch (wait_.next) {
      case action::attempt:
        if (operation_.ready(*channel_)) {
          if (side().armed())
            disarm(*channel_, side());
          wait_ = wait_progress(side(), false);
          return later(self, stage::posted);
        }
        wait_.next = wait_.machine.attempted(false);
        break;
      case action::arm:
        arm(*channel_, operation_);
        wait_.next = wait_.machine.armed();
        break;
      case action::yield:
        side().others().enter();
        return later(self, stage::yielded);
      case action::sleep:
        return sleep(self);
      default:
        return later(self, stage::posted);
      }
    }
  }

  template <typename Self>
  void run(Self& self) {
    for (;;) {
      switch (wait_.next) {
      case action::attempt:
        wait_.next = wait_.machine.attempted(operation_.attempt(*channel_, error_));
        break;
      case action::spin:
        wait_.next = wait_.machine.spun(spin(*channel_, operation_, wait_.machine.slice()));
        break;
      case action::arm:
        arm(*channel_, operation_);
        wait_.next = wait_.machine.armed();
        break;
      case action::disarm:
        disarm(*channel_, side());
        wait_.next = wait_.machine.disarmed();
        break;
      case action::yield:
        side().others().enter();
        return post(self, stage::yielded);
      case action::sleep:
        return sleep(self);
      case action::complete:
        return complete(self, error_);
      case action::abandon:
        return complete(self, asio::error::operation_aborted);
      }
    }
  }

  template <typename Self>
  void sleep(Self& self) {
    stage_ = stage::sleeping;
    const std::shared_ptr<channel_impl> keep = channel_; // `self` may be gone at once
    direction& mine = side();
    mine.async_sleep(std::move(self));
    // Who wanted to rouse it just before found no sleeper.
    if (mine.roused())
      mine.rouse();
  }

  /// Out of the initiating function, which must not call the handler.
  template <typename Self>
  void later(Self& self, stage next) {
    stage_ = next;
#if BOOST_ASIO_VERSION >= 102700
    auto executor = asio::get_associated_immediate_executor(self, self.get_io_executor());
    asio::dispatch(executor, std::move(self));
#else
    post(self, next);
#endif
  }

  /// By way of the I/O executor: without one, a handler that has none of its own would be
  /// posted to the system executor.
  template <typename Self>
  void post(Self& self, stage next) {
    stage_ = next;
    const auto executor = self.get_io_executor();
    asio::post(executor, std::move(self));
  }

  template <typename Self>
  void fail(Self& self, error_code ec) {
    error_ = ec;
    later(self, stage::failed);
  }

  template <typename Self>
  void complete(Self& self, error_code ec) {
    lock_.unlock();
    channel_.reset();
    const bool has_result = !ec || ec == asio::error::message_size;
    if (sink_.take(ec))
      ec = {};
    if constexpr (std::is_void_v<typename Operation::result_type>)
      self.complete(ec);
    else if (has_result)
      self.complete(ec, operation_.result());
    else
      self.complete(ec, typename Operation::result_type{});
  }

  std::shared_ptr<channel_impl> channel_;
  Operation operation_;
  wait_progress wait_;
  error_sink sink_;
  direction_lock lock_;
  error_code error_;
  unsigned cancellations_ = 0;
  stage stage_ = stage::initiated;
};

} // namespace sysipc_asio::detail

#endif
