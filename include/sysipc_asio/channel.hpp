// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_CHANNEL_HPP
#define SYSIPC_ASIO_CHANNEL_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/system/system_error.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <ranges>
#include <sysipc_asio/detail/channel_impl.hpp>
#include <sysipc_asio/detail/channel_operation.hpp>
#include <sysipc_asio/detail/default_token.hpp>
#include <sysipc_asio/detail/exceptions_as_errors.hpp>
#include <sysipc_asio/detail/operations.hpp>
#include <sysipc_asio/error.hpp>
#include <sysipc_asio/loan.hpp>
#include <sysipc_asio/message.hpp>
#include <sysipc_asio/options.hpp>
#include <sysipc_asio/statistics.hpp>
#include <type_traits>
#include <utility>
#include <variant>

namespace sysipc_asio {

namespace detail {
struct channel_access;
}

/// A value that can be sent as the bytes it consists of; not what merely points to some.
template <typename T>
concept plain_value =
    std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> &&
    !std::is_pointer_v<T> &&
    !std::is_const_v<T> && !std::ranges::view<T> && !asio::is_const_buffer_sequence<T>::value;

/// A two-way channel for messages between two processes of one host.
/**
 * Messages keep their boundaries and their order. They lie in shared memory:
 * sending and receiving enter the kernel only to sleep, and to wake a peer that
 * sleeps.
 *
 * Large ones lie in the sender's pool, are received without a copy, and may be kept as long as
 * one likes; a `loan` is memory in the pool to build one in. See channel_options for the sizes.
 *
 * Every operation comes in up to four forms:
 *
 * | form | waits | completes |
 * |---|---|---|
 * | `try_send`, `try_receive`, ... | never | at once |
 * | `blocking_send`, ... | blocks the thread | at once |
 * | `co_await ch.send(...)`, ... | suspends the coroutine | without the scheduler when it can |
 * | `async_send(..., token)`, ... | with any completion token | through the executor |
 *
 * Each form that can fail exists with an `error_code&` and throwing
 * `boost::system::system_error`.
 *
 * @par Errors
 * `asio::error::eof`: the peer shut down or closed, and everything it sent has
 * been received. `connection_reset`: the peer died; everything that it had sent
 * has been received. `broken_pipe`: a send after the peer closed or after its
 * death was reported. `shut_down`: a send after shutdown(). `message_size`: the
 * message is larger than max_send_size(), or than the buffer or value to receive
 * into; in the latter case it stays and can be received otherwise. `no_memory`: there is none
 * for a loan, or to receive a message in pieces, which stays. `would_block`:
 * from `try_` forms only. `operation_aborted`: cancelled, or closed while
 * waiting. `bad_descriptor`: not open, or inherited across fork().
 * `error::operation_in_progress`: another operation of that direction waits.
 * `error::peer_protocol_violation`: the peer wrote nonsense; permanent.
 *
 * @par Per-operation cancellation
 * Terminal, partial and total. An operation that reports `operation_aborted`
 * has sent or received nothing.
 *
 * @par Object lifetimes
 * Buffers stay valid until the operation completes. A channel may be moved while
 * operations wait; destroying or closing it completes them with
 * `operation_aborted`. A `co_await`ed form must be started before its channel is
 * moved or destroyed.
 *
 * @par Thread Safety
 * Distinct objects: Safe. Shared objects: Unsafe, except that one sending and one
 * receiving operation may run at the same time in two threads.
 *
 * @par fork()
 * A child does not inherit the channel: there, every operation gives
 * `bad_descriptor`, and the peer still sees the parent's death.
 */
template <typename Executor = asio::any_io_executor>
class basic_channel {
public:
  using executor_type = Executor;

  /// Rebinds the channel type to another executor.
  template <typename Executor1>
  struct rebind_executor {
    using other = basic_channel<Executor1>;
  };

  /// A channel that is not open.
  explicit basic_channel(const executor_type& executor) : executor_(executor) {}

