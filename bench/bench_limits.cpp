// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "benchmark.hpp"
#include "figures.hpp"
#include "large_payloads.hpp"
#include "names.hpp"
#include "table.hpp"
#include <algorithm>
#include <iterator>

/// What the hardware gives: a round trip, a throughput of lines, and one of large payloads.
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

struct payload_limit {
  std::string_view name;
  factory make;
  std::string_view heading;
};

constexpr payload_limit payload_limits[] = {
    {"payload_in_place", payload_in_place, "in place"},
    {"payload_fill_copy", payload_fill_copy, "copied"},
};
constexpr std::size_t slot_counts[] = {2, 8};

/// Short, since there are many. Counts that are meant for small messages don't make it longer.
measurement prepare_payload(const plan& p, const payload_limit& limit, const settings& like) {
  constexpr std::uint64_t usual_bytes = std::uint64_t(1) << 28;
  const std::uint64_t usual = count_for(usual_bytes, like.size);
  measurement m;
  m.kind = &limits_benchmark;
  m.name = limit.name;
  m.detail = size_text(like.size) + ", " + std::string(name_of(like.receiver)) + ", " +
             std::to_string(like.slots) + " slots";
  m.used = like;
  m.used.count = std::min(p.messages.value_or(usual), usual);
  m.used.warmup = std::min(p.warmup.value_or(warmup_for(usual)), warmup_for(usual));
  m.make = limit.make;
  m.main = millions_per_second;
  m.repeat = p.repeat_or(usual_repeat);
  return m;
}

void prepare_payloads(std::vector<measurement>& all, const plan& p) {
  settings s = p.common;
  for (const receiver_kind receiver : p.receivers)
    for (const std::size_t size : payload_sizes(p))
      for (const payload_limit& limit : payload_limits)
        for (const std::size_t slots : slot_counts) {
          s.receiver = receiver;
          s.size = size;
          s.slots = slots;
          all.push_back(prepare_payload(p, limit, s));
        }
}

std::vector<measurement> prepare(const plan& p) {
  measurement bounce = prepare_limit(p, "cacheline_pingpong", p.rounds, in_user_space.rounds);
  bounce.make = cacheline_pingpong;
  bounce.main = p50_ns;
  measurement bulk = prepare_limit(p, "bulk_lines", p.messages, in_user_space.messages);
  bulk.make = bulk_lines;
  bulk.main = millions_per_second;
  std::vector<measurement> all{bounce, bulk};
  prepare_payloads(all, p);
  return all;
}

bool is_payload(const measurement& m) {
  return std::any_of(std::begin(payload_limits), std::end(payload_limits),
                     [&](const payload_limit& limit) { return limit.name == m.name; });
}

bool is_time(const measurement& m) {
  return m.main == p50_ns;
}

void print_payloads(std::ostream& out, const plan& p, receiver_kind receiver,
                    const std::vector<measurement>& all) {
  std::vector<payload_column> columns;
  for (const payload_limit& limit : payload_limits)
    for (const std::size_t slots : slot_counts)
      columns.push_back({std::string(limit.heading) + ", " + std::to_string(slots) + " slots",
                         [&limit, slots, receiver](const measurement& m) {
                           return m.kind == &limits_benchmark && m.name == limit.name &&
                                  m.used.slots == slots && m.used.receiver == receiver;
                         }});
  bench::print_payloads(out,
                        "limits of payload in GiB/s, receiver " + std::string(name_of(receiver)), p,
                        columns, all);
}

void print(std::ostream& out, const plan& p, const std::vector<measurement>& all) {
  table t({"limits", "p50 ns", "p99 ns", "p99.9 ns", "M lines/s", "spread"});
  for (const measurement& m : all) {
    if (m.kind != &limits_benchmark || is_payload(m))
      continue;
    const std::string name(m.name), spread = percent(spread_percent(m));
    if (is_time(m))
      t.add({name, fixed(median(m, p50_ns), 0), fixed(median(m, p99_ns), 0),
             fixed(median(m, p999_ns), 0), "-", spread});
    else
      t.add({name, "-", "-", "-", fixed(median(m, millions_per_second), 2), spread});
  }
  t.print(out);
  for (const receiver_kind receiver : p.receivers)
    print_payloads(out, p, receiver, all);
}

void identify(boost::json::object& o, const measurement& m) {
  o["metric"] = m.name;
  if (!is_payload(m))
    return;
  o["slots"] = m.used.slots;
  o["receiver"] = name_of(m.used.receiver);
  o["size"] = m.used.size;
}

void describe(boost::json::object& o, const measurement& m, const std::vector<measurement>&) {
  if (is_time(m)) {
    o["rounds"] = m.used.count;
    o["rtt_p50_ns"] = whole(median(m, p50_ns));
    o["rtt_p99_ns"] = whole(median(m, p99_ns));
    o["rtt_p999_ns"] = whole(median(m, p999_ns));
  } else if (is_payload(m)) {
    o["messages"] = m.used.count;
    o["gib_per_s"] = rounded(gib_per_second(m), 6);
  } else {
    o["messages"] = m.used.count;
    o["mlines_per_s"] = rounded(median(m, millions_per_second), 6);
  }
}

} // namespace

constexpr benchmark limits_benchmark{
    "limits",
    "what the hardware gives: a cache line back and forth, many lines one way, large payloads",
    nullptr,
    prepare,
    print,
    identify,
    describe};

} // namespace bench
