// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <boost/asio/error.hpp>
#include <sysipc_asio/detail/exceptions_as_errors.hpp>
#include <sysipc_asio/detail/handshake_session.hpp>
#include <sysipc_asio/error.hpp>

namespace sysipc_asio::detail {
handshake_session::handshake_session(asio::any_io_executor executor, std::unique_ptr<handshake> h,
                                     done_function done)
    : handshake_(std::move(h)), socket_(executor, handshake_->socket()), timer_(executor),
      done_(std::move(done)) {
  handshake_->release_socket();
}

void handshake_session::start(std::chrono::nanoseconds timeout) noexcept {
  const error_code failure = exceptions_as_errors([&] {
    const std::lock_guard lock(mutex_);
    if (over_)
      return;
    timer_.expires_at(deadline_after(timeout));
    timer_.async_wait([self = shared_from_this()](error_code ec) {
      if (!ec)
        self->abort(error::handshake_timeout);
    });
  });
  if (failure)
    abort(failure);
  else
    advance();
}

void handshake_session::abort(const error_code& ec) noexcept {
  std::unique_lock lock(mutex_);
  if (over_)
    return;
  handshake_->abort(ec);
  finish(std::move(lock));
}

void handshake_session::advance() noexcept {
  std::unique_lock lock(mutex_);
  if (over_)
    return;
  if (handshake_->run())
    return finish(std::move(lock));
  const error_code failure = exceptions_as_errors([&] {
    socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                       [self = shared_from_this()](error_code ec) {
                         if (ec)
                           self->abort(ec);
                         else
                           self->advance();
                       });
  });
  if (!failure)
    return;
  handshake_->abort(failure);
  finish(std::move(lock));
}

void handshake_session::finish(std::unique_lock<std::mutex> lock) noexcept {
  over_ = true;
  error_code ec;
  endpoint result = handshake_->take(ec);
  handshake_.reset();
  error_code ignored;
  socket_.close(ignored);
  timer_.cancel();
  const done_function done = std::exchange(done_, nullptr);
  lock.unlock();
  done(*this, ec, std::move(result));
}

} // namespace sysipc_asio::detail
