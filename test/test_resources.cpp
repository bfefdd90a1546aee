// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// Descriptors or memory run out at any point of a connect or an accept: a clear
// error, nothing lost, and everything goes on when there is enough again.

#include "helper_process.hpp"
#include "scarce.hpp"
#include "scratch.hpp"
#include "server.hpp"
#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>
#include <map>
#include <poll.h>
#include <sysipc_asio/detail/endpoint.hpp>
#include <sysipc_asio/detail/kernel_endpoint.hpp>

using namespace sysipc_asio;
using namespace sysipc_asio::test;

namespace {

constexpr int enough_descriptors = 16;
const error_code too_many_files = asio::error::no_descriptors;

// What a child that tried something under a limit says with its exit status.
enum verdict { fine = 0, succeeded = 1, unclear_error = 2, leaked = 3, broken_afterwards = 4 };

std::ostream& operator<<(std::ostream& out, verdict v) {
  static constexpr const char* names[] = {"fine", "succeeded", "unclear error", "leaked",
                                          "broken afterwards"};
  return out << (v < 5 ? names[v] : "crashed or threw");
}

using attempt = std::function<error_code(asio::io_context&)>;

error_code connect_blocking(asio::io_context& context) {
  error_code ec;
  connect(context.get_executor(), "server", {}, ec);
  return ec;
}

error_code connect_async(asio::io_context& context) {
  error_code result;
  async_connect(asio::any_io_executor(context.get_executor()), "server",
                [&](error_code ec, const channel&) { result = ec; });
  context.restart();
  context.run();
  return result;
}

/// In a process that did nothing like it before: under the limit, then without.
template <typename Limit>
int try_under(const std::function<Limit()>& limit, const attempt& f, const error_code& expected) {
  asio::io_context context;
  const asio::steady_timer reactor_exists(context);
  for (int time = 0; time != 2; ++time) { // the second finds what the first left
    const holdings before = holdings::now();
    error_code ec;
    {
      const Limit scarce(limit());
      ec = f(context);
    }
    if (ec && ec != expected) {
      std::fprintf(stderr, "child: %s\n", ec.message().c_str());
      return unclear_error;
    }
    if (time != 0 && holdings::now() != before)
      return leaked;
    if (const error_code again = f(context)) {
      std::fprintf(stderr, "child, afterwards: %s\n", again.message().c_str());
      return broken_afterwards;
    }
    if (time != 0)
      return ec ? fine : succeeded;
  }
  return fine;
}

/// Runs the context until the helper has said how its connect went.
std::string answer(helper_process& client, asio::io_context& context) {
  eventually([&] {
    context.poll();
    return client.has_line();
  });
  return client.has_line() ? client.line() : "nothing";
}

const std::string success = "system:0";
const std::string refusal =
    "sysipc_asio:" + std::to_string(static_cast<int>(error::peer_out_of_resources));

/// Accepts one client under a limit. Says what the client got.
struct one_accept {
  explicit one_accept(acceptor& a) : listener(a) { accept(); }

  void accept() {
    listener.async_accept([this](error_code result, channel c) {
      ++completions;
      ec = result;
      if (!ec)
        accepted.emplace(std::move(c));
    });
  }

  acceptor& listener;
  int completions = 0;
  error_code ec;
  std::optional<channel> accepted;
};

/// What was wrong; nothing if an acceptor did what it should.
template <typename Limit>
std::string accept_under(const std::function<Limit()>& limit, const error_code& expected) {
  const scratch_directory directory;
  asio::io_context context;
  const auto work = asio::make_work_guard(context);
  acceptor listener(context, "server");
  helper_process client{"try", "server"};
  client.line();
  one_accept one(listener);
  context.poll();
  {
    const Limit scarce(limit());
    client.go();
    eventually([&] {
      context.poll();
      return one.completions != 0 || client.has_line();
    });
  }
  if (one.ec) { // the client is still there, to be accepted
    if (one.ec != expected || client.has_line())
      return "the accept said " + one.ec.message();
    one.accept();
  }
  const std::string said = answer(client, context);
  if (said != success) {
    if (said != refusal)
      return "the client was told " + said;
    if (listener.failed_handshakes() != 1)
      return "a failure was not counted";
    helper_process next{"try", "server"};
    next.line();
    next.go();
    if (const std::string afterwards = answer(next, context); afterwards != success)
      return "afterwards a client was told " + afterwards;
  }
  eventually([&] {
    context.poll();
    return one.accepted.has_value();
  });
  return one.accepted ? "" : "no channel came of it";
}

/// What a process opens once, on either backend.
void open_what_stays_open() {
  error_code ec;
  detail::make_own_half(4096, ec);
  BOOST_TEST(accept_under<few_descriptors>([] { return few_descriptors(100); }, {}) == "");
}

} // namespace

