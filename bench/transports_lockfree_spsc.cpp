// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "blocking_end.hpp"
#include "shared_area.hpp"
#include "spinning.hpp"
#include "workload.hpp"
#include <algorithm>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstring>
#include <memory>
#include <stdexcept>

/// boost::lockfree::spsc_queue in shared memory, between two processes that spin.
/**
 * Its elements have one type and it may lie in shared memory only if its capacity is a
 * constant. So an element is a block for one message, with the message's size in it, of
 * the power of two that is enough: nothing is copied in vain at the usual sizes, less
 * than half of a block at others. A queue is as large as our ring is by default, or four
 * blocks; --capacity has no effect.
 */
namespace bench {
namespace {

constexpr std::size_t smallest_block = 8;
constexpr std::size_t largest_block = 65536;

template <std::size_t Size>
struct block {
  std::size_t size;
  std::byte bytes[Size];
};

template <std::size_t Size>
using block_queue =
    boost::lockfree::spsc_queue<block<Size>, boost::lockfree::capacity<std::max<std::size_t>(
                                                 256 * 1024 / sizeof(block<Size>), 4)>>;

/// Zero, that is, empty; `there` leads from the first side to the second.
template <std::size_t Size>
struct queues {
  alignas(128) block_queue<Size> there;
  alignas(128) block_queue<Size> back;
};

template <std::size_t Size, typename Waiting>
class queue_end : public plain_end {
public:
  queue_end(std::shared_ptr<queues<Size>> both, std::size_t size, role as)
      : queues_(std::move(both)), out_(as == role::first ? queues_->there : queues_->back),
        in_(as == role::first ? queues_->back : queues_->there),
        payload_(std::make_unique<block<Size>>()), message_(std::make_unique<block<Size>>()) {
    const auto payload = make_payload(size);
    payload_->size = size;
    std::memcpy(payload_->bytes, payload.data(), size);
  }

  void send() { push(*payload_); }
  void send_back() { push(*message_); }

  std::span<const std::byte> receive() {
    while (!in_.pop(*message_))
      wait_.for_message(received_);
    ++received_;
    use_copy(message_->bytes);
    return std::span(message_->bytes).first(std::min(message_->size, Size));
  }

private:
  void push(const block<Size>& message) {
    while (!out_.push(message))
      wait_.for_room();
  }

  std::shared_ptr<queues<Size>> queues_;
  block_queue<Size>& out_;
  block_queue<Size>& in_;
  std::unique_ptr<block<Size>> payload_;
  std::unique_ptr<block<Size>> message_;
  std::uint64_t received_ = 0;
  Waiting wait_;
};

/// As the bare ring waits in each case.
template <typename Room, typename Message>
struct waiting {
  void for_room() noexcept { room(); }
  void for_message(std::uint64_t received) noexcept { message(received); }

  Room room;
  Message message;
};
using on_one_cpu = waiting<yield_cpu, yield_cpu>;
using for_round_trips = waiting<look_again, look_again>;
using for_throughput = waiting<relax_cpu, paced_look>;

template <std::size_t Size, typename Waiting>
auto opener(const settings& s) {
  return [both = make_shared_area<queues<Size>>(), size = s.size](unique_fd, role as) {
    return queue_end<Size, Waiting>(both, size, as);
  };
}

template <std::size_t Size = smallest_block>
workload rtt_over_blocks(const settings& s) {
  if constexpr (Size < largest_block)
    if (s.size > Size)
      return rtt_over_blocks<2 * Size>(s);
  return s.cpus.shared() ? blocking_rtt(s, opener<Size, on_one_cpu>(s))
                         : blocking_rtt(s, opener<Size, for_round_trips>(s));
}

template <std::size_t Size = smallest_block>
workload throughput_over_blocks(const settings& s) {
  if constexpr (Size < largest_block)
    if (s.size > Size)
      return throughput_over_blocks<2 * Size>(s);
  return s.cpus.shared() ? blocking_throughput(s, opener<Size, on_one_cpu>(s))
                         : blocking_throughput(s, opener<Size, for_throughput>(s));
}

} // namespace

workload lockfree_spsc_rtt(const settings& s) {
  return rtt_over_blocks(s);
}

workload lockfree_spsc_throughput(const settings& s) {
  return throughput_over_blocks(s);
}

} // namespace bench
