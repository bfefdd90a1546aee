// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// What is particular to channels on the driver. The other test programs run on
// whatever backend::automatic gives; where there is no /dev/sysipc, most of these
// are skipped.

#include "resources.hpp"
#include "scratch.hpp"
#include "server.hpp"
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <fcntl.h>
#include <fstream>
#include <grp.h>
#include <sys/wait.h>
#include <sysipc_asio/channel_pair.hpp>
#include <sysipc_asio/detail/kernel_endpoint.hpp>
#include <thread>
#include <unistd.h>

using namespace sysipc_asio;
using namespace sysipc_asio::test;
namespace bt = boost::unit_test;
using boost::test_tools::assertion_result;

namespace {

assertion_result driver_loaded(bt::test_unit_id) {
  assertion_result result(detail::driver_is_there());
  result.message() << "there is no driver";
  return result;
}

assertion_result driver_loaded_and_root(bt::test_unit_id id) {
  auto result = driver_loaded(id);
  if (result && ::geteuid() != 0) {
    result = false;
    result.message() << "only root can become somebody without rights to the device";
  }
  return result;
}

listen_options with(backend kind) {
  listen_options options;
  options.backend = kind;
  options.admit = [](const peer_credentials&) { return true; };
  return options;
}

std::pair<channel, channel> make_pair(asio::io_context& context) {
  const asio::any_io_executor executor = context.get_executor();
  return make_channel_pair(executor, executor);
}

/// What both sides of a connection that works say it is on.
backend backend_between(listen_options options) {
  server s(std::move(options));
  asio::io_context context;
  channel client = connect(context.get_executor(), s.name());
  channel accepted = s.accepted();
  BOOST_TEST(can_talk(client, accepted));
  BOOST_TEST((client.backend() == accepted.backend()));
  return client.backend();
}

/// A limit of the driver, lowered for as long as this object lives.
class lowered_parameter {
public:
  lowered_parameter(const std::string& name, std::uint64_t value)
      : path_("/sys/module/sysipc/parameters/" + name) {
    std::ifstream(path_) >> before_;
    std::ofstream(path_) << value;
  }
  lowered_parameter(const lowered_parameter&) = delete;
  lowered_parameter& operator=(const lowered_parameter&) = delete;
  ~lowered_parameter() { std::ofstream(path_) << before_; }

private:
  std::string path_;
  std::uint64_t before_ = 0;
};

/// Runs `f` in a child that is nobody in particular; true if it returned true.
template <typename F>
bool as_somebody_else(F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t somebody = 1000;
    bool good = ::setgroups(0, nullptr) == 0 && ::setgid(somebody) == 0 && ::setuid(somebody) == 0;
    try {
      good = good && f();
    } catch (...) {
      good = false;
    }
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

} // namespace

BOOST_AUTO_TEST_CASE(without_a_driver_a_listener_can_not_insist_on_it) {
  if (detail::driver_is_there())
    return;
  asio::io_context context;
  acceptor a(context);
  error_code ec;
  a.open("@sysipc_asio_no_driver", with(backend::kernel), ec);
  BOOST_TEST(ec == error::backend_unavailable);
  BOOST_TEST(!a.is_open());
}

BOOST_AUTO_TEST_CASE(the_listener_chooses_the_backend_and_the_connector_follows,
                     *bt::precondition(driver_loaded)) {
  const scratch_directory directory;
  BOOST_TEST((backend_between(with(backend::automatic)) == backend::kernel));
  BOOST_TEST((backend_between(with(backend::kernel)) == backend::kernel));
  BOOST_TEST((backend_between(with(backend::interprocess)) == backend::interprocess));
}

BOOST_AUTO_TEST_CASE(a_pair_is_on_the_driver, *bt::precondition(driver_loaded)) {
  asio::io_context context;
  auto [one, other] = make_pair(context);
  BOOST_TEST((one.backend() == backend::kernel));
  BOOST_TEST(can_talk(one, other));
}

// The pair's other end is in this process, and so are its mappings.
BOOST_AUTO_TEST_CASE(closing_one_end_of_a_pair_is_heard_at_the_other,
                     *bt::precondition(driver_loaded)) {
  asio::io_context context;
  auto [one, other] = make_pair(context);
  error_code ec;
  other.async_receive([&](error_code result, const message&) { ec = result; });
  context.poll();
  BOOST_TEST(!ec);
  one.close();
  context.restart();
  context.run();
  BOOST_TEST(ec == asio::error::eof);
}

BOOST_AUTO_TEST_CASE(the_connector_needs_no_right_to_the_device,
                     *bt::precondition(driver_loaded_and_root)) {
  const scratch_directory directory;
  asio::io_context context;
  acceptor listener(context, "@sysipc_asio_rights", with(backend::automatic));
  std::thread answering([&] {
    channel ch = listener.accept();
    BOOST_TEST((ch.backend() == backend::kernel));
    ch.blocking_send(ch.blocking_receive().buffer());
  });
  BOOST_TEST(as_somebody_else([] {
    asio::io_context mine;
    connect_options options;
    options.admit = [](const peer_credentials&) { return true; };
    channel ch = connect(mine.get_executor(), "@sysipc_asio_rights", options);
    ch.blocking_push(std::uint64_t{42});
    return !detail::driver_is_there() && ch.backend() == backend::kernel &&
           ch.blocking_pop<std::uint64_t>() == 42;
  }));
  answering.join();
}

BOOST_AUTO_TEST_CASE(a_listener_without_the_right_falls_back_or_says_so,
                     *bt::precondition(driver_loaded_and_root)) {
  BOOST_TEST(as_somebody_else([] {
    const scratch_directory directory;
    asio::io_context context;
    acceptor a(context);
    error_code ec;
    a.open("@sysipc_asio_no_right", with(backend::kernel), ec);
    return ec == error::backend_unavailable &&
           backend_between(with(backend::automatic)) == backend::interprocess;
  }));
}

BOOST_AUTO_TEST_CASE(an_endpoint_is_known_by_what_it_is, *bt::precondition(driver_loaded)) {
  error_code ec;
  const auto [one, other] = detail::make_endpoints(4096, 8192, ec);
  BOOST_REQUIRE(!ec);
  const auto is_endpoint = [](int fd, std::size_t own_capacity, std::size_t peer_capacity) {
    error_code result;
    detail::check_endpoint(fd, own_capacity, peer_capacity, result);
    BOOST_TEST((!result || result == error::bad_peer_descriptor));
    return !result;
  };
  BOOST_TEST(is_endpoint(one.get(), 4096, 8192));
  BOOST_TEST(is_endpoint(other.get(), 8192, 4096));
  BOOST_TEST(!is_endpoint(one.get(), 8192, 4096));
  BOOST_TEST(!is_endpoint(one.get(), 4096, 4096));
  const detail::unique_fd device(::open("/dev/sysipc", O_RDWR | O_CLOEXEC));
  BOOST_TEST(!is_endpoint(device.get(), 4096, 8192));
}

BOOST_AUTO_TEST_CASE(a_peer_segment_that_nobody_initialised_is_refused,
                     *bt::precondition(driver_loaded)) {
  error_code ec;
  const auto [one, other] = detail::make_endpoints(4096, 4096, ec);
  BOOST_REQUIRE(!ec);
  peer_segment::of_endpoint(one.get(), 4096, ec);
  BOOST_TEST(ec == error::bad_peer_descriptor);
  const segment theirs = segment::of_endpoint(other.get(), 4096, ec);
  BOOST_REQUIRE(!ec);
  peer_segment::of_endpoint(one.get(), 4096, ec);
  BOOST_TEST(!ec);
}

BOOST_AUTO_TEST_CASE(a_driver_without_room_is_an_error_or_falls_back,
                     *bt::precondition(driver_loaded_and_root)) {
  const scratch_directory directory;
  const lowered_parameter less("max_segment_bytes", 4096);
  error_code ec;
  detail::make_endpoints(4096, 4096, ec);
  BOOST_TEST(ec == boost::system::errc::file_too_large);
  BOOST_TEST((backend_between(with(backend::automatic)) == backend::interprocess));
  asio::io_context context;
  auto [one, other] = make_pair(context);
  BOOST_TEST((one.backend() == backend::interprocess));
  BOOST_TEST(can_talk(one, other));

  server insists(with(backend::kernel));
  connect(context.get_executor(), insists.name(), {}, ec);
  BOOST_TEST(ec == error::peer_out_of_resources);
}

BOOST_AUTO_TEST_CASE(a_hundred_channels_leave_nothing_behind, *bt::precondition(driver_loaded)) {
  asio::io_context context;
  channel_options options;
  options.send_capacity = options.receive_capacity = 4096;
  make_channel_pair(context.get_executor(), context.get_executor(), options);
  const holdings before = holdings::now();
  for (int i = 0; i != 100; ++i)
    make_channel_pair(context.get_executor(), context.get_executor(), options);
  BOOST_TEST(nothing_leaked_since(before));
}

BOOST_AUTO_TEST_CASE(a_million_messages_in_strict_order, *bt::precondition(driver_loaded)) {
  asio::io_context context(2);
  auto [one, other] = make_pair(context);
  constexpr std::uint64_t count = 1'000'000;
  std::thread sender([&ch = one] {
    for (std::uint64_t i = 0; i != count; ++i)
      ch.blocking_push(i);
  });
  std::uint64_t expected = 0;
  while (expected != count && other.blocking_pop<std::uint64_t>() == expected)
    ++expected;
  BOOST_TEST(expected == count);
  if (expected != count)
    other.close();
  sender.join();
}
