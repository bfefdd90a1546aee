// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_BLOCKING_END_HPP
#define SYSIPC_BENCH_BLOCKING_END_HPP

#include "payload.hpp"
#include "round_trips.hpp"
#include "silence.hpp"
#include "usage_meter.hpp"
#include "workload.hpp"
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>

/// The four parts of the benchmarks, over any transport whose calls block or spin.
namespace bench {

/// One process's end of such a transport.
/**
 * `send()` writes the whole payload and returns when the transport has it. `receive()`
 * returns the next message, which stays valid until the next call. `send_back()` sends
 * what was received last.
 */
template <typename T>
concept blocking_end = requires(T& end) {
  end.send();
  { end.receive() } -> std::convertible_to<std::span<const std::byte>>;
  end.send_back();
};

/// What most ends have nothing to do about.
struct plain_end {
  /// The measured part begins.
  void start_counting() noexcept {}
  /// What happened since, besides the time that it took.
  side_report report() const noexcept { return {}; }
  /// This side has received everything.
  void tell_received() noexcept {}
  /// The other side has received everything; until then, this end must stay.
  void await_received() noexcept {}
};

template <blocking_end End>
side_report ask(End& end, const settings& s) {
  round_trips trips(s.count);
  std::span<const std::byte> reply;
  const auto trip = [&] {
    end.send();
    reply = end.receive();
    expect_size(reply.size(), s.size);
  };
  for (std::uint64_t i = 0; i != s.warmup; ++i)
    trip();
  end.start_counting();
  trips.start();
  for (std::uint64_t i = 0; i != s.count; ++i) {
    be_silent(s, trips);
    trip();
    trips.lap();
  }
  expect_payload(reply);
  end.tell_received();
  side_report report = end.report();
  trips.report_to(report);
  return report;
}

template <blocking_end End>
side_report answer(End& end, const settings& s) {
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i) {
    expect_size(end.receive().size(), s.size);
    end.send_back();
  }
  end.await_received();
  return {};
}

template <blocking_end End>
side_report send(End& end, const settings& s) {
  for (std::uint64_t i = 0; i != s.warmup; ++i)
    end.send();
  be_silent(s);
  end.start_counting();
  for (std::uint64_t i = 0; i != s.count; ++i)
    end.send();
  const side_report report = end.report();
  end.await_received();
  return report;
}

template <blocking_end End>
side_report receive(End& end, const settings& s) {
  std::span<const std::byte> message;
  for (std::uint64_t i = 0; i != s.warmup; ++i)
    expect_size(end.receive().size(), s.size);
  end.start_counting();
  const usage_meter usage;
  const auto start = round_trips::clock::now();
  for (std::uint64_t i = 0; i != s.count; ++i) {
    message = end.receive();
    expect_size(message.size(), s.size);
  }
  const double per_second = rate_since(start, s.count);
  side_report report = end.report();
  report.per_second = per_second;
  usage.report_to(report);
  expect_payload(message);
  end.tell_received();
  return report;
}

/// Round trips between two ends, each made by `open(socket, role)` in its process.
template <typename Open>
workload blocking_rtt(const settings& s, Open open) {
  return {[=](unique_fd socket) {
            auto end = open(std::move(socket), role::first);
            return ask(end, s);
          },
          [=](unique_fd socket) {
            auto end = open(std::move(socket), role::second);
            return answer(end, s);
          }};
}

template <typename Open>
workload blocking_throughput(const settings& s, Open open) {
  return {[=](unique_fd socket) {
            auto end = open(std::move(socket), role::first);
            return send(end, s);
          },
          [=](unique_fd socket) {
            auto end = open(std::move(socket), role::second);
            return receive(end, s);
          }};
}

} // namespace bench

#endif
