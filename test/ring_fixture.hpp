// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_TEST_RING_FIXTURE_HPP
#define SYSIPC_ASIO_TEST_RING_FIXTURE_HPP

#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <sysipc_asio/ring.hpp>
#include <sysipc_asio/segment.hpp>
#include <unistd.h>
#include <vector>

namespace sysipc_asio {

inline std::ostream& operator<<(std::ostream& out, ring_status status) {
  static constexpr const char* names[] = {"ok", "would_block", "message_size", "end",
                                          "protocol_violation"};
  return out << names[static_cast<int>(status)];
}

namespace test {

inline const std::size_t one_page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

/// Both ends of one ring in one process, each with the memory it has in its own process.
struct one_ring {
  explicit one_ring(std::size_t capacity = one_page)
      : producers(segment::create(capacity)), consumers(segment::create(capacity)),
        producers_seen(peer_segment::open(producers.native_handle(), producers.ring_capacity())),
        consumers_seen(peer_segment::open(consumers.native_handle(), consumers.ring_capacity())),
        producer(producers, consumers_seen), consumer(consumers, producers_seen) {}

  segment producers;
  segment consumers;
  peer_segment producers_seen;
  peer_segment consumers_seen;
  ring_producer producer;
  ring_consumer consumer;

  std::size_t capacity() const noexcept { return producers.ring_capacity(); }

  /// What the consumer has told the producer.
  std::uint64_t published() const noexcept { return consumers.words().rx_head.load(); }

  ring_status push(std::string_view text) { return producer.try_push(asio::buffer(text)); }
  ring_status push_zeros(std::size_t n) {
    static const std::vector<char> zeros(2 * 1024 * 1024);
    return producer.try_push(asio::const_buffer(zeros.data(), n));
  }

  /// The next message; only its status if there is none.
  ring_status pop(std::string& text) {
    text.resize(consumer.max_message_size());
    std::size_t n = 0;
    const ring_status status = consumer.try_pop(asio::buffer(text), n);
    text.resize(status == ring_status::ok ? n : 0);
    return status;
  }
  ring_status pop() {
    std::string ignored;
    return pop(ignored);
  }

  /// Pushes and pops until the next record starts at this offset of the ring.
  void move_to(std::size_t offset) {
    const std::size_t distance = (offset - producer.position()) & (capacity() - 1);
    if (distance != 0) {
      push_zeros(distance - layout::commit_word_size);
      consumer.pop_front();
    }
  }

  /// Pushes messages of this size until no more fit; returns how many did.
  std::size_t fill(std::size_t size) {
    std::size_t n = 0;
    while (push_zeros(size) == ring_status::ok)
      ++n;
    return n;
  }

  /// The producer's own ring, to write into it what a hostile peer would.
  layout::word64& word_at(std::uint64_t position) const {
    return *reinterpret_cast<layout::word64*>(producers.ring() + (position & (capacity() - 1)));
  }
};

} // namespace test
} // namespace sysipc_asio

#endif