  /// A channel that is not open, on the executor of `context`.
  template <typename ExecutionContext>
  requires std::is_convertible_v<ExecutionContext&, asio::execution_context&>
  explicit basic_channel(ExecutionContext& context) : executor_(context.get_executor()) {}

  /// Takes over `other`, which is left as if constructed from its executor.
  basic_channel(basic_channel&& other) noexcept
      : executor_(other.executor_), impl_(std::move(other.impl_)) {}

  /// Takes over a channel with a convertible executor type.
  template <typename Executor1>
  requires std::is_convertible_v<Executor1, Executor>
  basic_channel(basic_channel<Executor1>&& other)
      : executor_(other.executor_), impl_(std::move(other.impl_)) {}

  /// Closes this channel and takes over `other`.
  basic_channel& operator=(basic_channel&& other) noexcept {
    if (this != &other) {
      drop();
      executor_ = other.executor_;
      impl_ = std::move(other.impl_);
    }
    return *this;
  }

  /// Closes the channel as close() does.
  ~basic_channel() { drop(); }

  executor_type get_executor() const noexcept { return executor_; }

  /// True until close(), also when the peer is gone.
  bool is_open() const noexcept { return impl_ && impl_->state() < detail::condition::closed; }

  /// The largest message that can be sent, in bytes; 0 if not open.
  std::size_t max_send_size() const noexcept { return impl_ ? impl_->out.max_message : 0; }

  /// The largest message that can arrive, in bytes; 0 if not open.
  std::size_t max_receive_size() const noexcept { return impl_ ? impl_->in.max_message : 0; }

  /// The largest loan that there can be, in bytes; 0 if not open, or without a pool.
  std::size_t max_loan_size() const noexcept {
    return impl_ && impl_->out.pool ? impl_->out.pool->max_block() : 0;
  }

  /// Who is at the other end. Precondition: was opened.
  const peer_credentials& credentials() const noexcept { return impl_->credentials(); }

  /// Where memory and doorbell come from. Precondition: was opened.
  sysipc_asio::backend backend() const noexcept { return impl_->backend(); }

  /// The fences that the two sides agreed on. Precondition: was opened.
  fence_mode fences() const noexcept { return impl_->fences(); }

  /// What happened so far; all zero if not open.
  statistics stats() const noexcept { return impl_ ? impl_->stats() : statistics{}; }

  /// Sends no more: the peer gets `eof` after it has received everything.
  /** Receiving goes on. Never waits. Without effect if not open. */
  void shutdown() noexcept {
    if (is_open())
      impl_->shutdown();
  }

  /// Ends the channel; the peer gets `eof` after it has received everything.
  /** Waiting operations complete with `operation_aborted`, not inside this call. */
  void close() noexcept {
    if (impl_)
      impl_->close();
  }

  /// Completes waiting operations with `operation_aborted`, not inside this call.
  void cancel() noexcept {
    if (is_open())
      impl_->cancel();
  }

  /// @name Without waiting
  /// @{

  /// Sends one message. @returns false, with `would_block`, if there is no room.
  template <typename ConstBufferSequence>
  bool try_send(const ConstBufferSequence& buffers, error_code& ec) {
    return attempt(detail::send_buffers<ConstBufferSequence>(buffers), ec).has_value();
  }
  template <typename ConstBufferSequence>
  bool try_send(const ConstBufferSequence& buffers) {
    return attempt(detail::send_buffers<ConstBufferSequence>(buffers)).has_value();
  }

  /// Sends a message that was built in place. @returns false, with `would_block`, if there is
  /// no room, and then, as with any error, `l` is still there.
  bool try_send(sysipc_asio::loan&& l, error_code& ec) {
    return attempt(detail::send_loan(l), ec).has_value();
  }
  bool try_send(sysipc_asio::loan&& l) { return attempt(detail::send_loan(l)).has_value(); }

