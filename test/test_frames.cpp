// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// One frame over a socketpair, from a sender that does what it likes.

#include "raw_peer.hpp"
#include "resources.hpp"
#include "scratch.hpp"
#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>
#include <fcntl.h>
#include <random>
#include <sysipc_asio/error.hpp>
#include <unistd.h>

using namespace sysipc_asio;
using namespace sysipc_asio::test;
using detail::frame_header;
using detail::frame_reader;
using detail::hello_frame;
using detail::unique_fd;
using status = frame_reader::status;

namespace {

byte_string filled(std::uint32_t magic, std::uint16_t size, std::size_t length) {
  byte_string result(std::max(length, sizeof(frame_header)));
  const frame_header header{magic, hello_frame::type, size};
  std::memcpy(result.data(), &header, sizeof header);
  result.resize(length);
  return result;
}

struct line {
  line() : line(socket_pair()) {}

  status read() { return reader.read(socket.get(), ec); }

  raw_peer sender;
  unique_fd socket;
  frame_reader reader;
  error_code ec;

private:
  explicit line(std::pair<unique_fd, unique_fd> pair)
      : sender(std::move(pair.first)), socket(std::move(pair.second)) {}
};

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

/// Nothing is open above it here.
rlim_t lowest_free_descriptor() {
  const unique_fd fd(::dup(0));
  return static_cast<rlim_t>(fd.get());
}

std::vector<unique_fd> some_descriptors(std::size_t n) {
  std::vector<unique_fd> result;
  for (std::size_t i = 0; i != n; ++i)
    result.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return result;
}

std::vector<int> numbers(const std::vector<unique_fd>& descriptors) {
  std::vector<int> result;
  for (const auto& fd : descriptors)
    result.push_back(fd.get());
  return result;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_frame_arrives_as_it_was_sent) {
  line l;
  hello_frame sent = good_hello();
  sent.features = 0xabcd;
  error_code ec;
  detail::send_frame(l.sender.socket(), sent, {}, ec);
  BOOST_TEST(!ec);
  BOOST_TEST((l.read() == status::complete));
  hello_frame received;
  BOOST_TEST(l.reader.get(received));
  BOOST_TEST((encode(received) == encode(sent)));
}

BOOST_AUTO_TEST_CASE(a_frame_that_comes_byte_by_byte_is_complete_with_its_last_byte) {
  line l;
  const byte_string frame = encode(good_hello());
  for (std::size_t i = 0; i != frame.size(); ++i) {
    BOOST_TEST((l.read() == status::incomplete));
    BOOST_TEST(!l.ec);
    l.sender.send(std::span(frame).subspan(i, 1));
  }
  BOOST_TEST((l.read() == status::complete));
}

BOOST_AUTO_TEST_CASE(a_frame_that_ends_early_is_a_connection_reset_wherever_it_ends) {
  const byte_string frame = encode(good_hello());
  for (std::size_t length = 0; length != frame.size(); ++length) {
    line l;
    if (length != 0)
      l.sender.send(std::span(frame).first(length));
    l.sender.close();
    BOOST_TEST_CONTEXT("after " << length << " bytes") {
      BOOST_TEST((l.read() == status::failed));
      BOOST_TEST(l.ec == asio::error::connection_reset);
    }
  }
}

BOOST_AUTO_TEST_CASE(any_wrong_bit_of_the_magic_is_malformed) {
  for (unsigned bit = 0; bit != 32; ++bit) {
    line l;
    l.sender.send(filled(detail::frame_magic ^ 1U << bit, sizeof(hello_frame), 8));
    BOOST_TEST((l.read() == status::failed));
    BOOST_TEST(l.ec == error::handshake_malformed);
  }
}

BOOST_AUTO_TEST_CASE(a_size_that_no_frame_can_have_is_malformed_at_once) {
  for (const std::uint16_t size : std::initializer_list<std::uint16_t>{0, 1, 7, 257, 4096, 65535})
    BOOST_TEST_CONTEXT(size) {
      line l;
      l.sender.send(filled(detail::frame_magic, size, 8));
      BOOST_TEST((l.read() == status::failed));
      BOOST_TEST(l.ec == error::handshake_malformed);
    }
}

BOOST_AUTO_TEST_CASE(a_frame_of_any_allowed_size_is_taken) {
  for (const std::uint16_t size : std::initializer_list<std::uint16_t>{8, 39, 40, 41, 255, 256})
    BOOST_TEST_CONTEXT(size) {
      line l;
      l.sender.send(filled(detail::frame_magic, size, size));
      BOOST_TEST((l.read() == status::complete));
      hello_frame hello;
      BOOST_TEST(l.reader.get(hello) == (size >= sizeof hello));
    }
}

BOOST_AUTO_TEST_CASE(a_frame_of_another_type_is_not_what_was_asked_for) {
  line l;
  l.sender.send(detail::welcome_frame());
  BOOST_TEST((l.read() == status::complete));
  hello_frame hello;
  BOOST_TEST(!l.reader.get(hello));
  detail::welcome_frame welcome;
  BOOST_TEST(l.reader.get(welcome));
}

BOOST_AUTO_TEST_CASE(the_next_frame_is_left_on_the_socket) {
  line l;
  byte_string both = encode(good_hello());
  const byte_string second = encode(detail::attach_frame());
  both.insert(both.end(), second.begin(), second.end());
  l.sender.send(both);
  BOOST_TEST((l.read() == status::complete));
  l.reader.clear();
  BOOST_TEST((l.read() == status::complete));
  detail::attach_frame attach;
  BOOST_TEST(l.reader.get(attach));
}

BOOST_AUTO_TEST_CASE(descriptors_arrive_in_order_and_are_not_inherited_by_exec) {
  line l;
  const auto sent = some_descriptors(3);
  l.sender.send(detail::attach_frame(), numbers(sent));
  BOOST_TEST((l.read() == status::complete));
  BOOST_REQUIRE(l.reader.descriptor_count() == 3U);
  for (std::size_t i = 0; i != 3; ++i) {
    const unique_fd fd = l.reader.take_descriptor(i);
    BOOST_TEST(is_open(fd.get()));
    BOOST_TEST((::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
  }
}

BOOST_AUTO_TEST_CASE(descriptors_may_come_with_different_bytes_of_a_frame) {
  line l;
  const auto sent = some_descriptors(3);
  const byte_string frame = encode(detail::attach_frame());
  for (std::size_t i = 0; i != frame.size(); ++i)
    l.sender.send(std::span(frame).subspan(i, 1),
                  i % 6 == 0 ? std::vector{sent[i / 6].get()} : std::vector<int>());
  BOOST_TEST((l.read() == status::complete));
  BOOST_TEST(l.reader.descriptor_count() == 3U);
}

BOOST_AUTO_TEST_CASE(descriptors_that_nobody_took_are_closed) {
  const auto sent = some_descriptors(3);
  line l;
  const holdings before = holdings::now();
  l.sender.send(detail::attach_frame(), numbers(sent));
  BOOST_TEST((l.read() == status::complete));
  BOOST_TEST(holdings::now().descriptors == before.descriptors + 3);
  l.reader.clear();
  BOOST_TEST(l.reader.descriptor_count() == 0U);
  BOOST_TEST(holdings::now() == before);
}

BOOST_AUTO_TEST_CASE(too_many_descriptors_are_malformed_and_all_closed) {
  for (const std::size_t count : std::initializer_list<std::size_t>{5, 6, 100, 253})
    BOOST_TEST_CONTEXT(count) {
      const auto sent = some_descriptors(count);
      const holdings before = holdings::now();
      {
        line l;
        BOOST_REQUIRE(l.sender.send(detail::attach_frame(), numbers(sent)));
        BOOST_TEST((l.read() == status::failed));
        BOOST_TEST(l.ec == error::handshake_malformed);
      }
      BOOST_TEST(holdings::now() == before);
    }
}

BOOST_AUTO_TEST_CASE(too_many_descriptors_are_malformed_also_one_by_one) {
  const auto sent = some_descriptors(detail::frame_descriptors + 1);
  const holdings before = holdings::now();
  {
    line l;
    const byte_string frame = encode(detail::attach_frame());
    for (std::size_t i = 0; i != sent.size(); ++i)
      l.sender.send(std::span(frame).subspan(i, 1), {sent[i].get()});
    BOOST_TEST((l.read() == status::failed));
    BOOST_TEST(l.ec == error::handshake_malformed);
  }
  BOOST_TEST(holdings::now() == before);
}

BOOST_AUTO_TEST_CASE(descriptors_that_find_no_place_are_an_error_and_none_of_them_stays) {
  const auto sent = some_descriptors(3);
  for (rlim_t places = 0; places != 3; ++places) {
    line l;
    l.sender.send(detail::attach_frame(), numbers(sent));
    const holdings before = holdings::now();
    {
      const rlim_t limit = lowest_free_descriptor() + places;
      const lowered_limit few(RLIMIT_NOFILE, limit);
      BOOST_TEST((l.read() == status::failed));
    }
    BOOST_TEST(l.ec == boost::system::errc::too_many_files_open);
    l.reader.clear();
    BOOST_TEST(holdings::now() == before);
  }
}

BOOST_AUTO_TEST_CASE(noise_is_refused_or_waited_for_and_never_more) {
  const unsigned seed = std::random_device()();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::minstd_rand random(seed);
  for (int round = 0; round != 2000; ++round) {
    line l;
    byte_string noise(random() % 600);
    std::generate(noise.begin(), noise.end(), [&] { return static_cast<std::byte>(random()); });
    if (round % 2 == 0 && noise.size() >= 4) // past the magic
      std::memcpy(noise.data(), &detail::frame_magic, 4);
    if (!noise.empty())
      l.sender.send(noise);
    const status s = l.read();
    BOOST_TEST_CONTEXT("seed " << seed << ", round " << round) {
      if (s == status::failed)
        BOOST_TEST(l.ec == error::handshake_malformed);
      else
        BOOST_TEST(!l.ec);
      if (noise.size() >= 8 && round % 2 != 0)
        BOOST_TEST((s == status::failed));
    }
  }
}

BOOST_AUTO_TEST_CASE(sending_to_a_closed_socket_is_an_error_and_no_signal) {
  line l;
  l.socket.reset();
  error_code ec;
  detail::send_frame(l.sender.socket(), good_hello(), {}, ec);
  BOOST_TEST(ec == asio::error::broken_pipe);
}

BOOST_AUTO_TEST_CASE(sending_into_a_full_socket_is_an_error_and_does_not_wait) {
  line l;
  error_code ec;
  int frames = 0;
  for (; !ec && frames != 1'000'000; ++frames)
    detail::send_frame(l.sender.socket(), good_hello(), {}, ec);
  BOOST_TEST(ec == asio::error::no_buffer_space);
}
