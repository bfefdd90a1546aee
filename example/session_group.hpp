// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_EXAMPLE_SESSION_GROUP_HPP
#define SYSIPC_ASIO_EXAMPLE_SESSION_GROUP_HPP

#include "program.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <list>

namespace example {

/// The coroutines of a server, all on one thread, which SIGINT and SIGTERM end.
class session_group {
public:
  session_group(asio::io_context& io, std::string program)
      : io_(io), program_(std::move(program)), signals_(io, SIGINT, SIGTERM) {
    signals_.async_wait([this](error_code ec, int) {
      if (!ec)
        stop();
    });
  }

  /// Runs `session` until it returns, throws or is stopped.
  void spawn(asio::awaitable<void> session) {
    if (stopped_) // it was accepted in the same turn as the signal came
      return;
    const auto self = running_.emplace(running_.end());
    asio::co_spawn(io_, std::move(session),
                   asio::bind_cancellation_slot(self->slot(), [this, self](std::exception_ptr e) {
                     running_.erase(self);
                     if (e && !is_usual(e))
                       report(describe(e));
                   }));
  }

  void report(const std::string& what) const { std::cerr << program_ << ": " << what << std::endl; }

private:
  void stop() {
    signals_.clear(); // the next signal kills, should this take too long
    stopped_ = true;
    for (auto session = running_.begin(); session != running_.end();)
      (session++)->emit(asio::cancellation_type::terminal);
  }

  /// True for the ways in which clients leave, which are not worth a word.
  static bool is_usual(const std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const boost::system::system_error& e) {
      const error_code& ec = e.code();
      return ec == asio::error::eof || ec == asio::error::connection_reset ||
             ec == asio::error::broken_pipe || ec == asio::error::operation_aborted;
    } catch (...) {
      return false;
    }
  }

  asio::io_context& io_;
  std::string program_;
  asio::signal_set signals_;
  std::list<asio::cancellation_signal> running_;
  bool stopped_ = false;
};

/// Spawns `session(client)`, a coroutine, for each client that comes.
template <typename Acceptor, typename Session>
asio::awaitable<void> accept_each(Acceptor acceptor, session_group& group, Session session) {
  asio::steady_timer pause(acceptor.get_executor());
  bool reported = false;
  for (;;) {
    auto [ec, client] = co_await acceptor.async_accept(asio::as_tuple(asio::deferred));
    if (!ec) {
      reported = false;
      group.spawn(session(std::move(client)));
      continue;
    }
    if (ec == asio::error::operation_aborted)
      co_return;
    // Most likely out of descriptors. The client still waits, so that the next accept
    // would fail at once, until a session ends.
    if (!std::exchange(reported, true))
      group.report("accept: " + ec.message());
    pause.expires_after(std::chrono::milliseconds(100));
    co_await pause.async_wait(asio::deferred);
  }
}

/// Listens on `address`.
template <typename Acceptor>
void listen_on(Acceptor& acceptor, const typename Acceptor::endpoint_type& address,
               const std::string& what) {
  error_code ec;
  acceptor.open(address.protocol(), ec);
  if (!ec)
    acceptor.set_option(typename Acceptor::reuse_address(true), ec);
  if (!ec)
    acceptor.bind(address, ec);
  if (!ec)
    acceptor.listen(Acceptor::max_listen_connections, ec);
  check(ec, what);
}

} // namespace example

#endif
