// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "command_line.hpp"
#include "benchmark.hpp"
#include "names.hpp"
#include <algorithm>
#include <array>
#include <bit>
#include <boost/program_options.hpp>
#include <charconv>
#include <iomanip>
#include <sstream>
#include <string_view>
#include <sysipc_asio/layout.hpp>

namespace bench {
namespace {

namespace po = boost::program_options;
namespace layout = sysipc_asio::layout;

std::uint64_t parse_number(std::string_view option, std::string_view text, std::uint64_t least,
                           std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    std::ostringstream s;
    s << "--" << option << " must be a number from " << least << " to " << most << ", not '" << text
      << "'";
    throw usage_error(s.str());
  }
  return value;
}

void append(std::string& list, std::string_view name) {
  (list += list.empty() ? "" : ", ") += name;
}

/// The one of `candidates` that is called `text`.
template <typename T, std::size_t N>
T parse_name(std::string_view option, std::string_view text, const std::array<T, N>& candidates) {
  std::string known;
  for (const T candidate : candidates) {
    if (name_of(candidate) == text)
      return candidate;
    append(known, name_of(candidate));
  }
  throw usage_error(std::string(option) + " must be one of " + known + ", not '" +
                    std::string(text) + "'");
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos)
      return parts;
    text.remove_prefix(comma + 1);
  }
}

/// The names of the transports, and what is special about some.
std::string describe_transports() {
  std::string names;
  for (const subject& t : transports()) {
    append(names, t.name);
    if (!t.present())
      names += " (not in this build)";
    else if (t.rtt == nullptr)
      names += " (throughput only)";
  }
  return names;
}

/// Null if it is none of the table's.
const subject* find_transport(std::string_view name) {
  const auto table = transports();
  const auto it =
      std::find_if(table.begin(), table.end(), [&](const subject& t) { return t.name == name; });
  return it == table.end() ? nullptr : &*it;
}

/// The names of the transports that only this benchmark has.
std::string names_of_own_transports(const benchmark& b) {
  std::string names;
  for (const std::string_view name : b.transports)
    if (find_transport(name) == nullptr)
      append(names, name);
  return names;
}

/// The transports of any of these benchmarks, each once.
std::vector<std::string_view> transports_of(const std::vector<const benchmark*>& kinds) {
  std::vector<std::string_view> names;
  const auto add = [&names](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  };
  for (const benchmark* b : kinds) {
    if (b->transports.empty())
      for (const subject& t : transports())
        add(t.name);
    for (const std::string_view name : b->transports)
      add(name);
  }
  return names;
}

/// Throws usage_error if nothing that is to be run has this transport.
void check_transport(std::string_view name, const std::vector<const benchmark*>& kinds) {
  const auto known = transports_of(kinds);
  if (std::find(known.begin(), known.end(), name) != known.end())
    return;
  std::string names;
  for (const std::string_view candidate : known)
    append(names, candidate);
  throw usage_error("--transport must be one of " + names + ", not '" + std::string(name) + "'");
}

std::string describe_own_transports() {
  std::string text;
  for (const benchmark* b : benchmarks())
    if (const std::string names = names_of_own_transports(*b); !names.empty())
      text += "; for " + std::string(b->name) + " also " + names;
  return text;
}

const subject& require_present(const subject& t) {
  if (!t.present())
    throw usage_error("this build has no " + std::string(t.name) +
                      ": its library was not there when it was configured");
  return t;
}

void parse_transports(plan& p, std::string_view text, std::string& note) {
  const auto add = [&](const subject& t) {
    if (std::find(p.transports.begin(), p.transports.end(), &t) == p.transports.end())
      p.transports.push_back(&t);
  };
  bool every = false;
  for (const std::string_view name : split(text)) {
    if (name != "all") {
      check_transport(name, p.kinds);
      p.transport_names.emplace_back(name);
      if (const subject* t = find_transport(name))
        add(require_present(*t));
      continue;
    }
    every = true;
    std::string absent;
    for (const subject& t : transports())
      if (t.present())
        add(t);
      else
        append(absent, t.name);
    if (!absent.empty())
      note = "this build has no " + absent;
  }
  if (every)
    p.transport_names.clear();
}

receiver_kind parse_receiver(std::string_view text) {
  return parse_name("--receiver", text, std::array{receiver_kind::sampled, receiver_kind::full});
}

std::vector<std::size_t> parse_sizes(std::string_view text) {
  std::vector<std::size_t> result;
  for (const std::string_view part : split(text)) {
    const std::size_t size =
        parse_number("size", part, 1, layout::max_payload(layout::max_ring_capacity));
    if (std::find(result.begin(), result.end(), size) == result.end())
      result.push_back(size);
  }
  return result;
}

