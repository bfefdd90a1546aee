// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// The peer is killed, leaves, stops: what was committed arrives, then the right error.

#include "helper_process.hpp"
#include "numbered.hpp"
#include "resources.hpp"
#include "scratch.hpp"
#include "two_processes.hpp"
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>
#include <random>
#include <sysipc_asio/acceptor.hpp>
#include <thread>

using namespace sysipc_asio;
using namespace sysipc_asio::test;
using clock_type = std::chrono::steady_clock;

namespace {

enum class form { coroutine, callback, blocking };
constexpr form forms[] = {form::coroutine, form::callback, form::blocking};
constexpr wait_policy policies[] = {wait_policy::adaptive, wait_policy::busy, wait_policy::sleepy};

/// Where all this happens, and what this process held before.
struct whole_program {
  whole_program() {
    instance = this;
    { // what a process opens once and keeps
      asio::io_context context;
      acceptor a(context, "warm");
      helper_process peer{"sleeper", "warm"};
      a.accept();
    }
    before = holdings::now();
    shared_memory = files_in("/dev/shm");
  }
  static std::ptrdiff_t files_in(const std::filesystem::path& path) {
    return std::distance(std::filesystem::directory_iterator(path), {});
  }

  scratch_directory directory;
  holdings before;
  std::ptrdiff_t shared_memory = 0;
  static inline const whole_program* instance = nullptr;
};

BOOST_GLOBAL_FIXTURE(whole_program);

/// A helper that is connected to this process.
struct connected {
  explicit connected(std::initializer_list<std::string> command,
                     wait_policy policy = wait_policy::adaptive)
      : listener(context, "death", with(policy)), peer(command), ch(listener.accept()) {}

  static listen_options with(wait_policy policy) {
    listen_options options;
    options.channel.policy = policy;
    return options;
  }

  asio::io_context context{1};
  acceptor listener;
  helper_process peer;
  channel ch;
};

/// Kills a process after a while, from another thread.
class assassin {
public:
  assassin(const helper_process& victim, std::chrono::microseconds delay)
      : thread_([this, pid = victim.pid(), delay] {
          std::this_thread::sleep_for(delay);
          ::kill(pid, SIGKILL);
          killed_ = clock_type::now();
        }) {}
  ~assassin() { thread_.join(); }

  clock_type::duration since() const { return clock_type::now() - killed_.load(); }

private:
  std::atomic<clock_type::time_point> killed_{clock_type::now()};
  std::thread thread_;
};

struct reception {
  numbered_stream stream;
  bool in_order = true;
  error_code end;
};

asio::awaitable<void> receive_by_coroutine(channel& ch, reception& r) {
  while (!r.end) {
    const message m = co_await ch.receive(r.end);
    if (!r.end)
      r.in_order = r.in_order && r.stream.take(m.bytes());
  }
}

void receive_by_callback(channel& ch, reception& r) {
  ch.async_receive([&](error_code ec, const message& m) {
    r.end = ec;
    if (ec)
      return;
    r.in_order = r.in_order && r.stream.take(m.bytes());
    receive_by_callback(ch, r);
  });
}

void receive_all(connected& c, form f, reception& r) {
  switch (f) {
  case form::coroutine:
    asio::co_spawn(c.context, receive_by_coroutine(c.ch, r), asio::detached);
    break;
  case form::callback:
    receive_by_callback(c.ch, r);
    break;
  case form::blocking:
    while (!r.end) {
      const message m = c.ch.blocking_receive(r.end);
      if (!r.end)
        r.in_order = r.in_order && r.stream.take(m.bytes());
    }
    return;
  }
  c.context.run();
}

asio::awaitable<void> send_by_coroutine(channel& ch, error_code& end) {
  const std::vector<std::byte> payload(500);
  while (!end)
    co_await ch.send(asio::buffer(payload), end);
}

void send_by_callback(channel& ch, error_code& end) {
  static const std::vector<std::byte> payload(500);
  ch.async_send(asio::buffer(payload), [&](error_code ec, std::size_t) {
    end = ec;
    if (!ec)
      send_by_callback(ch, end);
  });
}

error_code send_to_the_end(connected& c, form f) {
  error_code end;
  const std::vector<std::byte> payload(500);
  switch (f) {
  case form::coroutine:
    asio::co_spawn(c.context, send_by_coroutine(c.ch, end), asio::detached);
    break;
  case form::callback:
    send_by_callback(c.ch, end);
    break;
  case form::blocking:
    while (!end)
      c.ch.blocking_send(asio::buffer(payload), end);
    return end;
  }
  c.context.run();
  return end;
}

struct round_of {
  unsigned seed;
  std::minstd_rand random;
  clock_type::duration longest{};

  round_of() : seed(std::random_device()()), random(seed) { BOOST_TEST_MESSAGE("seed " << seed); }
  std::chrono::microseconds delay() { return std::chrono::microseconds(random() % 3000); }
  void took(clock_type::duration d) {
    longest = std::max(longest, d);
    BOOST_TEST((d < std::chrono::seconds(10)));
  }
  ~round_of() {
    using milliseconds = std::chrono::duration<double, std::milli>;
    BOOST_TEST_MESSAGE("longest after the kill: " << milliseconds(longest).count() << " ms");
  }
};

const std::uint64_t kills = count_from_environment("SYSIPC_TEST_KILLS", 200, 60);

} // namespace

