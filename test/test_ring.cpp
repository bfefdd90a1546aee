// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "ring_fixture.hpp"
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

using namespace sysipc_asio;
using test::one_page;
using test::one_ring;

BOOST_AUTO_TEST_SUITE(sizes)

BOOST_AUTO_TEST_CASE(every_size_arrives_intact_at_every_offset) {
  one_ring ring;
  std::vector<std::size_t> sizes(301);
  std::iota(sizes.begin(), sizes.end(), std::size_t{0});
  sizes.push_back(ring.producer.max_message_size() - 1);
  sizes.push_back(ring.producer.max_message_size());
  std::vector<unsigned char> sent(one_page);
  std::vector<unsigned char> received(one_page);
  std::size_t wrong = 0;
  for (std::size_t offset = 0; offset != ring.capacity(); offset += 8)
    for (const std::size_t size : sizes) {
      ring.move_to(offset);
      std::iota(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(size),
                static_cast<unsigned char>(size + offset / 8));
      std::size_t n = 0;
      const bool arrived = (ring.producer.position() & (ring.capacity() - 1)) == offset &&
                           ring.producer.try_push(asio::buffer(sent, size)) == ring_status::ok &&
                           ring.consumer.try_pop(asio::buffer(received), n) == ring_status::ok &&
                           n == size && std::memcmp(sent.data(), received.data(), size) == 0 &&
                           !ring.consumer.ready();
      wrong += !arrived;
    }
  BOOST_TEST(wrong == 0U);
}

BOOST_AUTO_TEST_CASE(the_largest_message_fits_and_one_byte_more_never_does) {
  for (const std::size_t capacity : {one_page, 64 * std::size_t{1024}, 1024 * std::size_t{1024}}) {
    one_ring ring(capacity);
    BOOST_TEST(ring.producer.max_message_size() == capacity - 16);
    BOOST_TEST(ring.consumer.max_message_size() == capacity - 16);
    BOOST_TEST(ring.push_zeros(capacity - 15) == ring_status::message_size);
    BOOST_TEST(ring.push_zeros(capacity - 16) == ring_status::ok);
    BOOST_TEST(ring.push_zeros(capacity - 15) == ring_status::message_size);
    BOOST_TEST(ring.consumer.front()->size() == capacity - 16);
  }
}

