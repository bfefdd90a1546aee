// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_TEST_LISTENING_HPP
#define SYSIPC_ASIO_TEST_LISTENING_HPP

#include "raw_peer.hpp"
#include "scratch.hpp"
#include "server.hpp"
#include <boost/test/unit_test.hpp>

namespace sysipc_asio::test {

/// For raw peers, who speak the interprocess backend's handshake.
inline listen_options with_timeout(std::chrono::nanoseconds timeout) {
  listen_options options;
  options.backend = backend::interprocess;
  options.handshake_timeout = timeout;
  return options;
}

/// A server that had its first client, and must not be worse off at the end.
struct listening {
  listening() : listening(with_timeout(std::chrono::seconds(60))) {}
  explicit listening(listen_options options) : s(std::move(options)) {
    BOOST_TEST(serves(s));
    before = holdings::now();
  }
  ~listening() {
    BOOST_TEST(serves(s));
    BOOST_TEST(nothing_leaked_since(before));
    BOOST_TEST(s.unclaimed() == 0U);
    BOOST_TEST(s.errors().empty());
  }

  raw_peer client() const { return raw_peer::connect(s.name()); }

  scratch_directory directory;
  server s;
  holdings before;
};

} // namespace sysipc_asio::test

#endif
