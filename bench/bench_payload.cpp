// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "benchmark.hpp"
#include "figures.hpp"
#include "large_payloads.hpp"
#include "names.hpp"
#include "over_transports.hpp"
#include "table.hpp"
#include <algorithm>
#include <boost/json/object.hpp>
#include <iterator>

/// Large messages one way, each written anew: bytes per second at the receiver.
namespace bench {

extern const benchmark payload_benchmark;

namespace {

#ifdef SYSIPC_BENCH_ZMQ
constexpr factory zmq = zmq_payload;
#else
constexpr factory zmq = nullptr;
#endif
#ifdef SYSIPC_BENCH_NNG
constexpr factory nng = nng_payload;
#else
constexpr factory nng = nullptr;
#endif

constexpr std::string_view not_in_this_build =
    "not in this build: its library was not there when it was configured";

struct carrier {
  std::string_view name;
  factory make;             ///< null if it can't be measured
  std::string_view missing; ///< why it can't
  std::string_view limit;   ///< of its kind, among the hardware's; or empty
};

constexpr carrier carriers[] = {
    {"send", channel_payload, {}, "payload_fill_copy"},
    {"loan", channel_loan_payload, {}, "payload_in_place"},
    {"zmq", zmq, not_in_this_build, {}},
    {"nng", nng, not_in_this_build, {}},
    {"uds", uds_payload, {}, {}},
};

constexpr std::string_view names[] = {carriers[0].name, carriers[1].name, carriers[2].name,
                                      carriers[3].name, carriers[4].name};

measurement prepare(const plan& p, const carrier& c, std::size_t size, receiver_kind receiver) {
  constexpr std::uint64_t usual_bytes = std::uint64_t(1) << 30;
  measurement m;
  m.kind = &payload_benchmark;
  m.name = c.name;
  m.detail = size_text(size) + ", " + std::string(name_of(receiver));
  m.used = p.common;
  m.used.size = size;
  m.used.receiver = receiver;
  m.used.count = p.messages.value_or(count_for(usual_bytes, size));
  m.used.warmup = p.warmup.value_or(warmup_for(m.used.count));
  m.make = c.make;
  m.main = millions_per_second;
  m.repeat = p.repeat_or(usual_repeat);
  if (c.make == nullptr)
    m.unsupported = c.missing;
  return m;
}

std::vector<measurement> prepare(const plan& p) {
  std::vector<measurement> all;
  for (const receiver_kind receiver : p.receivers)
    for (const std::size_t size : payload_sizes(p))
      for (const carrier& c : carriers)
        if (p.wants(c.name))
          all.push_back(prepare(p, c, size, receiver));
  return all;
}

/// The best that the hardware gives to the like of `m`, or null if it was not measured.
const measurement* limit_for(const measurement& m, const std::vector<measurement>& all) {
  const auto* c = std::find_if(std::begin(carriers), std::end(carriers),
                               [&](const carrier& candidate) { return candidate.name == m.name; });
  const measurement* best = nullptr;
  for (const measurement& limit : all)
    if (limit.kind->name == "limits" && limit.name == c->limit && limit.used.size == m.used.size &&
        limit.used.receiver == m.used.receiver && !limit.runs.empty())
      if (best == nullptr || median(limit, limit.main) > median(*best, best->main))
        best = &limit;
  return best;
}

void print(std::ostream& out, const plan& p, const std::vector<measurement>& all) {
  for (const receiver_kind receiver : p.receivers) {
    std::vector<payload_column> columns;
    for (const carrier& c : carriers)
      columns.push_back({std::string(c.name), [&c, receiver](const measurement& m) {
                           return m.kind == &payload_benchmark && m.name == c.name &&
                                  m.used.receiver == receiver;
                         }});
    print_payloads(out, "payload in GiB/s, receiver " + std::string(name_of(receiver)), p, columns,
                   all);
  }
}

void identify(boost::json::object& o, const measurement& m) {
  o["transport"] = m.name;
  if (m.name == "send" || m.name == "loan")
    identify_channel(o, m);
  o["receiver"] = name_of(m.used.receiver);
  o["size"] = m.used.size;
}

void describe(boost::json::object& o, const measurement& m, const std::vector<measurement>& all) {
  o["messages"] = m.used.count;
  o["gib_per_s"] = rounded(gib_per_second(m), 6);
  if (const auto* limit = limit_for(m, all))
    o["vs_limit"] = rounded(ratio(m, *limit), 3);
}

} // namespace

constexpr benchmark payload_benchmark{
    "payload", "large messages one way, 1 KiB to 64 MiB: send and loan of a channel, zmq, nng, uds",
    nullptr,   prepare,
    print,     identify,
    describe,  names};

} // namespace bench
