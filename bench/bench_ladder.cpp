// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "benchmark.hpp"
#include "figures.hpp"
#include "names.hpp"
#include "over_transports.hpp"
#include "rungs_mq.hpp"
#include "table.hpp"
#include <algorithm>
#include <boost/json/object.hpp>

/// The coordination ladder: what a round costs of which each waits for the one before.
namespace bench {

extern const benchmark ladder_benchmark;

namespace {

struct rung_entry {
  std::string_view name;
  factory make;
  std::string (*why_not)() = nullptr; ///< empty if it is there
};

constexpr rung_entry rungs[] = {
    {"futex", futex_rounds},       {"pipe", pipe_rounds},    {"eventfd", eventfd_rounds},
    {"mq", mq_rounds, why_no_mq},  {"uds", uds_rounds},      {"poll", poll_rounds},
    {"doorbell", doorbell_rounds}, {"channel", channel_rtt},
};

constexpr std::string_view names[] = {rungs[0].name, rungs[1].name, rungs[2].name, rungs[3].name,
                                      rungs[4].name, rungs[5].name, rungs[6].name, rungs[7].name};

measurement prepare(const plan& p, const rung_entry& rung) {
  constexpr std::uint64_t usual_rounds = 2000;
  constexpr std::uint64_t slowest = 200; // rounds per second of the one that looks every 1 ms
  measurement m;
  m.kind = &ladder_benchmark;
  m.name = rung.name;
  m.used = p.common;
  m.used.size = sizeof(std::uint64_t); // of the channel's messages
  set_count(m, p.rounds, usual_rounds, p);
  m.make = rung.make;
  m.main = p50_ns;
  m.repeat = p.repeat_or(usual_repeat);
  m.timeout += std::chrono::seconds((m.used.warmup + m.used.count) / slowest);
  if (rung.why_not != nullptr)
    m.unsupported = rung.why_not();
  return m;
}

std::vector<measurement> prepare(const plan& p) {
  std::vector<measurement> all;
  for (const rung_entry& rung : rungs)
    if (p.wants(rung.name))
      all.push_back(prepare(p, rung));
  return all;
}

double p50_us(const pair_report& r) {
  return p50_ns(r) / 1000;
}
double p99_us(const pair_report& r) {
  return p99_ns(r) / 1000;
}

void print(std::ostream& out, const plan&, const std::vector<measurement>& all) {
  table t({"ladder", "p50 us", "p99 us", "spread"});
  for (const measurement& m : all) {
    if (m.kind != &ladder_benchmark)
      continue;
    if (!m.unsupported.empty())
      t.add_unsupported(std::string(m.name), m.unsupported);
    else
      t.add({std::string(m.name), fixed(median(m, p50_us), 2), fixed(median(m, p99_us), 2),
             percent(spread_percent(m))});
  }
  t.print(out);
}

void identify(boost::json::object& o, const measurement& m) {
  o["transport"] = m.name;
  if (m.name == "channel")
    identify_channel(o, m);
  else if (m.name == "doorbell")
    o["backend"] = name_of(backend_of(m));
}

void describe(boost::json::object& o, const measurement& m, const std::vector<measurement>&) {
  o["rounds"] = m.used.count;
  o["p50_us"] = rounded(median(m, p50_us), 3);
  o["p99_us"] = rounded(median(m, p99_us), 3);
}

} // namespace

constexpr benchmark ladder_benchmark{
    "ladder", "the ways to be woken: rounds of which each waits for the one before",
    nullptr,  prepare,
    print,    identify,
    describe, names};

} // namespace bench
