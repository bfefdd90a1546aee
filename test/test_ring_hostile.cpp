// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// A peer that writes nonsense gets `protocol_violation`, for good, and makes no one
// read outside the ring. The mirrored mapping is not the sanitizers' memory, so
// the tests compare every span with it.

#include "ring_fixture.hpp"
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <random>
#include <string>

namespace data = boost::unit_test::data;
using namespace sysipc_asio;
using test::one_page;
using test::one_ring;

namespace {

bool inside(const one_ring& ring, std::span<const std::byte> payload) {
  const std::byte* const begin = ring.producers_seen.ring();
  const std::byte* const end = begin + 2 * ring.capacity();
  return payload.data() >= begin && payload.data() <= end &&
         payload.size() <= static_cast<std::size_t>(end - payload.data());
}

void check_violated_for_good(one_ring& ring) {
  for (int i = 0; i != 2; ++i) {
    BOOST_TEST(ring.consumer.peek().status == ring_status::protocol_violation);
    BOOST_TEST(ring.consumer.peek().payload.empty());
    BOOST_TEST(!ring.consumer.front());
    BOOST_TEST(ring.pop() == ring_status::protocol_violation);
    BOOST_TEST(ring.consumer.consume([](auto) {}, 3) == 0U);
    BOOST_TEST(ring.consumer.ready());
  }
  const auto position = ring.consumer.position();
  ring.consumer.pop_front();
  BOOST_TEST(ring.consumer.position() == position);
}

/// The consumer is at `offset` and finds `word` there.
void check_refused(std::size_t offset, std::uint64_t word) {
  BOOST_TEST_CONTEXT("word " << std::hex << word << " at " << offset) {
    one_ring ring;
    ring.move_to(offset);
    ring.word_at(offset).store(word);
    check_violated_for_good(ring);
  }
}

constexpr std::uint64_t of_kind(std::uint32_t kind, std::uint32_t length) {
  return std::uint64_t{kind} << 32 | length;
}

const std::size_t offsets[] = {0, 8, one_page / 2, one_page - 16, one_page - 8};

} // namespace

BOOST_AUTO_TEST_SUITE(hostile_producer)

