// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "benchmark.hpp"
#include "figures.hpp"
#include "over_transports.hpp"
#include "table.hpp"

/// Round trips over each transport.
namespace bench {

extern const benchmark rtt_benchmark;

namespace {

void check(const plan& p) {
  check_sizes(p);
  if (!p.transports_chosen || p.kinds.size() != 1)
    return;
  for (const subject* t : p.transports)
    if (t->rtt == nullptr)
      throw usage_error(std::string(t->name) + " measures throughput only");
}

std::uint64_t usual_rounds(const subject& what, const settings& s) {
  // Each wait of a channel is a system call then.
  const bool sleeps = what.kind == family::channel && s.policy == sysipc_asio::wait_policy::sleepy;
  return bounded_count(sleeps ? through_the_kernel.rounds : what.length.rounds, s.size);
}

std::vector<measurement> prepare(const plan& p) {
  std::vector<measurement> all;
  for (const std::size_t size : p.sizes)
    for (const subject* what : p.transports) {
      if (what->rtt == nullptr)
        continue;
      measurement m = over_transport(rtt_benchmark, p, *what, size);
      m.make = what->rtt;
      m.main = p50_ns;
      set_count(m, p.rounds, usual_rounds(*what, m.used), p);
      all.push_back(std::move(m));
    }
  return all;
}

void print_size(std::ostream& out, const plan& p, std::size_t size,
                const std::vector<measurement>& all) {
  const auto* limit = find_limit(all, "cacheline_pingpong");
  table t({title_of(rtt_benchmark, p, size), "p50 ns", "p99 ns", "p99.9 ns", "spread", "vs limit",
           "vs uds"});
  for (const measurement& m : all)
    if (m.kind == &rtt_benchmark && m.used.size == size)
      t.add({std::string(m.name), fixed(median(m, p50_ns), 0), fixed(median(m, p99_ns), 0),
             fixed(median(m, p999_ns), 0), percent(spread_percent(m)),
             limit != nullptr ? fixed(ratio(m, *limit), 2) + "x" : "", versus_uds(m, all, true)});
  t.print(out);
}

void print(std::ostream& out, const plan& p, const std::vector<measurement>& all) {
  for (const std::size_t size : p.sizes)
    print_size(out, p, size, all);
}

void describe(boost::json::object& o, const measurement& m, const std::vector<measurement>& all) {
  o["rounds"] = m.used.count;
  o["rtt_p50_ns"] = whole(median(m, p50_ns));
  o["rtt_p99_ns"] = whole(median(m, p99_ns));
  o["rtt_p999_ns"] = whole(median(m, p999_ns));
  if (m.transport->kind == family::channel)
    describe_kicks(o, m, asker_sleeps);
  if (const auto* limit = find_limit(all, "cacheline_pingpong"))
    o["vs_limit"] = rounded(ratio(m, *limit), 3);
}

} // namespace

constexpr benchmark rtt_benchmark{
    "rtt", "round trips over each transport", check, prepare, print, identify_transport, describe};

} // namespace bench
