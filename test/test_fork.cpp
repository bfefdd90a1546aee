// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// A forked child has no part in its parent's channels: it can do nothing with them,
// disturbs nobody, and does not hide its parent's death.

#include "helper_process.hpp"
#include "numbered.hpp"
#include "raw_peer.hpp"
#include "scarce.hpp"
#include "server.hpp"
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <sysipc_asio/channel_pair.hpp>

using namespace sysipc_asio;
using namespace sysipc_asio::test;

namespace {

struct echoed {
  explicit echoed(std::initializer_list<std::string> command = {"echo", "fork"})
      : listener(context, "fork"), peer(command), ch(listener.accept()) {}

  scratch_directory directory;
  asio::io_context context{1};
  acceptor listener;
  helper_process peer;
  channel ch;
};

/// True if this many messages went to the peer and back, one after the other.
bool exchange(channel& ch, std::uint64_t count = 1000) {
  for (std::uint64_t n = 0; n != count; ++n) {
    ch.blocking_push(n);
    if (ch.blocking_pop<std::uint64_t>() != n)
      return false;
  }
  return true;
}

/// For a child: the first check that failed is its exit status.
struct checks {
  int next = 1;
  int failed = 0;

  void check(bool good, const error_code& ec = {}) {
    if (!good && failed == 0) {
      failed = next;
      std::fprintf(stderr, "child: check %d: %s\n", next, ec.message().c_str());
    }
    ++next;
  }
  void gives_bad_descriptor(const error_code& ec) { check(ec == asio::error::bad_descriptor, ec); }
};

/// Everything that does not wait, and everything that blocks.
void try_everything(channel& ch, checks& c) {
  char byte = 0;
  const auto buffer = asio::buffer(&byte, 1);
  error_code ec;
  const auto expect_bad_descriptor = [&] {
    c.gives_bad_descriptor(ec);
    ec = {};
  };
  c.check(!ch.is_open());
  ch.try_send(buffer, ec), expect_bad_descriptor();
  ch.try_receive(buffer, ec), expect_bad_descriptor();
  ch.try_receive(ec), expect_bad_descriptor();
  ch.try_push(byte, ec), expect_bad_descriptor();
  ch.try_pop<char>(ec), expect_bad_descriptor();
  ch.consume([](auto) {}, 1, ec), expect_bad_descriptor();
  ch.blocking_send(buffer, ec), expect_bad_descriptor();
  ch.blocking_receive(buffer, ec), expect_bad_descriptor();
  ch.blocking_receive(ec), expect_bad_descriptor();
  ch.blocking_push(byte, ec), expect_bad_descriptor();
  ch.blocking_pop<char>(ec), expect_bad_descriptor();
  ch.shutdown();
  ch.cancel();
  ch.stats();
}

/// One after the other; each is over when the context has nothing to do any more.
void await_everything(channel& ch, asio::io_context& context, checks& c) {
  char byte = 0;
  const auto buffer = asio::buffer(&byte, 1);
  const auto check = [&](const error_code& ec, auto&&...) { c.gives_bad_descriptor(ec); };
  const auto await = [&] {
    const int before = c.next;
    context.restart();
    context.poll();
    c.check(c.next == before + 1);
  };
  ch.async_send(buffer, check), await();
  ch.async_receive(buffer, check), await();
  ch.async_receive(check), await();
  ch.async_push(byte, check), await();
  ch.async_pop<char>(check), await();
  ch.async_wait(wait_receive, check), await();
  ch.async_wait(wait_send, check), await();
}

} // namespace

BOOST_AUTO_TEST_CASE(a_child_can_do_nothing_and_disturbs_nobody) {
  echoed e;
  BOOST_TEST(exchange(e.ch));
  const int status = in_child([&] {
    checks c;
    try_everything(e.ch, c);
    e.ch.close();
    try_everything(e.ch, c);
    const channel destroyed = std::move(e.ch);
    return c.failed;
  });
  BOOST_TEST(status == 0);
  BOOST_TEST(exchange(e.ch));
}

