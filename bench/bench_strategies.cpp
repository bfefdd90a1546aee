// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "benchmark.hpp"
#include "figures.hpp"
#include "names.hpp"
#include "over_transports.hpp"
#include "table.hpp"
#include <array>
#include <cerrno>
#include <memory>
#include <sys/socket.h>
#include <system_error>

/// What a channel gains and costs by how its sides wait.
namespace bench {

extern const benchmark strategies_benchmark;

namespace {

using sysipc_asio::wait_policy;

constexpr std::chrono::duration<double> usual_wait{1};

/// A stream, and then another channel whose receiver waits for a message that is late.
workload stream_and_wait(const settings& s, std::chrono::nanoseconds wait) {
  settings one_late = s;
  one_late.count = 1;
  one_late.warmup = 100;
  one_late.silence = wait;
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    throw std::system_error(errno, std::system_category(), "socketpair");
  const auto ends = std::make_shared<std::array<unique_fd, 2>>();
  (*ends)[0].reset(fds[0]);
  (*ends)[1].reset(fds[1]);
  const auto both = [ends](side stream, side idle, std::size_t own) {
    return [=](unique_fd socket) {
      (*ends)[1 - own].reset();
      side_report result = stream(std::move(socket));
      const side_report waited = idle(std::move((*ends)[own]));
      result.seconds = waited.seconds;
      result.cpu_seconds = waited.cpu_seconds;
      return result;
    };
  };
  const workload stream = channel_throughput(s);
  const workload idle = channel_throughput(one_late);
  return {both(stream.first, idle.first, 0), both(stream.second, idle.second, 1)};
}

/// Each kick is a system call.
std::uint64_t usual_messages(wait_policy policy, std::size_t size) {
  return bounded_count(policy == wait_policy::kick_always ? through_the_kernel.messages
                                                          : in_user_space.messages,
                       size);
}

measurement prepare_one(const plan& p, const subject& channel, wait_policy policy) {
  measurement m = over_transport(strategies_benchmark, p, channel, single_size(p));
  m.detail = name_of(policy);
  m.used.policy = policy;
  const auto wait = std::chrono::ceil<std::chrono::nanoseconds>(p.seconds.value_or(usual_wait));
  m.make = [wait](const settings& s) { return stream_and_wait(s, wait); };
  m.main = millions_per_second;
  m.timeout += std::chrono::ceil<std::chrono::seconds>(wait);
  set_count(m, p.messages, usual_messages(policy, m.used.size), p);
  return m;
}

std::vector<measurement> prepare(const plan& p) {
  std::vector<measurement> all;
  if (const subject* const channel = find_transport(p, "channel"))
    for (const auto policy : {wait_policy::busy, wait_policy::kick_always, wait_policy::adaptive})
      all.push_back(prepare_one(p, *channel, policy));
  return all;
}

const measurement* find_busy(const std::vector<measurement>& all) {
  return find_measured(all, [](const measurement& m) {
    return m.kind == &strategies_benchmark && m.used.policy == wait_policy::busy;
  });
}

void print(std::ostream& out, const plan&, const std::vector<measurement>& all) {
  const auto* const busy = find_busy(all);
  table t({"strategies", "M msg/s", "vs busy", "idle CPU", "kicks", "kicks avoided", "spread"});
  for (const measurement& m : all)
    if (m.kind == &strategies_benchmark)
      t.add({std::string(name_of(m.used.policy)), fixed(median(m, millions_per_second), 2),
             busy != nullptr ? percent(100 * ratio(m, *busy)) : "",
             percent(median(m, cpu_percent), 2), fixed(median(m, kicks), 0),
             percent(median(m, kicks_avoided_percent), 4), percent(spread_percent(m))});
  t.print(out);
}

void identify(boost::json::object& o, const measurement& m) {
  o["strategy"] = name_of(m.used.policy);
  identify_transport(o, m);
}

void describe(boost::json::object& o, const measurement& m, const std::vector<measurement>& all) {
  o["messages"] = m.used.count;
  o["mmsg_per_s"] = rounded(median(m, millions_per_second), 6);
  o["idle_cpu_percent"] = rounded(median(m, cpu_percent), 3);
  describe_kicks(o, m, receiver_sleeps);
  if (const auto* const busy = find_busy(all))
    o["vs_busy"] = rounded(ratio(m, *busy), 3);
}

} // namespace

constexpr benchmark strategies_benchmark{
    "strategies",  "a channel that spins only, kicks always, or does what pays off",
    check_channel, prepare,
    print,         identify,
    describe};

} // namespace bench
