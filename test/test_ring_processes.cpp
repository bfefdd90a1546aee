// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// Two processes, one ring, and every message in its place. Both sides sleep when
// they have nothing to do, so that each run is a test of the wake-ups, too.

#include "ring_fixture.hpp"
#include "two_processes.hpp"
#include <boost/system/system_error.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

namespace data = boost::unit_test::data;
using namespace sysipc_asio;
using detail::kicker;

namespace sysipc_asio {
inline std::ostream& operator<<(std::ostream& out, fence_mode mode) {
  return out << (mode == fence_mode::symmetric ? "symmetric" : "asymmetric");
}
} // namespace sysipc_asio

namespace {

const std::uint64_t messages =
    test::count_from_environment("SYSIPC_TEST_MESSAGES", 10'000'000, 1'000'000);

/// Eight to 64 bytes that follow from their number.
struct numbered_message {
  explicit numbered_message(std::uint64_t n) : size(8 + n * 2654435761U / 1024 % 57) {
    words[0] = n;
    for (std::uint64_t i = 1; i != 8; ++i)
      words[i] = (n + i) * 0x9e37'79b9'7f4a'7c15ULL;
  }
  bool equals(std::span<const std::byte> payload) const {
    return payload.size() == size && std::memcmp(payload.data(), words, size) == 0;
  }

  std::size_t size;
  std::uint64_t words[8];
};

detail::unique_fd exchange_bells(int socket, const kicker& mine) {
  return test::exchange_descriptors(socket, mine.reading_end());
}

kicker make_kicker() {
  error_code ec;
  kicker result = kicker::create(ec);
  if (ec)
    throw boost::system::system_error(ec, "kicker::create");
  return result;
}

void require_fences(fence_mode mode) {
  if (mode == fence_mode::asymmetric && !register_asymmetric_fences())
    throw std::runtime_error("no membarrier(2) here");
}

void produce(segment& own, peer_segment& peer, int socket, fence_mode mode, std::uint64_t count) {
  require_fences(mode);
  const kicker data_kick = make_kicker();
  test::sleeper space(own.words().tx_arm, mode, exchange_bells(socket, data_kick));
  kick_gate gate(peer.words().rx_arm, mode);
  ring_producer ring(own, peer);
  for (std::uint64_t i = 0; i != count; ++i) {
    const numbered_message m(i);
    ring_status status = ring_status::would_block;
    space.wait([&] {
      status = ring.try_push(asio::buffer(m.words, m.size));
      return status != ring_status::would_block;
    });
    if (status != ring_status::ok)
      throw std::runtime_error("a push failed");
    if (gate.due())
      data_kick.kick();
  }
  ring.finish();
  if (gate.due())
    data_kick.kick();
  char last; // the bell must not hang up before the consumer is done
  if (::recv(socket, &last, 1, 0) != 1)
    throw std::runtime_error("the consumer is gone");
}

/// The number of messages that arrived until the end, all of them right.
std::uint64_t consume(segment& own, peer_segment& peer, int socket, fence_mode mode) {
  require_fences(mode);
  const kicker space_kick = make_kicker();
  test::sleeper data(own.words().rx_arm, mode, exchange_bells(socket, space_kick));
  kick_gate gate(peer.words().tx_arm, mode);
  ring_consumer ring(own, peer);
  std::uint64_t announced = 0;
  const auto announce = [&] {
    if (ring.published_position() != announced) {
      announced = ring.published_position();
      if (gate.due())
        space_kick.kick();
    }
  };
  for (std::uint64_t i = 0;; ++i) {
    // The ring publishes its head when it has run empty, hence before every sleep.
    data.wait([&] { return ring.ready(); });
    const auto record = ring.peek();
    if (record.status == ring_status::end) {
      ::send(socket, "e", 1, MSG_NOSIGNAL);
      return i;
    }
    if (record.status != ring_status::ok || !numbered_message(i).equals(record.payload))
      throw std::runtime_error("message " + std::to_string(i) + " is wrong");
    ring.pop_front(record.payload.size());
    announce();
  }
}

void run(std::size_t capacity, fence_mode mode, bool parent_produces, std::uint64_t count,
         test::placement where) {
  const int status = test::run_two_processes(
      capacity,
      [&](segment& own, peer_segment& peer, int socket) {
        if (parent_produces)
          produce(own, peer, socket, mode, count);
        else
          BOOST_TEST(consume(own, peer, socket, mode) == count);
      },
      [&](segment& own, peer_segment& peer, int socket) {
        if (parent_produces)
          return consume(own, peer, socket, mode) == count ? 0 : 1;
        produce(own, peer, socket, mode, count);
        return 0;
      },
      where);
  BOOST_TEST(status == 0);
}

const std::vector<std::size_t> capacities{test::one_page, 64 * 1024, 1024 * 1024};
const std::vector<fence_mode> modes{fence_mode::symmetric, fence_mode::asymmetric};

} // namespace

BOOST_DATA_TEST_CASE(messages_reach_the_child_in_strict_order,
                     data::make(capacities) * data::make(modes), capacity, mode) {
  run(capacity, mode, true, messages, test::placement::two_cpus());
}

BOOST_DATA_TEST_CASE(messages_reach_the_parent_in_strict_order,
                     data::make(capacities) * data::make(modes), capacity, mode) {
  run(capacity, mode, false, messages, test::placement::two_cpus());
}

BOOST_DATA_TEST_CASE(messages_arrive_in_strict_order_on_a_single_cpu,
                     data::make(capacities) * data::make(modes), capacity, mode) {
  run(capacity, mode, true, messages / 10, test::placement::one_cpu());
}
