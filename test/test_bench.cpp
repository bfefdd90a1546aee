// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "scratch.hpp"
#include <algorithm>
#include <boost/json.hpp>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sched.h>
#include <set>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sysipc_asio/detail/unique_fd.hpp>
#include <system_error>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace {

namespace fs = std::filesystem;
using sysipc_asio::detail::unique_fd;
using sysipc_asio::test::eventually;
using sysipc_asio::test::scratch_directory;

std::string contents(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Two CPUs that there are, or one twice.
std::string cpus() {
  cpu_set_t set;
  BOOST_REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
  std::vector<int> available;
  for (int cpu = 0; cpu != CPU_SETSIZE && available.size() != 2; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set))
      available.push_back(cpu);
  return std::to_string(available.front()) + "," + std::to_string(available.back());
}

std::string first_cpu() {
  const std::string both = cpus();
  return both.substr(0, both.find(','));
}

/// sysipc-bench in a process group of its own, as a shell starts it.
class bench {
public:
  explicit bench(std::vector<std::string> arguments, const char* terminal = nullptr,
                 const std::string& program = SYSIPC_ASIO_TEST_BENCH) {
    arguments.insert(arguments.begin(), program);
    if (std::find(arguments.begin(), arguments.end(), "--cpus") == arguments.end())
      arguments.insert(arguments.end(), {"--cpus", cpus()});
    std::vector<char*> argv;
    for (auto& text : arguments)
      argv.push_back(text.data());
    argv.push_back(nullptr);
    fs::create_directory(temporary());
    ::setenv("TMPDIR", temporary().c_str(), 1);

    const std::string out = scratch_.path() / "out";
    const std::string err = terminal != nullptr ? terminal : scratch_.path() / "err";
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT, 0600);
    ::posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_NOCTTY,
                                       0600);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const int failed =
        ::posix_spawn(&pid_, program.c_str(), &actions, &attributes, argv.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    ::unsetenv("TMPDIR");
    if (failed != 0)
      throw std::system_error(failed, std::system_category(), "posix_spawn");
  }
  bench(const bench&) = delete;
  bench& operator=(const bench&) = delete;
  ~bench() {
    if (pid_ > 0) {
      ::kill(-pid_, SIGKILL);
      wait();
    }
  }

  /// To the whole group, as a terminal does it.
  void press_ctrl_c() const { ::kill(-pid_, SIGINT); }

  /// The processes that it started.
  std::vector<pid_t> sides() const {
    const std::string pid = std::to_string(pid_);
    std::ifstream in("/proc/" + pid + "/task/" + pid + "/children");
    return {std::istream_iterator<pid_t>(in), {}};
  }

  /// The exit status as the shell has it.
  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR)
      ;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  std::string out() const { return contents(scratch_.path() / "out"); }
  std::string err() const { return contents(scratch_.path() / "err"); }
  boost::json::array json() const { return boost::json::parse(out()).as_array(); }

  fs::path temporary() const { return scratch_.path() / "tmp"; }
  bool has_temporary_files() const { return !fs::is_empty(temporary()); }

private:
  scratch_directory scratch_;
  pid_t pid_ = -1;
};

bool is_in_this_build(const std::string& transport) {
  bench b({"throughput", "-t", transport, "--messages", "10", "--repeat", "1"});
  const int status = b.wait();
  if (status == 2 && b.err().find("this build has no " + transport) != std::string::npos)
    return false;
  BOOST_TEST(status == 0, transport << ": " << b.err());
  return true;
}

using keys = std::set<std::string>;

keys operator+(keys a, const keys& b) {
  a.insert(b.begin(), b.end());
  return a;
}

keys keys_of(const boost::json::object& o) {
  keys result;
  for (const auto& pair : o)
    result.insert(std::string(pair.key()));
  return result;
}

const keys of_all{"bench", "transport", "size", "spread_percent", "repeat", "cpus", "shared_cpu"};
const keys of_round_trips{"rounds", "rtt_p50_ns", "rtt_p99_ns", "rtt_p999_ns"};
const keys of_throughput{"messages", "mmsg_per_s", "gib_per_s"};
const keys of_rings{"backend", "policy", "fence", "capacity"};
const keys of_kicks{"kicks", "kicks_avoided_percent", "sleeps"};