  /// Memory for a message of `n` bytes, or nothing.
  std::optional<sysipc_asio::loan> try_loan(std::size_t n, error_code& ec) {
    return attempt(detail::take_loan(n), ec);
  }
  std::optional<sysipc_asio::loan> try_loan(std::size_t n) { return attempt(detail::take_loan(n)); }

  /// Receives one message into `buffers`. @returns its size, or nothing.
  template <typename MutableBufferSequence>
  std::optional<std::size_t> try_receive(const MutableBufferSequence& buffers, error_code& ec) {
    return attempt(detail::receive_buffers<MutableBufferSequence>(buffers), ec);
  }
  template <typename MutableBufferSequence>
  std::optional<std::size_t> try_receive(const MutableBufferSequence& buffers) {
    return attempt(detail::receive_buffers<MutableBufferSequence>(buffers));
  }

  /// Receives one message, or nothing.
  std::optional<message> try_receive(error_code& ec) {
    return attempt(detail::receive_message(), ec);
  }
  std::optional<message> try_receive() { return attempt(detail::receive_message()); }

  /// Sends a value. @returns false, with `would_block`, if there is no room.
  template <plain_value T>
  bool try_push(const T& value, error_code& ec) {
    return attempt(detail::push_value<T>(value), ec).has_value();
  }
  template <plain_value T>
  bool try_push(const T& value) {
    return attempt(detail::push_value<T>(value)).has_value();
  }

  /// Receives a value, or nothing; `message_size` if the message is no `T`.
  template <plain_value T>
  std::optional<T> try_pop(error_code& ec) {
    return attempt(detail::pop_value<T>(), ec);
  }
  template <plain_value T>
  std::optional<T> try_pop() {
    return attempt(detail::pop_value<T>());
  }

  /// Calls `fn(std::span<const std::byte>)` for up to `max` messages, in place.
  /**
   * The payload is shared memory, which a hostile peer can change while it is
   * read: copy what is to be checked before it is checked. A message is gone
   * after `fn` returned; if `fn` throws, it stays. `fn` must not use the channel.
   * One call takes no more messages than the ring has words of 8 bytes, however fast
   * the peer sends new ones.
   *
   * @param ec `would_block` if nothing was there; the error if there is one to
   * report and nothing was consumed.
   * @returns the number of messages consumed.
   */
  template <typename F>
  std::size_t consume(F&& fn, std::size_t max, error_code& ec);

  /// As above; throws on errors other than `would_block`.
  template <typename F>
  std::size_t consume(F&& fn, std::size_t max = std::numeric_limits<std::size_t>::max()) {
    error_code ec;
    const std::size_t n = consume(std::forward<F>(fn), max, ec);
    if (ec && ec != asio::error::would_block)
      throw boost::system::system_error(ec);
    return n;
  }
  /// @}

  /// @name Blocking the thread
  /// @{

  /// Sends one message.
  template <typename ConstBufferSequence>
  void blocking_send(const ConstBufferSequence& buffers, error_code& ec) {
    block(detail::send_buffers<ConstBufferSequence>(buffers), ec);
  }
  template <typename ConstBufferSequence>
  void blocking_send(const ConstBufferSequence& buffers) {
    block(detail::send_buffers<ConstBufferSequence>(buffers));
  }

  /// Sends a message that was built in place. With an error, `l` is still there.
  void blocking_send(sysipc_asio::loan&& l, error_code& ec) { block(detail::send_loan(l), ec); }
  void blocking_send(sysipc_asio::loan&& l) { block(detail::send_loan(l)); }

  /// Memory for a message of `n` bytes.
  sysipc_asio::loan blocking_loan(std::size_t n, error_code& ec) {
    return block(detail::take_loan(n), ec);
  }
  sysipc_asio::loan blocking_loan(std::size_t n) { return block(detail::take_loan(n)); }

