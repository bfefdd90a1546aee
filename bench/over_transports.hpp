// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_OVER_TRANSPORTS_HPP
#define SYSIPC_BENCH_OVER_TRANSPORTS_HPP

#include "benchmark.hpp"
#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <vector>

/// What benchmarks that compare transports have in common.
namespace bench {

/// Throws usage_error if `size` does not fit the transport.
void check_size(const plan& p, const subject& what, std::size_t size);

/// The same for all sizes and transports.
void check_sizes(const plan& p);

/// Of benchmarks for one size: 64, unless another one is asked for alone.
std::size_t single_size(const plan& p);

/// The transport of that name if it is to be measured, or null.
const subject* find_transport(const plan& p, std::string_view name);

/// For benchmarks of `channel` alone, with messages of single_size().
void check_channel(const plan& p);

/// No more messages than make 4 GiB, or copying large ones would take minutes.
std::uint64_t bounded_count(std::uint64_t usual, std::size_t size);

/// A measurement of messages of `size` bytes over `what`, without its workload.
measurement over_transport(const benchmark& kind, const plan& p, const subject& what,
                           std::size_t size);

/// How many messages or round trips: as given, or else as many as usual.
void set_count(measurement& m, const std::optional<std::uint64_t>& given, std::uint64_t usual,
               const plan& p);

/// "rtt", or "rtt, 64 bytes" if there are several sizes.
std::string title_of(const benchmark& kind, const plan& p, std::size_t size);

/// How many times better than a blocking Unix socket, if that was measured.
std::string versus_uds(const measurement& m, const std::vector<measurement>& all,
                       bool less_is_better);

/// What there is: before a run, what was asked for.
sysipc_asio::backend backend_of(const measurement& m) noexcept;

/// Of a channel: backend, policy, fence, capacity.
void identify_channel(boost::json::object& o, const measurement& m);

/// transport, and of channels and rings backend and policy.
void identify_policy(boost::json::object& o, const measurement& m);

/// As identify_policy(); size, and of channels and rings how they were run.
void identify_transport(boost::json::object& o, const measurement& m);

void describe_kicks(boost::json::object& o, const measurement& m, figure sleeps);

} // namespace bench

#endif
