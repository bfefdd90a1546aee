// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "round_trips.hpp"
#include "shared_area.hpp"
#include "spinning.hpp"
#include "workload.hpp"
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <sysipc_asio/wait.hpp>

/// What the hardware gives: no ring and no channel can be faster.
namespace bench {
namespace {

/// Two words that never share a line, nor a pair of lines that is fetched together.
struct counters {
  alignas(128) std::atomic<std::uint64_t> ping{0};
  alignas(128) std::atomic<std::uint64_t> pong{0};
};

template <typename Idle>
void await_value(const std::atomic<std::uint64_t>& word, std::uint64_t value, Idle idle) {
  while (word.load(std::memory_order_acquire) != value)
    idle();
}

template <typename Idle>
side_report ping(counters& c, const settings& s, Idle idle) {
  round_trips trips(s.count);
  std::uint64_t value = 0;
  const auto bounce = [&] {
    c.ping.store(++value, std::memory_order_release);
    await_value(c.pong, value, idle);
  };
  while (value != s.warmup)
    bounce();
  trips.start();
  while (value != s.warmup + s.count) {
    bounce();
    trips.lap();
  }
  side_report report;
  trips.report_to(report);
  return report;
}

template <typename Idle>
side_report pong(counters& c, const settings& s, Idle idle) {
  for (std::uint64_t value = 1; value <= s.warmup + s.count; ++value) {
    await_value(c.ping, value, idle);
    c.pong.store(value, std::memory_order_release);
  }
  return {};
}

/// A message as small as a line, with the readiness in it.
struct alignas(64) line {
  std::atomic<std::uint64_t> sequence{0};
  std::array<std::byte, 56> payload;
};
static_assert(sizeof(line) == 64);

struct lines {
  static constexpr std::uint64_t count = 256 * 1024 / sizeof(line);

  alignas(128) std::array<line, count> at{};
  /// How many lines the reader has read, told every eighth of the buffer.
  alignas(128) std::atomic<std::uint64_t> progress{0};
};

constexpr std::uint64_t lines_ahead = 8;

/// Asks for a line to write to, long before it is written: stores retire in order,
/// so that each would wait for the reader's CPU to give its line up.
inline void prefetch_for_writing(line& l) noexcept {
#if defined(__x86_64__) || defined(__i386__)
  asm volatile("prefetchw %0" : : "m"(l)); // the builtin only reads, without -mprfchw
#else
  __builtin_prefetch(&l, 1);
#endif
}

template <typename Idle>
side_report write_lines(lines& l, const settings& s, Idle idle) {
  std::array<std::byte, 56> payload;
  payload.fill(std::byte{42});
  std::uint64_t free_until = lines::count;
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i) {
    while (i == free_until) {
      free_until = l.progress.load(std::memory_order_acquire) + lines::count;
      if (i == free_until)
        idle();
    }
    prefetch_for_writing(l.at[(i + lines_ahead) % lines::count]);
    line& to = l.at[i % lines::count];
    std::memcpy(to.payload.data(), payload.data(), payload.size());
    to.sequence.store(i + 1, std::memory_order_release);
  }
  return {};
}

template <typename Idle>
side_report read_lines(lines& l, const settings& s, Idle idle) {
  std::array<std::byte, 56> payload;
  auto start = round_trips::clock::now();
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i) {
    if (i == s.warmup)
      start = round_trips::clock::now();
    const line& from = l.at[i % lines::count];
    while (from.sequence.load(std::memory_order_acquire) != i + 1)
      idle(i);
    std::memcpy(payload.data(), from.payload.data(), payload.size());
    asm volatile("" : : "r"(payload.data()) : "memory"); // the copy is wanted
    if ((i + 1) % (lines::count / 8) == 0)
      l.progress.store(i + 1, std::memory_order_release);
  }
  side_report report;
  report.per_second = rate_since(start, s.count);
  return report;
}

} // namespace

workload cacheline_pingpong(const settings& s) {
  const auto area = make_shared_area<counters>();
  if (s.cpus.shared())
    return {[=](unique_fd) { return ping(*area, s, yield_cpu()); },
            [=](unique_fd) { return pong(*area, s, yield_cpu()); }};
  return {[=](unique_fd) { return ping(*area, s, look_again()); },
          [=](unique_fd) { return pong(*area, s, look_again()); }};
}

workload bulk_lines(const settings& s) {
  const auto area = make_shared_area<lines>();
  if (s.cpus.shared())
    return {[=](unique_fd) { return write_lines(*area, s, yield_cpu()); },
            [=](unique_fd) { return read_lines(*area, s, yield_cpu()); }};
  return {[=](unique_fd) { return write_lines(*area, s, relax_cpu()); },
          [=](unique_fd) { return read_lines(*area, s, patient_look()); }};
}

} // namespace bench
