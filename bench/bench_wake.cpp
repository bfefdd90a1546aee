// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "benchmark.hpp"
#include "figures.hpp"
#include "names.hpp"
#include "over_transports.hpp"
#include "table.hpp"
#include <algorithm>
#include <string_view>

/// Round trips that find the other side asleep.
namespace bench {

extern const benchmark wake_benchmark;

namespace {

using namespace std::chrono_literals;
using sysipc_asio::wait_policy;

constexpr std::string_view waking_transports[] = {"channel", "uds-asio", "uds", "pipe"};

/// The longer the silence, the fewer: the whole takes about a minute.
struct amount {
  std::chrono::milliseconds silence;
  std::uint64_t rounds;
  int repeat;
};
constexpr amount usual[] = {
    {0ms, 20000, usual_repeat}, {1ms, 300, usual_repeat}, {100ms, 5, usual_repeat}, {1000ms, 3, 3}};

void check(const plan& p) {
  for (const std::string_view name : waking_transports)
    if (const subject* what = find_transport(p, name))
      check_size(p, *what, single_size(p));
}

measurement prepare_one(const plan& p, const subject& what, const amount& how) {
  const auto& [silence, rounds, repeat] = how;
  measurement m = over_transport(wake_benchmark, p, what, single_size(p));
  m.detail = std::to_string(silence.count()) + " ms of silence";
  m.make = what.rtt;
  m.main = p50_ns;
  m.used.silence = silence;
  m.repeat = p.repeat_or(repeat);
  if (silence != 0ms) {
    m.used.count = std::min(p.rounds.value_or(rounds), rounds); // or it would last for hours
    m.used.warmup = 10;                                         // without silence
    m.timeout += std::chrono::ceil<std::chrono::seconds>(silence * m.used.count);
  } else {
    m.used.policy = wait_policy::sleepy;
    set_count(m, p.rounds, bounded_count(rounds, m.used.size), p);
  }
  return m;
}

std::vector<measurement> prepare(const plan& p) {
  std::vector<measurement> all;
  for (const amount& how : usual)
    for (const std::string_view name : waking_transports)
      if (const subject* const what = find_transport(p, name))
        all.push_back(prepare_one(p, *what, how));
  return all;
}

std::int64_t milliseconds_of_silence(const measurement& m) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(m.used.silence).count();
}

void print(std::ostream& out, const plan&, const std::vector<measurement>& all) {
  table t({"wake", "policy", "silence ms", "rounds", "p50 us", "p99 us", "spread"});
  for (const measurement& m : all)
    if (m.kind == &wake_benchmark)
      t.add({std::string(m.name),
             m.transport->kind == family::channel ? std::string(name_of(m.used.policy)) : "-",
             std::to_string(milliseconds_of_silence(m)), std::to_string(m.used.count),
             fixed(median(m, p50_ns) / 1000, 1), fixed(median(m, p99_ns) / 1000, 1),
             percent(spread_percent(m))});
  t.print(out);
}

void identify(boost::json::object& o, const measurement& m) {
  identify_transport(o, m);
  o["silence_ms"] = milliseconds_of_silence(m);
}

void describe(boost::json::object& o, const measurement& m, const std::vector<measurement>&) {
  o["rounds"] = m.used.count;
  o["rtt_p50_ns"] = whole(median(m, p50_ns));
  o["rtt_p99_ns"] = whole(median(m, p99_ns));
}

} // namespace

constexpr benchmark wake_benchmark{
    "wake",  "round trips that find the other side asleep", check, prepare, print, identify,
    describe};

} // namespace bench
