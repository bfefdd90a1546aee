// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_SIDE_OF_CHANNEL_HPP
#define SYSIPC_BENCH_SIDE_OF_CHANNEL_HPP

#include "workload.hpp"
#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <sysipc_asio/channel.hpp>
#include <sysipc_asio/handshake.hpp>
#include <utility>

namespace bench {

/// A side's io_context and channel. To be made after fork(), on the side's own CPU.
class side_of_channel {
public:
  side_of_channel(unique_fd socket, const settings& s, role as)
      : context(1), ch(open(std::move(socket), s, as)) {}

  /// What report() counts begins here; without it, with the channel.
  void start_counting() noexcept { before_ = ch.stats(); }

  side_report report() const {
    const sysipc_asio::statistics now = ch.stats();
    side_report result;
    result.kicks = now.sent.kicks - before_.sent.kicks;
    result.kicks_avoided = now.sent.kicks_avoided - before_.sent.kicks_avoided;
    result.sleeps = now.received.sleeps - before_.received.sleeps;
    result.fences = ch.fences();
    result.backend = ch.backend();
    return result;
  }

  boost::asio::io_context context;
  sysipc_asio::channel ch;

private:
  sysipc_asio::channel open(unique_fd socket, const settings& s, role as) {
    boost::asio::local::stream_protocol::socket connected(
        context, boost::asio::local::stream_protocol(), socket.release());
    sysipc_asio::channel_options options;
    options.send_capacity = options.receive_capacity = s.capacity;
    options.policy = s.policy;
    options.fences = s.fences;
    if (as == role::first) {
      sysipc_asio::listen_options listen;
      listen.channel = options;
      listen.backend = s.backend;
      listen.max_capacity = std::max(listen.max_capacity, s.capacity);
      return sysipc_asio::accept_on(boost::asio::any_io_executor(context.get_executor()),
                                    std::move(connected), listen);
    }
    sysipc_asio::connect_options connect;
    connect.channel = options;
    return sysipc_asio::connect_on(boost::asio::any_io_executor(context.get_executor()),
                                   std::move(connected), connect);
  }

  sysipc_asio::statistics before_;
};

} // namespace bench

#endif
