// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// Random operations on a ring, each compared with what a queue and three counters
// say. SYSIPC_TEST_SEED repeats a run.

#include "ring_fixture.hpp"
#include <algorithm>
#include <array>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <stdexcept>
#include <string>

namespace data = boost::unit_test::data;
using namespace sysipc_asio;
using test::one_page;
using test::one_ring;

namespace {

constexpr int operations = 200'000;

/// What the ring should do.
struct oracle {
  std::size_t capacity;
  std::deque<std::string> queue{};
  std::uint64_t tail = 0;
  std::uint64_t head = 0;
  std::uint64_t published = 0;
  bool finished = false;

  static std::uint64_t record(std::size_t n) { return 8 + (n + 7) / 8 * 8; }

  ring_status push_status(std::size_t n) const {
    if (finished)
      return ring_status::end;
    if (n > capacity - 16)
      return ring_status::message_size;
    return tail + record(n) + 8 - published <= capacity ? ring_status::ok
                                                        : ring_status::would_block;
  }
  void push(std::string m) {
    tail += record(m.size());
    queue.push_back(std::move(m));
  }
  ring_status pop_status() const {
    if (!queue.empty())
      return ring_status::ok;
    return finished ? ring_status::end : ring_status::would_block;
  }
  void pop() {
    head += record(queue.front().size());
    queue.pop_front();
    // A consumer that has drained a finished ring has nothing to tell for `end` is there.
    if (head - published >= capacity / 8 || (queue.empty() && !finished))
      published = head;
  }
};

class walk {
public:
  walk(std::size_t capacity, std::uint64_t seed) : random_(seed), ring_(capacity) {
    expected_.capacity = capacity;
  }

  /// False at the first operation that did not do what the oracle says.
  bool step() {
    // Tides: without them a ring this large would never fill.
    const std::size_t operation = below(16);
    if (operation >= 6 && operation < 14 && rising_ && below(16) != 0)
      return push();
    switch (operation) {
    case 0:
    case 1:
    case 2:
    case 3:
      return push();
    case 4:
    case 5:
      return push_prepared();
    case 6:
    case 7:
    case 8:
      return pop(false);
    case 9:
      return pop(true);
    case 10:
    case 11:
      return pop_in_place();
    case 12:
      return consume();
    case 13:
      return consume_throwing();
    case 14:
      ring_.consumer.publish_head();
      expected_.published = expected_.head;
      return true;
    default:
      return reserve();
    }
  }

  bool finish_and_drain() {
    ring_.producer.finish();
    expected_.finished = true;
    bool good = push() && push_prepared() && reserve();
    while (good && !expected_.queue.empty())
      good = pop(false);
    return good && pop(false) && ring_.consumer.position() == ring_.producer.position();
  }

  /// After every operation.
  bool consistent() const {
    return ring_.producer.position() == expected_.tail &&
           ring_.consumer.position() == expected_.head &&
           ring_.consumer.published_position() == expected_.published &&
           ring_.published() == expected_.published &&
           ring_.consumer.ready() == (expected_.pop_status() != ring_status::would_block);
  }

private:
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }

  /// Mostly small, sometimes any size, sometimes at the limit.
  std::size_t any_size() {
    // Large ones cost time, and a one-page ring shows the same.
    switch (below(ring_.capacity() == one_page ? 8 : 256)) {
    case 0:
      return below(ring_.capacity() + 8);
    case 1:
      return ring_.producer.max_message_size() - below(9) + below(3);
    case 2:
      return below(ring_.capacity() / 8);
    default:
      return below(65);
    }
  }

  std::string any_message(std::size_t n) {
    std::string result(n, '\0');
    for (std::size_t i = 0; i < n; i += 8) {
      const std::uint64_t word = random_();
      std::memcpy(result.data() + i, &word, std::min(n - i, std::size_t{8}));
    }
    return result;
  }

  bool push() {
    const std::string m = any_message(any_size());
    const std::size_t a = below(m.size() + 1);
    const std::size_t b = a + below(m.size() - a + 1);
    const std::array<asio::const_buffer, 3> parts{asio::buffer(m.data(), a),
                                                  asio::buffer(m.data() + a, b - a),
                                                  asio::buffer(m.data() + b, m.size() - b)};
    const ring_status expected = expected_.push_status(m.size());
    const ring_status got = below(2) == 0 ? ring_.producer.try_push(parts) : ring_.push(m);
    if (got == ring_status::would_block && m.size() < 65)
      rising_ = false;
    if (got == ring_status::ok)
      expected_.push(m);
    return got == expected;
  }

