// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "numbered_payload.hpp"
#include "round_trips.hpp"
#include "shared_area.hpp"
#include "spinning.hpp"
#include "workload.hpp"
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

/// What the hardware gives to large messages: filled in shared memory, or copied there.
namespace bench {
namespace {

/// Whose turn a slot is: odd after it was filled, even after it was read.
struct turn {
  alignas(128) std::atomic<std::uint64_t> word{0};
};

constexpr std::size_t most_slots = 8;
using turns = std::array<turn, most_slots>;

/// A few slots, used in turn.
class slots {
public:
  explicit slots(const settings& s)
      : count_(s.slots), size_(s.size), turns_(make_shared_area<turns>()),
        bytes_(make_shared_bytes(count_ * distance())) {}

  std::span<std::byte> at(std::uint64_t message) const noexcept {
    return {bytes_.get() + message % count_ * distance(), size_};
  }

  template <typename Idle>
  void await_empty(std::uint64_t message, Idle idle) const {
    await(message, 2 * (message / count_), idle);
  }
  template <typename Idle>
  void await_full(std::uint64_t message, Idle idle) const {
    await(message, 2 * (message / count_) + 1, idle);
  }

  /// The other side's turn.
  void pass_on(std::uint64_t message) const noexcept {
    auto& word = turn_of(message);
    word.store(word.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

private:
  /// From one slot to the next: whole pages.
  std::size_t distance() const noexcept { return (size_ + 4095) / 4096 * 4096; }

  std::atomic<std::uint64_t>& turn_of(std::uint64_t message) const noexcept {
    return (*turns_)[message % count_].word;
  }

  template <typename Idle>
  void await(std::uint64_t message, std::uint64_t value, Idle idle) const {
    while (turn_of(message).load(std::memory_order_acquire) != value)
      idle();
  }

  std::size_t count_;
  std::size_t size_;
  std::shared_ptr<turns> turns_;
  std::shared_ptr<std::byte> bytes_;
};

/// Fills the slot itself.
class in_place {
public:
  explicit in_place(std::size_t) {}

  void operator()(std::span<std::byte> slot, std::uint64_t message) const noexcept {
    fill_payload(slot, message);
  }
};

/// Fills a buffer of its own and copies it.
class fill_and_copy {
public:
  explicit fill_and_copy(std::size_t size) : own_(size) {}

  void operator()(std::span<std::byte> slot, std::uint64_t message) noexcept {
    fill_payload(own_, message);
    use_copy(own_.data());
    std::memcpy(slot.data(), own_.data(), slot.size());
  }

private:
  std::vector<std::byte> own_;
};

template <typename Write, typename Idle>
side_report write_slots(const slots& to, const settings& s, Idle idle) {
  Write write(s.size);
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i) {
    to.await_empty(i, idle);
    write(to.at(i), i);
    to.pass_on(i);
  }
  return {};
}

template <typename Idle>
side_report read_slots(const slots& from, const settings& s, Idle idle) {
  auto start = round_trips::clock::now();
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i) {
    if (i == s.warmup)
      start = round_trips::clock::now();
    from.await_full(i, idle);
    read_payload(from.at(i), s.size, i, s.receiver);
    from.pass_on(i);
  }
  side_report report;
  report.per_second = rate_since(start, s.count);
  return report;
}

template <typename Write>
workload through_slots(const settings& s) {
  const slots area(s);
  if (s.cpus.shared())
    return {[=](unique_fd) { return write_slots<Write>(area, s, yield_cpu()); },
            [=](unique_fd) { return read_slots(area, s, yield_cpu()); }};
  return {[=](unique_fd) { return write_slots<Write>(area, s, relax_cpu()); },
          [=](unique_fd) { return read_slots(area, s, relax_cpu()); }};
}

} // namespace

workload payload_in_place(const settings& s) {
  return through_slots<in_place>(s);
}

workload payload_fill_copy(const settings& s) {
  return through_slots<fill_and_copy>(s);
}

} // namespace bench
