// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_CHANNEL_OPERATION_HPP
#define SYSIPC_ASIO_DETAIL_CHANNEL_OPERATION_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/version.hpp>
#include <boost/system/system_error.hpp>
#include <optional>
#include <sysipc_asio/detail/perform_op.hpp>
#include <type_traits>
#include <utility>

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
      progress_.emplace(side, true);
      return false;
    }
    if (operation_.attempt(*channel_, error_)) [[likely]]
      return true;
    return spin_once(side);
  }

  /// The outcome after try_now() gave true.
  result_type take() {
    if (!sink_.take(error_) && error_)
      throw boost::system::system_error(error_);
    return operation_.result();
  }

private:
  bool spin_once(direction& side) {
    progress_.emplace(side, true);
    auto& [machine, next] = *progress_;
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
  using rest_type = ::sysipc_asio::detail::detached_operation<Operation, ChannelExecutor>;

public:
  awaitable_async_op(operation_type&& begun, awaitable_frame_base<Executor>* frame)
      : operation_(&begun), frame_(frame) {}

  bool await_ready() { return operation_->try_now(); }

  template <typename Handle>
  void await_suspend(Handle handle) {
    rest_.emplace(std::move(*operation_).detach());
    suspended_.emplace(std::move(*rest_), frame_); // keeps a reference to *rest_
    suspended_->await_suspend(handle);
  }

  typename operation_type::result_type await_resume() {
    if (suspended_)
      return suspended_->await_resume();
    return operation_->take();
  }

private:
  operation_type* operation_;
  awaitable_frame_base<Executor>* frame_;
  std::optional<rest_type> rest_;
  std::optional<awaitable_async_op<Signature, rest_type, Executor>> suspended_;
};

} // namespace boost::asio::detail
#endif

#endif
