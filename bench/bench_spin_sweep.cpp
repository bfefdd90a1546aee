// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "benchmark.hpp"
#include "figures.hpp"
#include "over_transports.hpp"
#include "table.hpp"
#include <cmath>
#include <sysipc_asio/wait.hpp>

/// A channel's throughput by how long its sides spin before they sleep.
namespace bench {

extern const benchmark spin_sweep_benchmark;

namespace {

constexpr std::uint32_t bounds[] = {10, 50, 100, 500, 1000, 2000, 5000, 10000};
constexpr std::uint64_t usual_messages = 1'000'000;

/// The option is a time; the library converts it back with the same cost of a look.
spin_bound spin_for(std::uint32_t looks) {
  using namespace std::chrono_literals;
  const auto in_a_second = sysipc_asio::spin_limits::for_durations(0ns, 1s).total;
  return {looks, std::chrono::nanoseconds(
                     std::llround(std::ceil(1e9 * static_cast<double>(looks) / in_a_second)))};
}

measurement prepare_one(const plan& p, const subject& channel) {
  measurement m = over_transport(spin_sweep_benchmark, p, channel, single_size(p));
  m.make = channel_throughput;
  m.main = millions_per_second;
  set_count(m, p.messages, bounded_count(usual_messages, m.used.size), p);
  return m;
}

std::vector<measurement> prepare(const plan& p) {
  using sysipc_asio::wait_policy;
  const subject* const channel = find_transport(p, "channel");
  if (channel == nullptr)
    return {};
  std::vector<measurement> all;
  for (const std::uint32_t looks : bounds) {
    measurement m = prepare_one(p, *channel);
    m.detail = std::to_string(looks) + " looks";
    m.used.policy = wait_policy::adaptive;
    m.used.spin = spin_for(looks);
    all.push_back(std::move(m));
  }
  measurement m = prepare_one(p, *channel);
  m.detail = "spinning only";
  m.used.policy = wait_policy::busy;
  all.push_back(std::move(m));
  return all;
}

void print(std::ostream& out, const plan&, const std::vector<measurement>& all) {
  table t({"spin-sweep", "ns", "M msg/s", "kicks", "kicks avoided", "sleeps", "spread"});
  for (const measurement& m : all)
    if (m.kind == &spin_sweep_benchmark)
      t.add({m.detail, m.used.spin ? std::to_string(m.used.spin->time.count()) : "-",
             fixed(median(m, millions_per_second), 2), fixed(median(m, kicks), 0),
             percent(median(m, kicks_avoided_percent), 4), fixed(median(m, receiver_sleeps), 0),
             percent(spread_percent(m))});
  t.print(out);
}

void identify(boost::json::object& o, const measurement& m) {
  identify_transport(o, m);
  if (m.used.spin) {
    o["spin_limit"] = m.used.spin->looks;
    o["spin_limit_ns"] = m.used.spin->time.count();
  }
}

void describe(boost::json::object& o, const measurement& m, const std::vector<measurement>&) {
  o["messages"] = m.used.count;
  o["mmsg_per_s"] = rounded(median(m, millions_per_second), 6);
  describe_kicks(o, m, receiver_sleeps);
}

} // namespace

constexpr benchmark spin_sweep_benchmark{
    "spin-sweep",  "a channel's throughput by how many looks at the ring precede a sleep",
    check_channel, prepare,
    print,         identify,
    describe};

} // namespace bench
