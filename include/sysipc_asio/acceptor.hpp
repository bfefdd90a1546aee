// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_ACCEPTOR_HPP
#define SYSIPC_ASIO_ACCEPTOR_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/system_error.hpp>
#include <memory>
#include <string_view>
#include <sysipc_asio/channel.hpp>
#include <sysipc_asio/detail/acceptor_impl.hpp>
#include <sysipc_asio/detail/default_token.hpp>
#include <sysipc_asio/options.hpp>
#include <type_traits>

namespace sysipc_asio {

/// Listens under a name and accepts channels.
/**
 * A name is a path (it has a slash), `@abstract`, or a bare name, which lies in
 * `$XDG_RUNTIME_DIR/sysipc`, else `/run/user/UID/sysipc`, else `/tmp/sysipc-UID`.
 *
 * A client that is refused, stalls, lies or dies during its handshake does not
 * complete an accept; it is counted by failed_handshakes(). Handshakes that have
 * begun go on in the background for `listen_options::handshake_timeout` at most.
 *
 * @par Thread Safety
 * Distinct objects: Safe. Shared objects: Unsafe.
 *
 * @par fork()
 * A child does not inherit the acceptor: there, it accepts nothing, and leaves the
 * socket file to the parent.
 */
template <typename Executor = asio::any_io_executor>
class basic_acceptor {
public:
  using executor_type = Executor;

  /// Rebinds the acceptor type to another executor.
  template <typename Executor1>
  struct rebind_executor {
    using other = basic_acceptor<Executor1>;
  };

  /// An acceptor that is not open.
  explicit basic_acceptor(const executor_type& executor) : executor_(executor) {}
  template <typename ExecutionContext>
  requires std::is_convertible_v<ExecutionContext&, asio::execution_context&>
  explicit basic_acceptor(ExecutionContext& context) : executor_(context.get_executor()) {}

  /// Listens under `name`. @throws boost::system::system_error
  basic_acceptor(const executor_type& executor, std::string_view name, listen_options options = {})
      : executor_(executor) {
    open(name, std::move(options));
  }
  template <typename ExecutionContext>
  requires std::is_convertible_v<ExecutionContext&, asio::execution_context&>
  basic_acceptor(ExecutionContext& context, std::string_view name, listen_options options = {})
      : basic_acceptor(context.get_executor(), name, std::move(options)) {}

  /// Takes over `other`, which is left as if constructed from its executor.
  basic_acceptor(basic_acceptor&& other) noexcept
      : executor_(other.executor_), impl_(std::move(other.impl_)) {}
  basic_acceptor& operator=(basic_acceptor&& other) noexcept {
    if (this != &other) {
      close();
      executor_ = other.executor_;
      impl_ = std::move(other.impl_);
    }
    return *this;
  }
  /// Closes the acceptor as close() does.
  ~basic_acceptor() { close(); }

  executor_type get_executor() const noexcept { return executor_; }
  bool is_open() const noexcept { return impl_ && impl_->is_open(); }

  /// Listens under `name`.
  /**
   * A socket file on which nobody listens is replaced.
   *
   * @param ec `asio::error::already_open`; `address_in_use`; `error::invalid_name`;
   * `error::unsafe_directory`; `error::backend_unavailable`; system errors.
   */
  void open(std::string_view name, listen_options options, error_code& ec) {
    if (is_open()) {
      ec = asio::error::already_open;
      return;
    }
    detail::choose_backend(options.backend, ec);
    if (ec)
      return;
    auto socket = detail::listening_socket::open(name, options.backlog, ec);
    if (ec)
      return;
    ec = detail::exceptions_as_errors([&] {
      impl_ =
          std::make_shared<detail::acceptor_impl>(executor_, std::move(socket), std::move(options));
    });
  }
  void open(std::string_view name, listen_options options = {}) {
    error_code ec;
    open(name, std::move(options), ec);
    if (ec)
      throw boost::system::system_error(ec, "open");
  }

  /// Stops listening and removes the socket file, if it is still this acceptor's.
  /** Waiting accepts complete with `operation_aborted`, not inside this call. */
  void close() noexcept {
    if (impl_)
      impl_->close();
  }

  /// Completes waiting accepts with `operation_aborted`, not inside this call.
  void cancel() {
    if (impl_)
      impl_->cancel();
  }

  /// Clients that came as far as a socket but not as far as a channel.
  std::uint64_t failed_handshakes() const { return impl_ ? impl_->failed_handshakes() : 0; }

  /// Accepts a channel, blocking this thread. Not while an async_accept() waits.
  /** The channel uses this acceptor's executor. */
  basic_channel<Executor> accept(error_code& ec) {
    basic_channel<Executor> result(executor_);
    if (!impl_) {
      ec = asio::error::bad_descriptor;
      return result;
    }
    detail::endpoint e = impl_->accept(ec);
    if (!ec)
      result = detail::open_channel(executor_, std::move(e), impl_->options().channel, ec);
    return result;
  }
  basic_channel<Executor> accept() {
    error_code ec;
    auto result = accept(ec);
    if (ec)
      throw boost::system::system_error(ec, "accept");
    return result;
  }

  /// Accepts a channel. Signature: `void(error_code, basic_channel<Executor>)`.
  /**
   * Several accepts may wait at once.
   *
   * @par Executor
   * The handler runs on its associated executor, or on get_executor(); never
   * inside this call. The channel uses get_executor().
   * @par Per-operation cancellation
   * Terminal, partial and total: a cancelled accept has accepted nothing.
   * @par Errors
   * `operation_aborted`; `bad_descriptor`; system errors of accept(2), such as
   * `too_many_files_open`, after which the client is still there to be accepted.
   */
  template <asio::completion_token_for<void(error_code, basic_channel<Executor>)> CompletionToken =
                detail::default_token_t<executor_type>>
  auto async_accept(CompletionToken&& token = detail::default_token_t<executor_type>()) {
    return asio::async_initiate<CompletionToken, void(error_code, basic_channel<Executor>)>(
        initiate_accept(executor_, impl_), token);
  }

private:
  class initiate_accept {
  public:
    using executor_type = Executor;

    initiate_accept(const Executor& executor, std::shared_ptr<detail::acceptor_impl> impl)
        : executor_(executor), impl_(std::move(impl)) {}

    executor_type get_executor() const noexcept { return executor_; }

    template <typename Handler>
    void operator()(Handler&& handler) {
      auto waiter = detail::wait_for_channel(std::forward<Handler>(handler), executor_,
                                             impl_ ? impl_->options().channel : channel_options());
      if (impl_)
        impl_->async_accept(std::move(waiter));
      else
        waiter->complete(asio::error::bad_descriptor);
    }

  private:
    Executor executor_;
    std::shared_ptr<detail::acceptor_impl> impl_;
  };

  executor_type executor_;
  std::shared_ptr<detail::acceptor_impl> impl_;
};

using acceptor = basic_acceptor<>;

} // namespace sysipc_asio

#endif