  bool push_prepared() {
    const std::size_t reserved = any_size();
    const auto area = ring_.producer.prepare(reserved);
    if ((area.data() != nullptr) != (expected_.push_status(reserved) == ring_status::ok))
      return false;
    if (area.data() == nullptr || below(8) == 0) // changed its mind
      return true;
    const std::string m = any_message(below(reserved + 1));
    std::memcpy(area.data(), m.data(), m.size());
    ring_.producer.commit(m.size());
    expected_.push(m);
    return area.size() == reserved;
  }

  bool reserve() {
    const std::size_t n = any_size();
    return ring_.producer.reserve(n) == expected_.push_status(n);
  }

  bool pop(bool too_small) {
    const ring_status expected = expected_.pop_status();
    if (expected != ring_status::ok) {
      rising_ = below(4) == 0;
      std::size_t ignored = 0;
      return ring_.consumer.try_pop(asio::mutable_buffer(), ignored) == expected;
    }
    const std::string& front = expected_.queue.front();
    if (too_small && !front.empty()) {
      std::string room(below(front.size()), '\0');
      std::size_t n = 0;
      return ring_.consumer.try_pop(asio::buffer(room), n) == ring_status::message_size &&
             n == front.size();
    }
    std::string a(below(front.size() + 1), '\0');
    std::string b(front.size() - a.size() + below(3), '\0');
    std::size_t n = 0;
    const std::array<asio::mutable_buffer, 2> parts{asio::buffer(a), asio::buffer(b)};
    if (ring_.consumer.try_pop(parts, n) != ring_status::ok || n != front.size())
      return false;
    const bool same = (a + b).compare(0, n, front) == 0;
    expected_.pop();
    return same;
  }

  bool is_front(std::span<const std::byte> payload) const {
    const std::string& front = expected_.queue.front();
    return payload.size() == front.size() &&
           std::equal(payload.begin(), payload.end(),
                      reinterpret_cast<const std::byte*>(front.data()));
  }

  bool pop_in_place() {
    const auto front = ring_.consumer.front();
    if (front.has_value() != !expected_.queue.empty())
      return false;
    if (!front)
      return true;
    const bool same = is_front(*front);
    if (below(2) == 0)
      ring_.consumer.pop_front();
    else
      ring_.consumer.pop_front(front->size());
    expected_.pop();
    return same;
  }

  bool consume() {
    const std::size_t most = below(10);
    const std::size_t available = std::min(most, expected_.queue.size());
    bool same = true;
    std::size_t calls = 0;
    const std::size_t n = ring_.consumer.consume(
        [&](std::span<const std::byte> payload) {
          if (calls++ != 0)
            expected_.pop(); // the one before is gone by now
          same &= is_front(payload);
        },
        most);
    if (calls != 0)
      expected_.pop();
    return same && n == available && calls == available;
  }

  bool consume_throwing() {
    const std::size_t fatal = below(4);
    const bool expected = fatal < expected_.queue.size();
    std::size_t calls = 0;
    try {
      ring_.consumer.consume([&](std::span<const std::byte>) {
        if (calls == fatal)
          throw std::runtime_error("fatal");
        ++calls;
      });
    } catch (const std::runtime_error&) {
      for (std::size_t i = 0; i != calls; ++i)
        expected_.pop();
      return expected;
    }
    for (std::size_t i = 0; i != calls; ++i)
      expected_.pop();
    return !expected;
  }

  std::mt19937_64 random_;
  one_ring ring_;
  oracle expected_;
  bool rising_ = false;
};

std::uint64_t seed() {
  if (const char* const text = std::getenv("SYSIPC_TEST_SEED"))
    return std::strtoull(text, nullptr, 10);
  return std::random_device()();
}

} // namespace

BOOST_DATA_TEST_CASE(any_sequence_of_operations_does_what_a_queue_would,
                     data::make({one_page, 2 * one_page, 64 * std::size_t{1024},
                                 1024 * std::size_t{1024}}),
                     capacity) {
  const std::uint64_t s = seed();
  BOOST_TEST_CONTEXT("SYSIPC_TEST_SEED=" << s) {
    walk w(capacity, s);
    int i = 0;
    while (i != operations && w.step() && w.consistent())
      ++i;
    BOOST_REQUIRE(i == operations);
    BOOST_TEST(w.finish_and_drain());
  }
}

BOOST_AUTO_TEST_CASE(every_prefix_of_operations_can_be_finished_and_drained) {
  const std::uint64_t s = seed();
  for (std::uint64_t length = 0; length != 300; ++length)
    BOOST_TEST_CONTEXT("SYSIPC_TEST_SEED=" << s << " length " << length) {
      walk w(one_page, s);
      for (std::uint64_t i = 0; i != length; ++i)
        w.step();
      BOOST_REQUIRE(w.finish_and_drain());
    }
}
