// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <mutex>
#include <sys/socket.h>
#include <sysipc_asio/detail/connector.hpp>
#include <sysipc_asio/detail/exceptions_as_errors.hpp>
#include <sysipc_asio/detail/handshake_session.hpp>
#include <sysipc_asio/detail/name.hpp>
#include <sysipc_asio/error.hpp>
#include <thread>

namespace sysipc_asio::detail {
namespace {

using clock = std::chrono::steady_clock;

/// How often a listener whose backlog is full is tried again.
constexpr auto retry_interval = std::chrono::milliseconds(1);

/// A connected socket; nothing and no error if the listener's backlog is full.
unique_fd try_connect(const socket_address& where, error_code& ec) noexcept {
  ec = {};
  // Non-blocking: a Unix socket connects at once or says EAGAIN, without a way to
  // wait for the backlog.
  unique_fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) {
    ec.assign(errno, boost::system::system_category());
    return {};
  }
  int result;
  do
    result = ::connect(fd.get(), where.get(), where.size);
  while (result != 0 && errno == EINTR);
  if (result == 0)
    return fd;
  if (errno != EAGAIN)
    ec.assign(errno, boost::system::system_category());
  return {};
}

/// One async_connect(): retries while the backlog is full, then a session.
/** Kept alive by its own operations in the context. */
class connector final : public endpoint_source, public std::enable_shared_from_this<connector> {
public:
  connector(const asio::any_io_executor& executor, std::shared_ptr<endpoint_waiter> waiter)
      : executor_(executor), timer_(executor), waiter_(std::move(waiter)) {}

  void connect(std::string_view name, const connect_options& options) {
    error_code ec;
    where_ = resolve_name(name, false, ec);
    if (ec)
      return complete(ec, {});
    options_ = options;
    deadline_ = deadline_after(options.timeout);
    // Not in here: nothing of the user's, such as the admission predicate, may run
    // inside the initiating function.
    asio::post(executor_, [self = shared_from_this()] { self->attempt(); });
  }

  void shake(std::unique_ptr<handshake> h, clock::time_point deadline) {
    const auto session = std::make_shared<handshake_session>(
        executor_, std::move(h),
        [self = shared_from_this()](handshake_session&, error_code ec, endpoint e) {
          self->complete(ec, std::move(e));
        });
    {
      const std::lock_guard lock(mutex_);
      if (over_) // cancelled meanwhile
        return;
      session_ = session;
    }
    session->start(deadline - clock::now());
  }

private:
  void attempt() noexcept {
    const error_code failure = exceptions_as_errors([&] { try_once(); });
    if (failure)
      complete(failure, {});
  }

  void try_once() {
    std::unique_lock lock(mutex_);
    if (over_)
      return;
    error_code ec;
    unique_fd fd = try_connect(where_, ec);
    if (!ec && !fd && clock::now() >= deadline_)
      ec = error::handshake_timeout;
    if (!ec && !fd) {
      timer_.expires_after(retry_interval);
      timer_.async_wait([self = shared_from_this()](error_code waited) {
        if (!waited)
          self->attempt();
      });
      return;
    }
    lock.unlock();
    if (ec)
      complete(ec, {});
    else
      shake(make_connector_handshake(std::move(fd), options_), deadline_);
  }

  void complete(const error_code& ec, endpoint&& e) noexcept {
    waiter_->complete(ec, std::move(e));
  }

  void given_up(const endpoint_waiter&) noexcept override {
    std::unique_lock lock(mutex_);
    over_ = true;
    timer_.cancel();
    const auto session = session_.lock();
    lock.unlock();
    if (session)
      session->abort(asio::error::operation_aborted);
  }

  std::mutex mutex_;
  asio::any_io_executor executor_;
  asio::steady_timer timer_;
  std::shared_ptr<endpoint_waiter> waiter_;
  /// Its own operations keep it alive; owning it here would be a cycle.
  std::weak_ptr<handshake_session> session_;
  socket_address where_;
  connect_options options_;
  clock::time_point deadline_{};
  bool over_ = false;
};

/// Has `begin` called for a connector that brings `waiter` its endpoint, or an error.
template <typename F>
void with_connector(const asio::any_io_executor& executor, std::shared_ptr<endpoint_waiter> waiter,
                    F&& begin) {
  const error_code failure = exceptions_as_errors([&] {
    const auto self = std::make_shared<connector>(executor, waiter);
    if (waiter->attach(self))
      begin(*self);
  });
  if (failure)
    waiter->complete(failure);
}

} // namespace

endpoint connect_blocking(std::string_view name, const connect_options& options, error_code& ec) {
  const auto deadline = deadline_after(options.timeout);
  const socket_address where = resolve_name(name, false, ec);
  unique_fd fd;
  while (!ec && !fd) {
    fd = try_connect(where, ec);
    if (ec || fd)
      break;
    if (clock::now() >= deadline)
      ec = error::handshake_timeout;
    else
      std::this_thread::sleep_for(retry_interval);
  }
  if (ec)
    return {};
  const auto h = make_connector_handshake(std::move(fd), options);
  return run_blocking(*h, deadline - clock::now(), ec);
}

void connect_async(const asio::any_io_executor& executor, const std::string& name,
                   const connect_options& options, std::shared_ptr<endpoint_waiter> waiter) {
  with_connector(executor, std::move(waiter), [&](connector& c) { c.connect(name, options); });
}

void handshake_async(const asio::any_io_executor& executor, std::unique_ptr<handshake> h,
                     std::chrono::nanoseconds timeout, std::shared_ptr<endpoint_waiter> waiter) {
  with_connector(executor, std::move(waiter),
                 [&](connector& c) { c.shake(std::move(h), deadline_after(timeout)); });
}

} // namespace sysipc_asio::detail
