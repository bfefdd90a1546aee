// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <algorithm>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <sysipc_asio/detail/acceptor_impl.hpp>
#include <sysipc_asio/detail/exceptions_as_errors.hpp>
#include <sysipc_asio/error.hpp>
#include <utility>
#include <vector>

namespace sysipc_asio::detail {
namespace {

/// A handshake that has not come to an end by then may be given up for a newcomer.
constexpr auto grace = std::chrono::milliseconds(100);

listen_options sane(listen_options options) {
  options.max_pending = std::max<std::size_t>(options.max_pending, 1);
  return options;
}

} // namespace

acceptor_impl::acceptor_impl(asio::any_io_executor executor, listening_socket socket,
                             listen_options options)
    : executor_(executor),
      options_(std::make_shared<const listen_options>(sane(std::move(options)))),
      file_(std::move(socket)), socket_(executor, file_.native_handle()),
      guard_(fork_claim{{file_.native_handle(), -1}}), relief_(executor) {
  file_.release();
}

bool acceptor_impl::is_open() const {
  const std::lock_guard lock(mutex_);
  return socket_.is_open();
}

std::uint64_t acceptor_impl::failed_handshakes() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

void acceptor_impl::async_accept(std::shared_ptr<endpoint_waiter> waiter) noexcept {
  const std::lock_guard lock(mutex_);
  if (!socket_.is_open()) {
    waiter->complete(asio::error::bad_descriptor);
    return;
  }
  if (!ready_.empty()) {
    if (waiter->complete({}, std::move(ready_.front())))
      ready_.pop_front();
    return;
  }
  // Whoever gives up from here on finds itself in the list, for that takes the lock.
  if (!waiter->attach(weak_from_this()))
    return;
  const error_code failure = exceptions_as_errors([&] { waiting_.push_back(waiter); });
  if (failure)
    waiter->complete(failure);
  else
    watch();
}

/// Has take_clients() called when a client comes, if somebody waits for one.
void acceptor_impl::watch() noexcept {
  if (watching_ || waiting_.empty() || !socket_.is_open())
    return;
  const error_code failure = exceptions_as_errors([&] {
    if (sessions_.size() >= options_->max_pending)
      make_room_later();
    else
      wait_for_client();
  });
  if (failure)
    abort_waiting(failure);
  else
    watching_ = true;
}

void acceptor_impl::wait_for_client() {
  socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                     [self = shared_from_this()](error_code ec) {
                       std::unique_lock lock(self->mutex_);
                       self->watching_ = false;
                       if (ec) // cancelled; whoever came since then still waits
                         return self->watch();
                       lock.unlock();
                       self->take_clients();
                     });
}

/// There are as many handshakes as may be: one has to end, or to have had its time.
void acceptor_impl::make_room_later() {
  relief_.expires_at(sessions_.front().begun + grace);
  relief_.async_wait([self = shared_from_this()](error_code) {
    std::unique_lock lock(self->mutex_);
    self->watching_ = false;
    std::shared_ptr<handshake_session> oldest;
    if (self->sessions_.size() >= self->options_->max_pending &&
        clock::now() >= self->sessions_.front().begun + grace)
      oldest = self->sessions_.front().handshake.lock();
    if (!oldest)
      return self->watch();
    lock.unlock();
    oldest->abort(error::handshake_timeout); // and finished() watches again
  });
}

