// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_CHANNEL_OPERATION_HPP
#define SYSIPC_ASIO_DETAIL_CHANNEL_OPERATION_HPP

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/version.hpp>
#include <boost/system/system_error.hpp>
#include <optional>
#include <sysipc_asio/detail/perform_op.hpp>
#include <type_traits>
#include <utility>
#include <variant>

// asio::awaitable's promise accepts no awaiters of ours, and a coroutine of our own
// for each message costs more than the message (doc/design.md has the figures).
// The one way to complete without suspending is a specialisation of the awaiter
// that Asio wraps around asynchronous operations. It is a detail of Asio, so it is
// used only for the versions whose source it was checked against; elsewhere, or
// with SYSIPC_ASIO_NO_AWAITABLE_FAST_PATH, the awaitable members complete through
// the executor each time, as any asynchronous operation does.
#if !defined(SYSIPC_ASIO_NO_AWAITABLE_FAST_PATH) && BOOST_ASIO_VERSION >= 102600 &&                \
    BOOST_ASIO_VERSION <= 103800 && !defined(BOOST_ASIO_ENABLE_HANDLER_TRACKING)
#define SYSIPC_ASIO_HAS_AWAITABLE_FAST_PATH 1
#endif

namespace sysipc_asio::detail {

template <typename Operation, typename Executor>
class detached_operation;

/// The other handlers' turn, in the middle of an operation that has nothing to wait for.
/**
 * An initiation in Asio's sense, of the signature void(). A fifth of what the whole of
 * perform_op costs, which matters where a channel is never silent.
 */
class others_turn {
public:
  others_turn(const std::shared_ptr<channel_impl>& channel, direction& side)
      : channel_(channel), side_(&side), cancellations_(side.cancellations()) {
    if (!lock_.lock(channel, side))
      error_ = busy_error(*channel);
    channel->restart_turns(side);
  }

  /// `handler` resumes a coroutine; it is the handlers of its executor that have the turn.
  template <typename Handler>
  void operator()(Handler&& handler) {
    cancellation_ = asio::cancellation_state(asio::get_associated_cancellation_slot(handler),
                                             asio::enable_total_cancellation());
    const auto executor = asio::get_associated_executor(handler);
    // The handler empties its slot, where cancellation_ keeps what it knows, and goes on then.
    asio::post(executor, [this, resume = std::forward<Handler>(handler)]() mutable {
      end();
      std::move(resume)();
    });
  }

  /// After the turn: why the operation must not go on, if so.
  const error_code& error() const noexcept { return error_; }

private:
  void end() noexcept {
    if (error_)
      return;
    lock_.unlock();
    if (cancellation_.cancelled() != asio::cancellation_type::none ||
        side_->cancellations() != cancellations_ || channel_->state() >= condition::closed)
      error_ = asio::error::operation_aborted;
  }

  std::shared_ptr<channel_impl> channel_; ///< may outlive the channel object
  direction* side_;
  direction_lock lock_;
  error_code error_;
  unsigned cancellations_;
  asio::cancellation_state cancellation_;
};

/// What `ch.receive()` and its like return: an operation that has not begun.
/**
 * It can be co_awaited once, or called with a completion token. `Executor` is the
 * channel's.
 */
template <typename Operation, typename Executor>
class [[nodiscard]] channel_operation {
public:
  using result_type = typename Operation::result_type;

  channel_operation(channel_impl* channel, const Executor& executor, Operation operation,
                    error_sink sink)
      : channel_(channel), executor_(&executor), operation_(std::move(operation)), sink_(sink) {}

  /// Makes it an asynchronous operation in Asio's sense.
  template <typename CompletionToken>
  requires asio::completion_token_for<CompletionToken, signature_t<Operation>>
  auto operator()(CompletionToken&& token) && {
    return std::move(*this).detach()(std::forward<CompletionToken>(token));
  }

  /// What is left to do, as an object that no longer depends on the channel's.
  detached_operation<Operation, Executor> detach() && {
    return {channel_ ? channel_->shared_from_this() : nullptr, *executor_, std::move(operation_),
            progress(), sink_};
  }

  /// Tries, and spins for a slice at most. True if the operation is over.
  bool try_now() {
    if (channel_ == nullptr) {
      error_ = asio::error::bad_descriptor;
      return true;
    }
    auto& side = operation_.side(*channel_);
    if (side.busy()) [[unlikely]] {
      error_ = busy_error(*channel_);
      return true;
    }
    if (!side.take_turn()) [[unlikely]] {
      gives_way_ = channel_->state() < condition::closed && operation_.at_once(*channel_);
      if (!gives_way_)
        progress_.emplace(side, true);
      return false;
    }
    if (operation_.attempt(*channel_, error_)) [[likely]]
      return true;
    return spin_once(side);
  }

  /// After try_now() gave false: true if there is nothing to wait for but the others' turn.
  bool gives_way() const noexcept { return gives_way_; }