BOOST_AUTO_TEST_CASE(what_a_killed_sender_committed_arrives_and_then_the_reset) {
  round_of all;
  std::uint64_t messages = 0;
  for (std::uint64_t round = 0; round != kills; ++round) {
    const form f = forms[round % 3];
    connected c({"flood", "death"}, policies[round / 3 % 3]);
    reception r;
    r.in_order = r.stream.take(c.ch.blocking_receive().bytes());
    {
      const assassin kill(c.peer, all.delay());
      receive_all(c, f, r);
      all.took(kill.since());
    }
    messages += r.stream.count();
    BOOST_TEST_CONTEXT("seed " << all.seed << ", round " << round) {
      BOOST_TEST(r.in_order);
      BOOST_TEST(r.end == asio::error::connection_reset);
      error_code again;
      BOOST_TEST(!c.ch.try_receive(again));
      BOOST_TEST(again == asio::error::connection_reset);
      BOOST_TEST(!c.ch.try_push(1, again));
      BOOST_TEST(again == asio::error::broken_pipe);
    }
    BOOST_TEST(c.peer.wait() == 128 + SIGKILL);
  }
  BOOST_TEST_MESSAGE(messages << " messages from " << kills << " killed processes");
}

BOOST_AUTO_TEST_CASE(sending_to_a_killed_receiver_is_a_reset_and_then_a_broken_pipe) {
  round_of all;
  for (std::uint64_t round = 0; round != kills; ++round) {
    // One takes what comes, the other sends it back and is stuck soon.
    connected c({round % 2 == 0 ? "sink" : "echo", "death"}, policies[round / 3 % 3]);
    error_code end;
    {
      const assassin kill(c.peer, all.delay());
      end = send_to_the_end(c, forms[round % 3]);
      all.took(kill.since());
    }
    BOOST_TEST_CONTEXT("seed " << all.seed << ", round " << round) {
      BOOST_TEST(end == asio::error::connection_reset);
      for (const form f : forms) {
        c.context.restart();
        BOOST_TEST(send_to_the_end(c, f) == asio::error::broken_pipe);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_peer_that_is_killed_while_both_sleep_is_noticed) {
  for (const wait_policy policy : policies)
    for (const form f : forms) {
      connected c({"sleeper", "death"}, policy);
      c.ch.blocking_pop<char>();
      reception r;
      const assassin kill(c.peer, std::chrono::milliseconds(20));
      receive_all(c, f, r);
      BOOST_TEST(r.end == asio::error::connection_reset);
    }
}

BOOST_AUTO_TEST_CASE(a_peer_that_closes_is_the_end_of_its_messages) {
  for (const wait_policy policy : policies)
    for (const form f : forms) {
      connected c({"send", "death", "5000"}, policy);
      reception r;
      receive_all(c, f, r);
      BOOST_TEST(r.in_order);
      BOOST_TEST(r.stream.count() == 5000U);
      BOOST_TEST(r.end == asio::error::eof);
      BOOST_TEST(c.peer.wait() == 0);
      c.context.restart();
      BOOST_TEST(send_to_the_end(c, f) == asio::error::broken_pipe);
    }
}

BOOST_AUTO_TEST_CASE(a_peer_that_shut_down_can_still_be_sent_to) {
  for (const form f : forms) {
    connected c({"half", "death", "1000"});
    reception r;
    receive_all(c, f, r);
    BOOST_TEST(r.stream.count() == 1000U);
    BOOST_TEST(r.end == asio::error::eof);
    std::vector<std::byte> payload;
    for (std::uint64_t n = 0; n != 1000; ++n) {
      make_numbered(n, payload);
      c.ch.blocking_send(asio::buffer(payload));
    }
    c.ch.shutdown();
    BOOST_TEST(c.peer.wait() == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_peer_that_is_stopped_is_waited_for) {
  for (const wait_policy policy : policies) {
    connected c({"flood", "death"}, policy);
    numbered_stream stream;
    for (int stop = 0; stop != 20; ++stop) {
      c.peer.signal(SIGSTOP);
      error_code ec;
      while (const auto m = c.ch.try_receive(ec)) // it may take a moment to stop
        if (stream.count() % 100'000 == 99'999 || !stream.take(m->bytes()))
          break;
      c.peer.signal(SIGCONT);
      for (int i = 0; i != 1000; ++i)
        BOOST_REQUIRE(stream.take(c.ch.blocking_receive().bytes()));
    }
    error_code ec;
    c.ch.try_push(1, ec);
    BOOST_TEST(!ec);
  }
}

BOOST_AUTO_TEST_CASE(a_receiver_that_is_stopped_makes_nothing_fail) {
  connected c({"echo", "death"});
  for (int stop = 0; stop != 20; ++stop) {
    c.peer.signal(SIGSTOP);
    for (std::uint64_t n = 0; n != 100; ++n)
      c.ch.blocking_push(n);
    c.peer.signal(SIGCONT);
    for (std::uint64_t n = 0; n != 100; ++n)
      BOOST_REQUIRE(c.ch.blocking_pop<std::uint64_t>() == n);
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_left_of_all_that) { // the last one
  const whole_program& all = *whole_program::instance;
  BOOST_TEST(nothing_leaked_since(all.before));
  BOOST_TEST(all.files_in("/dev/shm") == all.shared_memory);
  BOOST_TEST(all.files_in(all.directory.path() / "sysipc") == 0);
}