placement parse_cpus(std::string_view text) {
  const auto parts = split(text);
  if (parts.size() != 2)
    throw usage_error("--cpus must be two numbers, such as 0,1");
  const auto cpu = [](std::string_view part) {
    return static_cast<int>(parse_number("cpus", part, 0, CPU_SETSIZE - 1));
  };
  return {cpu(parts[0]), cpu(parts[1])};
}

/// The names of the benchmarks, as a list.
std::string names_of_benchmarks() {
  std::string names;
  for (const benchmark* b : benchmarks())
    append(names, b->name);
  return names;
}

std::vector<const benchmark*> parse_kinds(std::string_view text) {
  if (text.empty())
    throw usage_error("say what to measure: " + names_of_benchmarks() + " or all (see --help)");
  const auto known = benchmarks();
  if (text == "all")
    return {known.begin(), known.end()};
  std::vector<const benchmark*> result;
  for (const std::string_view name : split(text)) {
    const auto it =
        std::find_if(known.begin(), known.end(), [&](auto* b) { return b->name == name; });
    if (it == known.end())
      throw usage_error("the benchmark must be one of " + names_of_benchmarks() +
                        ", or all, not '" + std::string(name) + "'");
    if (std::find(result.begin(), result.end(), *it) == result.end())
      result.push_back(*it);
  }
  return result;
}

std::chrono::duration<double> parse_seconds(std::string_view option, std::string_view text,
                                            double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0.001) ||
      value > most) {
    std::ostringstream s;
    s << "--" << option << " must be from 0.001 to " << most << " seconds, not '" << text << "'";
    throw usage_error(s.str());
  }
  return std::chrono::duration<double>(value);
}

/// The options as they were written, or by default.
struct texts {
  std::string kind;
  std::string transports = "all";
  std::string policy, fence, backend, size, capacity, inline_limit, cpus;
  std::string receiver;                                            // empty: both
  std::string repeat, messages, rounds, warmup, duration, seconds; // empty: depends
};

po::options_description describe_options(texts& t, command& result) {
  po::options_description visible("Options");
  auto add = visible.add_options();
  add("help,h", "print this and exit");
  add("transport,t", po::value(&t.transports)->value_name("LIST"),
      ("any of " + describe_transports() + describe_own_transports() +
       ", separated by commas; all (default)")
          .c_str());
  add("policy", po::value(&t.policy)->default_value("adaptive")->value_name("NAME"),
      "how a channel waits: adaptive, busy, sleepy, kick_always");
  add("fence", po::value(&t.fence)->default_value("asymmetric")->value_name("NAME"),
      "asymmetric or symmetric");
  add("backend", po::value(&t.backend)->default_value("automatic")->value_name("NAME"),
      "of channels: automatic, kernel or interprocess");
  add("size", po::value(&t.size)->default_value("64")->value_name("LIST"),
      "payload of each message in bytes; rtt and throughput run several, separated by commas, "
      "one after the other, while benchmarks of one size take 64 then. Unless it is given, payload "
      "and its limits have sizes of their own, up to 64 MiB, and a report has 8 to 65536");
  add("messages", po::value(&t.messages)->value_name("N"),
      "messages per throughput run; by default 300000 to 5000000, depending on the transport, "
      "and no more than 4 GiB; 1 GiB of payload");
  add("rounds", po::value(&t.rounds)->value_name("N"),
      "round trips per rtt run; by default 200000, or 20000 where the sides sleep, and no more "
      "than 4 GiB; 2000 of the ladder");
  add("warmup", po::value(&t.warmup)->value_name("N"),
      "messages or round trips before the measured ones; a tenth of them by default");
  add("duration", po::value(&t.duration)->value_name("SECONDS"),
      "instead of a number of messages or rounds: short runs first find out how many each "
      "measurement makes in that time, and all its runs make as many, after a tenth to warm up");
  add("seconds", po::value(&t.seconds)->value_name("SECONDS"),
      "how long idle (5 by default, or 2 beside other benchmarks) and strategies (1) wait for a "
      "message");
  add("repeat", po::value(&t.repeat)->value_name("N"),
      "runs of each kind, 5 by default; the result is the median");
  add("receiver", po::value(&t.receiver)->value_name("NAME"),
      "how much of a message the receiver reads, of payload and its limits: sampled (a few "
      "bytes) or full; both by default");
  add("capacity", po::value(&t.capacity)->default_value("262144")->value_name("BYTES"),
      "size of each ring");
  add("inline-limit", po::value(&t.inline_limit)->value_name("BYTES"),
      "of channels: larger messages are sent by way of the pool; the channel's own choice by "
      "default");
  add("cpus", po::value(&t.cpus)->default_value("0,1")->value_name("A,B"),
      "where the two processes run");
  add("json", po::value(&result.json)->value_name("FILE"),
      "write JSON there instead of a table; - is the standard output");
  add("report", po::value(&result.report)->value_name("DIR"),
      "besides the table, write results.json and make a report of it there; needs python3 and "
      "matplotlib");
  return visible;
}