  /// The turn that gives_way() speaks of.
  others_turn turn() { return {channel_->shared_from_this(), operation_.side(*channel_)}; }

  /// The operation is over when the turn is.
  void after(const others_turn& turn) {
    error_ = turn.error();
    if (error_ || operation_.attempt(*channel_, error_)) [[likely]]
      return;
    // It was ready, and nobody else could take what there was: the peer took it back.
    channel_->fail();
    operation_.attempt(*channel_, error_);
  }

  /// The outcome after try_now() gave true, or after().
  result_type take() {
    if (!sink_.take(error_) && error_)
      throw boost::system::system_error(error_);
    if constexpr (!std::is_void_v<result_type>)
      if (error_ && error_ != asio::error::message_size) [[unlikely]]
        return result_type{};
    return operation_.result();
  }

private:
  bool spin_once(direction& side) {
    progress_.emplace(side, true);
    auto& [machine, next] = *progress_;
    machine.share_with(side.others().waiting());
    next = machine.attempted(false);
    while (next == wait_machine::action::spin) {
      next = machine.spun(spin(*channel_, operation_, machine.slice()));
      if (next != wait_machine::action::attempt)
        return false;
      if (operation_.attempt(*channel_, error_))
        return true;
      next = machine.attempted(false);
    }
    return false;
  }

  wait_progress progress() {
    if (progress_)
      return *progress_;
    return channel_ ? wait_progress(operation_.side(*channel_), true) : wait_progress();
  }

  channel_impl* channel_;
  const Executor* executor_;
  Operation operation_;
  error_sink sink_;
  error_code error_;
  std::optional<wait_progress> progress_;
  bool gives_way_ = false;
};

/// The rest of an operation whose try_now() gave false, or the whole of one.
/** Shares the ownership of the channel, and does nothing before it is called. */
template <typename Operation, typename Executor>
class detached_operation {
public:
  detached_operation(std::shared_ptr<channel_impl> channel, const Executor& executor,
                     Operation operation, const wait_progress& progress, error_sink sink)
      : implementation_(std::move(channel), std::move(operation), progress, sink),
        executor_(executor) {}

  template <typename CompletionToken>
  requires asio::completion_token_for<CompletionToken, signature_t<Operation>>
  auto operator()(CompletionToken&& token) && {
    return asio::async_compose<CompletionToken, signature_t<Operation>>(std::move(implementation_),
                                                                        token, executor_);
  }

private:
  perform_op<Operation> implementation_;
  Executor executor_;
};

/// The operation as a coroutine, which composes with awaitable_operators.
/**
 * Takes nothing before the executor's turn: of several that are launched together,
 * one can still be cancelled by another then.
 */
template <typename Operation, typename Executor>
asio::awaitable<typename Operation::result_type, Executor>
as_awaitable(detached_operation<Operation, Executor> whole) {
  co_return co_await std::move(whole);
}

} // namespace sysipc_asio::detail

#if defined(SYSIPC_ASIO_HAS_AWAITABLE_FAST_PATH)
namespace boost::asio::detail {

template <typename Signature, typename Operation, typename ChannelExecutor, typename Executor>
class awaitable_async_op<
    Signature, ::sysipc_asio::detail::channel_operation<Operation, ChannelExecutor>, Executor> {
  using operation_type = ::sysipc_asio::detail::channel_operation<Operation, ChannelExecutor>;

public:
  awaitable_async_op(operation_type&& begun, awaitable_frame_base<Executor>* frame)
      : operation_(&begun), frame_(frame) {}

  bool await_ready() { return operation_->try_now(); }

  template <typename Handle>
  void await_suspend(Handle handle) {
    if (operation_->gives_way())
      suspended_.template emplace<turn>(operation_->turn(), frame_).op.await_suspend(handle);
    else
      suspended_.template emplace<rest>(std::move(*operation_).detach(), frame_)
          .op.await_suspend(handle);
  }

  typename operation_type::result_type await_resume() {
    if (auto* const waited = std::get_if<rest>(&suspended_))
      return waited->op.await_resume();
    if (auto* const gave_way = std::get_if<turn>(&suspended_))
      operation_->after(gave_way->what);
    return operation_->take();
  }

private:
  /// What Asio's own awaiter, which keeps a reference to it, waits for.
  template <typename What, typename WhatSignature>
  struct suspension {
    suspension(What&& w, awaitable_frame_base<Executor>* frame)
        : what(std::move(w)), op(std::move(what), frame) {}

    What what;
    awaitable_async_op<WhatSignature, What, Executor> op;
  };
  using turn = suspension<::sysipc_asio::detail::others_turn, void()>;
  using rest =
      suspension<::sysipc_asio::detail::detached_operation<Operation, ChannelExecutor>, Signature>;

  operation_type* operation_;
  awaitable_frame_base<Executor>* frame_;
  std::variant<std::monostate, turn, rest> suspended_;
};

} // namespace boost::asio::detail
#endif

#endif
