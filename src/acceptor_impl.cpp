// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <algorithm>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <sysipc_asio/detail/acceptor_impl.hpp>
#include <sysipc_asio/error.hpp>
#include <utility>
#include <vector>

namespace sysipc_asio::detail {

acceptor_impl::acceptor_impl(asio::any_io_executor executor, listening_socket socket,
                             listen_options options)
    : executor_(executor), options_(std::make_shared<const listen_options>(std::move(options))),
      file_(std::move(socket)), socket_(executor, file_.native_handle()) {
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

void acceptor_impl::async_accept(endpoint_handler handler) {
  endpoint_waiter waiter(executor_, std::move(handler));
  std::unique_lock lock(mutex_);
  if (!socket_.is_open()) {
    lock.unlock();
    return waiter.complete(asio::error::bad_descriptor, {});
  }
  const std::uint64_t id = next_id_++;
  if (auto slot = waiter.cancellation_slot(); slot.is_connected())
    slot.assign([weak = weak_from_this(), id](asio::cancellation_type_t) {
      if (const auto self = weak.lock())
        self->cancel_one(id);
    });
  waiting_.push_back({id, std::move(waiter)});
  if (ready_.empty())
    return watch();
  endpoint e = std::move(ready_.front());
  ready_.pop_front();
  complete_front({}, std::move(e));
}

/// Has take_clients() called when a client comes, if somebody waits for one.
void acceptor_impl::watch() {
  if (watching_ || waiting_.empty() || !socket_.is_open() || !room())
    return;
  watching_ = true;
  socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                     [self = shared_from_this()](error_code ec) {
                       {
                         const std::lock_guard lock(self->mutex_);
                         self->watching_ = false;
                       }
                       if (!ec)
                         self->take_clients();
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

void acceptor_impl::take_clients() {
  for (;;) {
    std::unique_lock lock(mutex_);
    if (!socket_.is_open() || waiting_.empty() || !room())
      return;
    error_code ec;
    unique_fd client = take_client(ec);
    if (ec == asio::error::would_block)
      return watch();
    if (ec) {
      // No descriptor, no memory: the client stays in the backlog, the caller decides.
      complete_front(ec, {});
      return watch();
    }
    std::shared_ptr<handshake_session> oldest;
    if (sessions_.size() >= options_->max_pending)
      oldest = sessions_.front();
    lock.unlock();
    if (oldest)
      oldest->abort(error::handshake_timeout);
    begin(std::move(client));
  }
}

void acceptor_impl::begin(unique_fd client) {
  std::shared_ptr<handshake_session> session;
  try {
    session = std::make_shared<handshake_session>(
        executor_, make_listener_handshake(std::move(client), options_),
        [self = shared_from_this()](handshake_session& s, error_code ec, endpoint e) {
          self->finished(s, ec, std::move(e));
        });
    const std::lock_guard lock(mutex_);
    sessions_.push_back(session);
  } catch (const std::exception&) { // out of memory or descriptors: this client is turned away
    const std::lock_guard lock(mutex_);
    ++failed_;
    return watch();
  }
  session->start(options_->handshake_timeout);
}

void acceptor_impl::finished(handshake_session& session, const error_code& ec, endpoint e) {
  const std::lock_guard lock(mutex_);
  sessions_.remove_if([&](const auto& s) { return s.get() == &session; });
  if (!socket_.is_open())
    return;
  if (ec)
    ++failed_;
  else if (waiting_.empty())
    ready_.push_back(std::move(e));
  else
    complete_front({}, std::move(e));
  watch();
}

void acceptor_impl::complete_front(const error_code& ec, endpoint e) {
  waiting front = std::move(waiting_.front());
  waiting_.pop_front();
  front.waiter.complete(ec, std::move(e));
}

void acceptor_impl::cancel_one(std::uint64_t id) {
  std::unique_lock lock(mutex_);
  const auto found =
      std::find_if(waiting_.begin(), waiting_.end(), [id](const waiting& w) { return w.id == id; });
  if (found == waiting_.end())
    return;
  waiting cancelled = std::move(*found);
  waiting_.erase(found);
  if (waiting_.empty())
    socket_.cancel(); // an acceptor that nobody waits on keeps no context running
  lock.unlock();
  cancelled.waiter.complete(asio::error::operation_aborted, {});
}

std::deque<acceptor_impl::waiting> acceptor_impl::take_waiting() {
  return std::exchange(waiting_, {});
}

void acceptor_impl::abort_all(std::deque<waiting> waiters) {
  for (auto& w : waiters)
    w.waiter.complete(asio::error::operation_aborted, {});
}

void acceptor_impl::cancel() {
  std::unique_lock lock(mutex_);
  if (!socket_.is_open())
    return;
  error_code ignored;
  socket_.cancel(ignored);
  auto waiters = take_waiting();
  lock.unlock();
  abort_all(std::move(waiters));
}

void acceptor_impl::close() {
  std::unique_lock lock(mutex_);
  if (!socket_.is_open())
    return;
  file_.remove_file(); // first: while the file is there, somebody listens
  error_code ignored;
  socket_.close(ignored);
  blocking_clients_.clear();
  auto waiters = take_waiting();
  const sessions unfinished = sessions_;
  const auto unclaimed = std::exchange(ready_, {});
  lock.unlock();
  abort_all(std::move(waiters));
  for (const auto& session : unfinished)
    session->abort(asio::error::operation_aborted);
}

endpoint acceptor_impl::accept(error_code& ec) {
  using clock = std::chrono::steady_clock;
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
    entries.assign(1, {socket_.native_handle(), POLLIN, 0});
    for (const auto& c : clients)
      entries.push_back({c.h->socket(), POLLIN, 0});
    int timeout = -1;
    if (!clients.empty()) // the first is the oldest
      timeout = static_cast<int>(std::clamp<std::int64_t>(
          std::chrono::ceil<std::chrono::milliseconds>(clients.front().deadline - clock::now())
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
    }
    clients.push_back({make_listener_handshake(std::move(fresh), options_),
                       clock::now() + options_->handshake_timeout});
    clients.back().h->run();
  }
}

} // namespace sysipc_asio::detail
