// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_ENDPOINT_WAITER_HPP
#define SYSIPC_ASIO_DETAIL_ENDPOINT_WAITER_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <mutex>
#include <sysipc_asio/channel.hpp>
#include <sysipc_asio/detail/endpoint.hpp>
#include <utility>

namespace sysipc_asio::detail {

class endpoint_waiter;

/// What brings an endpoint; told if it is not wanted any more.
class endpoint_source {
public:
  /// `who` was cancelled. Called from a handler of the context, without any lock held.
  virtual void given_up(const endpoint_waiter& who) noexcept = 0;

protected:
  ~endpoint_source() = default;
};

/// A handler that waits for an endpoint.
/**
 * It belongs to a wait for a timer that never expires, and so to the execution context: Asio sees
 * to its executor, its work and its cancellation, and completing it, which is to cancel that wait,
 * allocates nothing.
 */
class endpoint_waiter {
public:
  explicit endpoint_waiter(const asio::any_io_executor& executor)
      : parking_(executor, asio::steady_timer::time_point::max()) {}

  /// Once, before anything else: has `handler` called as `void(error_code)` when it is over.
  template <typename Handler>
  void start(Handler&& handler) {
    parking_.async_wait(std::forward<Handler>(handler));
  }

  /// Says whom to tell of a cancellation. False if there was one already.
  bool attach(std::weak_ptr<endpoint_source> source) noexcept;

  /// Hands over an error or an endpoint. False, and `e` is left alone, if nobody waits any more.
  bool complete(const error_code& ec, endpoint&& e = {}) noexcept;

  /// For the handler: the outcome.
  endpoint take(error_code& ec) noexcept;

private:
  enum class state : std::uint8_t { waiting, answered, over };

  std::mutex mutex_;
  asio::steady_timer parking_;
  std::weak_ptr<endpoint_source> source_;
  error_code ec_;
  endpoint endpoint_;
  state state_ = state::waiting;
};

/// Makes a channel of an endpoint, for the handler that asked for a channel.
template <typename Handler, typename Executor>
class channel_opener {
public:
  channel_opener(Handler handler, const Executor& executor, const channel_options& options,
                 std::shared_ptr<endpoint_waiter> waiter)
      : handler_(std::move(handler)), executor_(executor), options_(options),
        waiter_(std::move(waiter)) {}

  void operator()(const error_code&) {
    error_code ec;
    endpoint e = waiter_->take(ec);
    waiter_.reset();
    basic_channel<Executor> result(executor_);
    if (!ec)
      result = open_channel(executor_, std::move(e), options_, ec);
    std::move(handler_)(ec, std::move(result));
  }

  const Handler& handler() const noexcept { return handler_; }

private:
  Handler handler_;
  Executor executor_;
  channel_options options_;
  std::shared_ptr<endpoint_waiter> waiter_;
};

/// Has `handler` wait for an endpoint, of which it gets a channel.
template <typename Handler, typename Executor>
std::shared_ptr<endpoint_waiter> wait_for_channel(Handler&& handler, const Executor& executor,
                                                  const channel_options& options) {
  auto waiter = std::make_shared<endpoint_waiter>(executor);
  waiter->start(channel_opener<std::decay_t<Handler>, Executor>(std::forward<Handler>(handler),
                                                                executor, options, waiter));
  return waiter;
}

} // namespace sysipc_asio::detail

namespace boost::asio {

template <template <typename, typename> class Associator, typename Handler, typename Executor,
          typename DefaultCandidate>
struct associator<Associator, ::sysipc_asio::detail::channel_opener<Handler, Executor>,
                  DefaultCandidate> : Associator<Handler, DefaultCandidate> {
  using opener = ::sysipc_asio::detail::channel_opener<Handler, Executor>;

  static auto get(const opener& o) noexcept {
    return Associator<Handler, DefaultCandidate>::get(o.handler());
  }
  static auto get(const opener& o, const DefaultCandidate& candidate) noexcept {
    return Associator<Handler, DefaultCandidate>::get(o.handler(), candidate);
  }
};

} // namespace boost::asio

#endif
