// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// A peer that keeps to nothing: it may end the channel or keep it waiting, but not
// block, crash or hang this side.

#include "resources.hpp"
#include "scratch.hpp"
#include <array>
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <random>
#include <sysipc_asio/channel.hpp>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace sysipc_asio;
using namespace sysipc_asio::test;
using detail::unique_fd;

namespace {

/// Ends the program if a test blocks for good, and says where.
class watchdog {
public:
  watchdog() {
    std::signal(SIGALRM, report);
    ::alarm(60);
  }
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  ~watchdog() { ::alarm(0); }

private:
  /// Not safe in a signal handler; but nothing is left to lose.
  static void report(int) {
    std::cerr << boost::unit_test::framework::current_test_case().p_name
              << " blocked for a minute; CPU seconds: " << std::clock() / CLOCKS_PER_SEC
              << std::endl;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task"))
      for (const char* const what : {"stat", "syscall", "stack"})
        std::cerr << std::ifstream(thread.path() / what).rdbuf() << std::endl;
    for (const auto& file : std::filesystem::directory_iterator("/proc/self/fdinfo"))
      std::cerr << file.path().filename() << ' ' << std::ifstream(file.path()).rdbuf() << std::endl;
    std::_Exit(1);
  }
};

/// Our channel, and the peer's end as a hostile process would hold it.
struct facing_a_hostile_peer {
  facing_a_hostile_peer(int threads = 1, channel_options options = small(),
                        backend kind = backend::automatic)
      : context(threads) {
    error_code ec;
    auto ends = detail::make_endpoint_pair(options, options, kind, ec);
    BOOST_REQUIRE(!ec);
    hostile = std::move(ends.second);
    ch.emplace(detail::channel_access::open(asio::any_io_executor(context.get_executor()),
                                            std::move(ends.first), options));
  }

  static facing_a_hostile_peer with_pipes() { return {1, small(), backend::interprocess}; }

  static channel_options small() {
    channel_options options;
    options.send_capacity = options.receive_capacity = 4096;
    return options;
  }

  layout::word64& word(std::size_t offset) const {
    return *reinterpret_cast<layout::word64*>(hostile.own.ring() + offset);
  }
  /// What the hostile peer "receives" so that we have room again.
  void free_everything(std::uint64_t position) const {
    hostile.own.words().rx_head.store(position);
  }
  void commit_nonsense() const {
    word(0).store(~std::uint64_t{0});
    hostile.data_kick.kick();
  }
  void fill_ring() const {
    error_code ec;
    while (ch->try_push(std::uint64_t{0}, ec))
      ;
    BOOST_TEST(ec == asio::error::would_block);
  }

  std::vector<int> descriptors() const {
    return {hostile.data_bell.get(),          hostile.space_bell.get(),
            hostile.data_kick.reading_end(),  hostile.data_kick.writing_end(),
            hostile.space_kick.reading_end(), hostile.space_kick.writing_end()};
  }
  void clear_nonblocking() const {
    for (const int fd : descriptors())
      BOOST_REQUIRE(::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK) == 0);
  }
  /// Two records that fill the ring and follow each other for ever.
  void commit_a_circle() const {
    const std::size_t half = hostile.own.ring_capacity() / 2;
    for (const std::size_t at : {std::size_t{0}, half})
      word(at).store(layout::commit_word(layout::record_kind::data, half - 8));
  }
  void hang_up() {
    hostile.data_kick = {};
    hostile.space_kick = {};
  }
  /// Kicks until no more go in.
  void fill_pipes() const {
    for (const int fd : {hostile.data_kick.writing_end(), hostile.space_kick.writing_end()}) {
      const std::vector<char> kicks(4096);
      while (::write(fd, kicks.data(), kicks.size()) > 0)
        ;
    }
  }

  watchdog guard;
  asio::io_context context;
  detail::endpoint hostile;
  mutable std::optional<channel> ch;
};

constexpr std::uint64_t record = 16; // of 8 bytes

bool is_allowed(const error_code& ec) {
  return !ec || ec == asio::error::would_block || ec == error::peer_protocol_violation ||
         ec == asio::error::message_size ||
         // What a peer may also say that keeps to the rules.
         ec == asio::error::eof || ec == asio::error::connection_reset ||
         ec == asio::error::broken_pipe;
}

/// Writes what may hurt all over the segment that the peer owns, until told to stop.
class scribbler {
public:
  scribbler(const segment& own, unsigned seed)
      : thread_([this, &own, seed] { scribble(own, std::minstd_rand(seed)); }) {}
  ~scribbler() { finish(); }

