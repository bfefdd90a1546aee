// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "subject.hpp"

namespace bench {
namespace {

#ifdef SYSIPC_BENCH_ZMQ
constexpr factory zmq[] = {zmq_rtt, zmq_throughput};
#else
constexpr factory zmq[] = {nullptr, nullptr};
#endif
#ifdef SYSIPC_BENCH_NNG
constexpr factory nng[] = {nng_rtt, nng_throughput};
#else
constexpr factory nng[] = {nullptr, nullptr};
#endif

// A new transport is a file, its factories' declaration in workload.hpp, and a line here.
constexpr subject all_transports[] = {
    {"ring", ring_rtt, ring_throughput, family::ring, in_user_space},
    {"channel", channel_rtt, channel_throughput, family::channel, in_user_space},
    {"channel-consume", nullptr, channel_consume_throughput, family::channel, in_user_space},
    {"channel-callback", channel_callback_rtt, channel_callback_throughput, family::channel,
     through_the_kernel}, // its waits never spin
    {"channel-sync", channel_sync_rtt, channel_sync_throughput, family::channel, in_user_space},
    {"uds", uds_rtt, uds_throughput, family::foreign, through_the_kernel},
    {"uds-seqpacket", uds_seqpacket_rtt, uds_seqpacket_throughput, family::foreign,
     through_the_kernel},
    {"uds-asio", uds_asio_rtt, uds_asio_throughput, family::foreign, through_the_kernel},
    {"tcp-asio", tcp_asio_rtt, tcp_asio_throughput, family::foreign, through_the_kernel},
    {"pipe", pipe_rtt, pipe_throughput, family::foreign, through_the_kernel},
    {"zmq", zmq[0], zmq[1], family::foreign, through_the_kernel},
    {"nng", nng[0], nng[1], family::foreign, through_the_kernel},
    {"interprocess-mq", interprocess_mq_rtt, interprocess_mq_throughput, family::foreign,
     through_the_kernel_to_wait},
    {"lockfree-spsc", lockfree_spsc_rtt, lockfree_spsc_throughput, family::foreign, in_user_space,
     65536},
};

} // namespace

std::span<const subject> transports() noexcept {
  return all_transports;
}

} // namespace bench
