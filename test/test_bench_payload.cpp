// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "../bench/numbered_payload.hpp"
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace {

using bench::receiver_kind;

const std::vector<std::uint64_t> numbers{0, 1, 254, 255, 256, 0x0102'0304'0506'0708, ~0ULL};

std::vector<std::size_t> sizes() {
  std::vector<std::size_t> result{1000, 4096, 4097};
  for (std::size_t size = 1; size != 40; ++size)
    result.push_back(size);
  return result;
}

std::vector<std::byte> filled(std::size_t size, std::uint64_t number) {
  std::vector<std::byte> result(size);
  bench::fill_payload(result, number);
  return result;
}

bool accepts(receiver_kind how, const std::vector<std::byte>& payload, std::uint64_t number) {
  try {
    bench::read_payload(payload, payload.size(), number, how);
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

} // namespace

BOOST_AUTO_TEST_CASE(a_numbered_payload_is_what_its_receiver_expects) {
  for (const std::size_t size : sizes())
    for (const std::uint64_t number : numbers)
      for (const auto how : {receiver_kind::sampled, receiver_kind::full})
        BOOST_TEST(accepts(how, filled(size, number), number), size << " bytes, " << number);
}

BOOST_AUTO_TEST_CASE(a_full_read_notices_each_damaged_byte) {
  for (const std::size_t size : sizes())
    for (std::size_t i = 0; i != size; ++i) {
      auto payload = filled(size, 7);
      payload[i] ^= std::byte{0x10};
      BOOST_TEST(!accepts(receiver_kind::full, payload, 7), i << " of " << size);
    }
}

BOOST_AUTO_TEST_CASE(a_sampled_read_notices_the_number_the_middle_and_the_end) {
  for (const std::size_t size : sizes())
    for (const std::size_t i :
         {std::size_t(0), std::min<std::size_t>(7, size - 1), size / 2, size - 1}) {
      auto payload = filled(size, 7);
      payload[i] ^= std::byte{0x10};
      BOOST_TEST(!accepts(receiver_kind::sampled, payload, 7), i << " of " << size);
    }
}

BOOST_AUTO_TEST_CASE(a_message_of_another_number_or_size_is_noticed) {
  for (const auto how : {receiver_kind::sampled, receiver_kind::full}) {
    for (const std::size_t size : sizes())
      for (const std::uint64_t other : {6, 8, 5, 9, 15, 135})
        BOOST_TEST(!accepts(how, filled(size, other), 7), size << " bytes, " << other);
    BOOST_CHECK_THROW(bench::read_payload(filled(100, 7), 101, 7, how), std::runtime_error);
  }
}
