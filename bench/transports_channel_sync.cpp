// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "blocking_end.hpp"
#include "side_of_channel.hpp"
#include "workload.hpp"
#include <boost/asio/buffer.hpp>
#include <sysipc_asio/statistics.hpp>
#include <vector>

/// The channel without an event loop: its blocking calls on both sides.
namespace bench {
namespace {

class channel_end : public plain_end {
public:
  channel_end(unique_fd socket, const settings& s, role as)
      : side_(std::move(socket), s, as), payload_(make_payload(s.size)), message_(s.size) {}

  void send() { side_.ch.blocking_send(boost::asio::buffer(payload_)); }

  std::span<const std::byte> receive() {
    const std::size_t n = side_.ch.blocking_receive(boost::asio::buffer(message_));
    return std::span(message_).first(n);
  }

  void send_back() { side_.ch.blocking_send(boost::asio::buffer(message_)); }

  void start_counting() noexcept { side_.start_counting(); }

  side_report report() const { return side_.report(); }

private:
  side_of_channel side_;
  std::vector<std::byte> payload_;
  std::vector<std::byte> message_;
};

auto opener(const settings& s) {
  return [s](unique_fd socket, role as) { return channel_end(std::move(socket), s, as); };
}

} // namespace

workload channel_sync_rtt(const settings& s) {
  return blocking_rtt(s, opener(s));
}

workload channel_sync_throughput(const settings& s) {
  return blocking_throughput(s, opener(s));
}

} // namespace bench
