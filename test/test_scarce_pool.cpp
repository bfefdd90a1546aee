// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// Large messages when there is too little of something: room in the window, leases, the ring,
// memory of the host, time to live.

#include "pattern.hpp"
#include "scarce.hpp"
#include "scratch.hpp"
#include "two_ends.hpp"
#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <memory>
#include <optional>
#include <random>
#include <sys/syscall.h>
#include <sysipc_asio/channel_pair.hpp>
#include <sysipc_asio/detail/endpoint.hpp>
#include <sysipc_asio/handshake.hpp>
#include <thread>
#include <vector>

using namespace sysipc_asio;
using namespace sysipc_asio::test;

namespace {

channel_options with_pool(std::size_t pool, std::size_t window = automatic_size) {
  channel_options result;
  result.send_capacity = result.receive_capacity = 4 * kib;
  result.send_pool = result.receive_pool = pool;
  result.send_window = window;
  result.policy = wait_policy::sleepy;
  return result;
}

/// Sends messages of that size until it would have to wait. Returns how many.
std::size_t send_until_full(channel& ch, std::size_t size) {
  const bytes payload = pattern(size, size);
  error_code ec;
  std::size_t result = 0;
  while (ch.try_send(asio::buffer(payload), ec))
    ++result;
  BOOST_TEST(ec == asio::error::would_block);
  return result;
}

} // namespace

BOOST_AUTO_TEST_SUITE(the_send_window)

BOOST_AUTO_TEST_CASE(bounds_what_the_peer_has_not_received) {
  two_ends ends(with_pool(16 * mib, 200 * kib));
  std::vector<message> held;
  for (int round = 0; round != 5; ++round) {
    const std::size_t n = send_until_full(ends.here, 10 * kib);
    BOOST_TEST(n >= 19U);
    BOOST_TEST(n <= 21U);
    // What is held has been received.
    while (auto m = ends.there.try_receive())
      held.push_back(std::move(*m));
    BOOST_TEST(std::all_of(held.begin(), held.end(), [](const message& m) {
      return equal(m.bytes(), pattern(10 * kib, 10 * kib));
    }));
  }
}

BOOST_AUTO_TEST_CASE(moves_on_by_halves) {
  two_ends ends(with_pool(16 * mib, 200 * kib));
  const std::size_t n = send_until_full(ends.here, 10 * kib);
  for (std::size_t i = 1; i != n / 2; ++i)
    BOOST_TEST(ends.there.try_receive().has_value());
  BOOST_TEST(!ends.here.try_loan(1).has_value());
  BOOST_TEST(ends.there.try_receive().has_value());
  BOOST_TEST(ends.here.try_loan(1).has_value());
  BOOST_TEST(send_until_full(ends.here, 10 * kib) >= n / 2 - 1);
}

BOOST_AUTO_TEST_CASE(has_room_for_two_messages_of_any_size) {
  two_ends ends(with_pool(64 * mib, 0));
  for (const std::size_t size : {5 * kib, 100 * kib, 10 * mib}) {
    BOOST_TEST(send_until_full(ends.here, size) == 2U);
    BOOST_TEST(ends.there.try_receive().has_value());
    BOOST_TEST(send_until_full(ends.here, size) == 1U);
    while (ends.there.try_receive())
      ;
  }
}

BOOST_AUTO_TEST_CASE(may_be_as_good_as_none) {
  for (const std::size_t window : {16 * mib, automatic_size - 1}) {
    two_ends ends(with_pool(16 * mib, window));
    BOOST_TEST(send_until_full(ends.here, 100 * kib) > 50U);
  }
}

BOOST_AUTO_TEST_CASE(says_of_messages_in_the_ring_nothing) {
  two_ends ends(with_pool(16 * mib, 0));
  BOOST_TEST(send_until_full(ends.here, 5 * kib) == 2U);
  BOOST_TEST(ends.here.try_send(asio::buffer("small")));
}

