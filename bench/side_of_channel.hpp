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

inline sysipc_asio::channel_options channel_options_for(const settings& s) {
  sysipc_asio::channel_options result;
  result.send_capacity = result.receive_capacity = s.capacity;
  result.inline_limit = s.inline_limit;
  // Room for some of the largest that is sent.
  result.send_pool = result.receive_pool = std::max(result.send_pool, 4 * s.size);
  result.max_message_size = std::max(result.max_message_size, s.size);
  result.policy = s.policy;
  result.fences = s.fences;
  if (s.spin) {
    result.spin_limit = s.spin->time;
    result.spin_slice = std::min(result.spin_slice, result.spin_limit);
  }
  return result;
}

inline sysipc_asio::listen_options listen_options_for(const settings& s) {
  sysipc_asio::listen_options result;
  result.channel = channel_options_for(s);
  result.backend = s.backend;
  result.max_capacity = std::max(result.max_capacity, s.capacity);
  return result;
}

inline sysipc_asio::connect_options connect_options_for(const settings& s) {
  sysipc_asio::connect_options result;
  result.channel = channel_options_for(s);
  return result;
}

/// A side's io_context and channel. To be made after fork(), on the side's own CPU.
class side_of_channel {
public:
  side_of_channel(unique_fd socket, const settings& s, role as)
      : side_of_channel(std::move(socket), s, as, s.capacity) {}
  /// `back`: the capacity of the second side's ring.
  side_of_channel(unique_fd socket, const settings& s, role as, std::size_t back)
      : context(1), ch(open(std::move(socket), s, as, back)) {}

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
  sysipc_asio::channel open(unique_fd socket, const settings& s, role as, std::size_t back) {
    boost::asio::local::stream_protocol::socket connected(
        context, boost::asio::local::stream_protocol(), socket.release());
    const boost::asio::any_io_executor executor(context.get_executor());
    if (as == role::first)
      return sysipc_asio::accept_on(executor, std::move(connected), listen_options_for(s));
    auto options = connect_options_for(s); // it is the connector who chooses both capacities
    options.channel.send_capacity = back;
    return sysipc_asio::connect_on(executor, std::move(connected), options);
  }

  sysipc_asio::statistics before_;
};

} // namespace bench

#endif
