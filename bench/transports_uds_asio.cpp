// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "run_coroutine.hpp"
#include "stream_coroutines.hpp"
#include "workload.hpp"
#include <boost/asio/local/stream_protocol.hpp>

/// What a Unix stream socket gives to coroutines: what a channel replaces.
namespace bench {
namespace {

namespace asio = boost::asio;
using stream_socket = asio::local::stream_protocol::socket;

using part = asio::awaitable<void> (*)(stream_socket&, const settings&, side_report&);

side run(const settings& s, part task) {
  return [s, task](unique_fd fd) {
    asio::io_context context(1);
    stream_socket socket(context, asio::local::stream_protocol(), fd.release());
    side_report report;
    run_coroutine(context, task(socket, s, report));
    return report;
  };
}

} // namespace

workload uds_asio_rtt(const settings& s) {
  return {run(s, stream_ask), run(s, stream_answer)};
}

workload uds_asio_throughput(const settings& s) {
  return {run(s, stream_send), run(s, stream_receive)};
}

} // namespace bench
