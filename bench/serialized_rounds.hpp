// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_SERIALIZED_ROUNDS_HPP
#define SYSIPC_BENCH_SERIALIZED_ROUNDS_HPP

#include "round_trips.hpp"
#include "shared_area.hpp"
#include "workload.hpp"
#include <atomic>
#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <utility>

/// The coordination ladder: what is published lies in shared memory; a rung is a way to learn
/// of it. A producer publishes a round only when it has the acknowledgement of the one before.
namespace bench {

using round_word = std::atomic<std::uint32_t>;

/// Which round was published last, and which was acknowledged.
struct round_words {
  alignas(128) round_word produced{0};
  alignas(128) round_word acknowledged{0};
};

/// One process's end of a rung.
/**
 * `wake(word)` tells the other side that `word` has changed. `await(word, round)` blocks until
 * it is told so of the one that leads here; `word` is `round` then.
 */
template <typename T>
concept rung = requires(T& end, round_word& word, std::uint32_t round) {
  end.wake(word);
  end.await(word, round);
  { end.report() } -> std::same_as<side_report>;
};

/// What most rungs have nothing to say about.
struct plain_rung {
  /// Whatever there is to report besides the times.
  side_report report() const noexcept { return {}; }
};

template <rung Rung>
void publish(Rung& end, round_word& word, std::uint32_t round) {
  word.store(round, std::memory_order_release);
  end.wake(word);
}

template <rung Rung>
void expect(Rung& end, round_word& word, std::uint32_t round) {
  end.await(word, round);
  if (word.load(std::memory_order_acquire) != round)
    throw std::runtime_error("the other side is at another round");
}

template <rung Rung>
side_report produce_rounds(Rung& end, round_words& words, const settings& s) {
  round_trips trips(s.count);
  std::uint32_t round = 0;
  const auto next = [&] {
    publish(end, words.produced, ++round);
    expect(end, words.acknowledged, round);
  };
  for (std::uint64_t i = 0; i != s.warmup; ++i)
    next();
  trips.start();
  for (std::uint64_t i = 0; i != s.count; ++i) {
    next();
    trips.lap();
  }
  side_report report = end.report();
  trips.report_to(report);
  return report;
}

template <rung Rung>
side_report acknowledge_rounds(Rung& end, round_words& words, const settings& s) {
  std::uint32_t round = 0;
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i) {
    expect(end, words.produced, ++round);
    publish(end, words.acknowledged, round);
  }
  return {};
}

/// Rounds between two ends, each made by `open(socket, role)` in its process.
template <typename Open>
workload serialized_rounds(const settings& s, Open open) {
  const auto words = make_shared_area<round_words>();
  return {[=](unique_fd socket) {
            auto end = open(std::move(socket), role::first);
            return produce_rounds(end, *words, s);
          },
          [=](unique_fd socket) {
            auto end = open(std::move(socket), role::second);
            return acknowledge_rounds(end, *words, s);
          }};
}

} // namespace bench

#endif
