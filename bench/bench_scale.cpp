// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "benchmark.hpp"
#include "figures.hpp"
#include "names.hpp"
#include "over_transports.hpp"
#include "table.hpp"
#include <cerrno>
#include <sys/resource.h>
#include <system_error>

/// One server with many channels in one thread.
namespace bench {

extern const benchmark scale_benchmark;

namespace {

constexpr unsigned most_channels = 256;
constexpr std::uint64_t usual_rounds = 20'000;

/// A channel's, with the socket that it comes from, and some for everything else.
rlim_t descriptors_for(unsigned channels) {
  return channels * 7 + 64;
}

std::string reason_against(unsigned channels) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    throw std::system_error(errno, std::system_category(), "getrlimit");
  if (limit.rlim_max >= descriptors_for(channels))
    return {};
  return "needs " + std::to_string(descriptors_for(channels)) +
         " descriptors; the hard limit (ulimit -Hn) is " + std::to_string(limit.rlim_max);
}

measurement prepare_one(const plan& p, const subject& channel, unsigned channels, unsigned busy) {
  measurement m = over_transport(scale_benchmark, p, channel, single_size(p));
  m.detail = std::to_string(channels) + " channels, " + std::to_string(busy) + " busy";
  m.make = many_channels_rtt;
  m.main = p50_ns;
  m.used.channels = channels;
  m.used.busy_channels = busy;
  m.unsupported = reason_against(channels);
  set_count(m, p.rounds, bounded_count(usual_rounds, m.used.size), p);
  return m;
}

std::vector<measurement> prepare(const plan& p) {
  const subject* const channel = find_transport(p, "channel");
  if (channel == nullptr)
    return {};
  std::vector<measurement> all;
  for (unsigned channels = 1; channels <= most_channels; channels *= 2) {
    all.push_back(prepare_one(p, *channel, channels, 1));
    if (channels != 1)
      all.push_back(prepare_one(p, *channel, channels, channels));
  }
  return all;
}

const measurement* find_one(const std::vector<measurement>& all) {
  return find_measured(
      all, [](const measurement& m) { return m.kind == &scale_benchmark && m.used.channels == 1; });
}

double millions_of_echoes(const pair_report& r) {
  return r.first.per_second / 1e6;
}

void print(std::ostream& out, const plan&, const std::vector<measurement>& all) {
  const auto* const one = find_one(all);
  table t({"scale, channels", "busy", "p50 ns", "p99 ns", "M echoes/s", "vs one", "spread"});
  for (const measurement& m : all) {
    if (m.kind != &scale_benchmark)
      continue;
    if (!m.unsupported.empty())
      t.add_unsupported(std::to_string(m.used.channels), m.unsupported);
    else
      t.add({std::to_string(m.used.channels), std::to_string(m.used.busy_channels),
             fixed(median(m, p50_ns), 0), fixed(median(m, p99_ns), 0),
             fixed(median(m, millions_of_echoes), 3),
             one != nullptr ? fixed(ratio(m, *one), 2) + "x" : "", percent(spread_percent(m))});
  }
  t.print(out);
}

void identify(boost::json::object& o, const measurement& m) {
  identify_transport(o, m);
  o["channels"] = m.used.channels;
  o["busy_channels"] = m.used.busy_channels;
}

void describe(boost::json::object& o, const measurement& m, const std::vector<measurement>& all) {
  o["rounds"] = m.used.count;
  o["rtt_p50_ns"] = whole(median(m, p50_ns));
  o["rtt_p99_ns"] = whole(median(m, p99_ns));
  o["mmsg_per_s"] = rounded(median(m, millions_of_echoes), 6);
  if (const auto* const one = find_one(all))
    o["vs_one"] = rounded(ratio(m, *one), 3);
}

} // namespace

constexpr benchmark scale_benchmark{
    "scale",       "a server of 1 to 256 channels in one thread; one of them busy, or all",
    check_channel, prepare,
    print,         identify,
    describe};

} // namespace bench