  /// Receives one message into `buffers`. @returns its size.
  template <typename MutableBufferSequence>
  std::size_t blocking_receive(const MutableBufferSequence& buffers, error_code& ec) {
    return block(detail::receive_buffers<MutableBufferSequence>(buffers), ec);
  }
  template <typename MutableBufferSequence>
  std::size_t blocking_receive(const MutableBufferSequence& buffers) {
    return block(detail::receive_buffers<MutableBufferSequence>(buffers));
  }

  /// Receives one message.
  message blocking_receive(error_code& ec) { return block(detail::receive_message(), ec); }
  message blocking_receive() { return block(detail::receive_message()); }

  /// Sends a value.
  template <plain_value T>
  void blocking_push(const T& value, error_code& ec) {
    block(detail::push_value<T>(value), ec);
  }
  template <plain_value T>
  void blocking_push(const T& value) {
    block(detail::push_value<T>(value));
  }

  /// Receives a value.
  template <plain_value T>
  T blocking_pop(error_code& ec) {
    return block(detail::pop_value<T>(), ec);
  }
  template <plain_value T>
  T blocking_pop() {
    return block(detail::pop_value<T>());
  }
  /// @}

  /// @name With co_await
  /**
   * These return something to `co_await` in an `asio::awaitable` coroutine. They
   * complete without suspending when they can, and let the other handlers of the
   * coroutine's executor run after 256 such completions in a row, before they take or
   * send anything. They may spin for up to
   * `channel_options::spin_slice` before they suspend. In the `error_code&` forms
   * the error is the caller's variable, else it is thrown.
   *
   * To combine one with `||` and `&&` of awaitable_operators, include
   * <sysipc_asio/awaitable_operators.hpp>, or use the `async_` form with
   * `use_awaitable`.
   */
  /// @{

  /// Sends one message.
  template <typename ConstBufferSequence>
  auto send(const ConstBufferSequence& buffers) {
    return start(detail::send_buffers<ConstBufferSequence>(buffers), detail::error_sink());
  }
  template <typename ConstBufferSequence>
  auto send(const ConstBufferSequence& buffers, error_code& ec) {
    return start(detail::send_buffers<ConstBufferSequence>(buffers), detail::error_sink(ec));
  }

  /// Sends a message that was built in place, which is free again if it can't be sent.
  auto send(sysipc_asio::loan&& l) {
    return start(detail::send_loan(std::move(l)), detail::error_sink());
  }
  auto send(sysipc_asio::loan&& l, error_code& ec) {
    return start(detail::send_loan(std::move(l)), detail::error_sink(ec));
  }

  /// Yields memory for a message of `n` bytes.
  /** Waits, as a sending operation, until the peer or this side gives enough of it back. */
  auto loan(std::size_t n) { return start(detail::take_loan(n), detail::error_sink()); }
  auto loan(std::size_t n, error_code& ec) {
    return start(detail::take_loan(n), detail::error_sink(ec));
  }

  /// Receives one message.
  auto receive() { return start(detail::receive_message(), detail::error_sink()); }
  auto receive(error_code& ec) { return start(detail::receive_message(), detail::error_sink(ec)); }

  /// Receives one message into `buffers`; yields its size.
  template <typename MutableBufferSequence>
  requires asio::is_mutable_buffer_sequence<MutableBufferSequence>::value auto
  receive(const MutableBufferSequence& buffers) {
    return start(detail::receive_buffers<MutableBufferSequence>(buffers), detail::error_sink());
  }
  template <typename MutableBufferSequence>
  requires asio::is_mutable_buffer_sequence<MutableBufferSequence>::value auto
  receive(const MutableBufferSequence& buffers, error_code& ec) {
    return start(detail::receive_buffers<MutableBufferSequence>(buffers), detail::error_sink(ec));
  }

  /// Sends a value.
  template <plain_value T>
  auto push(const T& value) {
    return start(detail::push_value<T>(value), detail::error_sink());
  }
  template <plain_value T>
  auto push(const T& value, error_code& ec) {
    return start(detail::push_value<T>(value), detail::error_sink(ec));
  }

