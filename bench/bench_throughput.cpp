// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "benchmark.hpp"
#include "figures.hpp"
#include "over_transports.hpp"
#include "table.hpp"

/// A stream of messages over each transport.
namespace bench {

extern const benchmark throughput_benchmark;

namespace {

std::vector<measurement> prepare(const plan& p) {
  std::vector<measurement> all;
  for (const std::size_t size : p.sizes)
    for (const subject* what : p.transports) {
      measurement m = over_transport(throughput_benchmark, p, *what, size);
      m.make = what->throughput;
      m.main = millions_per_second;
      set_count(m, p.messages, bounded_count(what->length.messages, size), p);
      all.push_back(std::move(m));
    }
  return all;
}

/// The limit is a line a message: at other sizes there is nothing to compare.
const measurement* limit_for(const measurement& m, const std::vector<measurement>& all) {
  return m.used.size == 64 ? find_limit(all, "bulk_lines") : nullptr;
}

/// Only these have somebody to kick.
bool has_kicks(const measurement& m) {
  return m.transport->kind != family::foreign;
}

void print_size(std::ostream& out, const plan& p, std::size_t size,
                const std::vector<measurement>& all) {
  table t({title_of(throughput_benchmark, p, size), "M msg/s", "MiB/s", "kicks", "kicks avoided",
           "spread", "vs limit", "vs uds"});
  for (const measurement& m : all) {
    if (m.kind != &throughput_benchmark || m.used.size != size)
      continue;
    const double rate = median(m, millions_per_second);
    const auto* limit = limit_for(m, all);
    t.add({std::string(m.name), fixed(rate, rate < 0.1 ? 5 : 2), fixed(1024 * gib_per_second(m), 0),
           has_kicks(m) ? fixed(median(m, kicks), 0) : "-",
           has_kicks(m) ? percent(median(m, kicks_avoided_percent), 4) : "-",
           percent(spread_percent(m)), limit != nullptr ? percent(100 * ratio(m, *limit)) : "",
           versus_uds(m, all, false)});
  }
  t.print(out);
}

void print(std::ostream& out, const plan& p, const std::vector<measurement>& all) {
  for (const std::size_t size : p.sizes)
    print_size(out, p, size, all);
}

void describe(boost::json::object& o, const measurement& m, const std::vector<measurement>& all) {
  o["messages"] = m.used.count;
  o["mmsg_per_s"] = rounded(median(m, millions_per_second), 6);
  o["gib_per_s"] = rounded(gib_per_second(m), 6);
  if (has_kicks(m))
    describe_kicks(o, m, receiver_sleeps);
  if (const auto* limit = limit_for(m, all))
    o["vs_limit"] = rounded(ratio(m, *limit), 3);
}

} // namespace

constexpr benchmark throughput_benchmark{"throughput", "messages one way over each transport",
                                         check_sizes,  prepare,
                                         print,        identify_transport,
                                         describe};

} // namespace bench
