// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "rendezvous.hpp"
#include "run_coroutine.hpp"
#include "stream_coroutines.hpp"
#include "workload.hpp"
#include <boost/asio/ip/tcp.hpp>

/// What TCP over the loopback interface gives to coroutines.
namespace bench {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

tcp::socket open(asio::io_context& context, const unique_fd& other_side, role as) {
  tcp::endpoint meeting_point(asio::ip::address_v4::loopback(), 0);
  tcp::socket socket(context);
  if (as == role::first) {
    tcp::acceptor acceptor(context, meeting_point); // on a port that the kernel chooses
    tell(other_side.get(), acceptor.local_endpoint().port());
    acceptor.accept(socket);
  } else {
    meeting_point.port(hear(other_side.get()));
    socket.connect(meeting_point);
  }
  // Else a small message waits until the one before is acknowledged.
  socket.set_option(tcp::no_delay(true));
  return socket;
}

using part = asio::awaitable<void> (*)(tcp::socket&, const settings&, side_report&);

side run(const settings& s, role as, part task) {
  return [s, as, task](unique_fd other_side) {
    asio::io_context context(1);
    tcp::socket socket = open(context, other_side, as);
    side_report report;
    run_coroutine(context, task(socket, s, report));
    return report;
  };
}

} // namespace

workload tcp_asio_rtt(const settings& s) {
  return {run(s, role::first, stream_ask), run(s, role::second, stream_answer)};
}

workload tcp_asio_throughput(const settings& s) {
  return {run(s, role::first, stream_send), run(s, role::second, stream_receive)};
}

} // namespace bench