BOOST_DATA_TEST_CASE(an_unknown_kind_is_a_violation, data::make(offsets), offset) {
  for (const std::uint32_t kind : {0U, 3U, 4U, 0x100U, 0x8000'0001U, 0xffff'ffffU})
    for (const std::uint32_t length : {0U, 1U, 8U, 64U, 0xffff'ffffU})
      if (kind != 0 || length != 0)
        check_refused(offset, of_kind(kind, length));
}

BOOST_DATA_TEST_CASE(a_length_that_overruns_the_ring_is_a_violation, data::make(offsets), offset) {
  const auto capacity = static_cast<std::uint32_t>(one_page);
  for (const std::uint32_t length : {capacity - 15, capacity - 8, capacity - 7, capacity,
                                     2 * capacity, 0x7fff'ffffU, 0xffff'fff8U, 0xffff'ffffU})
    check_refused(offset, of_kind(1, length));
}

BOOST_DATA_TEST_CASE(an_end_with_a_length_is_a_violation, data::make(offsets), offset) {
  for (const std::uint32_t length : {1U, 8U, 0x8000'0000U, 0xffff'ffffU})
    check_refused(offset, of_kind(2, length));
}

BOOST_DATA_TEST_CASE(the_longest_length_reads_the_ring_and_its_mirror_only, data::make(offsets),
                     offset) {
  one_ring ring;
  ring.move_to(offset);
  ring.word_at(offset).store(layout::commit_word(layout::record_kind::data, one_page - 16));
  const auto payload = ring.consumer.front();
  BOOST_REQUIRE(payload.has_value());
  BOOST_TEST(inside(ring, *payload));
  std::string got;
  BOOST_TEST(ring.pop(got) == ring_status::ok);
  BOOST_TEST(got.size() == one_page - 16);
}

BOOST_AUTO_TEST_CASE(a_violation_stays_one_when_the_word_becomes_a_message) {
  one_ring ring;
  ring.word_at(0).store(of_kind(7, 7));
  BOOST_TEST(ring.pop() == ring_status::protocol_violation);
  ring.word_at(0).store(of_kind(1, 8));
  check_violated_for_good(ring);
}

BOOST_AUTO_TEST_CASE(a_violation_stays_one_when_the_word_becomes_an_end) {
  one_ring ring;
  ring.word_at(0).store(of_kind(7, 7));
  BOOST_TEST(ring.pop() == ring_status::protocol_violation);
  ring.word_at(0).store(of_kind(2, 0));
  check_violated_for_good(ring);
}

BOOST_AUTO_TEST_CASE(a_violation_stays_one_when_the_word_becomes_zero) {
  one_ring ring;
  ring.word_at(0).store(of_kind(7, 7));
  BOOST_TEST(ring.pop() == ring_status::protocol_violation);
  ring.word_at(0).store(0);
  check_violated_for_good(ring);
}

BOOST_AUTO_TEST_CASE(a_message_whose_length_grows_after_the_look_is_not_popped_too_far) {
  one_ring ring;
  ring.push("12345678");
  std::size_t size = 0;
  ring.consumer.consume([&](std::span<const std::byte> m) {
    size = m.size();
    ring.word_at(0).store(of_kind(1, 1000));
  });
  BOOST_TEST(size == 8U);
  BOOST_TEST(ring.consumer.position() == 16U);
}

BOOST_AUTO_TEST_CASE(a_ring_of_random_words_is_read_inside_its_bounds_only) {
  const auto seed = std::random_device()();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937_64 random(seed);
  bool outside = false;
  bool recovered = false;
  std::string buffer(one_page, '.');
  for (int round = 0; round != 2000; ++round) {
    one_ring ring;
    for (std::size_t i = 0; i != ring.capacity(); i += 8) {
      const std::uint64_t word = random();
      // Kinds are mostly good and lengths often plausible, or it would be over at once.
      ring.word_at(i).store(word % 16 == 0 ? word
                                           : of_kind((word >> 8) % 16 == 0 ? 2 : 1,
                                                     static_cast<std::uint32_t>(word >> 32) %
                                                         (word % 16 < 12 ? 64 : 2 * 4096)));
    }
    bool violated = false;
    for (int step = 0; step != 200; ++step) {
      if (random() % 4 == 0)
        ring.word_at(random() & ~std::uint64_t{7}).store(random() >> random() % 64);
      const auto record = ring.consumer.peek();
      outside |= record.status == ring_status::ok && !inside(ring, record.payload);
      recovered |= violated && record.status != ring_status::protocol_violation;
      violated |= record.status == ring_status::protocol_violation;
      std::size_t n = 0;
      ring.consumer.try_pop(asio::buffer(buffer, random() % one_page), n);
      if (step % 8 == 0)
        ring.consumer.consume([&](auto m) { outside |= !inside(ring, m); }, 3);
    }
  }
  BOOST_TEST(!outside);
  BOOST_TEST(!recovered);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(hostile_consumer)

namespace {

/// A ring with eight records of 512 bytes less one, the first four known to be consumed.
struct half_consumed : one_ring {
  half_consumed() {
    fill(504);
    for (int i = 0; i != 4; ++i)
      consumer.pop_front();
    BOOST_REQUIRE(published() == 2048U);
    BOOST_REQUIRE(push_zeros(504) == ring_status::ok); // has read the head
    BOOST_REQUIRE(producer.position() == 4096U);
  }
  void claim(std::uint64_t head) { consumers.words().rx_head.store(head); }
  /// Asks for more than fits without reading the head again.
  ring_status ask() { return producer.reserve(3000); }

  void check_violated_for_good() {
    const auto position = producer.position();
    for (int i = 0; i != 2; ++i) {
      BOOST_TEST(push("") == ring_status::protocol_violation);
      BOOST_TEST(producer.reserve(one_page) == ring_status::protocol_violation);
      BOOST_TEST(producer.prepare(8).data() == nullptr);
      producer.finish();
      claim(2048); // honest again, but too late
    }
    BOOST_TEST(producer.position() == position);
    BOOST_TEST(word_at(position).load() == 0U); // nor was an end written
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(a_head_within_what_was_produced_is_believed) {
  half_consumed ring;
  for (const std::uint64_t head : {2048U, 2056U, 4088U}) {
    ring.claim(head);
    BOOST_TEST(ring.ask() ==
               (4096 + 3008 + 8 - head <= 4096 ? ring_status::ok : ring_status::would_block));
  }
}

BOOST_AUTO_TEST_CASE(a_head_that_goes_backwards_is_a_violation) {
  for (const std::uint64_t head : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{2040}}) {
    half_consumed ring;
    ring.claim(head);
    BOOST_TEST(ring.ask() == ring_status::protocol_violation);
    ring.check_violated_for_good();
  }
}

BOOST_AUTO_TEST_CASE(a_head_beyond_the_tail_is_a_violation) {
  for (const std::uint64_t head :
       {std::uint64_t{4097}, std::uint64_t{4104}, std::uint64_t{1} << 32 | 4096,
        std::uint64_t{1} << 63, ~std::uint64_t{0}, ~std::uint64_t{0} - 4095}) {
    half_consumed ring;
    ring.claim(head);
    BOOST_TEST(ring.ask() == ring_status::protocol_violation);
    ring.check_violated_for_good();
  }
}

BOOST_AUTO_TEST_CASE(random_heads_never_let_the_producer_overtake_what_it_believed) {
  const auto seed = std::random_device()();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937_64 random(seed);
  bool overtaken = false;
  bool recovered = false;
  for (int round = 0; round != 2000; ++round) {
    one_ring ring;
    std::uint64_t latest = 0; // the last plausible claim; a violation ends the round
    bool violated = false;
    for (int step = 0; step != 100; ++step) {
      const std::uint64_t tail = ring.producer.position();
      const std::uint64_t claim =
          random() % 32 == 0 ? random() >> random() % 64 : latest + random() % (tail - latest + 1);
      ring.consumers.words().rx_head.store(claim);
      const ring_status status = ring.push_zeros(random() % 1000);
      recovered |= violated && status != ring_status::protocol_violation;
      violated |= status == ring_status::protocol_violation;
      if (claim >= latest && claim <= tail)
        latest = claim;
      overtaken |= ring.producer.position() + 8 - latest > ring.capacity();
    }
  }
  BOOST_TEST(!overtaken);
  BOOST_TEST(!recovered);
}

BOOST_AUTO_TEST_SUITE_END()
