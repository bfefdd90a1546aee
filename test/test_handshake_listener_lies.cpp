// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// Listeners that break the handshake in every way, against connect() and async_connect().

#include "raw_peer.hpp"
#include "scratch.hpp"
#include "server.hpp"
#include <boost/test/unit_test.hpp>
#include <fcntl.h>
#include <functional>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sysipc_asio/handshake.hpp>

using namespace sysipc_asio;
using namespace sysipc_asio::test;
using detail::attach_frame;
using detail::hello_frame;
using detail::ready_frame;
using detail::reject_frame;
using detail::reject_reason;
using detail::unique_fd;
using detail::welcome_frame;

namespace {

using script = std::function<void(raw_peer&)>;

/// One client's conversation with `s`, in a thread.
class fake_listener {
public:
  explicit fake_listener(script s)
      : listening_(raw_listener("fake")), thread_([this, play = std::move(s)] {
          raw_peer client(unique_fd(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
          play(client);
        }) {}
  ~fake_listener() {
    thread_.join();
    ::unlink(directory_.of("fake").c_str());
  }

private:
  scratch_directory directory_;
  unique_fd listening_;
  std::thread thread_;
};

connect_options quick(std::chrono::nanoseconds timeout = std::chrono::seconds(60)) {
  connect_options options;
  options.timeout = timeout;
  options.channel.send_capacity = options.channel.receive_capacity = 4096;
  return options;
}

error_code outcome_of_connect(const script& s, const connect_options& options) {
  const fake_listener listener(s);
  asio::io_context context;
  error_code ec;
  connect(context.get_executor(), "fake", options, ec);
  return ec;
}

error_code outcome_of_async_connect(const script& s, const connect_options& options) {
  const fake_listener listener(s);
  asio::io_context context;
  error_code outcome;
  async_connect(asio::any_io_executor(context.get_executor()), "fake", options,
                [&](error_code ec, const channel&) { outcome = ec; });
  context.run();
  return outcome;
}

/// Both ways to connect fail with `expected`, and leave nothing behind.
void gives(const error_code& expected, const script& s, const connect_options& options = quick()) {
  const holdings before = holdings::now();
  BOOST_TEST(outcome_of_connect(s, options) == expected);
  BOOST_TEST(outcome_of_async_connect(s, options) == expected);
  BOOST_TEST(nothing_leaked_since(before));
}

welcome_frame good_welcome() {
  welcome_frame welcome;
  welcome.abi = layout::abi_version;
  welcome.backend = static_cast<std::uint16_t>(backend::interprocess);
  welcome.connector_capacity = welcome.listener_capacity = 4096;
  return welcome;
}

reject_frame rejection(std::uint32_t reason) {
  reject_frame frame;
  frame.reason = static_cast<reject_reason>(reason);
  return frame;
}

asio::local::stream_protocol::socket as_socket(asio::io_context& context, unique_fd fd) {
  return {context, asio::local::stream_protocol(), fd.release()};
}

/// Reads until the connector leaves.
void await_the_end(raw_peer& client) {
  while (client.receive())
    ;
}

struct warm {
  warm() { // what a process opens once and keeps
    error_code ec;
    detail::make_own_half(4096, ec);
    outcome_of_async_connect([](raw_peer&) {}, quick());
  }
};

} // namespace

BOOST_GLOBAL_FIXTURE(warm);

BOOST_AUTO_TEST_CASE(a_listener_that_follows_the_rules_is_connected_to) {
  gives({}, [](raw_peer& client) {
    const offer own;
    const auto hello = client.expect<hello_frame>();
    BOOST_TEST(hello.abi_min == layout::abi_version);
    BOOST_TEST(hello.send_capacity == 4096U);
    BOOST_TEST(client.reader().descriptor_count() == 0U);
    client.send_slowly(encode(good_welcome()), own.descriptors());
    client.expect<attach_frame>();
    BOOST_TEST(client.reader().descriptor_count() == 3U);
    client.send_slowly(encode(ready_frame()));
  });
}

BOOST_AUTO_TEST_CASE(a_listener_that_leaves_after_the_hello_is_a_connection_reset) {
  gives(asio::error::connection_reset, [](raw_peer& client) { client.expect<hello_frame>(); });
}

BOOST_AUTO_TEST_CASE(a_listener_that_leaves_within_its_welcome_is_a_connection_reset) {
  const byte_string welcome = encode(good_welcome());
  const offer own;
  for (std::size_t n = 1; n != sizeof(welcome_frame); ++n)
    gives(asio::error::connection_reset, [&](raw_peer& client) {
      client.expect<hello_frame>();
      client.send(std::span(welcome).first(n), own.descriptors());
    });
}

BOOST_AUTO_TEST_CASE(a_listener_that_leaves_within_its_last_frame_is_a_connection_reset) {
  const byte_string ready = encode(ready_frame());
  const offer own;
  for (std::size_t n = 0; n != sizeof(ready_frame); ++n)
    gives(asio::error::connection_reset, [&](raw_peer& client) {
      client.expect<hello_frame>();
      client.send(good_welcome(), own.descriptors());
      client.expect<attach_frame>();
      if (n != 0)
        client.send(std::span(ready).first(n));
    });
}

BOOST_AUTO_TEST_CASE(a_silent_listener_is_a_timeout) {
  gives(error::handshake_timeout, await_the_end, quick(std::chrono::milliseconds(30)));
  const offer own;
  gives(
      error::handshake_timeout,
      [&](raw_peer& client) {
        client.expect<hello_frame>();
        client.send(good_welcome(), own.descriptors());
        await_the_end(client);
      },
      quick(std::chrono::milliseconds(30)));
}

BOOST_AUTO_TEST_CASE(a_listener_whose_backlog_is_full_is_a_timeout) {
  const scratch_directory directory;
  const unique_fd listening = raw_listener("full", 0);
  std::vector<raw_peer> first;
  first.push_back(raw_peer::connect("full")); // the backlog has room for one
  const auto options = quick(std::chrono::milliseconds(30));
  asio::io_context context;
  error_code ec;
  connect(context.get_executor(), "full", options, ec);
  BOOST_TEST(ec == error::handshake_timeout);
  ec = {};
  async_connect(asio::any_io_executor(context.get_executor()), "full", options,
                [&](error_code result, const channel&) { ec = result; });
  context.run();
  BOOST_TEST(ec == error::handshake_timeout);
}

BOOST_AUTO_TEST_CASE(noise_instead_of_a_welcome_is_malformed) {
  gives(error::handshake_malformed, [](raw_peer& client) {
    client.expect<hello_frame>();
    client.send(byte_string(64, std::byte{0x5a}));
    await_the_end(client);
  });
}

BOOST_AUTO_TEST_CASE(every_reason_for_a_rejection_has_its_error_at_every_stage) {
  const std::pair<std::uint32_t, error> expected[] = {
      {1, error::handshake_malformed},   {2, error::handshake_version},
      {3, error::not_admitted},          {4, error::bad_peer_descriptor},
      {5, error::peer_out_of_resources}, {6, error::handshake_timeout},
      {0, error::handshake_malformed},   {7, error::handshake_malformed},
      {~0U, error::handshake_malformed},
  };
  const offer own;
  for (const auto& [reason, e] : expected)
    BOOST_TEST_CONTEXT("reason " << reason) {
      gives(e, [&, r = reason](raw_peer& client) {
        client.expect<hello_frame>();
        client.send(rejection(r));
      });
      gives(e, [&, r = reason](raw_peer& client) {
        client.expect<hello_frame>();
        client.send(good_welcome(), own.descriptors());
        client.expect<attach_frame>();
        client.send(rejection(r));
      });
    }
}

BOOST_AUTO_TEST_CASE(frames_in_the_wrong_order_are_malformed) {
  const offer own;
  gives(error::handshake_malformed, [&](raw_peer& client) {
    client.send(ready_frame());
    await_the_end(client);
  });
  gives(error::handshake_malformed, [&](raw_peer& client) {
    client.send(good_hello());
    await_the_end(client);
  });
  gives(error::handshake_malformed, [&](raw_peer& client) {
    client.send(good_welcome(), own.descriptors());
    client.send(good_welcome(), own.descriptors());
    await_the_end(client);
  });
}

BOOST_AUTO_TEST_CASE(a_welcome_that_grants_what_nobody_asked_for_is_refused) {
  const offer own;
  const auto with = [&](auto change) {
    return [&own, change](raw_peer& client) {
      welcome_frame welcome = good_welcome();
      change(welcome);
      client.send(welcome, own.descriptors());
      await_the_end(client);
    };
  };
  gives(error::handshake_malformed, with([](auto& w) { w.connector_capacity = 8192; }));
  gives(error::handshake_malformed, with([](auto& w) { w.listener_capacity = 8192; }));
  gives(error::handshake_malformed, with([](auto& w) { w.connector_capacity = 1ULL << 63; }));
  gives(error::handshake_malformed, with([](auto& w) { w.listener_capacity = ~0ULL; }));
  gives(error::bad_peer_descriptor, with([](auto& w) { w.listener_capacity = 0; }));
  gives(error::bad_peer_descriptor, with([](auto& w) { w.listener_capacity = 4095; }));
  gives(error::handshake_version, with([](auto& w) { w.abi = 2; }));
  gives(error::handshake_version, with([](auto& w) { w.abi = 0; }));
  for (const std::uint16_t unknown : std::initializer_list<std::uint16_t>{0, 1, 3, 0x102, 0xffff})
    gives(error::handshake_malformed, with([=](auto& w) { w.backend = unknown; }));
}

BOOST_AUTO_TEST_CASE(descriptors_of_the_wrong_number_or_kind_are_refused) {
  const offer own;
  for (const std::size_t n : std::initializer_list<std::size_t>{0, 1, 2, 4, 253}) {
    auto descriptors = own.descriptors();
    descriptors.resize(n, descriptors.back());
    gives(error::handshake_malformed, [&](raw_peer& client) {
      client.send(good_welcome(), descriptors);
      await_the_end(client);
    });
  }
  const unique_fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const std::string bell = "/proc/self/fd/" + std::to_string(own.descriptors()[1]);
  const unique_fd path(::open(bell.c_str(), O_PATH | O_CLOEXEC));
  for (const std::size_t place : std::initializer_list<std::size_t>{0, 1, 2})
    for (const int wrong : {null.get(), path.get()}) {
      auto descriptors = own.descriptors();
      descriptors[place] = wrong;
      gives(error::bad_peer_descriptor, [&](raw_peer& client) {
        client.send(good_welcome(), descriptors);
        if (client.receive() && client.receive()) // hello, attach: it was taken in
          client.send(ready_frame());
        await_the_end(client);
      });
    }
}

BOOST_AUTO_TEST_CASE(what_is_no_endpoint_of_the_driver_is_refused) {
  const offer own;
  const unique_fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const unique_fd event(::eventfd(1, EFD_CLOEXEC)); // of the same inode as an endpoint
  const unique_fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  welcome_frame welcome = good_welcome();
  welcome.backend = static_cast<std::uint16_t>(backend::kernel);
  const auto with = [&](std::vector<int> descriptors) {
    return [=](raw_peer& client) {
      client.send(welcome, descriptors);
      await_the_end(client);
    };
  };
  for (const int wrong : own.descriptors())
    gives(error::bad_peer_descriptor, with({wrong}));
  for (const int wrong : {null.get(), event.get(), epoll.get()})
    gives(error::bad_peer_descriptor, with({wrong}));
  gives(error::handshake_malformed, with({}));
  gives(error::handshake_malformed, with({event.get(), event.get()}));
}

BOOST_AUTO_TEST_CASE(descriptors_with_the_last_frame_are_malformed) {
  const offer own;
  gives(error::handshake_malformed, [&](raw_peer& client) {
    client.send(good_welcome(), own.descriptors());
    client.expect<hello_frame>();
    client.expect<attach_frame>();
    client.send(ready_frame(), own.descriptors());
  });
}

// The other end has spoken and gone before this one says its first word.
BOOST_AUTO_TEST_CASE(a_rejection_is_heard_also_if_the_listener_was_quicker) {
  asio::io_context context;
  auto [one, other] = socket_pair();
  raw_peer(std::move(one)).send(rejection(3));
  error_code ec;
  connect_on(context.get_executor(), as_socket(context, std::move(other)), quick(), ec);
  BOOST_TEST(ec == error::not_admitted);
}

BOOST_AUTO_TEST_CASE(a_listener_that_leaves_at_once_is_a_connection_reset) {
  asio::io_context context;
  auto [one, other] = socket_pair();
  one.reset();
  error_code ec;
  connect_on(context.get_executor(), as_socket(context, std::move(other)), quick(), ec);
  BOOST_TEST(ec == asio::error::connection_reset);
}

BOOST_AUTO_TEST_CASE(a_rejection_is_heard_also_if_it_comes_between_welcome_and_attach) {
  asio::io_context context;
  const offer own;
  auto [one, other] = socket_pair();
  {
    raw_peer listener(std::move(one));
    listener.send(good_welcome(), own.descriptors());
    listener.send(rejection(6));
  }
  error_code ec;
  connect_on(context.get_executor(), as_socket(context, std::move(other)), quick(), ec);
  BOOST_TEST(ec == error::handshake_timeout);
}