unique_fd acceptor_impl::take_client(error_code& ec) noexcept {
  for (;;) {
    unique_fd client(
        ::accept4(socket_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (client) {
      ec = {};
      return client;
    }
    if (errno == EINTR || errno == ECONNABORTED)
      continue;
    ec.assign(errno, boost::system::system_category());
    return client;
  }
}

void acceptor_impl::take_clients() noexcept {
  for (bool someone_is_there = true;; someone_is_there = false) {
    std::unique_lock lock(mutex_);
    if (!socket_.is_open() || waiting_.empty())
      return;
    if (sessions_.size() >= options_->max_pending)
      return watch();
    error_code ec;
    unique_fd client = take_client(ec);
    // Without a descriptor to spare accept() fails before it looks for a client.
    if (ec == asio::error::would_block || (ec && !someone_is_there))
      return watch();
    if (ec) {
      // No descriptor, no memory: the client stays in the backlog, the caller decides.
      give(ec);
      return watch();
    }
    lock.unlock();
    begin(std::move(client));
  }
}

void acceptor_impl::begin(unique_fd client) noexcept {
  std::shared_ptr<handshake_session> fresh;
  const error_code failure = exceptions_as_errors([&] {
    fresh = std::make_shared<handshake_session>(
        executor_, make_listener_handshake(std::move(client), options_),
        [self = shared_from_this()](handshake_session& s, error_code ec, endpoint e) {
          self->finished(s, ec, std::move(e));
        });
    const std::lock_guard lock(mutex_);
    sessions_.push_back({fresh, clock::now()});
  });
  if (!failure)
    return fresh->start(options_->handshake_timeout);
  const std::lock_guard lock(mutex_); // this client is turned away
  ++failed_;
}

void acceptor_impl::forget(const handshake_session& done) {
  sessions_.remove_if([&](const session& s) {
    const auto alive = s.handshake.lock();
    return !alive || alive.get() == &done;
  });
}

void acceptor_impl::finished(const handshake_session& done, const error_code& ec,
                             endpoint e) noexcept {
  const std::lock_guard lock(mutex_);
  forget(done);
  if (!socket_.is_open())
    return;
  if (ec ||
      (!give({}, std::move(e)) && exceptions_as_errors([&] { ready_.push_back(std::move(e)); })))
    ++failed_;
  relief_.cancel();
  watch();
}

/// Completes the accept that has waited longest. False, and `e` is left alone, if there is none.
bool acceptor_impl::give(const error_code& ec, endpoint&& e) noexcept {
  while (!waiting_.empty()) {
    const auto first = std::move(waiting_.front());
    waiting_.pop_front();
    if (first->complete(ec, std::move(e)))
      return true;
  }
  return false;
}

void acceptor_impl::abort_waiting(const error_code& ec) noexcept {
  while (give(ec)) {
  }
}

void acceptor_impl::given_up(const endpoint_waiter& who) noexcept {
  const std::lock_guard lock(mutex_);
  waiting_.remove_if([&](const auto& w) { return w.get() == &who; });
  if (waiting_.empty()) // an acceptor that nobody waits on keeps no context running
    stop_watching();
}

void acceptor_impl::stop_watching() noexcept {
  error_code ignored;
  socket_.cancel(ignored);
  relief_.cancel();
}

void acceptor_impl::cancel() noexcept {
  const std::lock_guard lock(mutex_);
  if (!socket_.is_open())
    return;
  stop_watching();
  abort_waiting(asio::error::operation_aborted);
}

void acceptor_impl::close() noexcept {
  std::unique_lock lock(mutex_);
  if (!socket_.is_open())
    return;
  file_.remove_file(); // first: while the file is there, somebody listens
  error_code ignored;
  guard_.lift([&] { socket_.close(ignored); });
  relief_.cancel();
  blocking_clients_.clear();
  abort_waiting(asio::error::operation_aborted);
  const auto unfinished = std::exchange(sessions_, {});
  const auto unclaimed = std::exchange(ready_, {});
  lock.unlock();
  for (const auto& s : unfinished)
    if (const auto alive = s.handshake.lock())
      alive->abort(asio::error::operation_aborted);
}

endpoint acceptor_impl::accept(error_code& ec) {
  endpoint result;
  const error_code failure = exceptions_as_errors([&] { result = accept_blocking(ec); });
  if (failure)
    ec = failure;
  return result;
}

endpoint acceptor_impl::accept_blocking(error_code& ec) {
  auto& clients = blocking_clients_;
  {
    const std::lock_guard lock(mutex_);
    if (!socket_.is_open()) {
      ec = asio::error::bad_descriptor;
      return {};
    }
    if (!ready_.empty()) {
      endpoint e = std::move(ready_.front());
      ready_.pop_front();
      ec = {};
      return e;
    }
  }
  std::vector<pollfd> entries;
  for (;;) {
    const auto relief = clients.size() < options_->max_pending
                            ? clock::time_point::min()
                            : clients.front().deadline - options_->handshake_timeout + grace;
    const bool full = clock::now() < relief;
    entries.assign(1, {socket_.native_handle(), static_cast<short>(full ? 0 : POLLIN), 0});
    for (const auto& c : clients)
      entries.push_back({c.h->socket(), POLLIN, 0});
    int timeout = -1;
    if (!clients.empty()) // the first is the oldest
      timeout = static_cast<int>(std::clamp<std::int64_t>(
          std::chrono::ceil<std::chrono::milliseconds>(
              (full ? std::min(relief, clients.front().deadline) : clients.front().deadline) -
              clock::now())
              .count(),
          0, 60'000));
    if (::poll(entries.data(), entries.size(), timeout) < 0 && errno != EINTR) {
      ec.assign(errno, boost::system::system_category());
      return {};
    }
    for (auto it = clients.begin(); it != clients.end();) {
      if (!it->h->run()) {
        if (clock::now() < it->deadline) {
          ++it;
          continue;
        }
        it->h->abort(error::handshake_timeout);
      }
      endpoint e = it->h->take(ec);
      it = clients.erase(it);
      if (!ec)
        return e;
      const std::lock_guard lock(mutex_);
      ++failed_;
    }
    if ((entries.front().revents & POLLIN) == 0)
      continue;
    unique_fd fresh = take_client(ec);
    if (ec && ec != asio::error::would_block)
      return {};
    if (!fresh)
      continue;
    if (clients.size() >= options_->max_pending) {
      clients.front().h->abort(error::handshake_timeout);
      clients.pop_front();
      const std::lock_guard lock(mutex_);
      ++failed_;
    }
    clients.push_back({make_listener_handshake(std::move(fresh), options_),
                       deadline_after(options_->handshake_timeout)});
  }
}

} // namespace sysipc_asio::detail