std::string help_text(const po::options_description& visible) {
  std::ostringstream s;
  s << "Usage: sysipc-bench BENCHMARK[,BENCHMARK...]|all [options]\n"
       "Measures channels, their rings and what else there is between two processes.\n\n"
       "Benchmarks:\n";
  for (const benchmark* b : benchmarks())
    s << "  " << std::left << std::setw(12) << b->name << ' ' << b->help << '\n';
  s << "  all          each of them: 10 minutes, 22 with --report; with --repeat 1 about 2 and 4\n";
  s << '\n' << visible;
  return s.str();
}

void parse_settings(settings& s, const texts& t) {
  using sysipc_asio::fence_mode;
  using sysipc_asio::wait_policy;
  s.policy = parse_name("--policy", t.policy,
                        std::array{wait_policy::adaptive, wait_policy::busy, wait_policy::sleepy,
                                   wait_policy::kick_always});
  s.fences =
      parse_name("--fence", t.fence, std::array{fence_mode::asymmetric, fence_mode::symmetric});
  s.backend = parse_name("--backend", t.backend,
                         std::array{sysipc_asio::backend::automatic, sysipc_asio::backend::kernel,
                                    sysipc_asio::backend::interprocess});
  s.capacity =
      parse_number("capacity", t.capacity, layout::min_ring_capacity, layout::max_ring_capacity);
  if (!t.inline_limit.empty())
    s.inline_limit = parse_number("inline-limit", t.inline_limit, 0, layout::max_ring_capacity);
  s.cpus = parse_cpus(t.cpus);
}

void parse_amounts(plan& p, const texts& t) {
  constexpr std::uint64_t most_messages = 1'000'000'000'000;
  if (!t.repeat.empty())
    p.repeat = static_cast<int>(parse_number("repeat", t.repeat, 1, 1000));
  if (!t.messages.empty())
    p.messages = parse_number("messages", t.messages, 1, most_messages);
  if (!t.rounds.empty())
    p.rounds = parse_number("rounds", t.rounds, 1, most_rounds);
  if (!t.warmup.empty())
    p.warmup = parse_number("warmup", t.warmup, 0, most_messages);
  if (!t.duration.empty())
    p.duration = parse_seconds("duration", t.duration, 3600);
  if (!t.seconds.empty())
    p.seconds = parse_seconds("seconds", t.seconds, 3600);
  if (p.duration && (p.messages || p.rounds || p.warmup))
    throw usage_error("--duration chooses the counts: it goes without --messages, --rounds and "
                      "--warmup");
}

void check(const plan& p) {
  for (const benchmark* b : p.kinds)
    if (b->check != nullptr)
      b->check(p);
  if (std::all_of(p.kinds.begin(), p.kinds.end(), [&](auto* b) { return b->prepare(p).empty(); }))
    throw usage_error(std::string(p.kinds.front()->name) +
                      " has nothing to measure over the transports that were chosen");
}

} // namespace

command parse_command_line(int argc, const char* const* argv) {
  texts t;
  command result;
  const po::options_description visible = describe_options(t, result);
  po::options_description all;
  all.add(visible).add_options()("bench", po::value(&t.kind));
  po::positional_options_description positional;
  positional.add("bench", 1);

  po::variables_map given;
  po::store(po::command_line_parser(argc, argv).options(all).positional(positional).run(), given);
  po::notify(given);
  if (given.count("help") != 0) {
    result.help = help_text(visible);
    return result;
  }
  plan& p = result.what;
  p.kinds = parse_kinds(t.kind);
  if (given.count("json") != 0 && result.json.empty())
    throw usage_error("--json needs a file, or - for the standard output");
  if (given.count("report") != 0 && result.report.empty())
    throw usage_error("--report needs a directory");
  if (!result.report.empty() && !result.json.empty())
    throw usage_error("--report writes JSON, too: it goes without --json");
  parse_transports(p, t.transports, result.note);
  p.transports_chosen = given.count("transport") != 0 && t.transports != "all";
  parse_settings(p.common, t);
  p.sizes = parse_sizes(t.size);
  p.sizes_chosen = !given["size"].defaulted();
  if (!p.sizes_chosen && !result.report.empty())
    p.sizes = {8, 64, 512, 4096, 65536}; // for the charts by size
  if (!t.receiver.empty())
    p.receivers = {parse_receiver(t.receiver)};
  parse_amounts(p, t);
  check(p);
  return result;
}

} // namespace bench