keys expected_keys(const std::string& kind, const std::string& transport) {
  keys result = of_all + (kind == "rtt" ? of_round_trips : of_throughput);
  const bool channel = transport.compare(0, 7, "channel") == 0;
  if (channel || transport == "ring")
    result = result + of_rings;
  if (channel || (transport == "ring" && kind == "throughput"))
    result = result + of_kicks;
  return result;
}

} // namespace

BOOST_AUTO_TEST_CASE(every_transport_carries_small_and_large_messages_both_ways) {
  bench b({"rtt", "--size", "8,64,65536", "--rounds", "40", "--repeat", "1", "--json", "-"});
  bench c(
      {"throughput", "--size", "8,64,65536", "--messages", "100", "--repeat", "1", "--json", "-"});
  BOOST_TEST(b.wait() == 0, b.err());
  BOOST_TEST(c.wait() == 0, c.err());
  boost::json::array results = b.json();
  for (auto& value : c.json())
    results.push_back(value);

  std::multiset<std::string> found;
  for (const auto& value : results) {
    const auto& o = value.as_object();
    const std::string kind(o.at("bench").as_string());
    const std::string transport(o.at("transport").as_string());
    BOOST_TEST(keys_of(o) == expected_keys(kind, transport), value);
    BOOST_TEST(o.at(kind == "rtt" ? "rtt_p50_ns" : "mmsg_per_s").to_number<double>() > 0, value);
    found.insert(kind + " " + transport + " " + std::to_string(o.at("size").to_number<int>()));
  }
  std::multiset<std::string> expected;
  std::string absent;
  for (const std::string transport :
       {"ring", "channel", "channel-consume", "channel-callback", "channel-sync", "uds",
        "uds-seqpacket", "uds-asio", "tcp-asio", "pipe", "zmq", "nng", "interprocess-mq",
        "lockfree-spsc"}) {
    if (!is_in_this_build(transport)) {
      absent += (absent.empty() ? "" : ", ") + transport;
      continue;
    }
    for (const std::string size : {"8", "64", "65536"}) {
      expected.insert("throughput " + transport + " " + size);
      if (transport != "channel-consume")
        expected.insert("rtt " + transport + " " + size);
    }
  }
  BOOST_TEST(found == expected, boost::test_tools::per_element());
  // What `all` leaves out is told once; else there is nothing to tell.
  BOOST_TEST(b.err() == (absent.empty() ? "" : "sysipc-bench: this build has no " + absent + "\n"));
  BOOST_TEST(!b.has_temporary_files());
  BOOST_TEST(!c.has_temporary_files());
}

BOOST_AUTO_TEST_CASE(ctrl_c_ends_with_what_was_measured) {
  bench b({"rtt", "-t", "uds", "--rounds", "50", "--repeat", "1000", "--json", "-"});
  std::set<pid_t> seen;
  BOOST_REQUIRE(eventually([&] { // the third side: a run is over
    for (const pid_t side : b.sides())
      seen.insert(side);
    return seen.size() >= 3;
  }));
  b.press_ctrl_c();
  BOOST_TEST(b.wait() == 130);
  const auto results = b.json();
  BOOST_REQUIRE(results.size() == 1U);
  const auto repeat = results.front().at("repeat").to_number<int>();
  BOOST_TEST(repeat >= 1);
  BOOST_TEST(repeat < 1000);
}

BOOST_AUTO_TEST_CASE(ctrl_c_before_anything_was_measured_gives_an_empty_array) {
  bench b({"rtt", "-t", "uds", "--rounds", "100000000", "--repeat", "1", "--json", "-"});
  BOOST_REQUIRE(eventually([&] { return b.sides().size() == 2; }));
  b.press_ctrl_c();
  BOOST_TEST(b.wait() == 130);
  BOOST_TEST(b.json().empty());
}

BOOST_AUTO_TEST_CASE(nothing_stays_in_the_file_system_when_a_run_is_cut_short) {
  for (const std::string transport : {"zmq", "nng"}) {
    if (!is_in_this_build(transport))
      continue;
    const std::vector<std::string> endless{"rtt",    "-t", transport,  "--rounds", "10000000",
                                           "--json", "-",  "--repeat", "1"};
    bench interrupted(endless);
    BOOST_REQUIRE(eventually([&] { return interrupted.has_temporary_files(); }));
    interrupted.press_ctrl_c();
    BOOST_TEST(interrupted.wait() == 130);
    BOOST_TEST(!interrupted.has_temporary_files());

    bench failed(endless);
    BOOST_REQUIRE(eventually([&] { return failed.sides().size() == 2; }));
    BOOST_TEST(failed.has_temporary_files());
    ::kill(failed.sides().front(), SIGKILL);
    BOOST_TEST(failed.wait() == 1);
    BOOST_TEST(!failed.has_temporary_files());
  }
}

