// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "every_form.hpp"
#include "pattern.hpp"
#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/data/test_case.hpp>
#include <cstring>
#include <functional>
#include <optional>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sysipc_asio/channel_pair.hpp>
#include <sysipc_asio/detail/endpoint.hpp>
#include <sysipc_asio/handshake.hpp>
#include <thread>
#include <unistd.h>
#include <vector>

namespace data = boost::unit_test::data;
using namespace sysipc_asio;
using namespace sysipc_asio::test;
using asio::awaitable;

namespace {

struct arrangement {
  const char* name;
  std::size_t ring;
  std::size_t pool;
  std::size_t leases;
};
std::ostream& operator<<(std::ostream& out, const arrangement& a) {
  return out << a.name;
}

constexpr arrangement arrangements[] = {
    {"as by default", 256 * kib, 128 * mib, 256},
    {"without a pool", 256 * kib, 0, 256},
    {"a ring of a page, without a pool", 4 * kib, 0, 256},
    {"a ring of a page", 4 * kib, 4 * mib, 256},
    {"one lease", 64 * kib, 4 * mib, 1},
};

channel_options options_for(const arrangement& a) {
  channel_options result;
  result.send_capacity = result.receive_capacity = a.ring;
  result.send_pool = result.receive_pool = a.pool;
  result.max_leases = a.leases;
  return result;
}

const std::vector<std::size_t> sizes{0,       1,       104,     105,     1024, 1025,
                                     4080,    4081,    4096,    4097,    5000, 64 * kib,
                                     262'128, 262'129, 3 * mib, mib + 1, 17,   100'000};

awaitable<void> send_all(channel& ch) {
  for (std::size_t i = 0; i != sizes.size(); ++i) {
    const bytes payload = pattern(sizes[i], i);
    // Of several buffers, which are gathered.
    const std::array<asio::const_buffer, 3> parts{asio::buffer(payload, payload.size() / 3),
                                                  asio::const_buffer(),
                                                  asio::buffer(payload) + payload.size() / 3};
    co_await ch.send(parts);
  }
}

awaitable<void> loan_all(channel& ch) {
  for (std::size_t i = 0; i != sizes.size(); ++i) {
    const bytes payload = pattern(sizes[i], i);
    loan l = co_await ch.loan(sizes[i] + 100);
    BOOST_TEST(l.size() == sizes[i] + 100);
    if (!payload.empty())
      std::memcpy(l.data(), payload.data(), payload.size());
    l.resize(payload.size());
    const std::size_t sent = co_await ch.send(std::move(l));
    BOOST_TEST(sent == payload.size());
  }
}

awaitable<void> receive_all(channel& ch) {
  for (std::size_t i = 0; i != sizes.size(); ++i) {
    const message m = co_await ch.receive();
    BOOST_TEST_CONTEXT(sizes[i])
    BOOST_TEST(equal(m.bytes(), pattern(sizes[i], i)));
  }
}

awaitable<void> receive_all_into(channel& ch) {
  bytes buffer(4 * mib);
  for (std::size_t i = 0; i != sizes.size(); ++i)
    BOOST_TEST_CONTEXT(sizes[i]) {
      error_code ec;
      if (sizes[i] != 0) { // it stays, and its size is told
        const std::size_t n = co_await ch.receive(asio::buffer(buffer.data(), sizes[i] - 1), ec);
        BOOST_TEST(ec == asio::error::message_size);
        BOOST_TEST(n == sizes[i]);
      }
      const std::size_t n = co_await ch.receive(asio::buffer(buffer));
      BOOST_TEST(equal({buffer.data(), n}, pattern(sizes[i], i)));
    }
}

awaitable<void> consume_all(channel& ch) {
  for (std::size_t i = 0; i != sizes.size();) {
    co_await ch.wait(wait_receive);
    ch.consume([&](std::span<const std::byte> payload) {
      BOOST_TEST_CONTEXT(sizes[i])
      BOOST_TEST(equal(payload, pattern(sizes[i], i)));
      ++i;
    });
  }
}

using half = awaitable<void> (*)(channel&);

void run_both(two_ends& ends, half sender, half receiver) {
  int over = 0;
  const auto finish = [&](const std::exception_ptr& e) {
    BOOST_TEST(!code_of(e));
    ++over;
  };
  asio::co_spawn(ends.context, sender(ends.here), finish);
  asio::co_spawn(ends.context, receiver(ends.there), finish);
  BOOST_REQUIRE(ends.run_until([&] { return over == 2; }));
}

channel_options small_pool(std::size_t leases = 256) {
  return options_for({"", 4 * kib, mib, leases});
}

} // namespace

BOOST_AUTO_TEST_SUITE(messages_of_any_size)

BOOST_DATA_TEST_CASE(arrive_whole_and_in_order, data::make(arrangements), a) {
  two_ends ends(options_for(a));
  run_both(ends, send_all, receive_all);
  BOOST_TEST(ends.here.stats().sent.messages == sizes.size());
  BOOST_TEST(ends.there.stats().received.bytes == ends.here.stats().sent.bytes);
}

BOOST_DATA_TEST_CASE(arrive_in_a_buffer_once_it_is_large_enough, data::make(arrangements), a) {
  two_ends ends(options_for(a));
  run_both(ends, send_all, receive_all_into);
}

BOOST_DATA_TEST_CASE(are_consumed_in_place, data::make(arrangements), a) {
  two_ends ends(options_for(a));
  run_both(ends, send_all, consume_all);
}

BOOST_DATA_TEST_CASE(are_built_in_place, data::make(arrangements), a) {
  if (a.pool == 0)
    return;
  two_ends ends(options_for(a));
  run_both(ends, loan_all, receive_all);
}

BOOST_DATA_TEST_CASE(block_the_thread_and_arrive, data::make(arrangements), a) {
  two_ends ends(options_for(a));
  std::thread sender([&] {
    for (std::size_t i = 0; i != sizes.size(); ++i)
      ends.here.blocking_send(asio::buffer(pattern(sizes[i], i)));
  });
  for (std::size_t i = 0; i != sizes.size(); ++i) {
    const message m = ends.there.blocking_receive();
    BOOST_TEST(equal(m.bytes(), pattern(sizes[i], i)));
  }
  sender.join();
}

BOOST_AUTO_TEST_CASE(above_what_the_receiver_takes_are_refused_and_nothing_is_sent) {
  auto options = small_pool();
  options.max_message_size = 100'000;
  two_ends ends(options);
  BOOST_TEST(ends.here.max_send_size() == 100'000U);
  error_code ec;
  BOOST_TEST(!ends.here.try_send(asio::buffer(bytes(100'001)), ec));
  BOOST_TEST(ec == asio::error::message_size);
  BOOST_TEST(!ends.here.try_loan(100'001, ec).has_value());
  BOOST_TEST(ec == asio::error::message_size);
  BOOST_TEST(!ends.there.try_receive().has_value());
  BOOST_TEST(ends.here.try_send(asio::buffer(bytes(100'000))));
  BOOST_TEST(ends.there.try_receive().value().size() == 100'000U);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(a_shared_message)

BOOST_AUTO_TEST_CASE(lies_in_the_senders_pool_and_small_ones_do_not) {
  two_ends ends(small_pool());
  ends.here.try_send(asio::buffer(bytes(100)));
  ends.here.try_send(asio::buffer(bytes(20'000)));
  BOOST_TEST(!ends.there.try_receive().value().is_shared());
  const message m = ends.there.try_receive().value();
  BOOST_TEST(m.is_shared());
  BOOST_TEST(reinterpret_cast<std::uintptr_t>(m.data()) % 64 == 0U);
}

BOOST_AUTO_TEST_CASE(outlives_channel_context_and_sender) {
  const bytes payload = pattern(20'000, 1);
  std::optional<message> kept;
  {
    two_ends ends(small_pool());
    ends.here.try_send(asio::buffer(payload));
    kept = ends.there.try_receive();
  }
  BOOST_TEST(kept->is_shared());
  BOOST_TEST(equal(kept->bytes(), payload));
  std::thread([&] { kept.reset(); }).join();
}

BOOST_AUTO_TEST_CASE(may_be_given_back_in_any_order_by_any_thread) {
  two_ends ends(small_pool(8));
  std::vector<message> held;
  for (int round = 0; round != 200; ++round) {
    for (std::size_t i = 0; i != 8; ++i) {
      BOOST_REQUIRE(ends.here.try_send(asio::buffer(pattern(10'000, i))));
      held.push_back(ends.there.try_receive().value());
      BOOST_TEST(held.back().is_shared());
    }
    for (std::size_t i = 0; i != 8; ++i)
      BOOST_TEST(equal(held[i].bytes(), pattern(10'000, i)));
    std::thread other([&] {
      for (std::size_t i : {6U, 0U, 3U, 5U})
        message(std::move(held[i]));
    });
    for (std::size_t i : {7U, 1U, 4U, 2U})
      message(std::move(held[i]));
    other.join();
    held.clear();
  }
}

BOOST_AUTO_TEST_CASE(is_readable_in_a_child_and_given_back_by_the_parent_only) {
  const bytes payload = pattern(20'000, 1);
  two_ends ends(small_pool(1));
  ends.here.try_send(asio::buffer(payload));
  std::optional<message> m = ends.there.try_receive();
  std::optional<loan> none = ends.here.try_loan(1000);
  BOOST_TEST(!none.has_value());
  const pid_t child = ::fork();
  if (child == 0) {
    const bool good = equal(m->bytes(), payload);
    m.reset();
    ends.here.close();
    ends.there.close();
    ::_exit(good ? 0 : 1);
  }
  BOOST_REQUIRE(child > 0);
  int status = 0;
  ::waitpid(child, &status, 0);
  BOOST_TEST(status == 0);
  BOOST_TEST(!ends.here.try_loan(1000).has_value());
  m.reset();
  BOOST_TEST(ends.here.try_loan(1000).has_value());
}

BOOST_AUTO_TEST_CASE(of_a_sender_that_was_killed_stays) {
  const bytes payload = pattern(20'000, 1);
  int sockets[2];
  BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(sockets[0]);
    asio::io_context context;
    asio::local::stream_protocol::socket socket(context, asio::local::stream_protocol(),
                                                sockets[1]);
    error_code ec;
    channel ch = connect_on(asio::any_io_executor(context.get_executor()), std::move(socket),
                            connect_options(), ec);
    if (!ec)
      ch.blocking_send(asio::buffer(payload), ec);
    ::kill(::getpid(), SIGKILL);
  }
  ::close(sockets[1]);
  asio::io_context context;
  asio::local::stream_protocol::socket socket(context, asio::local::stream_protocol(), sockets[0]);
  channel ch = accept_on(asio::any_io_executor(context.get_executor()), std::move(socket));
  const message m = ch.blocking_receive();
  BOOST_TEST(m.is_shared());
  ::waitpid(child, nullptr, 0);
  error_code ec;
  ch.blocking_receive(ec);
  BOOST_TEST(ec == asio::error::connection_reset);
  ch.close();
  BOOST_TEST(equal(m.bytes(), payload));
}

BOOST_AUTO_TEST_CASE(that_is_kept_never_stops_the_sender) {
  two_ends ends(small_pool(2));
  std::vector<message> kept;
  for (std::size_t i = 0; i != 10; ++i) {
    BOOST_TEST(!run(ends,
                    [](channel& from, channel& to, std::vector<message>& into,
                       std::size_t seed) -> awaitable<void> {
                      const bytes payload = pattern(3000 + seed * 5000, seed);
                      bool sent = false;
                      asio::co_spawn(
                          from.get_executor(),
                          [](channel& ch, const bytes& what) -> awaitable<void> {
                            co_await ch.send(asio::buffer(what));
                          }(from, payload),
                          [&](const std::exception_ptr& e) { sent = !e; });
                      into.push_back(co_await to.receive());
                      BOOST_TEST(equal(into.back().bytes(), payload));
                      while (!sent)
                        co_await asio::post(to.get_executor(), asio::use_awaitable);
                    }(ends.here, ends.there, kept, i)));
  }
  BOOST_TEST(
      std::count_if(kept.begin(), kept.end(), [](const message& m) { return m.is_shared(); }) == 2);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(a_loan)

BOOST_AUTO_TEST_CASE(that_is_dropped_is_free_again) {
  two_ends ends(small_pool(1));
  for (int i = 0; i != 10; ++i)
    BOOST_TEST(ends.here.try_loan(500'000).has_value());
}

BOOST_AUTO_TEST_CASE(shrinks_and_grows_within_its_capacity) {
  two_ends ends(small_pool());
  loan l = ends.here.try_loan(1000).value();
  BOOST_TEST(l.capacity() >= 1000U);
  l.resize(10);
  BOOST_TEST(l.bytes().size() == 10U);
  l.resize(l.capacity());
  BOOST_CHECK_THROW(l.resize(l.capacity() + 1), std::length_error);
}

BOOST_AUTO_TEST_CASE(of_another_channel_is_refused_and_stays) {
  two_ends ends(small_pool());
  two_ends others(small_pool());
  loan l = others.here.try_loan(1000).value();
  error_code ec;
  BOOST_TEST(!ends.here.try_send(std::move(l), ec));
  BOOST_TEST(ec == asio::error::invalid_argument);
  BOOST_TEST(static_cast<bool>(l));
  BOOST_TEST(others.here.try_send(std::move(l)));
  BOOST_TEST(!static_cast<bool>(l));
  BOOST_TEST(!ends.here.try_send(std::move(l), ec));
  BOOST_TEST(ec == asio::error::invalid_argument);
}

BOOST_AUTO_TEST_CASE(stays_while_the_ring_is_full) {
  two_ends ends(small_pool());
  loan l = ends.here.try_loan(1000).value();
  fill(ends.here);
  error_code ec;
  BOOST_TEST(!ends.here.try_send(std::move(l), ec));
  BOOST_TEST(ec == asio::error::would_block);
  BOOST_TEST(static_cast<bool>(l));
  drain(ends.there);
  BOOST_TEST(ends.here.try_send(std::move(l)));
  BOOST_TEST(ends.there.try_receive().value().size() == 1000U);
}

BOOST_AUTO_TEST_CASE(above_the_pool_is_refused) {
  two_ends ends(small_pool());
  error_code ec;
  BOOST_TEST(!ends.here.try_loan(ends.here.max_loan_size() + 1, ec).has_value());
  BOOST_TEST(ec == asio::error::message_size);
  BOOST_TEST(ends.here.try_loan(ends.here.max_loan_size(), ec).has_value());
  two_ends without(small_rings());
  BOOST_TEST(without.here.max_loan_size() == 0U);
  BOOST_TEST(!without.here.try_loan(1, ec).has_value());
  BOOST_TEST(ec == asio::error::message_size);
}

struct waiting_loan {
  explicit waiting_loan(two_ends& ends) {
    ends.here.async_loan(600'000,
                         asio::bind_cancellation_slot(signal.slot(), [this](error_code e, loan l) {
                           ec = e;
                           result = std::move(l);
                         }));
    ends.poll();
    BOOST_TEST(!ec.has_value());
  }
  asio::cancellation_signal signal;
  std::optional<error_code> ec;
  loan result;
};

BOOST_AUTO_TEST_CASE(that_is_waited_for_comes_when_the_peer_gives_back) {
  two_ends ends(small_pool());
  ends.here.try_send(ends.here.try_loan(600'000).value());
  std::optional<message> m = ends.there.try_receive();
  waiting_loan w(ends);
  std::thread([&] { m.reset(); }).join();
  BOOST_REQUIRE(ends.run_until([&] { return w.ec.has_value(); }));
  BOOST_TEST(!w.ec->failed());
  BOOST_TEST(w.result.size() == 600'000U);
}

BOOST_AUTO_TEST_CASE(that_is_waited_for_comes_when_this_side_drops_another) {
  for (int i = 0; i != 100; ++i) {
    two_ends ends(small_pool());
    std::optional<loan> l = ends.here.try_loan(600'000);
    waiting_loan w(ends);
    std::thread([&] { l.reset(); }).join();
    BOOST_REQUIRE(ends.run_until([&] { return w.ec.has_value(); }));
    BOOST_TEST(!w.ec->failed());
  }
}

BOOST_AUTO_TEST_CASE(that_is_waited_for_can_be_cancelled) {
  two_ends ends(small_pool());
  std::optional<loan> l = ends.here.try_loan(600'000);
  for (const bool by_slot : {true, false}) {
    waiting_loan w(ends);
    if (by_slot)
      w.signal.emit(asio::cancellation_type::total);
    else
      ends.here.cancel();
    BOOST_REQUIRE(ends.run_until([&] { return w.ec.has_value(); }));
    BOOST_TEST(*w.ec == asio::error::operation_aborted);
    BOOST_TEST(!static_cast<bool>(w.result));
  }
  l.reset();
  BOOST_TEST(ends.here.try_loan(600'000).has_value());
}

BOOST_AUTO_TEST_CASE(may_be_dropped_after_its_channel) {
  std::optional<loan> l;
  {
    two_ends ends(small_pool());
    l = ends.here.try_loan(1000);
  }
  std::fill_n(l->data(), l->size(), std::byte{1});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(a_message_in_pieces)

BOOST_AUTO_TEST_CASE(that_is_cancelled_anywhere_is_never_seen) {
  const bytes payload = pattern(50'000, 1);
  for (int received = 0; received != 60; ++received)
    BOOST_TEST_CONTEXT(received << " looks of the receiver") {
      two_ends ends(small_rings());
      auto options = small_rings();
      options.max_message_size = mib;
      auto pair = make_channel_pair(asio::any_io_executor(ends.context.get_executor()),
                                    asio::any_io_executor(ends.context.get_executor()), options);
      ends.here = std::move(pair.first);
      ends.there = std::move(pair.second);
      asio::cancellation_signal signal;
      std::optional<error_code> ec;
      ends.here.async_send(
          asio::buffer(payload),
          asio::bind_cancellation_slot(signal.slot(), [&](error_code e, std::size_t) { ec = e; }));
      bool whole = false;
      for (int i = 0; i != received && !whole; ++i) {
        ends.poll();
        if (const auto m = ends.there.try_receive()) {
          BOOST_TEST(equal(m->bytes(), payload));
          whole = true;
        }
      }
      signal.emit(asio::cancellation_type::total);
      BOOST_REQUIRE(ends.run_until([&] { return ec.has_value(); }));
      if (ec->failed())
        BOOST_TEST(*ec == asio::error::operation_aborted);
      std::optional<message> next;
      bool sent = false;
      for (int i = 0; i != 100 && !next; ++i) {
        sent = sent || ends.here.try_send(asio::buffer("next", 4));
        next = ends.there.try_receive();
        if (next && !ec->failed() && !whole && next->size() == payload.size()) {
          whole = true;
          next.reset();
        }
      }
      BOOST_REQUIRE(next.has_value());
      BOOST_TEST(next->view() == "next");
      BOOST_TEST(whole == !ec->failed());
    }
}

BOOST_AUTO_TEST_CASE(that_ends_with_the_channel_is_never_seen) {
  auto options = small_rings();
  options.max_message_size = mib;
  two_ends ends(options);
  const bytes payload(50'000);
  bool failed = false;
  ends.here.async_send(asio::buffer(payload),
                       [&](error_code ec, std::size_t) { failed = ec.failed(); });
  ends.poll();
  BOOST_TEST(!ends.there.try_receive().has_value());
  ends.here.close();
  ends.poll();
  BOOST_TEST(failed);
  error_code ec;
  BOOST_TEST(!ends.there.try_receive(ec).has_value());
  BOOST_TEST(ec == asio::error::eof);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(options)

BOOST_AUTO_TEST_CASE(that_ask_for_the_impossible_are_refused) {
  const std::vector<std::function<void(channel_options&)>> absurd{
      [](channel_options& o) { o.send_pool = static_cast<std::size_t>(-1); },
      [](channel_options& o) { o.receive_pool = layout::max_pool_size + 1; },
      [](channel_options& o) { o.max_leases = 0; },
      [](channel_options& o) { o.max_leases = layout::release_count + 1; },
      [](channel_options& o) { o.max_message_size = 0; },
  };
  asio::io_context context;
  for (const auto& spoil : absurd) {
    channel_options o;
    spoil(o);
    error_code ec;
    const asio::any_io_executor executor = context.get_executor();
    make_channel_pair(executor, executor, o, {}, ec);
    BOOST_TEST(ec == asio::error::invalid_argument);
    make_channel_pair(executor, executor, {}, o, ec);
    BOOST_TEST(ec == asio::error::invalid_argument);
  }
}

BOOST_AUTO_TEST_CASE(to_prefault_take_all_memory_at_once) {
  auto options = small_pool();
  options.prefault = options.huge_pages = true;
  two_ends ends(options);
  BOOST_TEST(ends.here.try_send(asio::buffer(pattern(500'000, 1))));
  BOOST_TEST(equal(ends.there.try_receive().value().bytes(), pattern(500'000, 1)));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(a_hostile_sender)

/// A channel whose other end writes what it likes.
struct liar {
  liar() : ch(context) {
    error_code ec;
    const auto options = small_pool();
    auto ends = detail::make_endpoint_pair(options, options, backend::interprocess, ec);
    BOOST_REQUIRE(!ec);
    ch = detail::channel_access::open(asio::any_io_executor(context.get_executor()),
                                      std::move(ends.first), options);
    other = std::move(ends.second);
    ring = ring_producer(other.own, other.peer);
  }

  void write(layout::record_kind kind, std::span<const std::byte> payload) {
    const auto room = ring.prepare(payload.size());
    if (!payload.empty())
      std::memcpy(room.data(), payload.data(), payload.size());
    ring.commit(kind, payload.size());
  }
  void write_lease(const layout::lease_record& r) {
    write(layout::record_kind::lease, std::as_bytes(std::span(&r, 1)));
  }
  void write_first(std::uint64_t total, std::size_t n) {
    bytes payload(8 + n);
    std::memcpy(payload.data(), &total, 8);
    write(layout::record_kind::first, payload);
  }

  error_code receive() {
    error_code ec;
    ch.try_receive(ec);
    return ec;
  }

  asio::io_context context;
  channel ch;
  detail::endpoint other;
  ring_producer ring;
};

BOOST_AUTO_TEST_CASE(of_a_lease_that_cannot_be_is_found_out) {
  constexpr std::uint64_t all = ~std::uint64_t{0};
  const layout::lease_record lies[] = {
      {mib, 1, 0, 1},  {mib - 64, 65, 0, 1},   {all - 63, 64, 0, 1}, {0, mib + 1, 0, 1},
      {64, all, 0, 1}, {64, all - 63, 0, 1},   {8, 8, 0, 1},         {0, 0, 0, 1},
      {0, 64, 768, 1}, {0, 64, 0xffffffff, 1}, {0, 64, 0, 0},        {all, all, 0, 1},
  };
  for (const auto& lie : lies)
    BOOST_TEST_CONTEXT(lie.offset << ' ' << lie.size << ' ' << lie.id << ' ' << lie.generation) {
      liar l;
      l.write_lease(lie);
      BOOST_TEST(l.receive() == error::peer_protocol_violation);
      BOOST_TEST(l.receive() == error::peer_protocol_violation);
    }
}

BOOST_AUTO_TEST_CASE(of_a_lease_of_the_wrong_length_is_found_out) {
  for (const std::size_t n : {0U, 8U, 23U, 25U, 32U}) {
    liar l;
    l.write(layout::record_kind::lease, bytes(n));
    BOOST_TEST(l.receive() == error::peer_protocol_violation);
  }
}

BOOST_AUTO_TEST_CASE(that_lends_the_same_twice_harms_nobody) {
  liar l;
  l.write_lease({0, 5000, 3, 9});
  l.write_lease({64, 5000, 3, 9});
  const auto first = l.ch.try_receive();
  const auto second = l.ch.try_receive();
  BOOST_TEST(first->size() == 5000U);
  BOOST_TEST(second->size() == 5000U);
}

BOOST_AUTO_TEST_CASE(of_pieces_that_do_not_fit_together_is_found_out) {
  using enum layout::record_kind;
  const std::vector<std::function<void(liar&)>> lies{
      [](liar& l) { l.write(more, bytes(10)); },
      [](liar& l) { l.write(last, bytes(10)); },
      [](liar& l) { l.write(first, bytes(8)); },
      [](liar& l) { l.write_first(~std::uint64_t{0}, 10); },
      [](liar& l) { l.write_first((std::uint64_t{64} << 20) + 1, 10); },
      [](liar& l) { l.write_first(10, 10); },
      [](liar& l) { l.write_first(0, 1); },
      [](liar& l) { l.write_first(100, 10), l.write(more, bytes(90)); },
      [](liar& l) { l.write_first(100, 10), l.write(more, bytes(91)); },
      [](liar& l) { l.write_first(100, 10), l.write(last, bytes(89)); },
      [](liar& l) { l.write_first(100, 10), l.write(last, bytes(91)); },
      [](liar& l) { l.write_first(100, 10), l.write(last, bytes(0)); },
  };
  for (std::size_t i = 0; i != lies.size(); ++i)
    BOOST_TEST_CONTEXT(i) {
      liar l;
      lies[i](l);
      BOOST_TEST(l.receive() == error::peer_protocol_violation);
    }
}

BOOST_AUTO_TEST_SUITE_END()