BOOST_AUTO_TEST_CASE(wakes_senders_and_loans_that_wait_for_it) {
  for (const bool is_loan : {false, true}) {
    two_ends ends(with_pool(16 * mib, 0));
    send_until_full(ends.here, 100 * kib);
    std::optional<error_code> result;
    const bytes payload = pattern(100 * kib, 100 * kib);
    if (is_loan)
      ends.here.async_loan(100 * kib, [&](error_code ec, const loan&) { result = ec; });
    else
      ends.here.async_send(asio::buffer(payload), [&](error_code ec, std::size_t) { result = ec; });
    ends.poll();
    BOOST_TEST(!result.has_value());
    BOOST_TEST(ends.there.try_receive().has_value());
    BOOST_REQUIRE(ends.run_until([&] { return result.has_value(); }));
    BOOST_TEST(!result->failed());
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(a_loan)

BOOST_AUTO_TEST_CASE(is_refused_once_nothing_can_be_sent) {
  two_ends ends(with_pool(mib));
  error_code ec;
  ends.here.shutdown();
  BOOST_TEST(!ends.here.try_loan(1000, ec).has_value());
  BOOST_TEST(ec == asio::error::shut_down);
  std::optional<error_code> result;
  ends.here.async_loan(1000, [&](error_code e, const loan&) { result = e; });
  BOOST_REQUIRE(ends.run_until([&] { return result.has_value(); }));
  BOOST_TEST(*result == asio::error::shut_down);
}

BOOST_AUTO_TEST_CASE(that_is_waited_for_has_sends_fail_and_not_wait_for_each_other) {
  two_ends ends(with_pool(mib));
  loan all = ends.here.try_loan(ends.here.max_loan_size()).value();
  std::optional<error_code> result;
  ends.here.async_loan(100 * kib, [&](error_code e, const loan&) { result = e; });
  ends.poll();
  error_code ec;
  BOOST_TEST(!ends.here.try_send(std::move(all), ec));
  BOOST_TEST(ec == error::operation_in_progress);
  std::optional<error_code> sent;
  ends.here.async_send(asio::buffer("small"), [&](error_code e, std::size_t) { sent = e; });
  BOOST_REQUIRE(ends.run_until([&] { return sent.has_value(); }));
  BOOST_TEST(*sent == error::operation_in_progress);
  BOOST_TEST(!result.has_value());
  ends.here.cancel();
  BOOST_REQUIRE(ends.run_until([&] { return result.has_value(); }));
  BOOST_TEST(ends.here.try_send(std::move(all)));
}

BOOST_AUTO_TEST_CASE(that_was_refused_is_what_wait_send_waits_for) {
  two_ends ends(with_pool(mib));
  for (const bool by_window : {false, true}) {
    std::optional<loan> all;
    if (by_window)
      send_until_full(ends.here, 300 * kib);
    else
      all = ends.here.try_loan(ends.here.max_loan_size());
    std::optional<message> m;
    if (by_window) // and yet it holds all the memory
      m = ends.there.try_receive();
    BOOST_TEST(!ends.here.try_loan(500 * kib).has_value());
    BOOST_TEST(ends.here.try_send(asio::buffer("small")));
    std::optional<error_code> result;
    ends.here.async_wait(wait_send, [&](error_code ec) { result = ec; });
    ends.poll();
    BOOST_TEST(!result.has_value());
    all.reset();
    m.reset();
    drain(ends.there);
    BOOST_REQUIRE(ends.run_until([&] { return result.has_value(); }));
    BOOST_TEST(!result->failed());
    BOOST_TEST(ends.here.try_loan(500 * kib).has_value());
  }
}

BOOST_AUTO_TEST_CASE(that_is_waited_for_ends_with_the_channel) {
  for (const bool by_peer : {false, true}) {
    two_ends ends(with_pool(mib));
    const auto all = ends.here.try_loan(ends.here.max_loan_size());
    std::optional<error_code> result;
    ends.here.async_loan(100 * kib, [&](error_code e, const loan&) { result = e; });
    ends.poll();
    BOOST_TEST(!result.has_value());
    (by_peer ? ends.there : ends.here).close();
    BOOST_REQUIRE(ends.run_until([&] { return result.has_value(); }));
    BOOST_TEST(result->failed());
  }
}

BOOST_AUTO_TEST_CASE(may_be_dropped_by_any_thread_while_its_channel_ends) {
  const int rounds = sanitized ? 300 : 3000;
  std::optional<holdings> before;
  for (int i = 0; i != rounds; ++i) {
    if (i == 10)
      before = holdings::now();
    auto ends = std::make_unique<two_ends>(with_pool(256 * kib));
    std::vector<loan> loans;
    for (int n = 0; n != 3; ++n)
      loans.push_back(ends->here.try_loan(10 * kib).value());
    std::atomic<bool> go{false};
    std::thread other([&] {
      while (!go.load(std::memory_order_relaxed))
        ;
      loans.clear();
    });
    go.store(true, std::memory_order_relaxed);
    if (i % 2 == 0)
      ends->here.close();
    ends.reset();
    other.join();
  }
  BOOST_TEST(holdings::now() == *before);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(a_hostile_receiver)

BOOST_AUTO_TEST_CASE(gives_back_what_it_likes_and_harms_only_itself) {
  asio::io_context context;
  error_code ec;
  const auto options = with_pool(4 * mib);
  auto both = detail::make_endpoint_pair(options, options, backend::interprocess, ec);
  BOOST_REQUIRE(!ec);
  detail::endpoint other = std::move(both.second);
  channel ch = detail::channel_access::open(asio::any_io_executor(context.get_executor()),
                                            std::move(both.first), options);
  ring_consumer ring(other.own, other.peer);
  std::minstd_rand random(7);
  std::vector<loan> held;
  for (int i = 0; i != 20'000; ++i) {
    auto& word = other.own.words().release[random() % 8];
    // Never got, again and again, almost right, or nonsense.
    const auto nonsense = static_cast<std::uint32_t>(random());
    word.store(random() % 4 == 0 ? nonsense : word.load(std::memory_order_relaxed) + nonsense % 3,
               std::memory_order_relaxed);
    if (auto l = ch.try_loan(1 + random() % (100 * kib), ec)) {
      for (const loan& h : held)
        BOOST_REQUIRE(
            (l->data() + l->capacity() <= h.data() || h.data() + h.capacity() <= l->data()));
      held.push_back(std::move(*l));
    } else {
      BOOST_REQUIRE(ec == asio::error::would_block);
    }
    if (held.size() > 4) {
      std::swap(held[random() % held.size()], held.back());
      if (random() % 2 == 0 && !ch.try_send(std::move(held.back()), ec))
        BOOST_REQUIRE(ec == asio::error::would_block);
      held.pop_back();
    }
    if (ring.ready()) {
      const auto r = ring.peek_record();
      BOOST_REQUIRE(r.status == ring_status::ok);
      ring.pop_front(r.payload.size());
      ring.publish_head();
    }
  }
}

BOOST_AUTO_TEST_CASE(cannot_have_a_loan_waited_for_by_a_progress_that_is_a_lie) {
  asio::io_context context;
  error_code ec;
  const auto options = with_pool(4 * mib, 0);
  auto both = detail::make_endpoint_pair(options, options, backend::interprocess, ec);
  BOOST_REQUIRE(!ec);
  detail::endpoint other = std::move(both.second);
  channel ch = detail::channel_access::open(asio::any_io_executor(context.get_executor()),
                                            std::move(both.first), options);
  BOOST_TEST(send_until_full(ch, 10 * kib) == 2U);
  other.own.words().rx_head.store(1 << 20, std::memory_order_release);
  BOOST_TEST(!ch.try_loan(10 * kib, ec).has_value());
  BOOST_TEST(!ch.try_loan(10 * kib, ec).has_value());
  BOOST_TEST(ec == error::peer_protocol_violation);
  BOOST_TEST(!ch.try_send(asio::buffer(bytes(10 * kib)), ec));
  BOOST_TEST(ec == error::peer_protocol_violation);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(a_large_message)

BOOST_AUTO_TEST_CASE(of_64_mib_goes_through_a_ring_of_a_page) {
  auto options = with_pool(0);
  options.policy = wait_policy::adaptive;
  two_ends ends(options);
  const bytes payload = pattern(64 * mib, 5);
  std::thread sender([&] { ends.here.blocking_send(asio::buffer(payload)); });
  const message m = ends.there.blocking_receive();
  sender.join();
  BOOST_TEST(equal(m.bytes(), payload));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(memory_of_the_host)

/// In pages, as /proc/meminfo counts shared memory.
std::size_t shared_memory_of_host() {
  std::ifstream file("/proc/meminfo");
  for (std::string key; file >> key;)
    if (key == "Shmem:") {
      std::size_t result = 0;
      file >> result;
      return result * kib;
    }
  return 0;
}

/// One end of a channel of two processes, which both send and hold what they get until killed.
[[noreturn]] void hoard(int socket, bool listens, int done) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT})
    ::signal(signal, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  asio::io_context context;
  const asio::any_io_executor executor(context.get_executor());
  asio::local::stream_protocol::socket s(context, asio::local::stream_protocol(), socket);
  error_code ec;
  auto options = with_pool(64 * mib, 64 * mib);
  channel ch(context);
  if (listens) {
    listen_options l;
    l.channel = options;
    ch = accept_on(executor, std::move(s), l, ec);
  } else {
    connect_options c;
    c.channel = options;
    ch = connect_on(executor, std::move(s), c, ec);
  }
  std::vector<message> held;
  const bytes payload = pattern(4 * mib, 1);
  for (int i = 0; i != 8 && !ec; ++i)
    ch.blocking_send(asio::buffer(payload), ec);
  for (int i = 0; i != 8 && !ec; ++i) {
    held.push_back(ch.blocking_receive(ec));
    if (!held.back().is_shared())
      ::_exit(1);
  }
  if (!ec && ::write(done, "d", 1) == 1)
    for (;;)
      ::pause();
  ::_exit(2);
}

BOOST_AUTO_TEST_CASE(is_given_back_when_both_sides_are_killed_with_leases_out) {
  const std::size_t before = shared_memory_of_host();
  int sockets[2];
  int done[2];
  BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0);
  BOOST_REQUIRE(::pipe(done) == 0);
  pid_t sides[2];
  for (int i = 0; i != 2; ++i) {
    sides[i] = ::fork();
    if (sides[i] == 0) {
      ::close(sockets[1 - i]);
      ::close(done[0]);
      hoard(sockets[i], i == 0, done[1]);
    }
    BOOST_REQUIRE(sides[i] > 0);
  }
  ::close(sockets[0]);
  ::close(sockets[1]);
  ::close(done[1]);
  char word[2];
  for (int i = 0; i != 2; ++i)
    BOOST_REQUIRE(::read(done[0], word + i, 1) == 1);
  BOOST_TEST(shared_memory_of_host() >= before + 48 * mib);
  for (const pid_t side : sides) {
    ::kill(side, SIGKILL);
    int status = 0;
    ::waitpid(side, &status, 0);
    BOOST_TEST(WTERMSIG(status) == SIGKILL);
  }
  ::close(done[0]);
  // Other programs use shared memory, too.
  BOOST_TEST(eventually([&] { return shared_memory_of_host() <= before + 16 * mib; }));
}

/// What is sent and loaned while the host has nothing more for the pool. 0 if all is well.
int make_do_with_less() {
  asio::io_context context;
  const asio::any_io_executor executor(context.get_executor());
  auto options = with_pool(64 * mib, 64 * mib);
  options.send_capacity = options.receive_capacity = 64 * kib;
  options.policy = wait_policy::adaptive;
  error_code ec;
  auto [here, there] = make_channel_pair(executor, executor, options, options, ec);
  if (ec)
    return 10;
  ::alarm(60);
  // Everything arrives, whichever way it went, and whatever of it is kept.
  std::vector<message> held;
  bool pieces = false;
  for (std::size_t i = 0; i != 40; ++i) {
    const bytes payload = pattern(mib + i * 64 * kib, i);
    std::thread sender([&, &ch = here] { ch.blocking_send(asio::buffer(payload), ec); });
    error_code received;
    message m = there.blocking_receive(received);
    sender.join();
    if (ec || received || !equal(m.bytes(), payload))
      return 11;
    if (!m.is_shared())
      pieces = true;
    else
      held.push_back(std::move(m));
  }
  if (!pieces)
    return 12; // there was no lack at all
  const auto l = here.try_loan(20 * mib, ec);
  if (l || ec != (held.empty() ? asio::error::no_memory : asio::error::would_block))
    return 13;
  held.clear();
  return 0;
}

BOOST_AUTO_TEST_CASE(that_is_refused_makes_messages_go_in_pieces) {
  const int status = in_child([] {
    // fallocate() finds no space from here on.
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[3])), // its length
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 200 * kib, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSPC),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog filter{std::size(program), program};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
      return 20;
    return make_do_with_less();
  });
  BOOST_TEST(status == 0);
}