BOOST_AUTO_TEST_CASE(a_run_that_fails_leaves_the_others) {
  bench b({"rtt,throughput", "-t", "uds", "--rounds", "10000000", "--messages", "100", "--json",
           "-", "--repeat", "2"});
  BOOST_REQUIRE(eventually([&] { return b.sides().size() == 2; }));
  ::kill(b.sides().front(), SIGKILL);
  BOOST_TEST(b.wait() == 1);
  BOOST_TEST(b.err() == "sysipc-bench: rtt of uds, 64 bytes: the first side (CPU " + first_cpu() +
                            ") died: signal Killed\n");
  const auto results = b.json();
  BOOST_REQUIRE(results.size() == 1U);
  BOOST_TEST(results.front().at("bench").as_string() == "throughput");
  BOOST_TEST(results.front().at("repeat").to_number<int>() == 2);
}

BOOST_AUTO_TEST_CASE(a_duration_chooses_the_counts) {
  bench b({"limits,rtt,throughput", "-t", "uds", "--size", "64", "--receiver", "full", "--duration",
           "0.05", "--json", "-", "--repeat", "1"});
  BOOST_TEST(b.wait() == 0, b.err());
  std::multiset<std::string> found;
  for (const auto& value : b.json()) {
    const auto& o = value.as_object();
    // Neither what is usual nor what the first short run had: far from both.
    const auto* count = o.contains("rounds") ? &o.at("rounds") : &o.at("messages");
    BOOST_TEST(count->to_number<double>() > 0, value);
    BOOST_TEST(count->to_number<int>() % 100000 != 0, value);
    found.insert(std::string(o.at("bench").as_string()));
  }
  BOOST_TEST(found.count("limits") == 6U);
  BOOST_TEST(found.count("rtt") == 1U);
  BOOST_TEST(found.count("throughput") == 1U);
}