BOOST_AUTO_TEST_CASE(in_a_child_that_goes_on_with_the_context_everything_fails_in_its_handler) {
  echoed e;
  bool arrived = false;
  checks c;
  bool child = false;
  int completed = 0;
  e.ch.async_pop<char>([&](error_code ec, char) { // under way when the child is made
    ++completed;
    if (child)
      c.check(ec == asio::error::bad_descriptor || ec == asio::error::operation_aborted, ec);
    else
      arrived = !ec;
  });
  e.context.poll();
  e.context.notify_fork(asio::io_context::fork_prepare);
  const int status = in_child([&] {
    child = true;
    e.context.notify_fork(asio::io_context::fork_child);
    eventually([&] { return e.context.poll(), completed == 1; });
    c.check(completed == 1);
    await_everything(e.ch, e.context, c);
    try_everything(e.ch, c);
    e.ch.close();
    return c.failed;
  });
  e.context.notify_fork(asio::io_context::fork_parent);
  BOOST_TEST(status == 0);
  BOOST_TEST(completed == 0);
  e.ch.blocking_push('x');
  e.context.run();
  BOOST_TEST(arrived);
  BOOST_TEST(exchange(e.ch));
}

BOOST_AUTO_TEST_CASE(a_child_made_while_an_operation_waits_is_told_the_same) {
  echoed e;
  e.ch.async_pop<char>([](error_code, char) {});
  e.context.poll();
  const int status = in_child([&] {
    checks c;
    try_everything(e.ch, c); // without a look at the context
    return c.failed;
  });
  BOOST_TEST(status == 0);
  e.ch.blocking_push('x');
  e.context.run();
  BOOST_TEST(exchange(e.ch));
}

BOOST_AUTO_TEST_CASE(a_child_that_destroys_an_acceptor_leaves_its_parent_the_clients) {
  for (const bool notified : {false, true}) {
    const scratch_directory directory;
    asio::io_context context;
    std::optional<acceptor> listener;
    listener.emplace(context, "fork");
    std::optional<channel> accepted;
    listener->async_accept([&](error_code, channel c) { accepted.emplace(std::move(c)); });
    context.poll();
    const int status = in_child([&] {
      if (notified)
        context.notify_fork(asio::io_context::fork_child);
      listener.reset();
      return 0;
    });
    BOOST_TEST(status == 0);
    helper_process client{"sleeper", "fork"};
    BOOST_TEST_CONTEXT("with notify_fork(): " << notified)
    BOOST_TEST(
        eventually([&] { return context.poll(), accepted.has_value(); }, std::chrono::seconds(3)));
  }
}

BOOST_AUTO_TEST_CASE(the_death_of_a_parent_is_seen_while_its_child_lives) {
  for (const bool blocking : {true, false}) {
    echoed e({"forker", "fork"});
    const pid_t child = std::stoi(e.peer.line());
    BOOST_TEST(e.ch.blocking_pop<char>() == 's');
    e.peer.signal(SIGKILL);
    error_code ec;
    if (blocking)
      e.ch.blocking_receive(ec);
    else
      e.ch.async_receive([&](error_code result, const message&) { ec = result; });
    e.context.run_for(std::chrono::seconds(10));
    BOOST_TEST(ec == asio::error::connection_reset);
    BOOST_TEST(::kill(child, 0) == 0);
    ::kill(child, SIGKILL);
  }
}

