// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "benchmark.hpp"
#include "figures.hpp"
#include "table.hpp"

/// What the hardware gives: a round trip, and a throughput.
namespace bench {

extern const benchmark limits_benchmark;

namespace {

measurement prepare_limit(const plan& p, std::string_view name,
                          const std::optional<std::uint64_t>& count, std::uint64_t usual) {
  measurement m;
  m.kind = &limits_benchmark;
  m.name = name;
  m.used = p.common;
  m.used.count = count.value_or(usual);
  m.used.warmup = p.warmup.value_or(m.used.count / 10);
  m.repeat = p.repeat_or(usual_repeat);
  return m;
}

std::vector<measurement> prepare(const plan& p) {
  measurement bounce = prepare_limit(p, "cacheline_pingpong", p.rounds, in_user_space.rounds);
  bounce.make = cacheline_pingpong;
  bounce.main = p50_ns;
  measurement bulk = prepare_limit(p, "bulk_lines", p.messages, in_user_space.messages);
  bulk.make = bulk_lines;
  bulk.main = millions_per_second;
  return {bounce, bulk};
}

bool is_time(const measurement& m) {
  return m.main == p50_ns;
}

void print(std::ostream& out, const plan&, const std::vector<measurement>& all) {
  table t({"limits", "p50 ns", "p99 ns", "p99.9 ns", "M lines/s", "spread"});
  for (const measurement& m : all) {
    if (m.kind != &limits_benchmark)
      continue;
    const std::string name(m.name), spread = percent(spread_percent(m));
    if (is_time(m))
      t.add({name, fixed(median(m, p50_ns), 0), fixed(median(m, p99_ns), 0),
             fixed(median(m, p999_ns), 0), "-", spread});
    else
      t.add({name, "-", "-", "-", fixed(median(m, millions_per_second), 2), spread});
  }
  t.print(out);
}

void identify(boost::json::object& o, const measurement& m) {
  o["metric"] = m.name;
}

void describe(boost::json::object& o, const measurement& m, const std::vector<measurement>&) {
  if (is_time(m)) {
    o["rounds"] = m.used.count;
    o["rtt_p50_ns"] = whole(median(m, p50_ns));
    o["rtt_p99_ns"] = whole(median(m, p99_ns));
    o["rtt_p999_ns"] = whole(median(m, p999_ns));
  } else {
    o["messages"] = m.used.count;
    o["mlines_per_s"] = rounded(median(m, millions_per_second), 6);
  }
}

} // namespace

constexpr benchmark limits_benchmark{
    "limits", "what the hardware gives: a cache line back and forth, many lines one way",
    nullptr,  prepare,
    print,    identify,
    describe};

} // namespace bench
