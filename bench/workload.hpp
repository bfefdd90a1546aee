// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_WORKLOAD_HPP
#define SYSIPC_BENCH_WORKLOAD_HPP

#include "settings.hpp"
#include <cstdint>
#include <functional>
#include <sysipc_asio/detail/unique_fd.hpp>
#include <sysipc_asio/options.hpp>

namespace bench {

using sysipc_asio::detail::unique_fd;

/// What a side found out; it travels through a pipe as it is.
struct side_report {
  double p50_ns = 0;
  double p99_ns = 0;
  double p999_ns = 0;
  double per_second = 0;
  std::uint64_t kicks = 0;
  std::uint64_t kicks_avoided = 0;
  std::uint64_t sleeps = 0;
  // Of this process, from the first measured message to the last, if it received them.
  double seconds = 0;
  double cpu_seconds = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  sysipc_asio::fence_mode fences = sysipc_asio::fence_mode::asymmetric;
  sysipc_asio::backend backend = sysipc_asio::backend::interprocess;
};

/// One process's part, given its end of a socketpair.
using side = std::function<side_report(unique_fd)>;

/// Which part of a run a process has.
enum class role : bool { first, second };

/// The two parts of a run.
/**
 * For round trips `first` asks and takes the time, `second` answers. For
 * throughput `first` sends and counts kicks, `second` receives and takes the time.
 */
struct workload {
  side first;
  side second;
};

// What the hardware gives.
workload cacheline_pingpong(const settings& s);
workload bulk_lines(const settings& s);

/// Round trips over `settings::channels`.
workload many_channels_rtt(const settings& s);

// The factories of the table in subject.cpp.
workload ring_rtt(const settings& s);
workload ring_throughput(const settings& s);
workload channel_rtt(const settings& s);
workload channel_throughput(const settings& s);
workload channel_consume_throughput(const settings& s);
workload channel_callback_rtt(const settings& s);
workload channel_callback_throughput(const settings& s);
workload channel_sync_rtt(const settings& s);
workload channel_sync_throughput(const settings& s);
workload uds_rtt(const settings& s);
workload uds_throughput(const settings& s);
workload uds_asio_rtt(const settings& s);
workload uds_asio_throughput(const settings& s);
workload uds_seqpacket_rtt(const settings& s);
workload uds_seqpacket_throughput(const settings& s);
workload tcp_asio_rtt(const settings& s);
workload tcp_asio_throughput(const settings& s);
workload pipe_rtt(const settings& s);
workload pipe_throughput(const settings& s);
workload zmq_rtt(const settings& s);
workload zmq_throughput(const settings& s);
workload nng_rtt(const settings& s);
workload nng_throughput(const settings& s);
workload interprocess_mq_rtt(const settings& s);
workload interprocess_mq_throughput(const settings& s);
workload lockfree_spsc_rtt(const settings& s);
workload lockfree_spsc_throughput(const settings& s);

// Large messages, numbered and of `settings::receiver`.
workload payload_in_place(const settings& s);
workload payload_fill_copy(const settings& s);
workload channel_payload(const settings& s);
workload channel_loan_payload(const settings& s);
workload uds_payload(const settings& s);
workload zmq_payload(const settings& s);
workload nng_payload(const settings& s);

// The rungs of the coordination ladder; that of the channel is channel_rtt().
workload futex_rounds(const settings& s);
workload pipe_rounds(const settings& s);
workload eventfd_rounds(const settings& s);
workload mq_rounds(const settings& s);
workload uds_rounds(const settings& s);
workload poll_rounds(const settings& s);
workload doorbell_rounds(const settings& s);

} // namespace bench

#endif
