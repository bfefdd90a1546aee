// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "payload_stream.hpp"
#include "stream_end.hpp"
#include "workload.hpp"

/// What a Unix stream socket gives to blocking code: the one that the sides are given.
namespace bench {
namespace {

auto opener(const settings& s) {
  return [size = s.size](unique_fd socket, role) { return stream_end(std::move(socket), size); };
}

} // namespace

workload uds_rtt(const settings& s) {
  return blocking_rtt(s, opener(s));
}

workload uds_throughput(const settings& s) {
  return blocking_throughput(s, opener(s));
}

workload uds_payload(const settings& s) {
  return payload_stream(s, opener(s));
}

} // namespace bench
