// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "resources.hpp"
#include <algorithm>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <sysipc_asio/message.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace data = boost::unit_test::data;
using sysipc_asio::message;

namespace {

constexpr std::size_t limit = message::inline_size;
const std::vector<std::size_t> sizes{0,     1,         7,   8,   16,  64,         limit - 1,
                                     limit, limit + 1, 111, 112, 113, 1024 * 1024};

std::vector<std::byte> bytes(std::size_t n, unsigned seed = 1) {
  std::vector<std::byte> result(n);
  for (std::size_t i = 0; i != n; ++i)
    result[i] = static_cast<std::byte>(i * 31 + seed);
  return result;
}

bool holds(const message& m, const std::vector<std::byte>& expected) {
  return m.size() == expected.size() && m.empty() == expected.empty() &&
         std::equal(expected.begin(), expected.end(), m.data());
}

bool lies_in_object(const message& m) {
  const auto object = reinterpret_cast<std::uintptr_t>(&m);
  const auto payload = reinterpret_cast<std::uintptr_t>(m.data());
  return payload >= object && payload < object + sizeof m;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_new_message_is_empty) {
  const message m;
  BOOST_TEST(m.empty());
  BOOST_TEST(m.size() == 0U);
  BOOST_TEST(m.view().empty());
  BOOST_TEST(m.bytes().empty());
}

BOOST_AUTO_TEST_CASE(a_message_moves_without_throwing_and_is_never_copied) {
  BOOST_TEST(std::is_nothrow_move_constructible_v<message>);
  BOOST_TEST(std::is_nothrow_move_assignable_v<message>);
  BOOST_TEST(!std::is_copy_constructible_v<message>);
}

BOOST_DATA_TEST_CASE(a_message_holds_what_it_was_given, data::make(sizes), n) {
  auto payload = bytes(n);
  const message m(payload);
  const auto expected = payload;
  std::fill(payload.begin(), payload.end(), std::byte{0xee});
  BOOST_TEST(holds(m, expected));
}

BOOST_DATA_TEST_CASE(all_views_show_the_same_bytes, data::make(sizes), n) {
  const message m(bytes(n));
  BOOST_TEST(m.bytes().data() == m.data());
  BOOST_TEST(m.bytes().size() == n);
  BOOST_TEST(m.buffer().data() == m.data());
  BOOST_TEST(m.buffer().size() == n);
  BOOST_TEST(static_cast<const void*>(m.view().data()) == m.data());
  BOOST_TEST(m.view().size() == n);
}

BOOST_DATA_TEST_CASE(small_payloads_lie_in_the_object_itself, data::make(sizes), n) {
  const message m(bytes(n));
  BOOST_TEST(lies_in_object(m) == (n <= limit));
}

BOOST_DATA_TEST_CASE(the_payload_starts_at_a_multiple_of_16, data::make(sizes), n) {
  const message m(bytes(n));
  BOOST_TEST(reinterpret_cast<std::uintptr_t>(m.data()) % 16 == 0U);
}

BOOST_DATA_TEST_CASE(moving_takes_the_payload_and_leaves_an_empty_message, data::make(sizes), n) {
  const auto payload = bytes(n);
  message from(payload);
  const message to(std::move(from));
  BOOST_TEST(holds(to, payload));
  BOOST_TEST(from.empty());
}

BOOST_AUTO_TEST_CASE(moving_a_large_message_does_not_copy_it) {
  message from(bytes(limit + 1));
  const std::byte* const where = from.data();
  const message to(std::move(from));
  BOOST_TEST(to.data() == where);
}

BOOST_DATA_TEST_CASE(move_assignment_replaces_any_size_by_any_other,
                     data::make(sizes) * data::make(sizes), old_size, new_size) {
  message to(bytes(old_size, 1));
  message from(bytes(new_size, 2));
  to = std::move(from);
  BOOST_TEST(holds(to, bytes(new_size, 2)));
  BOOST_TEST(from.empty());
}

BOOST_DATA_TEST_CASE(a_message_moved_to_itself_keeps_its_payload, data::make(sizes), n) {
  message m(bytes(n));
  message& same = m;
  m = std::move(same);
  BOOST_TEST(holds(m, bytes(n)));
}

BOOST_DATA_TEST_CASE(a_message_that_was_moved_from_can_be_used_again, data::make(sizes), n) {
  message from(bytes(limit + 1));
  const message to(std::move(from));
  from.assign(bytes(n, 3));
  BOOST_TEST(holds(from, bytes(n, 3)));
  BOOST_TEST(holds(to, bytes(limit + 1)));
}

BOOST_DATA_TEST_CASE(assign_replaces_any_size_by_any_other, data::make(sizes) * data::make(sizes),
                     old_size, new_size) {
  message m(bytes(old_size, 1));
  m.assign(bytes(new_size, 2));
  BOOST_TEST(holds(m, bytes(new_size, 2)));
}

BOOST_AUTO_TEST_CASE(a_failed_assignment_changes_nothing,
                     *boost::unit_test::enable_if<!sysipc_asio::test::sanitized>()) {
  const std::span<const std::byte> huge(static_cast<const std::byte*>(nullptr),
                                        std::numeric_limits<std::size_t>::max() / 4);
  message m(bytes(200));
  BOOST_CHECK_THROW(m.assign(huge), std::bad_alloc);
  BOOST_TEST(holds(m, bytes(200)));
}

BOOST_DATA_TEST_CASE(a_copy_can_be_changed, data::make(sizes), n) {
  const message m(bytes(n));
  auto copy = m.to_vector();
  BOOST_TEST((copy == bytes(n)));
  for (std::byte& b : copy)
    b = std::byte{0xee};
  BOOST_TEST(holds(m, bytes(n)));
  BOOST_TEST(!m.is_shared());
}
