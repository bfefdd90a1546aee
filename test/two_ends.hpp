// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_TEST_TWO_ENDS_HPP
#define SYSIPC_ASIO_TEST_TWO_ENDS_HPP

#include "scratch.hpp"
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstring>
#include <ostream>
#include <string>
#include <sysipc_asio/channel.hpp>
#include <sysipc_asio/error.hpp>

namespace sysipc_asio {

inline std::ostream& operator<<(std::ostream& out, wait_policy p) {
  static constexpr const char* names[] = {"adaptive", "busy", "sleepy", "kick_always"};
  return out << names[static_cast<int>(p)];
}
inline std::ostream& operator<<(std::ostream& out, fence_mode m) {
  return out << (m == fence_mode::symmetric ? "symmetric" : "asymmetric");
}

namespace test {

inline constexpr wait_policy all_policies[] = {wait_policy::adaptive, wait_policy::busy,
                                               wait_policy::sleepy, wait_policy::kick_always};
inline constexpr fence_mode both_fences[] = {fence_mode::asymmetric, fence_mode::symmetric};

/// Rings of one page, which are quickly full, and no pools.
inline channel_options small_rings(wait_policy policy = wait_policy::sleepy,
                                   fence_mode fences = fence_mode::asymmetric) {
  channel_options result;
  result.send_capacity = result.receive_capacity = 4096;
  result.send_pool = result.receive_pool = 0;
  result.max_message_size = layout::max_payload(4096);
  result.policy = policy;
  result.fences = fences;
  return result;
}

/// Both ends of a channel on the executors of one io_context.
struct two_ends {
  explicit two_ends(const channel_options& options = small_rings());

  /// Runs handlers until `done` gives true. False if that never happens.
  template <typename Done>
  bool run_until(Done done) {
    context.restart();
    while (!done())
      if (context.run_one_for(std::chrono::seconds(20)) == 0)
        return done();
    return true;
  }
  /// Runs what can run without waiting. Not with wait_policy::busy.
  std::size_t poll();

  asio::io_context context;
  channel here;
  channel there;
};

/// Sends messages of `size` bytes, then empty ones, until nothing fits. Returns how many.
std::size_t fill(channel& ch, std::size_t size = 100);

/// Receives what is there. Returns how many messages that were.
std::size_t drain(channel& ch);

} // namespace test
} // namespace sysipc_asio

#endif