  /// Receives a value.
  template <plain_value T>
  auto pop() {
    return start(detail::pop_value<T>(), detail::error_sink());
  }
  template <plain_value T>
  auto pop(error_code& ec) {
    return start(detail::pop_value<T>(), detail::error_sink(ec));
  }

  /// Waits, and consumes nothing; for use with consume() and the `try_` forms.
  auto wait(wait_type what) { return start(detail::wait_for(what), detail::error_sink()); }
  auto wait(wait_type what, error_code& ec) {
    return start(detail::wait_for(what), detail::error_sink(ec));
  }
  /// @}

  /// @name With a completion token
  /**
   * The handler runs on its associated executor, or on get_executor(), and never
   * inside the initiating function, unless its associated immediate executor
   * allows it (Boost 1.82 and newer). Its associated allocator and cancellation
   * slot are used. These forms never spin, but with wait_policy::busy.
   */
  /// @{

  /// Sends one message. Signature: `void(error_code, std::size_t)`.
  template <typename ConstBufferSequence,
            asio::completion_token_for<void(error_code, std::size_t)> CompletionToken =
                detail::default_token_t<executor_type>>
  auto async_send(const ConstBufferSequence& buffers,
                  CompletionToken&& token = detail::default_token_t<executor_type>()) {
    return compose(detail::send_buffers<ConstBufferSequence>(buffers), token);
  }

  /// Sends a message that was built in place, which is free again if it can't be sent.
  /** Signature: `void(error_code, std::size_t)`. */
  template <asio::completion_token_for<void(error_code, std::size_t)> CompletionToken =
                detail::default_token_t<executor_type>>
  auto async_send(sysipc_asio::loan&& l,
                  CompletionToken&& token = detail::default_token_t<executor_type>()) {
    return compose(detail::send_loan(std::move(l)), token);
  }

  /// Memory for a message of `n` bytes. Signature: `void(error_code, loan)`.
  template <asio::completion_token_for<void(error_code, sysipc_asio::loan)> CompletionToken =
                detail::default_token_t<executor_type>>
  auto async_loan(std::size_t n,
                  CompletionToken&& token = detail::default_token_t<executor_type>()) {
    return compose(detail::take_loan(n), token);
  }

  /// Receives into `buffers`. Signature: `void(error_code, std::size_t)`.
  /** With `message_size`, the size is that of the message, which stays. */
  template <typename MutableBufferSequence,
            asio::completion_token_for<void(error_code, std::size_t)> CompletionToken =
                detail::default_token_t<executor_type>>
  requires asio::is_mutable_buffer_sequence<MutableBufferSequence>::value auto
  async_receive(const MutableBufferSequence& buffers,
                CompletionToken&& token = detail::default_token_t<executor_type>()) {
    return compose(detail::receive_buffers<MutableBufferSequence>(buffers), token);
  }

  /// Receives a message. Signature: `void(error_code, message)`.
  template <asio::completion_token_for<void(error_code, message)> CompletionToken =
                detail::default_token_t<executor_type>>
  auto async_receive(CompletionToken&& token = detail::default_token_t<executor_type>()) {
    return compose(detail::receive_message(), token);
  }

  /// Sends a value. Signature: `void(error_code)`.
  template <plain_value T, asio::completion_token_for<void(error_code)> CompletionToken =
                               detail::default_token_t<executor_type>>
  auto async_push(const T& value,
                  CompletionToken&& token = detail::default_token_t<executor_type>()) {
    return compose(detail::push_value<T>(value), token);
  }

  /// Receives a value. Signature: `void(error_code, T)`.
  template <plain_value T, asio::completion_token_for<void(error_code, T)> CompletionToken =
                               detail::default_token_t<executor_type>>
  auto async_pop(CompletionToken&& token = detail::default_token_t<executor_type>()) {
    return compose(detail::pop_value<T>(), token);
  }

