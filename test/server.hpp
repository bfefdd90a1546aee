// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_TEST_SERVER_HPP
#define SYSIPC_ASIO_TEST_SERVER_HPP

#include "scratch.hpp"
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <deque>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sysipc_asio/acceptor.hpp>
#include <sysipc_asio/connect.hpp>
#include <thread>
#include <utility>
#include <vector>

namespace sysipc_asio::test {

/// An io_context that a thread of its own runs.
class running_context {
public:
  running_context() : work_(context_.get_executor()), thread_([this] { context_.run(); }) {}
  running_context(const running_context&) = delete;
  running_context& operator=(const running_context&) = delete;
  ~running_context() { finish(); }

  asio::io_context& get() noexcept { return context_; }

  /// Returns when nothing is left to do.
  void finish() {
    work_.reset();
    if (thread_.joinable())
      thread_.join();
  }

private:
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::thread thread_;
};

/// An acceptor on which an accept always waits.
class server {
public:
  explicit server(listen_options options = {}, std::string name = "server")
      : name_(std::move(name)), acceptor_(context_.get(), name_, std::move(options)) {
    accept();
  }
  ~server() {
    // Where the handlers run: they use the acceptor, too.
    asio::post(context_.get(), [this] { acceptor_.close(); });
    context_.finish();
  }

  const std::string& name() const noexcept { return name_; }
  std::uint64_t failed_handshakes() const { return acceptor_.failed_handshakes(); }

  /// The next channel that was accepted.
  channel accepted() {
    std::optional<channel> result;
    if (!eventually([&] {
          const std::lock_guard lock(mutex_);
          if (channels_.empty())
            return false;
          result.emplace(std::move(channels_.front()));
          channels_.pop_front();
          return true;
        }))
      throw std::runtime_error("no channel was accepted");
    return std::move(*result);
  }

  /// Channels that were accepted and not taken.
  std::size_t unclaimed() const {
    const std::lock_guard lock(mutex_);
    return channels_.size();
  }

  /// What accepts have reported instead of channels.
  std::vector<error_code> errors() const {
    const std::lock_guard lock(mutex_);
    return errors_;
  }

private:
  void accept() {
    acceptor_.async_accept([this](error_code ec, channel accepted) {
      if (!acceptor_.is_open())
        return;
      {
        const std::lock_guard lock(mutex_);
        if (ec)
          errors_.push_back(ec);
        else
          channels_.push_back(std::move(accepted));
      }
      accept();
    });
  }

  running_context context_;
  std::string name_;
  mutable std::mutex mutex_;
  std::deque<channel> channels_;
  std::vector<error_code> errors_;
  acceptor acceptor_;
};

/// True if this text goes through, whole.
inline bool passes(channel& from, channel& to, std::string_view text) {
  from.try_send(asio::buffer(text));
  std::optional<message> arrived;
  return eventually([&] { return (arrived = to.try_receive()).has_value(); }) &&
         arrived->view() == text;
}

/// True if messages go through in both directions.
inline bool can_talk(channel& one, channel& other) {
  return passes(one, other, "there") && passes(other, one, "and back");
}

/// True if an honest client still gets a channel that works.
inline bool serves(server& s) {
  asio::io_context context;
  channel client = connect(context.get_executor(), s.name());
  channel accepted = s.accepted();
  return can_talk(client, accepted);
}

} // namespace sysipc_asio::test

#endif