BOOST_AUTO_TEST_CASE(absurd_sizes_are_refused) {
  one_ring ring;
  const std::size_t most = std::numeric_limits<std::size_t>::max();
  for (const std::size_t n : {most, most - 7, most - 8, most / 2, std::size_t{1} << 32})
    BOOST_TEST(ring.producer.reserve(n) == ring_status::message_size);
  BOOST_TEST(ring.push("x") == ring_status::ok);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(filling)

BOOST_AUTO_TEST_CASE(an_empty_ring_gives_would_block) {
  one_ring ring;
  BOOST_TEST(ring.pop() == ring_status::would_block);
  BOOST_TEST(!ring.consumer.front());
  BOOST_TEST(!ring.consumer.ready());
}

BOOST_AUTO_TEST_CASE(messages_arrive_in_the_order_of_sending) {
  one_ring ring;
  for (const char* const text : {"one", "two", "", "three"})
    BOOST_TEST(ring.push(text) == ring_status::ok);
  for (const char* const text : {"one", "two", "", "three"}) {
    std::string got;
    BOOST_TEST(ring.pop(got) == ring_status::ok);
    BOOST_TEST(got == text);
  }
  BOOST_TEST(ring.pop() == ring_status::would_block);
}

BOOST_AUTO_TEST_CASE(a_ring_is_full_when_only_the_next_commit_word_fits) {
  one_ring ring;
  BOOST_TEST(ring.fill(0) == ring.capacity() / 8 - 1);
  BOOST_TEST(ring.push("") == ring_status::would_block);
  BOOST_TEST(ring.producer.reserve(0) == ring_status::would_block);
}

BOOST_AUTO_TEST_CASE(a_full_ring_takes_a_message_again_after_its_bytes_are_consumed) {
  one_ring ring;
  ring.fill(56);
  ring.consumer.pop_front();
  BOOST_TEST(ring.push_zeros(56) == ring_status::would_block); // not published yet
  ring.consumer.publish_head();
  BOOST_TEST(ring.push_zeros(56) == ring_status::ok);
  BOOST_TEST(ring.push_zeros(56) == ring_status::would_block);
}

BOOST_AUTO_TEST_CASE(a_message_that_does_not_fit_leaves_what_is_there_untouched) {
  one_ring ring;
  ring.push("kept");
  BOOST_TEST(ring.push_zeros(ring.producer.max_message_size()) == ring_status::would_block);
  BOOST_TEST(ring.push_zeros(ring.producer.max_message_size() + 1) == ring_status::message_size);
  std::string got;
  BOOST_TEST(ring.pop(got) == ring_status::ok);
  BOOST_TEST(got == "kept");
  BOOST_TEST(ring.pop() == ring_status::would_block);
}

BOOST_AUTO_TEST_CASE(old_payload_is_never_taken_for_a_commit_word) {
  one_ring ring;
  const std::string ones(500, '\1'); // would be commit words of a strange kind
  for (int round = 0; round != 1000; ++round) {
    while (ring.push(ones) == ring_status::ok)
      ;
    std::string got;
    while (ring.pop(got) == ring_status::ok)
      BOOST_REQUIRE(got == ones);
    BOOST_REQUIRE(ring.pop() == ring_status::would_block);
    ring.push_zeros(static_cast<std::size_t>(round) % 64);
    BOOST_REQUIRE(ring.pop() == ring_status::ok);
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(in_place)

BOOST_AUTO_TEST_CASE(a_prepared_area_can_be_committed_in_part) {
  one_ring ring;
  for (std::size_t used = 0; used <= 100; ++used) {
    const auto area = ring.producer.prepare(100);
    BOOST_REQUIRE(area.size() == 100U);
    std::memset(area.data(), 'a', area.size());
    ring.producer.commit(used);
    std::string got;
    BOOST_REQUIRE(ring.pop(got) == ring_status::ok);
    BOOST_REQUIRE(got == std::string(used, 'a'));
    BOOST_REQUIRE(!ring.consumer.ready());
  }
}

BOOST_AUTO_TEST_CASE(what_is_prepared_but_not_committed_is_not_seen) {
  one_ring ring;
  const auto area = ring.producer.prepare(64);
  std::memset(area.data(), 0xff, area.size());
  BOOST_TEST(ring.pop() == ring_status::would_block);
  BOOST_TEST(ring.push("instead") == ring_status::ok);
  std::string got;
  BOOST_TEST(ring.pop(got) == ring_status::ok);
  BOOST_TEST(got == "instead");
}

BOOST_AUTO_TEST_CASE(there_is_no_area_where_a_push_would_fail) {
  one_ring ring;
  BOOST_TEST(ring.producer.prepare(ring.capacity()).data() == nullptr);
  ring.fill(64);
  BOOST_TEST(ring.producer.prepare(64).data() == nullptr);
}

BOOST_AUTO_TEST_CASE(an_area_for_nothing_is_an_area) {
  one_ring ring;
  BOOST_TEST(ring.producer.prepare(0).data() != nullptr);
  ring.producer.commit(0);
  BOOST_TEST(ring.consumer.front()->empty());
}

BOOST_AUTO_TEST_CASE(front_shows_the_message_until_it_is_popped) {
  one_ring ring;
  ring.push("first");
  ring.push("second");
  for (int i = 0; i != 2; ++i)
    BOOST_TEST(std::memcmp(ring.consumer.front()->data(), "first", 5) == 0);
  ring.consumer.pop_front();
  BOOST_TEST(ring.consumer.front()->size() == 6U);
  ring.consumer.pop_front(6);
  BOOST_TEST(!ring.consumer.front());
}

BOOST_AUTO_TEST_CASE(popping_from_an_empty_ring_does_nothing) {
  one_ring ring;
  ring.consumer.pop_front();
  BOOST_TEST(ring.consumer.position() == 0U);
}

BOOST_AUTO_TEST_CASE(consume_stops_at_the_maximum) {
  one_ring ring;
  for (const char* const text : {"a", "b", "c"})
    ring.push(text);
  std::string seen;
  const auto append = [&](std::span<const std::byte> m) { seen += static_cast<char>(m[0]); };
  BOOST_TEST(ring.consumer.consume(append, 0) == 0U);
  BOOST_TEST(ring.consumer.consume(append, 2) == 2U);
  BOOST_TEST(seen == "ab");
  BOOST_TEST(ring.consumer.consume(append) == 1U);
  BOOST_TEST(ring.consumer.consume(append) == 0U);
  BOOST_TEST(seen == "abc");
}

BOOST_AUTO_TEST_CASE(the_message_for_which_the_function_throws_stays) {
  one_ring ring;
  for (const char* const text : {"a", "b", "c"})
    ring.push(text);
  const auto stumble = [](std::span<const std::byte> m) {
    if (m[0] == std::byte{'b'})
      throw std::runtime_error("b");
  };
  BOOST_CHECK_THROW(ring.consumer.consume(stumble), std::runtime_error);
  std::string got;
  BOOST_TEST(ring.pop(got) == ring_status::ok);
  BOOST_TEST(got == "b");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(buffer_sequences)

BOOST_AUTO_TEST_CASE(a_sequence_of_buffers_becomes_one_message) {
  one_ring ring;
  const std::array<asio::const_buffer, 4> parts{asio::buffer("ab", 2), asio::const_buffer(),
                                                asio::buffer("cdefghijklmn", 12),
                                                asio::buffer("o", 1)};
  BOOST_TEST(ring.producer.try_push(parts) == ring_status::ok);
  std::string got;
  ring.pop(got);
  BOOST_TEST(got == "abcdefghijklmno");
  BOOST_TEST(ring.producer.try_push(std::vector<asio::const_buffer>()) == ring_status::ok);
  BOOST_TEST(ring.pop(got) == ring_status::ok);
  BOOST_TEST(got.empty());
}

BOOST_AUTO_TEST_CASE(a_message_is_scattered_over_a_sequence_of_buffers) {
  one_ring ring;
  ring.push("abcdefgh");
  std::string a(3, '.');
  std::string b(1, '.');
  std::string c(9, '.');
  const std::vector<asio::mutable_buffer> parts{asio::buffer(a), asio::mutable_buffer(),
                                                asio::buffer(b), asio::buffer(c)};
  std::size_t n = 0;
  BOOST_TEST(ring.consumer.try_pop(parts, n) == ring_status::ok);
  BOOST_TEST(n == 8U);
  BOOST_TEST(a + b + c == "abcdefgh.....");
}

BOOST_AUTO_TEST_CASE(a_message_larger_than_the_buffers_stays_and_tells_its_size) {
  one_ring ring;
  ring.push("12345");
  std::string small(4, '.');
  std::size_t n = 0;
  for (int i = 0; i != 2; ++i) {
    BOOST_TEST(ring.consumer.try_pop(asio::buffer(small), n) == ring_status::message_size);
    BOOST_TEST(n == 5U);
    BOOST_TEST(small == "....");
  }
  std::string got;
  BOOST_TEST(ring.pop(got) == ring_status::ok);
  BOOST_TEST(got == "12345");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(finishing)

BOOST_AUTO_TEST_CASE(an_empty_ring_that_is_finished_has_ended) {
  one_ring ring;
  ring.producer.finish();
  BOOST_TEST(ring.consumer.ready());
  BOOST_TEST(ring.pop() == ring_status::end);
  BOOST_TEST(ring.pop() == ring_status::end);
}

BOOST_AUTO_TEST_CASE(a_full_ring_can_be_finished_and_ends_when_drained) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{56}, one_page - 16}) {
    one_ring ring;
    const std::size_t n = ring.fill(size);
    ring.producer.finish();
    for (std::size_t i = 0; i != n; ++i)
      BOOST_REQUIRE(ring.pop() == ring_status::ok);
    BOOST_TEST(ring.pop() == ring_status::end);
    BOOST_TEST(ring.consumer.position() == ring.producer.position());
  }
}

BOOST_AUTO_TEST_CASE(nothing_can_be_pushed_after_the_end) {
  one_ring ring;
  ring.push("last");
  ring.producer.finish();
  ring.producer.finish();
  for (int i = 0; i != 2; ++i) {
    BOOST_TEST(ring.push("late") == ring_status::end);
    BOOST_TEST(ring.producer.reserve(one_page) == ring_status::end);
    BOOST_TEST(ring.producer.prepare(0).data() == nullptr);
    ring.pop();
  }
  BOOST_TEST(ring.pop() == ring_status::end);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(progress)

BOOST_AUTO_TEST_CASE(progress_is_published_when_an_eighth_was_consumed) {
  for (const std::size_t capacity : {one_page, 64 * std::size_t{1024}}) {
    one_ring ring(capacity);
    ring.fill(56); // records of 64 bytes
    for (std::size_t i = 1; i != capacity / 64 / 2; ++i) {
      ring.consumer.pop_front();
      BOOST_REQUIRE(ring.published() == i * 64 / (capacity / 8) * (capacity / 8));
      BOOST_REQUIRE(ring.published() == ring.consumer.published_position());
    }
  }
}

BOOST_AUTO_TEST_CASE(progress_is_published_when_the_consumer_has_caught_up) {
  one_ring ring;
  ring.push("a");
  ring.push("b");
  ring.consumer.pop_front();
  BOOST_TEST(ring.published() == 0U);
  ring.consumer.pop_front();
  BOOST_TEST(ring.published() == 32U);
}

BOOST_AUTO_TEST_CASE(progress_is_published_on_demand) {
  one_ring ring;
  ring.push("a");
  ring.push("b");
  ring.consumer.pop_front();
  ring.consumer.publish_head();
  BOOST_TEST(ring.published() == 16U);
  BOOST_TEST(ring.consumer.published_position() == ring.consumer.position());
}

BOOST_AUTO_TEST_CASE(the_producers_position_is_published_on_demand_only) {
  one_ring ring;
  ring.push("a");
  BOOST_TEST(ring.producers.words().tx_tail.load() == 0U);
  ring.producer.publish_tail();
  BOOST_TEST(ring.producers.words().tx_tail.load() == 16U);
}

BOOST_AUTO_TEST_SUITE_END()
