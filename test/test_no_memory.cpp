// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// Every single allocation of a connect and an accept fails once. No exception
// leaves a handler, nothing is lost, and both go on afterwards.

#include "resources.hpp"
#include "scratch.hpp"
#include "server.hpp"
#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <list>
#include <new>
#include <set>

namespace {

/// Allocations of this thread until one fails; negative: none does.
thread_local int until_failure = -1;

bool fails() noexcept {
  return until_failure >= 0 && until_failure-- == 0;
}

} // namespace

// Not inlined: to look like the real ones.
#define REPLACED [[gnu::noinline]]

REPLACED void* operator new(std::size_t n) {
  void* const p = fails() ? nullptr : std::malloc(n);
  if (p == nullptr)
    throw std::bad_alloc();
  return p;
}
REPLACED void operator delete(void* p) noexcept {
  std::free(p);
}
REPLACED void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}

#if !SYSIPC_ASIO_TEST_ASAN // which has its own
/// What Asio takes for its operations.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t n) noexcept {
  void* p = nullptr;
  return !fails() && ::posix_memalign(&p, alignment, n) == 0 ? p : nullptr;
}
#endif

using namespace sysipc_asio;
using namespace sysipc_asio::test;

namespace {

/// Fails the n-th allocation from now on, for the life of this object.
class allocation_failure {
public:
  explicit allocation_failure(int n) { until_failure = n; }
  allocation_failure(const allocation_failure&) = delete;
  allocation_failure& operator=(const allocation_failure&) = delete;
  ~allocation_failure() { until_failure = -1; }

  bool happened() const noexcept { return until_failure < 0; }
};

/// A connect and an accept in one thread.
struct meeting {
  meeting() : listener(context, "meeting", quick()) {}

  static listen_options quick() {
    listen_options options;
    options.handshake_timeout = std::chrono::milliseconds(200);
    return options;
  }

  /// Accepts for ever, as a server does.
  void start_accept() {
    listener.async_accept([this](error_code ec, channel c) {
      accepting = false;
      if (ec == asio::error::operation_aborted)
        return;
      try {
        if (!ec)
          accepted.push_front(std::move(c));
        start_accept();
      } catch (const std::bad_alloc&) { // an initiating function may throw
      }
    });
    accepting = true;
  }
  void start_connect() {
    connect_options options;
    options.timeout = std::chrono::milliseconds(200);
    async_connect(asio::any_io_executor(context.get_executor()), "meeting", options,
                  [this](error_code ec, channel c) {
                    connecting = false;
                    outcomes.insert(ec);
                    connected = std::move(c);
                  });
    connecting = true;
  }

  /// Whatever leaves this function left a handler.
  void run_until_connect_is_over() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (connecting && std::chrono::steady_clock::now() < deadline) {
      context.restart();
      context.run_for(std::chrono::milliseconds(1));
    }
  }

  asio::io_context context{1};
  const asio::steady_timer reactor_exists{context};
  acceptor listener;
  std::list<channel> accepted; ///< the newest first
  channel connected{context};
  bool accepting = false;
  bool connecting = false;
  std::set<error_code> outcomes;
};

/// True if a client gets a channel that works.
bool meets(meeting& m) {
  if (!m.accepting)
    m.start_accept();
  m.accepted.clear();
  m.start_connect();
  m.run_until_connect_is_over();
  // A client whose accept failed may come before this one.
  return m.connected.is_open() && eventually([&] {
           m.context.restart();
           m.context.poll();
           return !m.accepted.empty() && can_talk(m.connected, m.accepted.front());
         });
}

} // namespace

BOOST_AUTO_TEST_CASE(an_allocation_that_fails_is_an_error_of_one_connect_or_accept_at_most) {
  const scratch_directory directory;
  int left_handlers = 0;
  int never_completed = 0;
  int broken = 0;
  std::set<error_code> outcomes;
  int n = 0;
  for (bool happened = true; happened && n != 500; ++n) {
    meeting m;
    BOOST_REQUIRE(meets(m));
    m.accepted.clear();
    m.connected.close();
    m.listener.cancel();
    m.context.poll();
    const holdings before = holdings::now();
    {
      const allocation_failure failure(n);
      try {
        m.start_accept();
        m.start_connect();
      } catch (const std::bad_alloc&) {
      }
      try {
        m.run_until_connect_is_over();
      } catch (const std::exception& e) {
        ++left_handlers;
        BOOST_TEST_MESSAGE("allocation " << n << ": " << e.what() << " left a handler");
      }
      happened = failure.happened();
    }
    if (!m.accepting)
      m.start_accept();
    m.run_until_connect_is_over();
    if (m.connecting) {
      ++never_completed;
      BOOST_TEST_MESSAGE("allocation " << n << ": the connect never completed");
    }
    m.connecting = false;
    outcomes.merge(m.outcomes);
    if (!meets(m)) {
      ++broken;
      BOOST_TEST_MESSAGE("allocation " << n << ": nobody can connect afterwards");
    }
    m.accepted.clear();
    m.connected.close();
    BOOST_TEST_CONTEXT("allocation " << n)
    BOOST_TEST(nothing_leaked_since(before));
  }
  BOOST_TEST_MESSAGE(n << " allocations");
  BOOST_TEST(n > 10);
  BOOST_TEST(n < 500);
  BOOST_TEST(left_handlers == 0);
  BOOST_TEST(never_completed == 0);
  BOOST_TEST(broken == 0);
  BOOST_TEST(outcomes.contains(asio::error::no_memory));
  BOOST_TEST(outcomes.contains({}));
  BOOST_TEST(!outcomes.contains(error::handshake_timeout)); // nobody was left waiting
}