BOOST_AUTO_TEST_CASE(large_payloads_are_carried_or_told_why_not) {
  const keys of_payload{"bench", "transport", "receiver", "size"};
  const keys of_result{"messages", "gib_per_s", "spread_percent", "repeat", "cpus", "shared_cpu"};
  const keys of_refusal{"supported", "reason"};
  const std::vector<std::string> on_one_cpu{"--cpus", first_cpu() + "," + first_cpu()};
  for (const auto& more : {std::vector<std::string>{}, on_one_cpu}) {
    std::vector<std::string> arguments{
        "payload",  "--size", "3,4097,1048576", "--messages", "7", "--warmup", "2",
        "--repeat", "1",      "--json",         "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    bench b(arguments);
    BOOST_TEST(b.wait() == 0, b.err());
    std::multiset<std::string> found;
    for (const auto& value : b.json()) {
      const auto& o = value.as_object();
      const std::string transport(o.at("transport").as_string());
      const bool foreign_library = transport == "zmq" || transport == "nng";
      const bool supported = !foreign_library || is_in_this_build(transport);
      const bool of_channel = transport == "send" || transport == "loan";
      BOOST_TEST(keys_of(o) == of_payload + (supported ? of_result : of_refusal) +
                                   (of_channel ? of_rings : keys{}),
                 value);
      if (supported)
        BOOST_TEST(o.at("gib_per_s").to_number<double>() > 0, value);
      else
        BOOST_TEST(!o.at("supported").as_bool(), value);
      found.insert(transport + " " + std::string(o.at("receiver").as_string()) + " " +
                   std::to_string(o.at("size").to_number<int>()));
    }
    std::multiset<std::string> expected;
    for (const std::string transport : {"send", "loan", "zmq", "nng", "uds"})
      for (const std::string receiver : {"sampled", "full"})
        for (const std::string size : {"3", "4097", "1048576"})
          expected.insert(transport + " " + receiver + " " + size);
    BOOST_TEST(found == expected, boost::test_tools::per_element());
    BOOST_TEST(!b.has_temporary_files());
  }
}

BOOST_AUTO_TEST_CASE(payloads_and_their_limits_have_sizes_of_their_own) {
  const std::set<std::int64_t> expected{1 << 10, 1 << 14, 1 << 16, 1 << 18, 1 << 20,
                                        1 << 22, 1 << 23, 1 << 24, 1 << 26};
  bench payload({"payload", "-t", "loan", "--messages", "1", "--warmup", "0", "--repeat", "1",
                 "--json", "-"});
  bench limits({"limits", "--receiver", "sampled", "--messages", "1", "--warmup", "0", "--rounds",
                "10", "--repeat", "1", "--json", "-"});
  BOOST_TEST(payload.wait() == 0, payload.err());
  BOOST_TEST(limits.wait() == 0, limits.err());
  BOOST_TEST(payload.json().size() == 2 * expected.size());
  BOOST_TEST(limits.json().size() == 2 + 4 * expected.size());
  std::set<std::int64_t> found;
  for (const auto& value : payload.json())
    found.insert(value.at("size").to_number<std::int64_t>());
  BOOST_TEST(found == expected, boost::test_tools::per_element());
  found.clear();
  const keys of_limit{"bench",     "metric",         "slots",  "receiver", "size",      "messages",
                      "gib_per_s", "spread_percent", "repeat", "cpus",     "shared_cpu"};
  for (const auto& value : limits.json())
    if (const auto& o = value.as_object(); o.contains("size")) {
      BOOST_TEST(keys_of(o) == of_limit, value);
      found.insert(o.at("size").to_number<std::int64_t>());
    }
  BOOST_TEST(found == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(no_payload_is_too_large_for_the_ring) {
  bench b({"payload", "-t", "send,loan", "--capacity", "4096", "--size",
           "4080,4081,67108864,100000000", "--receiver", "full", "--messages", "3", "--warmup", "0",
           "--repeat", "1", "--json", "-"});
  BOOST_TEST(b.wait() == 0, b.err());
  const auto results = b.json();
  BOOST_TEST(results.size() == 8U);
  for (const auto& value : results)
    BOOST_TEST(value.at("gib_per_s").to_number<double>() > 0, value);
}

BOOST_AUTO_TEST_CASE(what_goes_in_the_ring_can_be_chosen) {
  for (const std::string limit : {"0", "1000000"}) {
    bench b({"payload,rtt,throughput", "-t", "channel,send", "--size", "8,300000", "--inline-limit",
             limit, "--receiver", "full", "--messages", "20", "--warmup", "0", "--rounds", "20",
             "--repeat", "1", "--json", "-"});
    // "channel" is not of payload, nor is "send" of the others.
    BOOST_TEST(b.wait() == 0, b.err());
    for (const auto& value : b.json())
      BOOST_TEST(std::to_string(value.at("inline_limit").to_number<int>()) == limit, value);
  }
}

BOOST_AUTO_TEST_CASE(a_large_payload_is_compared_with_the_limit_of_its_kind) {
  bench b({"limits,payload", "-t", "send,uds", "--size", "4096", "--messages", "50", "--rounds",
           "50", "--repeat", "1", "--json", "-"});
  BOOST_TEST(b.wait() == 0, b.err());
  std::multiset<std::string> with, without;
  for (const auto& value : b.json())
    if (value.at("bench").as_string() == "payload")
      (value.as_object().contains("vs_limit") ? with : without)
          .insert(std::string(value.at("transport").as_string()));
  BOOST_TEST(with == (std::multiset<std::string>{"send", "send"}),
             boost::test_tools::per_element());
  BOOST_TEST(without == (std::multiset<std::string>{"uds", "uds"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(every_rung_of_the_ladder_is_climbed) {
  const keys of_ladder{"bench",          "transport", "rounds", "p50_us",    "p99_us",
                       "spread_percent", "repeat",    "cpus",   "shared_cpu"};
  for (const std::string& both : {cpus(), first_cpu() + "," + first_cpu()}) {
    bench b({"ladder", "--rounds", "20", "--repeat", "1", "--json", "-", "--cpus", both});
    BOOST_TEST(b.wait() == 0, b.err());
    std::vector<std::string> found;
    for (const auto& value : b.json()) {
      const auto& o = value.as_object();
      found.emplace_back(o.at("transport").as_string());
      if (o.contains("supported")) {
        BOOST_TEST(found.back() == "mq"); // some containers have none
        continue;
      }
      keys expected = of_ladder;
      if (found.back() == "channel")
        expected = expected + of_rings;
      else if (found.back() == "doorbell")
        expected.insert("backend");
      BOOST_TEST(keys_of(o) == expected, value);
      BOOST_TEST(o.at("p50_us").to_number<double>() > 0, value);
    }
    BOOST_TEST(found == (std::vector<std::string>{"futex", "pipe", "eventfd", "mq", "uds", "poll",
                                                  "doorbell", "channel"}),
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_rung_that_is_not_there_is_told) {
  rlimit before{};
  BOOST_REQUIRE(::getrlimit(RLIMIT_MSGQUEUE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  BOOST_REQUIRE(::setrlimit(RLIMIT_MSGQUEUE, &none) == 0);
  bench b({"ladder", "-t", "mq,uds", "--rounds", "20", "--repeat", "1", "--json", "-"});
  bench table({"ladder", "-t", "mq,uds", "--rounds", "20", "--repeat", "1"});
  BOOST_REQUIRE(::setrlimit(RLIMIT_MSGQUEUE, &before) == 0);
  BOOST_TEST(b.wait() == 0, b.err());
  BOOST_TEST(table.wait() == 0, table.err());
  const auto results = b.json();
  BOOST_REQUIRE(results.size() == 2U);
  BOOST_TEST(keys_of(results[0].as_object()) ==
             (keys{"bench", "transport", "supported", "reason"}));
  BOOST_TEST(results[1].at("transport").as_string() == "uds");
  BOOST_TEST(results[1].as_object().contains("p50_us"));
  BOOST_TEST(table.out().find("mq: no POSIX message queues here: mq_open: ") != std::string::npos,
             table.out());
}

/// The rows of a short run.
boost::json::array measure(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--repeat", "1", "--json", "-"});
  bench b(arguments);
  BOOST_TEST(b.wait() == 0, b.err());
  return b.json();
}

std::string text(const boost::json::value& row, const char* key) {
  return std::string(row.at(key).as_string());
}

double number(const boost::json::value& row, const char* key) {
  return row.at(key).to_number<double>();
}

const keys of_any_run{"bench", "spread_percent", "repeat", "cpus", "shared_cpu"};

BOOST_AUTO_TEST_CASE(a_waiting_receiver_uses_no_cpu_unless_it_spins) {
  std::multiset<std::string> found;
  double spinning = 0;
  double sleeping = 0;
  for (const auto& row :
       measure({"idle", "-t", "channel,channel-callback,uds,uds-asio,ring", "--seconds", "0.2"})) {
    const bool foreign = text(row, "transport").compare(0, 3, "uds") == 0;
    const keys members = of_any_run +
                         keys{"transport", "seconds", "cpu_percent", "voluntary_switches_per_s",
                              "involuntary_switches_per_s"} +
                         (foreign ? keys{} : keys{"backend", "policy"});
    BOOST_TEST(keys_of(row.as_object()) == members, row);
    BOOST_TEST(number(row, "seconds") == 0.2, row);
    const std::string policy = foreign ? "" : " " + text(row, "policy");
    found.insert(text(row, "transport") + policy);
    double& cpu = policy == " busy" ? spinning : sleeping;
    cpu = policy == " busy" ? std::min(spinning == 0 ? 100 : spinning, number(row, "cpu_percent"))
                            : std::max(sleeping, number(row, "cpu_percent"));
  }
  const std::multiset<std::string> expected{"channel adaptive",
                                            "channel sleepy",
                                            "channel busy",
                                            "channel kick_always",
                                            "channel-callback adaptive",
                                            "uds",
                                            "uds-asio",
                                            "ring busy"};
  BOOST_TEST(found == expected, boost::test_tools::per_element());
  BOOST_TEST(spinning > sleeping);
}

BOOST_AUTO_TEST_CASE(strategies_tell_what_a_kick_and_an_idle_receiver_cost) {
  const auto rows = measure({"strategies", "--messages", "2000", "--seconds", "0.2"});
  BOOST_REQUIRE(rows.size() == 3U);
  for (const auto& row : rows) {
    const keys members = of_all + of_rings + of_kicks +
                         keys{"strategy", "messages", "mmsg_per_s", "idle_cpu_percent", "vs_busy"};
    BOOST_TEST(keys_of(row.as_object()) == members, row);
  }
  const auto &busy = rows[0], &kick_always = rows[1], &adaptive = rows[2];
  BOOST_TEST(text(busy, "strategy") == "busy");
  BOOST_TEST(number(busy, "kicks") == 0);
  BOOST_TEST(number(busy, "sleeps") == 0);
  BOOST_TEST(number(busy, "vs_busy") == 1);
  BOOST_TEST(text(kick_always, "strategy") == "kick_always");
  BOOST_TEST(number(kick_always, "kicks") == 2000);
  BOOST_TEST(number(kick_always, "kicks_avoided_percent") == 0);
  BOOST_TEST(text(adaptive, "strategy") == "adaptive");
  BOOST_TEST(number(busy, "idle_cpu_percent") > number(adaptive, "idle_cpu_percent"));
}

BOOST_AUTO_TEST_CASE(the_spin_sweep_ends_with_spinning_only) {
  auto rows = measure({"spin-sweep", "--messages", "500"});
  const keys expected = of_all + of_rings + of_kicks + keys{"messages", "mmsg_per_s"};
  const keys bounded = expected + keys{"spin_limit", "spin_limit_ns"};
  BOOST_REQUIRE(!rows.empty());
  BOOST_TEST(keys_of(rows.back().as_object()) == expected, rows.back());
  BOOST_TEST(text(rows.back(), "policy") == "busy");
  rows.pop_back();
  const std::vector<int> all_looks{10, 50, 100, 500, 1000, 2000, 5000, 10000};
  std::vector<int> looks;
  double before = 0;
  for (const auto& row : rows) {
    BOOST_TEST(keys_of(row.as_object()) == bounded, row);
    BOOST_TEST(text(row, "policy") == "adaptive");
    looks.push_back(row.at("spin_limit").to_number<int>());
    BOOST_TEST(number(row, "spin_limit_ns") > before, row);
    before = number(row, "spin_limit_ns");
  }
  BOOST_TEST(looks == all_looks, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(wake_lets_some_time_pass_before_each_round_trip) {
  std::multiset<std::string> found;
  for (const auto& row : measure({"wake", "-t", "channel,pipe", "--rounds", "1"})) {
    const bool channel = text(row, "transport") == "channel";
    const keys members = of_all + (channel ? of_rings : keys{}) +
                         keys{"silence_ms", "rounds", "rtt_p50_ns", "rtt_p99_ns"};
    BOOST_TEST(keys_of(row.as_object()) == members, row);
    found.insert(text(row, "transport") + " " + std::to_string(row.at("silence_ms").as_int64()) +
                 (channel ? " " + text(row, "policy") : ""));
    // Were the silence part of it, the time would be as long.
    BOOST_TEST(number(row, "rtt_p50_ns") < 1e9, row);
  }
  const std::multiset<std::string> expected{"channel 0 sleepy",
                                            "channel 1 adaptive",
                                            "channel 100 adaptive",
                                            "channel 1000 adaptive",
                                            "pipe 0",
                                            "pipe 1",
                                            "pipe 100",
                                            "pipe 1000"};
  BOOST_TEST(found == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(scale_serves_up_to_256_channels) {
  std::vector<std::string> found;
  for (const auto& row : measure({"scale", "--rounds", "300", "--warmup", "1"})) {
    const keys members =
        of_all + of_rings + keys{"channels",   "busy_channels", "rounds", "rtt_p50_ns",
                                 "rtt_p99_ns", "mmsg_per_s",    "vs_one"};
    BOOST_TEST(keys_of(row.as_object()) == members, row);
    BOOST_TEST(number(row, "mmsg_per_s") > 0, row);
    found.push_back(std::to_string(row.at("channels").as_int64()) + "/" +
                    std::to_string(row.at("busy_channels").as_int64()));
  }
  const std::vector<std::string> expected{"1/1",   "2/1",   "2/2",     "4/1",   "4/4",    "8/1",
                                          "8/8",   "16/1",  "16/16",   "32/1",  "32/32",  "64/1",
                                          "64/64", "128/1", "128/128", "256/1", "256/256"};
  BOOST_TEST(found == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_descriptors_do_not_suffice_for_is_listed_with_the_reason) {
  const scratch_directory scratch;
  const fs::path limited = scratch.path() / "limited";
  std::ofstream(limited) << "#!/bin/sh\nulimit -n 512\nexec " SYSIPC_ASIO_TEST_BENCH " \"$@\"\n";
  fs::permissions(limited, fs::perms::owner_all);
  bench json({"scale", "--rounds", "10", "--repeat", "1", "--json", "-"}, nullptr, limited);
  BOOST_TEST(json.wait() == 0, json.err());
  const std::vector<std::int64_t> too_many{128, 128, 256, 256};
  std::vector<std::int64_t> unsupported;
  for (const auto& row : json.json()) {
    if (!row.as_object().contains("supported"))
      continue;
    const keys members = of_rings + keys{"bench",         "transport", "size",  "channels",
                                         "busy_channels", "supported", "reason"};
    BOOST_TEST(keys_of(row.as_object()) == members, row);
    BOOST_TEST(text(row, "reason").find("the hard limit (ulimit -Hn) is 512") != std::string::npos,
               row);
    unsupported.push_back(row.at("channels").as_int64());
  }
  BOOST_TEST(unsupported == too_many, boost::test_tools::per_element());
  BOOST_TEST(json.json().size() == 17U);

  bench table({"scale", "--rounds", "10", "--repeat", "1"}, nullptr, limited);
  BOOST_TEST(table.wait() == 0, table.err());
  BOOST_TEST(table.out().find("\n256: needs ") != std::string::npos, table.out());
}

/// A directory with a `python3` that does as it is told, and nothing else, as the PATH.
class only_python {
public:
  explicit only_python(const std::string& script) : before_(std::getenv("PATH")) {
    if (!script.empty()) {
      const fs::path program = directory_.path() / "python3";
      std::ofstream(program) << "#!/bin/sh\n" << script << '\n';
      fs::permissions(program, fs::perms::owner_all);
    }
    ::setenv("PATH", directory_.path().c_str(), 1);
  }
  only_python(const only_python&) = delete;
  only_python& operator=(const only_python&) = delete;
  ~only_python() { ::setenv("PATH", before_.c_str(), 1); }

private:
  scratch_directory directory_;
  std::string before_;
};

std::vector<std::string> short_report(const fs::path& directory) {
  return {"limits",     "--size", "64",       "--receiver", "full",     "--rounds", "10",
          "--messages", "10",     "--repeat", "1",          "--report", directory};
}
constexpr std::size_t rows_of_short_report = 7; // one of them about the machine

BOOST_AUTO_TEST_CASE(a_report_is_made_of_results_and_of_the_machine) {
  const scratch_directory scratch;
  const fs::path directory = scratch.path() / "new" / "report";
  const only_python python("echo \"$@\" >\"$2/arguments\"");
  bench b(short_report(directory));
  BOOST_TEST(b.wait() == 0, b.err());
  BOOST_TEST(b.err() == "");
  BOOST_TEST(b.out().find("cacheline_pingpong") != std::string::npos);
  const std::string arguments = contents(directory / "arguments");
  BOOST_TEST(arguments.find("/bench/report.py " + directory.string() + "\n") != std::string::npos,
             arguments);
  const auto rows = boost::json::parse(contents(directory / "results.json")).as_array();
  BOOST_REQUIRE(rows.size() == rows_of_short_report);
  const auto& machine = rows.back();
  const keys members{"bench",    "cpu",   "logical_cpus", "virtual", "kernel",
                     "compiler", "boost", "version",      "driver",  "date"};
  BOOST_TEST(keys_of(machine.as_object()) == members, machine);
  BOOST_TEST(text(machine, "bench") == "machine");
  BOOST_TEST(text(machine, "cpu") != "");
  BOOST_TEST(text(machine, "virtual") != "");
  BOOST_TEST(number(machine, "logical_cpus") >= 1);
  BOOST_TEST(text(machine, "kernel").rfind("Linux ", 0) == 0U);
  BOOST_TEST(text(machine, "date").size() == std::string("2026-01-01T00:00:00Z").size());
}

BOOST_AUTO_TEST_CASE(results_stay_when_no_report_can_be_made) {
  const std::string there_is_none, it_fails = "exit 3";
  for (const auto& script : {there_is_none, it_fails}) {
    const scratch_directory directory;
    const only_python python(script);
    bench b(short_report(directory.path()));
    BOOST_TEST(b.wait() == 1);
    const std::string reason = b.err();
    BOOST_TEST(std::count(reason.begin(), reason.end(), '\n') == 1, reason);
    BOOST_TEST(reason.find(script.empty() ? "(python3: No such file or directory)"
                                          : "report.py: exit status 3)") != std::string::npos,
               reason);
    BOOST_TEST(reason.find("; to make it: python3 ") != std::string::npos, reason);
    BOOST_TEST(boost::json::parse(contents(directory.path() / "results.json")).as_array().size() ==
               rows_of_short_report);
  }
}

BOOST_AUTO_TEST_CASE(a_directory_that_cannot_be_written_is_told_before_measuring) {
  bench b({"rtt", "-t", "uds", "--rounds", "100000000", "--report", SYSIPC_ASIO_TEST_BENCH "/in"});
  BOOST_TEST(b.wait() == 1);
  BOOST_TEST(b.err().find("can't make the directory " SYSIPC_ASIO_TEST_BENCH "/in: ") !=
                 std::string::npos,
             b.err());
}

BOOST_AUTO_TEST_CASE(progress_is_for_terminals) {
  const std::vector<std::string> short_run{"rtt",      "-t", "uds",    "--rounds", "10",
                                           "--repeat", "2",  "--json", "-"};
  bench quiet(short_run);
  BOOST_TEST(quiet.wait() == 0);
  BOOST_TEST(quiet.err() == "");

  const unique_fd terminal(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  BOOST_REQUIRE((::grantpt(terminal.get()) == 0 && ::unlockpt(terminal.get()) == 0));
  char name[64];
  BOOST_REQUIRE(::ptsname_r(terminal.get(), name, sizeof name) == 0);
  const unique_fd other_end(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)); // keeps what is written
  ::setenv("TERM", "dumb", 1);
  bench dumb(short_run, name);
  BOOST_TEST(dumb.wait() == 0);
  ::setenv("TERM", "xterm", 1);
  bench shown(short_run, name);
  BOOST_TEST(shown.wait() == 0);
  char text[4096];
  const ssize_t n = ::read(terminal.get(), text, sizeof text);
  BOOST_REQUIRE(n > 0);
  const std::string progress(text, static_cast<std::size_t>(n));
  const auto last = progress.find("2/2  rtt of uds, 64 bytes");
  BOOST_TEST(last != std::string::npos);
  BOOST_TEST(progress.find("2/2", last + 1) == std::string::npos); // nothing from the dumb one
  BOOST_TEST(shown.json().size() == 1U);
}

BOOST_AUTO_TEST_CASE(nonsense_is_told_in_a_line) {
  const std::vector<std::vector<std::string>> nonsense{
      {"rtt", "--size", "8,x"},
      {"rtt", "--size", "8,"},
      {"rtt", "-t", "nobody"},
      {"rtt", "-t", "channel-consume"},
      {"throughput", "-t", "ring", "--size", "8,1000000"},
      {"rtt", "--inline-limit", "-1"},
      {"throughput", "-t", "lockfree-spsc", "--size", "65537"},
      {"rtt,nothing"},
      {"rtt,"},
      {"rtt", "--duration", "0"},
      {"rtt", "--duration", "1s"},
      {"rtt", "--duration", "nan"},
      {"rtt", "--duration", "1", "--rounds", "10"},
      {"throughput", "--duration", "1", "--messages", "10"},
      {"strategies", "-t", "uds,pipe"},
      {"wake", "-t", "zmq"},
      {"scale", "-t", "ring"},
      {"idle", "-t", "channel-consume"},
      {"idle", "--seconds", "0"},
      {"limits", "--report", ""},
      {"limits", "--report", "somewhere", "--json", "-"},
      {"idle", "--seconds", "-1"},
      {"payload", "--receiver", "half"},
      {"payload", "--receiver", "sampled,full"},
      {"payload", "-t", "ring"},
      {"rtt", "-t", "send"},
      {"ladder", "-t", "zmq"},
  };
  for (const auto& arguments : nonsense) {
    bench b(arguments);
    BOOST_TEST(b.wait() == 2);
    const std::string reason = b.err();
    BOOST_TEST(std::count(reason.begin(), reason.end(), '\n') == 1, reason);
    BOOST_TEST(b.out() == "");
  }
}
