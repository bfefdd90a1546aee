// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_PAYLOAD_STREAM_HPP
#define SYSIPC_BENCH_PAYLOAD_STREAM_HPP

#include "numbered_payload.hpp"
#include "round_trips.hpp"
#include "workload.hpp"
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

/// Numbered messages one way, over any transport whose calls block or spin.
namespace bench {

/// One process's end of such a transport.
/**
 * `send_filled(fill)` has `fill` write a whole message, where it costs least, and sends it.
 * The rest is as in blocking_end.hpp.
 */
template <typename T>
concept payload_end = requires(T& end, void (*fill)(std::span<std::byte>)) {
  end.send_filled(fill);
  { end.receive() } -> std::convertible_to<std::span<const std::byte>>;
  end.tell_received();
  end.await_received();
};

template <payload_end End>
side_report send_payloads(End& end, const settings& s) {
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i)
    end.send_filled([i](std::span<std::byte> to) { fill_payload(to, i); });
  end.await_received();
  return {};
}

template <payload_end End>
side_report receive_payloads(End& end, const settings& s) {
  auto start = round_trips::clock::now();
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i) {
    if (i == s.warmup)
      start = round_trips::clock::now();
    read_payload(end.receive(), s.size, i, s.receiver);
  }
  side_report report;
  report.per_second = rate_since(start, s.count);
  end.tell_received();
  return report;
}

/// From one end to the other, each made by `open(socket, role)` in its process.
template <typename Open>
workload payload_stream(const settings& s, Open open) {
  return {[=](unique_fd socket) {
            auto end = open(std::move(socket), role::first);
            return send_payloads(end, s);
          },
          [=](unique_fd socket) {
            auto end = open(std::move(socket), role::second);
            return receive_payloads(end, s);
          }};
}

} // namespace bench

#endif