  void finish() {
    stop_ = true;
    if (thread_.joinable())
      thread_.join();
  }

private:
  void scribble(const segment& own, std::minstd_rand random) {
    auto* const all = reinterpret_cast<std::byte*>(&own.words()) - layout::page;
    while (!stop_) {
      // Half of it where it is looked at: the words, and the head of the ring.
      std::size_t offset = random() % own.size();
      if (random() % 2 == 0)
        offset = random() % 2 == 0 ? layout::page + random() % 7 * layout::block
                                   : 2 * layout::page + random() % 64;
      reinterpret_cast<layout::word64*>(all + offset / 8 * 8)->store(value(random));
    }
  }

  static std::uint64_t value(std::minstd_rand& random) {
    switch (random() % 8) {
    case 0:
      return 0;
    case 1: // a record of a likely length
      return layout::commit_word(layout::record_kind::data, random() % 64);
    case 2: // and of an unlikely one
      return layout::commit_word(layout::record_kind::data, random() % 8192);
    case 3: // a position in the ring, likely or not
      return random() % 256 * 8;
    case 4:
      return random() % 4;
    case 5:
      return random() % 256 == 0 ? layout::commit_word(layout::record_kind::end, 0) : 0;
    case 6:
      return ~std::uint64_t{0} - random() % 16;
    default:
      return std::uint64_t{random()} << 32 | random();
    }
  }

  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// One operation that does not wait, of every kind.
error_code anything(channel& ch, unsigned which) {
  static std::vector<char> buffer(512);
  error_code ec;
  switch (which % 7) {
  case 0:
    ch.try_push(std::uint64_t{1}, ec);
    break;
  case 1:
    ch.try_send(asio::buffer(buffer, which % 512), ec);
    break;
  case 2:
    ch.try_receive(asio::buffer(buffer), ec);
    break;
  case 3:
    ch.try_receive(ec);
    break;
  case 4:
    ch.try_pop<std::uint64_t>(ec);
    break;
  default: {
    std::size_t sum = 0;
    ch.consume(
        [&](std::span<const std::byte> payload) {
          for (const std::byte byte : payload)
            sum += std::to_integer<std::size_t>(byte);
        },
        10, ec);
  }
  }
  return ec;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_peer_that_never_takes_its_kicks_does_not_block_ours) {
  const facing_a_hostile_peer it = facing_a_hostile_peer::with_pipes();
  it.clear_nonblocking();
  for (std::uint64_t n = 0; n != 100'000; ++n) {    // more than a pipe holds
    it.hostile.own.words().rx_arm.store(2 * n + 1); // asleep again, it says
    BOOST_REQUIRE(it.ch->try_push(n));
    it.free_everything((n + 1) * record);
  }
  BOOST_TEST(it.ch->stats().sent.kicks == 100'000U);
}

BOOST_AUTO_TEST_CASE(a_peer_that_kicks_for_nothing_does_not_block_what_waits) {
  facing_a_hostile_peer it = facing_a_hostile_peer::with_pipes();
  it.fill_pipes();
  it.clear_nonblocking();
  it.fill_ring();
  bool received = false;
  bool sent = false;
  it.ch->async_pop<std::uint64_t>([&](error_code ec, std::uint64_t) { received = !ec; });
  it.ch->async_push(std::uint64_t{0}, [&](error_code ec) { sent = !ec; });
  it.context.run_for(std::chrono::milliseconds(20));
  BOOST_TEST((!received && !sent));
  it.free_everything(record);
  it.hostile.space_kick.kick();
  BOOST_TEST(eventually([&] { return it.context.poll(), sent; }));
  it.word(record).store(0);
  it.word(0).store(layout::commit_word(layout::record_kind::data, 8));
  it.hostile.data_kick.kick();
  BOOST_TEST(eventually([&] { return it.context.poll(), received; }));
}

BOOST_AUTO_TEST_CASE(a_kick_that_was_taken_away_again_does_not_block_the_one_who_drains) {
  const facing_a_hostile_peer it = facing_a_hostile_peer::with_pipes();
  it.clear_nonblocking();
  const int bell = it.hostile.data_kick.reading_end(); // the same open file as ours
  BOOST_TEST((detail::drain_bell(bell) == detail::bell::quiet));
  std::atomic<bool> stop = false;
  std::thread thief([&] {
    char byte = 0;
    while (!stop) {
      it.hostile.data_kick.kick();
      if (::read(bell, &byte, 1) != 1) // blocks if ours was first; then comes the next kick
        break;
    }
  });
  for (int i = 0; i != 20'000; ++i)
    detail::drain_bell(bell);
  stop = true;
  it.hostile.data_kick.kick(); // in case it is blocked already
  thief.join();
}

BOOST_AUTO_TEST_CASE(a_peer_that_holds_duplicates_of_everything_can_still_be_left) {
  facing_a_hostile_peer it = facing_a_hostile_peer::with_pipes();
  std::vector<unique_fd> duplicates;
  for (const int fd : it.descriptors())
    duplicates.emplace_back(::dup(fd));
  error_code ec;
  it.ch->async_receive([&](error_code result, const message&) { ec = result; });
  it.context.poll();
  it.ch->close();
  it.context.restart();
  it.context.run();
  BOOST_TEST(ec == asio::error::operation_aborted);
}

BOOST_AUTO_TEST_CASE(a_peer_that_scribbles_gets_messages_a_wait_or_an_error) {
  const unsigned seed = std::random_device()();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::minstd_rand random(seed);
  std::uint64_t good = 0;
  int violations = 0;
  for (int round = 0; round != (sanitized ? 100 : 300); ++round) {
    const facing_a_hostile_peer it;
    const scribbler scribbles(it.hostile.own, static_cast<unsigned>(random()));
    for (int i = 0; i != 3000; ++i) {
      const error_code ec = anything(*it.ch, static_cast<unsigned>(random()));
      BOOST_TEST_CONTEXT("seed " << seed << ": " << ec.message())
      BOOST_REQUIRE(is_allowed(ec));
      good += !ec;
      if (ec == error::peer_protocol_violation) {
        ++violations;
        break;
      }
    }
  }
  BOOST_TEST_MESSAGE(good << " operations, " << violations << " violations");
  BOOST_TEST(good != 0U);
  BOOST_TEST(violations != 0);
}

BOOST_AUTO_TEST_CASE(a_peer_that_scribbles_and_dies_ends_every_wait) {
  const unsigned seed = std::random_device()();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::minstd_rand random(seed);
  for (int round = 0; round != (sanitized ? 60 : 300); ++round) {
    channel_options options = facing_a_hostile_peer::small();
    options.policy = std::array{wait_policy::adaptive, wait_policy::busy,
                                wait_policy::sleepy}[static_cast<std::size_t>(round) % 3];
    facing_a_hostile_peer it(1, options);
    std::thread hostile([&] {
      {
        const scribbler scribbles(it.hostile.own, static_cast<unsigned>(round) + seed);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        it.hostile.data_kick.kick();
      }
      it.hang_up();
    });
    error_code ec;
    int messages = 0;
    switch (round % 4) {
    case 0:
      while (!ec || ec == asio::error::message_size)
        it.ch->blocking_receive(ec), ++messages;
      break;
    case 1:
      while (!ec)
        it.ch->blocking_push(1, ec), ++messages;
      break;
    default: {
      std::function<void()> next = [&] {
        if (round % 4 == 2)
          it.ch->async_receive([&](error_code result, const message&) {
            ec = result;
            if (!ec)
              next();
          });
        else
          it.ch->async_push(1, [&](error_code result) {
            ec = result;
            if (!ec)
              next();
          });
      };
      next();
      it.context.run();
    }
    }
    hostile.join();
    BOOST_TEST_CONTEXT("seed " << seed << ", round " << round << ": " << ec.message())
    BOOST_TEST((ec && ec != asio::error::would_block && is_allowed(ec)));
  }
}

BOOST_AUTO_TEST_CASE(a_dead_peer_has_its_ring_drained_once_though_it_be_a_circle) {
  facing_a_hostile_peer it;
  it.commit_a_circle();
  it.hang_up();
  error_code ec;
  while (!ec)
    it.ch->blocking_receive(ec);
  BOOST_TEST(ec == error::peer_protocol_violation);
}

BOOST_AUTO_TEST_CASE(one_consume_ends_though_the_ring_be_a_circle) {
  const facing_a_hostile_peer it;
  it.commit_a_circle();
  std::uint64_t sum = 0;
  const std::size_t n = it.ch->consume([&](auto payload) { sum += payload.size(); });
  BOOST_TEST(n == 4096U / 8);
  BOOST_TEST(sum == n * 2040);
}

BOOST_AUTO_TEST_CASE(a_violation_that_receiving_found_ends_a_send_that_waits) {
  facing_a_hostile_peer it;
  it.fill_ring();
  error_code sent;
  error_code received;
  it.ch->async_push(1, [&](error_code ec) { sent = ec; });
  it.ch->async_receive([&](error_code ec, const message&) { received = ec; });
  it.context.poll();
  it.commit_nonsense();
  it.context.run();
  BOOST_TEST(received == error::peer_protocol_violation);
  BOOST_TEST(sent == error::peer_protocol_violation);
  error_code ec;
  it.ch->try_push(1, ec);
  BOOST_TEST(ec == error::peer_protocol_violation);
  it.ch->blocking_receive(ec);
  BOOST_TEST(ec == error::peer_protocol_violation);
}

BOOST_AUTO_TEST_CASE(a_violation_that_sending_found_ends_a_receive_that_waits) {
  facing_a_hostile_peer it;
  it.fill_ring();
  error_code sent;
  error_code received;
  it.ch->async_receive([&](error_code ec, const message&) { received = ec; });
  it.ch->async_push(1, [&](error_code ec) { sent = ec; });
  it.context.poll();
  it.free_everything(1 << 20); // more than was ever sent
  it.hostile.space_kick.kick();
  it.context.run();
  BOOST_TEST(sent == error::peer_protocol_violation);
  BOOST_TEST(received == error::peer_protocol_violation);
}

BOOST_AUTO_TEST_CASE(a_violation_ends_the_other_direction_also_in_another_thread) {
  for (int round = 0; round != 300; ++round) {
    facing_a_hostile_peer it(2);
    it.fill_ring();
    std::atomic<int> violations = 0;
    const auto count = [&](error_code ec, auto&&...) {
      violations += ec == error::peer_protocol_violation;
    };
    it.word(0).store(~std::uint64_t{0});
    asio::post(it.context, [&] { it.ch->async_push(1, count); });
    asio::post(it.context, [&] { it.ch->async_receive(count); });
    std::thread other([&] { it.context.run_for(std::chrono::seconds(10)); });
    it.context.run_for(std::chrono::seconds(10));
    other.join();
    BOOST_REQUIRE(violations == 2);
  }
}

BOOST_AUTO_TEST_CASE(a_violation_ends_a_send_that_blocks_another_thread) {
  const facing_a_hostile_peer it;
  it.fill_ring();
  error_code sent;
  std::thread sending([&] { it.ch->blocking_push(1, sent); });
  BOOST_TEST(eventually([&] { return it.hostile.peer.words().tx_arm.load() % 2 == 1; }));
  it.commit_nonsense();
  error_code received;
  it.ch->blocking_receive(received);
  sending.join();
  BOOST_TEST(received == error::peer_protocol_violation);
  BOOST_TEST(sent == error::peer_protocol_violation);
}

/// Receives one of the hostile peer's records after the other, `n` in all.
asio::awaitable<void> receive_records(facing_a_hostile_peer& it, std::size_t n) {
  for (std::size_t i = 0; i != n; ++i) {
    it.word(i * record).store(layout::commit_word(layout::record_kind::data, 8));
    co_await it.ch->pop<std::uint64_t>();
  }
}

/// Receives, or waits for, a record that is taken back while others have their turn.
template <typename F>
asio::awaitable<void> find_nothing(facing_a_hostile_peer& it, F receive, error_code& ec,
                                   bool& over) {
  constexpr std::size_t before = detail::completion_budget - 1;
  co_await receive_records(it, before);
  layout::word64& word = it.word(before * record);
  word.store(layout::commit_word(layout::record_kind::data, 8));
  asio::post(it.context, [&word] { word.store(0); });
  ec = asio::error::would_block;
  co_await receive(*it.ch, ec);
  over = true;
}

template <typename F>
error_code outcome_when_taken_back(F receive) {
  facing_a_hostile_peer it;
  error_code ec;
  bool over = false;
  asio::co_spawn(it.context, find_nothing(it, receive, ec, over), asio::detached);
  it.context.poll();
  BOOST_TEST(over);
  error_code next;
  it.ch->try_receive(next);
  BOOST_TEST(next == error::peer_protocol_violation);
  it.ch->try_push(1, next);
  BOOST_TEST(next == error::peer_protocol_violation);
  return ec;
}

BOOST_AUTO_TEST_CASE(a_record_that_is_taken_back_before_it_is_received_is_a_violation) {
  using asio::awaitable;
  using bytes = std::array<char, 64>;
  BOOST_TEST(outcome_when_taken_back([](channel& ch, error_code& ec) -> awaitable<void> {
               co_await ch.pop<std::uint64_t>(ec);
             }) == error::peer_protocol_violation);
  BOOST_TEST(outcome_when_taken_back([](channel& ch, error_code& ec) -> awaitable<void> {
               message m = co_await ch.receive(ec);
             }) == error::peer_protocol_violation);
  BOOST_TEST(outcome_when_taken_back([](channel& ch, error_code& ec) -> awaitable<void> {
               bytes to;
               std::size_t n = co_await ch.receive(asio::buffer(to), ec);
               BOOST_TEST(n == 0U);
             }) == error::peer_protocol_violation);
  // A wait leaves it to the operation that was waited for to report what there is.
  BOOST_TEST(!outcome_when_taken_back(
      [](channel& ch, error_code& ec) -> awaitable<void> { co_await ch.wait(wait_receive, ec); }));
}