BOOST_AUTO_TEST_CASE(fifty_channels_are_all_dead_in_the_child_and_alive_in_the_parent) {
  asio::io_context context;
  std::vector<std::pair<channel, channel>> pairs;
  for (int i = 0; i != 50; ++i)
    pairs.push_back(make_channel_pair(asio::any_io_executor(context.get_executor()),
                                      asio::any_io_executor(context.get_executor())));
  const holdings before = holdings::now();
  const int status = in_child([&] {
    checks c;
    // The pools of the peers, for the messages that lie there.
    c.check(holdings::now().mappings == 2 * static_cast<std::ptrdiff_t>(pairs.size()));
    c.check(holdings::now().descriptors == before.descriptors);
    for (auto& [one, other] : pairs) {
      try_everything(one, c);
      try_everything(other, c);
    }
    pairs.clear();
    return c.failed;
  });
  BOOST_TEST(status == 0);
  for (auto& [one, other] : pairs)
    BOOST_TEST(can_talk(one, other));
}

BOOST_AUTO_TEST_CASE(children_made_while_another_thread_sends_disturb_nothing) {
  const std::uint64_t messages = 100'000;
  echoed e({"receive", "fork", std::to_string(messages)});
  std::atomic<bool> done = false;
  std::thread sending([&] {
    std::vector<std::byte> payload;
    for (std::uint64_t n = 0; n != messages; ++n) {
      make_numbered(n, payload);
      e.ch.blocking_send(asio::buffer(payload));
    }
    e.ch.shutdown();
    done = true;
  });
  int children = 0;
  int wrong = 0;
  for (; !done || children < 20; ++children) {
    const int status = in_child([&] {
      checks c;
      char byte = 0;
      error_code ec;
      e.ch.try_pop<char>(ec);
      c.gives_bad_descriptor(ec);
      e.ch.try_push(byte, ec);
      c.gives_bad_descriptor(ec);
      e.ch.close();
      return c.failed;
    });
    wrong += status != 0;
  }
  sending.join();
  BOOST_TEST(wrong == 0);
  BOOST_TEST_MESSAGE(children << " children");
  BOOST_TEST(e.peer.wait() == 0);
}

// Its handshake is over, but no accept has taken it out yet.
BOOST_AUTO_TEST_CASE(a_channel_that_waits_for_an_accept_is_not_inherited_either) {
  const scratch_directory directory;
  auto [ours, theirs] = socket_pair();
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) { // the server, which forks once more, and dies
    ::alarm(60);
    asio::io_context context;
    listen_options options;
    options.backend = backend::interprocess; // which raw peers speak
    acceptor listener(context, "fork", options);
    bool accepted = false;
    listener.async_accept([&](error_code, const channel&) { accepted = true; });
    char byte = 'l';
    auto work = asio::make_work_guard(context);
    if (::write(theirs.get(), &byte, 1) != 1)
      ::_exit(1);
    while (::recv(theirs.get(), &byte, 1, MSG_DONTWAIT) != 1)
      context.poll();
    if (const pid_t grandchild = ::fork(); grandchild != 0)
      ::_exit(!accepted);
    theirs.reset();
    ::alarm(10);
    ::pause();
    ::_exit(0);
  }
  child_process server(pid);
  raw_peer control(std::move(ours));
  theirs.reset();
  char byte = 0;
  BOOST_REQUIRE(::read(control.socket(), &byte, 1) == 1);

  const offer own;
  raw_peer waiting = raw_peer::connect("fork"); // begun by the accept that the next one completes
  waiting.send(good_hello());
  waiting.expect<detail::welcome_frame>();
  const auto bell = waiting.reader().take_descriptor(1);
  raw_peer first = raw_peer::connect("fork");
  first.send(good_hello());
  first.send(detail::attach_frame(), own.descriptors());
  first.expect<detail::welcome_frame>();
  first.expect<detail::ready_frame>();
  waiting.send(detail::attach_frame(), own.descriptors());
  waiting.expect<detail::ready_frame>();
  BOOST_TEST(!detail::bell_hung_up(bell.get()));
  BOOST_REQUIRE(::write(control.socket(), &byte, 1) == 1);
  BOOST_TEST(server.wait() == 0);
  BOOST_TEST(eventually([&] { return detail::bell_hung_up(bell.get()); }, std::chrono::seconds(5)));
}