BOOST_AUTO_TEST_CASE(a_connect_without_descriptors_says_so_and_loses_none) {
  const scratch_directory directory;
  helper_process server{"serve", "server"};
  server.line();
  for (const attempt& form : {attempt(connect_blocking), attempt(connect_async)})
    for (int n = 0; n != enough_descriptors; ++n) {
      const int status = in_child([&] {
        return try_under<few_descriptors>([n] { return few_descriptors(n); }, form, too_many_files);
      });
      BOOST_TEST_CONTEXT(n << " descriptors left")
      BOOST_TEST(static_cast<verdict>(status) <= succeeded);
      if (n < (detail::driver_is_there() ? 4 : 8)) // what a channel takes at least
        BOOST_TEST(static_cast<verdict>(status) != succeeded);
    }
}

BOOST_AUTO_TEST_CASE(a_connect_without_memory_says_so_and_loses_none) {
  if (sanitized)
    return;
  const scratch_directory directory;
  helper_process server{"serve", "server"};
  server.line();
  std::map<int, int> seen;
  for (const attempt& form : {attempt(connect_blocking), attempt(connect_async)})
    for (std::size_t n = 0; n < 400; n += 8) {
      // The second half has address space for one or for both pools.
      const std::size_t pools = n < 200 ? 0 : n < 300 ? 1 : 2;
      const std::size_t pages = n % 200 * 2 + pools * channel_options::default_pool / 4096;
      const int status = in_child([&] {
        return try_under<little_memory>([&] { return little_memory(pages * 4096); }, form,
                                        asio::error::no_memory);
      });
      BOOST_TEST_CONTEXT(pages << " pages left")
      BOOST_TEST(static_cast<verdict>(status) <= succeeded);
      ++seen[status];
    }
  BOOST_TEST(seen[fine] != 0); // the limit did bite, and it did not always
  BOOST_TEST(seen[succeeded] != 0);
}

BOOST_AUTO_TEST_CASE(a_first_accept_without_descriptors_says_so_and_goes_on) {
  for (int n = 0; n != enough_descriptors; ++n) {
    const int status = in_child([&] { // where nothing was opened once and for all yet
      const std::string wrong =
          accept_under<few_descriptors>([n] { return few_descriptors(n); }, too_many_files);
      std::fprintf(stderr, "%s%s", wrong.c_str(), wrong.empty() ? "" : "\n");
      return wrong.empty() ? 0 : 1;
    });
    BOOST_TEST_CONTEXT(n << " descriptors left")
    BOOST_TEST(status == 0);
  }
}

BOOST_AUTO_TEST_CASE(an_accept_without_descriptors_says_so_loses_none_and_goes_on) {
  open_what_stays_open();
  const holdings before = holdings::now();
  for (int n = 0; n != enough_descriptors; ++n)
    BOOST_TEST_CONTEXT(n << " descriptors left") {
      const std::string wrong =
          accept_under<few_descriptors>([n] { return few_descriptors(n); }, too_many_files);
      BOOST_TEST(wrong == "");
      BOOST_TEST(nothing_leaked_since(before));
    }
}

BOOST_AUTO_TEST_CASE(an_accept_without_memory_says_so_loses_none_and_goes_on) {
  if (sanitized)
    return;
  open_what_stays_open();
  const holdings before = holdings::now();
  for (std::size_t pages = 0; pages < 400; pages += 16)
    BOOST_TEST_CONTEXT(pages << " pages left") {
      const std::string wrong = accept_under<little_memory>(
          [&] { return little_memory(pages * 4096); }, asio::error::no_memory);
      BOOST_TEST(wrong == "");
      BOOST_TEST(nothing_leaked_since(before));
    }
}

BOOST_AUTO_TEST_CASE(a_blocking_accept_without_descriptors_says_so_and_goes_on) {
  const scratch_directory directory;
  asio::io_context context;
  acceptor listener(context, "server");
  helper_process client{"try", "server"};
  client.line();
  error_code ec;
  {
    const few_descriptors none(0);
    client.go();
    listener.accept(ec);
  }
  BOOST_TEST(ec == too_many_files);
  channel accepted = listener.accept();
  BOOST_TEST(accepted.blocking_pop<char>() == 't');
  BOOST_TEST(client.line() == success);
}
