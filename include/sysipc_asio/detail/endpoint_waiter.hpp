// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_ENDPOINT_WAITER_HPP
#define SYSIPC_ASIO_DETAIL_ENDPOINT_WAITER_HPP

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/system/system_error.hpp>
#include <new>
#include <sysipc_asio/channel.hpp>
#include <sysipc_asio/detail/endpoint.hpp>
#include <utility>

namespace sysipc_asio::detail {

using endpoint_handler = asio::any_completion_handler<void(error_code, endpoint)>;

/// A handler that waits for an endpoint, and the work that it stands for.
class endpoint_waiter {
public:
  endpoint_waiter(const asio::any_io_executor& io_executor, endpoint_handler handler)
      : io_executor_(asio::prefer(io_executor, asio::execution::outstanding_work.tracked)),
        executor_(asio::prefer(
            asio::get_associated_executor(handler, asio::any_completion_executor(io_executor)),
            asio::execution::outstanding_work.tracked)),
        handler_(std::move(handler)) {}

  auto cancellation_slot() const noexcept {
    return asio::get_associated_cancellation_slot(handler_);
  }

  /// Has the handler called on its executor, not inside this call. Once.
  void complete(error_code ec, endpoint e) {
    completion work(*this, ec, std::move(e));
    asio::post(io_executor_, std::move(work));
  }

private:
  /// Out of the caller by way of the I/O executor, then onto the handler's own, since
  /// any_completion_executor can't be required to post.
  class completion {
  public:
    completion(endpoint_waiter& waiter, error_code ec, endpoint e)
        : executor_(waiter.executor_), handler_(std::move(waiter.handler_)), ec_(ec),
          endpoint_(std::move(e)) {}

    void operator()() {
      asio::dispatch(
          executor_, [handler = std::move(handler_), ec = ec_, e = std::move(endpoint_)]() mutable {
            if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected())
              slot.clear();
            std::move(handler)(ec, std::move(e));
          });
    }

  private:
    asio::any_completion_executor executor_;
    endpoint_handler handler_;
    error_code ec_;
    endpoint endpoint_;
  };

  asio::any_io_executor io_executor_;
  asio::any_completion_executor executor_;
  endpoint_handler handler_;
};

/// Makes a channel of an endpoint, for the handler that asked for a channel.
template <typename Handler, typename Executor>
class channel_opener {
public:
  channel_opener(Handler handler, const Executor& executor, const channel_options& options)
      : handler_(std::move(handler)), executor_(executor), options_(options) {}

  void operator()(error_code ec, endpoint e) {
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
};

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
