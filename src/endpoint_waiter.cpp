// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <boost/asio/error.hpp>
#include <sysipc_asio/detail/endpoint_waiter.hpp>

namespace sysipc_asio::detail {

bool endpoint_waiter::attach(std::weak_ptr<endpoint_source> source) noexcept {
  const std::lock_guard lock(mutex_);
  source_ = std::move(source);
  return state_ == state::waiting;
}

bool endpoint_waiter::complete(const error_code& ec, endpoint&& e) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (state_ != state::waiting)
      return false;
    state_ = state::answered;
    ec_ = ec;
    endpoint_ = std::move(e);
  }
  parking_.cancel();
  return true;
}

endpoint endpoint_waiter::take(error_code& ec) noexcept {
  std::unique_lock lock(mutex_);
  if (std::exchange(state_, state::over) == state::answered) {
    ec = ec_;
    return std::move(endpoint_);
  }
  const auto source = source_.lock();
  lock.unlock();
  if (source)
    source->given_up(*this);
  ec = asio::error::operation_aborted;
  return {};
}

} // namespace sysipc_asio::detail