  /// Waits, and consumes nothing. Signature: `void(error_code)`.
  template <asio::completion_token_for<void(error_code)> CompletionToken =
                detail::default_token_t<executor_type>>
  auto async_wait(wait_type what,
                  CompletionToken&& token = detail::default_token_t<executor_type>()) {
    return compose(detail::wait_for(what), token);
  }
  /// @}

private:
  template <typename>
  friend class basic_channel;
  friend struct detail::channel_access;

  template <typename Operation>
  using outcome = std::conditional_t<std::is_void_v<typename Operation::result_type>,
                                     std::monostate, typename Operation::result_type>;

  template <typename Operation>
  static outcome<Operation> result_of(Operation& operation) {
    if constexpr (std::is_void_v<typename Operation::result_type>)
      return {};
    else
      return operation.result();
  }

  template <typename Operation>
  std::optional<outcome<Operation>> attempt(Operation operation, error_code& ec) {
    if (!impl_) {
      ec = asio::error::bad_descriptor;
      return std::nullopt;
    }
    if (operation.side(*impl_).busy()) {
      ec = detail::busy_error(*impl_);
      return std::nullopt;
    }
    if (!operation.attempt(*impl_, ec) || ec)
      return std::nullopt;
    return result_of(operation);
  }

  template <typename Operation>
  std::optional<outcome<Operation>> attempt(Operation operation) {
    error_code ec;
    auto result = attempt(std::move(operation), ec);
    if (ec && ec != asio::error::would_block)
      throw boost::system::system_error(ec);
    return result;
  }

  template <typename Operation>
  typename Operation::result_type block(Operation operation, error_code& ec) {
    if (!impl_)
      ec = asio::error::bad_descriptor;
    else
      detail::perform_blocking(impl_, operation, ec);
    return operation.result();
  }

  template <typename Operation>
  typename Operation::result_type block(Operation operation) {
    error_code ec;
    if (!impl_)
      ec = asio::error::bad_descriptor;
    else
      detail::perform_blocking(impl_, operation, ec);
    if (ec)
      throw boost::system::system_error(ec);
    return operation.result();
  }

  template <typename Operation>
  detail::channel_operation<Operation, Executor> start(Operation operation,
                                                       detail::error_sink sink) {
    return {impl_.get(), executor_, std::move(operation), sink};
  }

  template <typename Operation, typename CompletionToken>
  auto compose(Operation operation, CompletionToken& token) {
    return asio::async_compose<CompletionToken, detail::signature_t<Operation>>(
        detail::perform_op<Operation>(impl_, std::move(operation)), token, executor_);
  }

  void drop() noexcept {
    if (impl_) {
      impl_->close();
      impl_.reset();
    }
  }

  executor_type executor_;
  std::shared_ptr<detail::channel_impl> impl_;
};

template <typename Executor>
template <typename F>
std::size_t basic_channel<Executor>::consume(F&& fn, std::size_t max, error_code& ec) {
  if (!impl_) {
    ec = asio::error::bad_descriptor;
    return 0;
  }
  if (impl_->in.busy()) {
    ec = detail::busy_error(*impl_);
    return 0;
  }
  return detail::consume(*impl_, fn, max, ec);
}

/// The channel to use unless the executor's type is to be known statically.
using channel = basic_channel<>;

/// The library's own way in.
struct detail::channel_access {
  /// @throws boost::system::system_error if the reactor can't take the descriptors
  template <typename Executor>
  static basic_channel<Executor> open(const Executor& executor, endpoint&& e,
                                      const channel_options& options) {
    basic_channel<Executor> result(executor);
    result.impl_ = std::make_shared<channel_impl>(executor, std::move(e), options);
    return result;
  }
};

namespace detail {

/// A channel on an endpoint; not open if `ec` is set.
template <typename Executor>
basic_channel<Executor> open_channel(const Executor& executor, endpoint&& e,
                                     const channel_options& options, error_code& ec) {
  basic_channel<Executor> result(executor);
  ec =
      exceptions_as_errors([&] { result = channel_access::open(executor, std::move(e), options); });
  return result;
}

} // namespace detail

} // namespace sysipc_asio

#endif