/// A control group with so much memory; its directory, or nothing where there can be none.
class little_memory_group {
public:
  explicit little_memory_group(std::size_t limit) {
    const std::filesystem::path root("/sys/fs/cgroup");
    const bool one = std::filesystem::is_directory(root / "memory");
    if (!one)
      write(root / "cgroup.subtree_control", "+memory");
    path_ = (one ? root / "memory" : root) / ("sysipc_asio_test_" + std::to_string(::getpid()));
    std::error_code ec;
    usable_ = std::filesystem::create_directory(path_, ec) &&
              write(path_ / (one ? "memory.limit_in_bytes" : "memory.max"), std::to_string(limit));
  }
  little_memory_group(const little_memory_group&) = delete;
  little_memory_group& operator=(const little_memory_group&) = delete;
  ~little_memory_group() { ::rmdir(path_.c_str()); }

  bool usable() const noexcept { return usable_; }
  bool enter() const { return write(path_ / "cgroup.procs", std::to_string(::getpid())); }

  static bool write(const std::filesystem::path& file, const std::string& text) {
    std::ofstream out(file);
    out << text;
    out.close();
    return !out.fail();
  }

private:
  std::filesystem::path path_;
  bool usable_ = false;
};

BOOST_AUTO_TEST_CASE(that_a_control_group_has_not_makes_messages_go_in_pieces) {
  const little_memory_group group(32 * mib);
  constexpr int no_such_rights = 77;
  const int status = !group.usable() ? no_such_rights : in_child([&] {
    // The heap has its memory before, and keeps it: a fault without memory can't be an error.
    ::mallopt(M_ARENA_MAX, 1);
    ::mallopt(M_MMAP_THRESHOLD, 512 * mib);
    ::mallopt(M_TRIM_THRESHOLD, 512 * mib);
    bytes(48 * mib, std::byte{1});
    // Whom the kernel may not kill gets an error instead.
    if (!little_memory_group::write("/proc/self/oom_score_adj", "-1000") || !group.enter())
      return no_such_rights;
    return make_do_with_less();
  });
  if (status == no_such_rights)
    BOOST_TEST_MESSAGE("not run: needs root, and memory control groups");
  else
    BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_SUITE_END()
