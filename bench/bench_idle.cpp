// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "benchmark.hpp"
#include "figures.hpp"
#include "names.hpp"
#include "over_transports.hpp"
#include "table.hpp"
#include <array>
#include <string_view>

/// What a process costs that waits for a message, and none comes.
namespace bench {

extern const benchmark idle_benchmark;

namespace {

using sysipc_asio::wait_policy;

/// By itself; beside others less, for it waits for each transport.
std::chrono::duration<double> usual_wait(const plan& p) {
  return std::chrono::seconds(p.kinds.size() == 1 ? 5 : 2);
}

constexpr std::string_view waiting_transports[] = {
    "channel",  "channel-callback", "channel-sync", "uds",
    "uds-asio", "tcp-asio",         "pipe",         "zmq",
    "nng",      "interprocess-mq",  "ring",         "lockfree-spsc"};

/// A stream of one message, which is late.
measurement prepare_one(const plan& p, const subject& what, wait_policy policy) {
  measurement m = over_transport(idle_benchmark, p, what, 64);
  m.detail = name_of(policy);
  m.make = what.throughput;
  m.main = cpu_percent;
  m.used.policy = policy;
  m.used.count = 1;
  m.used.warmup = 100;
  m.used.silence = std::chrono::ceil<std::chrono::nanoseconds>(p.seconds.value_or(usual_wait(p)));
  m.repeat = p.repeat_or(1);
  m.counts = false;
  m.timeout += std::chrono::ceil<std::chrono::seconds>(m.used.silence);
  return m;
}

std::vector<measurement> prepare(const plan& p) {
  std::vector<measurement> all;
  for (const std::string_view name : waiting_transports) {
    const subject* const what = find_transport(p, name);
    if (what == nullptr)
      continue;
    if (name == "channel")
      for (const auto policy : {wait_policy::adaptive, wait_policy::sleepy, wait_policy::busy,
                                wait_policy::kick_always})
        all.push_back(prepare_one(p, *what, policy));
    else
      all.push_back(prepare_one(p, *what, p.common.policy));
  }
  return all;
}

double voluntary_per_second(const pair_report& r) {
  return static_cast<double>(r.second.voluntary_switches) / r.second.seconds;
}

double involuntary_per_second(const pair_report& r) {
  return static_cast<double>(r.second.involuntary_switches) / r.second.seconds;
}

void print(std::ostream& out, const plan&, const std::vector<measurement>& all) {
  table t({"idle", "policy", "CPU", "voluntary switches/s", "involuntary switches/s"});
  for (const measurement& m : all)
    if (m.kind == &idle_benchmark)
      t.add({std::string(m.name),
             m.transport->kind == family::channel ? std::string(name_of(m.used.policy)) : "-",
             percent(median(m, cpu_percent), 2), fixed(median(m, voluntary_per_second), 1),
             fixed(median(m, involuntary_per_second), 1)});
  t.print(out);
}

void describe(boost::json::object& o, const measurement& m, const std::vector<measurement>&) {
  o["seconds"] = rounded(std::chrono::duration<double>(m.used.silence).count(), 3);
  o["cpu_percent"] = rounded(median(m, cpu_percent), 3);
  o["voluntary_switches_per_s"] = rounded(median(m, voluntary_per_second), 2);
  o["involuntary_switches_per_s"] = rounded(median(m, involuntary_per_second), 2);
}

} // namespace

constexpr benchmark idle_benchmark{
    "idle",  "the CPU that a process takes which waits for a message; run once, unless --repeat",
    nullptr, prepare,
    print,   identify_policy,
    describe};

} // namespace bench
