// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

/// Image frames of 8 MiB to any number of watchers, each built where all of its bytes stay.
/**
 * Each watcher keeps several frames at a time and lets go of them in an order of its own. One
 * that is slow holds up the camera only as far as its channel's pool: from there on, frames
 * for it are dropped, and the others get theirs.
 */

#include "program.hpp"
#include "session_group.hpp"

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstring>
#include <iomanip>
#include <random>
#include <sysipc_asio/acceptor.hpp>
#include <sysipc_asio/connect.hpp>
#include <vector>

namespace {

using namespace example;
using clock = std::chrono::steady_clock;

constexpr std::size_t mib = 1024 * 1024;

/// What a frame begins with; the rest are pixels.
struct frame_header {
  std::uint64_t number;
  std::uint64_t dropped; ///< of this watcher, so far
};

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// One watcher's frames. Without memory for the next one the watcher has lost it.
asio::awaitable<void> film(sysipc_asio::channel watcher, std::size_t frames, std::size_t bytes,
                           std::chrono::microseconds interval) {
  asio::steady_timer next(watcher.get_executor(), clock::now());
  frame_header header{};
  for (; header.number != frames; ++header.number) {
    next.expires_at(next.expiry() + interval);
    co_await next.async_wait(asio::deferred);
    std::optional<sysipc_asio::loan> frame = watcher.try_loan(bytes);
    if (frame) {
      std::memset(frame->data(), static_cast<int>(header.number), frame->size());
      std::memcpy(frame->data(), &header, sizeof header);
      if (watcher.try_send(std::move(*frame)))
        continue;
    }
    ++header.dropped;
  }
  // The last one is waited for: it says how many were dropped.
  sysipc_asio::loan last = co_await watcher.loan(sizeof header);
  std::memcpy(last.data(), &header, sizeof header);
  co_await watcher.send(std::move(last));
}

void serve(const po::variables_map& values) {
  const auto& name = values["serve"].as<std::string>();
  const std::size_t frames = number(values, "frames", 1, 1'000'000'000);
  const std::size_t bytes = number(values, "mib", 1, 1024) * mib;
  const std::chrono::microseconds interval(number(values, "interval-us", 0, 60'000'000));
  sysipc_asio::listen_options options;
  options.channel.send_pool = number(values, "pool-mib", 1, 65536) * mib;
  options.channel.max_message_size = bytes;
  options.max_pool = options.channel.send_pool;
  asio::io_context io(1);
  session_group sessions(io, "frames");
  sysipc_asio::acceptor acceptor(io);
  error_code ec;
  acceptor.open(name, options, ec);
  check(ec, "channel " + name);
  sessions.spawn(accept_each(std::move(acceptor), sessions, [=](sysipc_asio::channel watcher) {
    return film(std::move(watcher), frames, bytes, interval);
  }));
  std::cout << "serving frames of " << bytes / mib << " MiB on channel " << name << std::endl;
  io.run();
}

asio::awaitable<void> watch(std::string name, std::size_t hold, std::chrono::microseconds pause) {
  const auto executor = co_await asio::this_coro::executor;
  sysipc_asio::connect_options options;
  options.channel.receive_pool = std::size_t{1} << 40; // whatever the camera has
  options.channel.max_message_size = std::size_t{1} << 30;
  sysipc_asio::channel camera =
      co_await sysipc_asio::async_connect(executor, name, options, asio::use_awaitable);
  std::vector<sysipc_asio::message> held;
  std::minstd_rand random;
  std::uint64_t seen = 0;
  std::uint64_t shared = 0;
  std::uint64_t bytes = 0;
  frame_header header{};
  const auto start = clock::now();
  for (;;) {
    sysipc_asio::message frame = co_await camera.receive();
    if (frame.size() < sizeof header)
      throw std::runtime_error("a frame is too short");
    std::memcpy(&header, frame.data(), sizeof header);
    if (frame.size() == sizeof header)
      break;
    const auto pixels = frame.bytes().subspan(sizeof header);
    if (pixels.front() != static_cast<std::byte>(header.number) || pixels.back() != pixels.front())
      throw std::runtime_error("frame " + std::to_string(header.number) + " is torn");
    ++seen;
    shared += frame.is_shared() ? 1 : 0;
    bytes += frame.size();
    held.push_back(std::move(frame));
    if (held.size() > hold)
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(random() % held.size()));
    if (pause.count() != 0) {
      asio::steady_timer timer(executor, pause);
      co_await timer.async_wait(asio::deferred);
    }
  }
  std::cout << "frames: " << seen << " seen, " << shared << " shared, " << header.dropped
            << " dropped, " << std::fixed << std::setprecision(2)
            << static_cast<double>(bytes) / static_cast<double>(std::uint64_t{1} << 30) /
                   seconds_since(start)
            << " GiB/s" << std::endl;
}

void run(const po::variables_map& values) {
  if (values.count("serve") + values.count("watch") != 1)
    throw usage_error("one of --serve and --watch is needed");
  if (values.count("serve") != 0)
    return serve(values);
  const auto& name = values["watch"].as<std::string>();
  const std::size_t hold = number(values, "hold", 0, 700);
  const std::chrono::microseconds pause(number(values, "pause-us", 0, 60'000'000));
  asio::io_context io(1);
  std::exception_ptr thrown;
  asio::co_spawn(io, watch(name, hold, pause), [&](std::exception_ptr e) { thrown = e; });
  io.run();
  if (thrown)
    throw std::runtime_error("channel " + name + ": " + describe(thrown));
}

} // namespace

int main(int argc, char** argv) {
  return run_program("frames", [&] {
    po::options_description known("Usage: frames --serve NAME | --watch NAME\n\n"
                                  "Image frames without copies. Options",
                                  100);
    known.add_options()("help", "print this and exit") //
        ("serve", po::value<std::string>()->value_name("NAME"),
         "send frames to whoever connects, until SIGINT or SIGTERM")            //
        ("watch", po::value<std::string>()->value_name("NAME"), "receive them") //
        ("frames", po::value<std::int64_t>()->value_name("N")->default_value(1000),
         "frames for each watcher") //
        ("mib", po::value<std::int64_t>()->value_name("N")->default_value(8),
         "size of a frame") //
        ("pool-mib", po::value<std::int64_t>()->value_name("N")->default_value(64),
         "memory for the frames of one watcher") //
        ("interval-us", po::value<std::int64_t>()->value_name("N")->default_value(1000),
         "time from frame to frame; 0: as fast as it goes") //
        ("hold", po::value<std::int64_t>()->value_name("N")->default_value(4),
         "frames that the watcher keeps, to let go of them in any order") //
        ("pause-us", po::value<std::int64_t>()->value_name("N")->default_value(0),
         "time that the watcher takes for a frame");
    po::variables_map values;
    if (parse(argc, argv, known, values))
      run(values);
  });
}
