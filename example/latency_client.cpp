// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

/// Measures how long a message takes to echo_server and back.

#include "program.hpp"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>
#include <boost/histogram.hpp>
#include <boost/histogram/ostream.hpp>
#include <chrono>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <sstream>
#include <sysipc_asio/connect.hpp>
#include <unistd.h>
#include <vector>

namespace {

using namespace example;

struct plan {
  std::size_t size;
  std::size_t warmup;
  std::size_t rounds;
  bool show_progress;
};

auto send(sysipc_asio::channel& to, asio::const_buffer bytes) {
  return to.send(bytes);
}
auto receive(sysipc_asio::channel& from, asio::mutable_buffer bytes) {
  return from.receive(bytes);
}
template <typename Socket>
auto send(Socket& to, asio::const_buffer bytes) {
  return asio::async_write(to, bytes, asio::deferred);
}
template <typename Socket>
auto receive(Socket& from, asio::mutable_buffer bytes) {
  return asio::async_read(from, bytes, asio::deferred);
}

/// @returns what each round took, in nanoseconds.
template <typename Stream>
asio::awaitable<std::vector<std::int64_t>> ping_pong(Stream stream, plan p) {
  using clock = std::chrono::steady_clock;
  std::vector<unsigned char> sent(p.size);
  std::vector<unsigned char> received(p.size);
  for (std::size_t i = 0; i != p.size; ++i)
    sent[i] = static_cast<unsigned char>(i * 31 + 7);
  std::vector<std::int64_t> samples;
  samples.reserve(p.rounds);
  const std::size_t total = p.warmup + p.rounds;
  for (std::uint64_t round = 0; round != total; ++round) {
    std::memcpy(sent.data(), &round, sizeof round);
    const clock::time_point begin = clock::now();
    co_await send(stream, asio::buffer(sent));
    const std::size_t n = co_await receive(stream, asio::buffer(received));
    const clock::time_point end = clock::now();
    if (n != p.size || received != sent)
      throw std::runtime_error("the echo of message " + std::to_string(round) + " is different");
    if (round >= p.warmup)
      samples.push_back(std::chrono::nanoseconds(end - begin).count());
    if (p.show_progress && round % 4096 == 0)
      std::cerr << round * 100 / total << " %\r" << std::flush;
  }
  if (p.show_progress)
    std::cerr << "     \r" << std::flush;
  co_return samples;
}

template <typename Stream>
std::vector<std::int64_t> measure_on(asio::io_context& io, Stream stream, const plan& p) {
  auto samples = asio::co_spawn(io, ping_pong(std::move(stream), p), asio::use_future);
  io.run();
  return samples.get();
}

template <typename Protocol>
typename Protocol::socket connected(asio::io_context& io,
                                    const typename Protocol::endpoint& address,
                                    const std::string& what) {
  typename Protocol::socket socket(io);
  error_code ec;
  socket.connect(address, ec);
  check(ec, what);
  return socket;
}

std::vector<std::int64_t> measure(const po::variables_map& values, const plan& p) {
  sysipc_asio::connect_options options;
  options.channel.policy = wait_policy(values);
  asio::io_context io(1);
  if (values.count("name") != 0) {
    const auto& name = values["name"].as<std::string>();
    error_code ec;
    sysipc_asio::channel channel = sysipc_asio::connect(io.get_executor(), name, options, ec);
    check(ec, "channel " + name);
    return measure_on(io, std::move(channel), p);
  }
  if (values.count("tcp") != 0) {
    const auto& text = values["tcp"].as<std::string>();
    auto socket = connected<tcp>(io, tcp_address(text), "tcp " + text);
    socket.set_option(tcp::no_delay(true));
    return measure_on(io, std::move(socket), p);
  }
  const auto& path = values["unix"].as<std::string>();
  return measure_on(io, connected<unix_stream>(io, unix_address(path), "unix " + path), p);
}

/// The smallest sample that at least this share of all does not exceed.
std::int64_t quantile(const std::vector<std::int64_t>& sorted, double share) {
  const auto rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

std::string readable(std::int64_t ns) {
  std::ostringstream text;
  const auto value = static_cast<double>(ns);
  text << std::fixed << std::setprecision(ns < 10'000 ? 3 : 2);
  if (ns < 1'000'000)
    text << value / 1e3 << " us";
  else if (ns < 1'000'000'000)
    text << value / 1e6 << " ms";
  else
    text << value / 1e9 << " s";
  return text.str();
}

/// From the fastest to the 99.9th percentile; the last line has what is slower.
void print_histogram(const std::vector<std::int64_t>& sorted) {
  namespace bh = boost::histogram;
  const double low = static_cast<double>(sorted.front()) / 1e3;
  const double high = static_cast<double>(quantile(sorted, 0.999)) / 1e3;
  const bh::axis::regular<double, bh::axis::transform::log, bh::use_default,
                          bh::axis::option::overflow_t>
      microseconds(20, low, std::max(high, low * 1.1));
  auto histogram = bh::make_histogram(microseconds);
  for (const std::int64_t sample : sorted)
    histogram(static_cast<double>(sample) / 1e3);
  std::ostringstream text;
  text << histogram;
  // Without the first line, which describes the axis in C++.
  std::cout << "us" << text.str().substr(text.str().find('\n'));
}

void report(std::vector<std::int64_t> samples, bool brief) {
  std::sort(samples.begin(), samples.end());
  const std::int64_t p50 = quantile(samples, 0.5);
  const std::int64_t p90 = quantile(samples, 0.9);
  const std::int64_t p99 = quantile(samples, 0.99);
  const std::int64_t p999 = quantile(samples, 0.999);
  const std::int64_t max = samples.back();
  if (brief) {
    std::cout << "p50_ns=" << p50 << " p90_ns=" << p90 << " p99_ns=" << p99 << " p999_ns=" << p999
              << " max_ns=" << max << '\n';
    return;
  }
  std::cout << "p50 " << readable(p50) << ", p90 " << readable(p90) << ", p99 " << readable(p99)
            << ", p99.9 " << readable(p999) << ", max " << readable(max) << '\n';
  print_histogram(samples);
}

void run(const po::variables_map& values) {
  if (values.count("name") + values.count("tcp") + values.count("unix") != 1)
    throw usage_error("exactly one of --name, --tcp and --unix is needed");
  plan p{};
  // The upper bound fits in the buffers of any socket: the echo is read only after all is sent.
  p.size = number(values, "size", sizeof(std::uint64_t), 64 * 1024);
  p.rounds = number(values, "rounds", 1, 100'000'000);
  p.warmup = number(values, "warmup", 0, 100'000'000);
  const bool brief = values.count("brief") != 0;
  p.show_progress = !brief && ::isatty(STDERR_FILENO) != 0;
  report(measure(values, p), brief);
}

} // namespace

int main(int argc, char** argv) {
  return run_program("latency_client", [&] {
    po::options_description known(
        "Usage: latency_client (--name NAME | --tcp ADDRESS:PORT | --unix PATH) [options]\n\n"
        "Measures round trips to an echo_server. Options",
        100);
    known.add_options()("help", "print this and exit")                                        //
        ("name", po::value<std::string>()->value_name("NAME"), "connect to the channel NAME") //
        ("tcp", po::value<std::string>()->value_name("ADDRESS:PORT"),
         "connect by TCP, as to 127.0.0.1:7000 or [::1]:7000")                             //
        ("unix", po::value<std::string>()->value_name("PATH"), "connect to a Unix socket") //
        ("size", po::value<std::int64_t>()->value_name("BYTES")->default_value(64),
         "of each message, 8 to 65536") //
        ("rounds", po::value<std::int64_t>()->value_name("N")->default_value(100'000),
         "round trips to measure") //
        ("warmup", po::value<std::int64_t>()->value_name("N")->default_value(1000),
         "round trips before that") //
        ("policy", po::value<std::string>()->value_name("POLICY")->default_value("adaptive"),
         "how the channel waits: adaptive, busy or sleepy") //
        ("brief", "print one line, for scripts");
    po::variables_map values;
    if (parse(argc, argv, known, values))
      run(values);
  });
}
