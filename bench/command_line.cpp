// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "command_line.hpp"
#include <algorithm>
#include <array>
#include <bit>
#include <boost/program_options.hpp>
#include <charconv>
#include <limits>
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

const subject& parse_transport(std::string_view text) {
  std::string known;
  for (const subject& candidate : transports()) {
    if (candidate.name != text)
      append(known, candidate.name);
    else if (candidate.present())
      return candidate;
    else
      throw usage_error("this build has no " + std::string(text) +
                        ": its library was not there when it was configured");
  }
  throw usage_error("--transport must be one of " + known + ", not '" + std::string(text) + "'");
}

std::vector<const subject*> parse_transports(std::string_view text, std::string& note) {
  std::vector<const subject*> result;
  const auto add = [&result](const subject& t) {
    if (std::find(result.begin(), result.end(), &t) == result.end())
      result.push_back(&t);
  };
  for (const std::string_view name : split(text)) {
    if (name != "all") {
      add(parse_transport(name));
      continue;
    }
    std::string absent;
    for (const subject& t : transports())
      if (t.present())
        add(t);
      else
        append(absent, t.name);
    if (!absent.empty())
      note = "this build has no " + absent;
  }
  return result;
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

std::vector<bench_kind> parse_kinds(std::string_view text) {
  constexpr std::array kinds{bench_kind::limits, bench_kind::rtt, bench_kind::throughput};
  if (text == "all")
    return {kinds.begin(), kinds.end()};
  return {parse_name("the benchmark", text, kinds)};
}

/// What is sensible by itself but not together.
void check(const plan& p, bool transports_given) {
  const auto capacity = layout::make_geometry(p.common.capacity, layout::page).ring_capacity;
  const std::size_t size = *std::max_element(p.sizes.begin(), p.sizes.end());
  for (const subject* t : p.transports) {
    if (t->kind != family::foreign && size > layout::max_payload(capacity)) {
      std::ostringstream s;
      s << "--size " << size << " does not fit into a ring of " << capacity
        << " bytes (--capacity); the most is " << layout::max_payload(capacity);
      throw usage_error(s.str());
    }
    if (size > t->max_size) {
      std::ostringstream s;
      s << "--size " << size << ": " << t->name << " carries at most " << t->max_size << " bytes";
      throw usage_error(s.str());
    }
  }
  if (transports_given && p.kinds == std::vector{bench_kind::rtt})
    for (const subject* t : p.transports)
      if (t->rtt == nullptr)
        throw usage_error(std::string(t->name) + " measures throughput only");
}

} // namespace

command parse_command_line(int argc, const char* const* argv) {
  std::string transports = "all";
  std::string policy, fence, backend, size, capacity, repeat, cpus, messages, rounds, warmup, kind;
  command result;
  po::options_description visible("Options");
  auto add = visible.add_options();
  add("help,h", "print this and exit");
  add("transport,t", po::value(&transports)->value_name("LIST"),
      ("any of " + describe_transports() + ", separated by commas; all (default)").c_str());
  add("policy", po::value(&policy)->default_value("adaptive")->value_name("NAME"),
      "how a channel waits: adaptive, busy, sleepy, kick_always");
  add("fence", po::value(&fence)->default_value("asymmetric")->value_name("NAME"),
      "asymmetric or symmetric");
  add("backend", po::value(&backend)->default_value("automatic")->value_name("NAME"),
      "of channels: automatic, kernel or interprocess");
  add("size", po::value(&size)->default_value("64")->value_name("LIST"),
      "payload of each message in bytes; several, separated by commas, are run one after "
      "the other");
  add("messages", po::value(&messages)->value_name("N"),
      "messages per throughput run; by default 300000 to 5000000, depending on the transport, "
      "and no more than 4 GiB");
  add("rounds", po::value(&rounds)->value_name("N"),
      "round trips per rtt run; by default 200000, or 20000 where the sides sleep, and no more "
      "than 4 GiB");
  add("warmup", po::value(&warmup)->value_name("N"),
      "messages or round trips before the measured ones; a tenth of them by default");
  add("repeat", po::value(&repeat)->default_value("5")->value_name("N"),
      "runs of each kind; the result is the median");
  add("capacity", po::value(&capacity)->default_value("262144")->value_name("BYTES"),
      "size of each ring");
  add("cpus", po::value(&cpus)->default_value("0,1")->value_name("A,B"),
      "where the two processes run");
  add("json", po::value(&result.json)->value_name("FILE"),
      "write JSON there instead of a table; - is the standard output");
  po::options_description all;
  all.add(visible).add_options()("bench", po::value(&kind));
  po::positional_options_description positional;
  positional.add("bench", 1);

  po::variables_map given;
  po::store(po::command_line_parser(argc, argv).options(all).positional(positional).run(), given);
  po::notify(given);
  if (given.count("help") != 0) {
    std::ostringstream s;
    s << "Usage: sysipc-bench limits|rtt|throughput|all [options]\n"
         "Measures channels, their rings and what else there is between two processes.\n\n"
      << visible;
    result.help = s.str();
    return result;
  }
  if (kind.empty())
    throw usage_error("say what to measure: limits, rtt, throughput or all (see --help)");
  if (given.count("json") != 0 && result.json.empty())
    throw usage_error("--json needs a file, or - for the standard output");

  using sysipc_asio::fence_mode;
  using sysipc_asio::wait_policy;
  plan& p = result.what;
  p.kinds = parse_kinds(kind);
  p.transports = parse_transports(transports, result.note);
  p.common.policy = parse_name("--policy", policy,
                               std::array{wait_policy::adaptive, wait_policy::busy,
                                          wait_policy::sleepy, wait_policy::kick_always});
  p.common.fences =
      parse_name("--fence", fence, std::array{fence_mode::asymmetric, fence_mode::symmetric});
  p.common.backend =
      parse_name("--backend", backend,
                 std::array{sysipc_asio::backend::automatic, sysipc_asio::backend::kernel,
                            sysipc_asio::backend::interprocess});
  p.sizes = parse_sizes(size);
  p.common.capacity =
      parse_number("capacity", capacity, layout::min_ring_capacity, layout::max_ring_capacity);
  p.common.cpus = parse_cpus(cpus);
  p.repeat = static_cast<int>(parse_number("repeat", repeat, 1, 1000));
  constexpr std::uint64_t most_messages = 1'000'000'000'000;
  constexpr std::uint64_t most_rounds = 100'000'000; // each is a sample in memory
  if (!messages.empty())
    p.messages = parse_number("messages", messages, 1, most_messages);
  if (!rounds.empty())
    p.rounds = parse_number("rounds", rounds, 1, most_rounds);
  if (!warmup.empty())
    p.warmup = parse_number("warmup", warmup, 0, most_messages);
  check(p, given.count("transport") != 0 && transports != "all");
  return result;
}

} // namespace bench
