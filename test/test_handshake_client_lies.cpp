// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// Clients that break the handshake in every way, against an acceptor that must
// refuse them, lose nothing by it, and serve the next.

#include "listening.hpp"
#include <fcntl.h>
#include <functional>
#include <map>
#include <random>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace sysipc_asio;
using namespace sysipc_asio::test;
using detail::attach_frame;
using detail::hello_frame;
using detail::reject_reason;
using detail::unique_fd;
using detail::welcome_frame;

namespace {

bool refused(raw_peer& client, reject_reason reason) {
  return client.refusal() == reason;
}

/// As far as the attach frame, which is then the caller's to spoil.
raw_peer welcomed(const listening& here, const hello_frame& hello = good_hello()) {
  raw_peer client = here.client();
  client.send(hello);
  client.expect<welcome_frame>();
  return client;
}

unique_fd memfd(std::size_t size, bool allocated, int seals, bool identified = true) {
  unique_fd fd(::memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0 ||
      (allocated && ::fallocate(fd.get(), 0, 0, static_cast<off_t>(size)) != 0))
    throw os_error("memfd");
  const auto g = layout::make_geometry(4096, 4096);
  layout::identity id{};
  id.magic = layout::magic;
  id.abi_version = layout::abi_version;
  id.segment_size = g.segment_size();
  id.words_offset = layout::page;
  id.ring_offset = g.ring_offset;
  id.ring_capacity = g.ring_capacity;
  if (identified && ::pwrite(fd.get(), &id, sizeof id, 0) != sizeof id)
    throw os_error("memfd");
  if (::fcntl(fd.get(), F_ADD_SEALS, seals) != 0)
    throw os_error("seals");
  return fd;
}

constexpr std::size_t segment_size = 3 * 4096;
constexpr int all_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;

using makers = std::map<std::string, std::function<unique_fd()>>;

unique_fd pipe_end(int which) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0)
    throw os_error("pipe");
  const unique_fd other(fds[1 - which]);
  return unique_fd(fds[which]);
}

makers things_that_are_neither() {
  return {
      {"a regular file", [] { return unique_fd(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC)); }},
      {"a directory", [] { return unique_fd(::open("/tmp", O_RDONLY | O_CLOEXEC)); }},
      {"a socket", [] { return std::move(socket_pair().first); }},
      {"an eventfd", [] { return unique_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }},
      {"an epoll", [] { return unique_fd(::epoll_create1(EPOLL_CLOEXEC)); }},
      {"the writing end of a pipe", [] { return pipe_end(1); }},
      {"/dev/null", [] { return unique_fd(::open("/dev/null", O_RDWR | O_CLOEXEC)); }},
      {"/dev/zero", [] { return unique_fd(::open("/dev/zero", O_RDWR | O_CLOEXEC)); }},
  };
}

makers things_that_are_no_segment() {
  makers result = things_that_are_neither();
  result["a pipe"] = [] { return pipe_end(0); };
  result["an unsealed memfd"] = [] { return memfd(segment_size, true, 0); };
  for (const int seal : {F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_FUTURE_WRITE, F_SEAL_SEAL})
    result["a memfd without seal " + std::to_string(seal)] = [seal] {
      return memfd(segment_size, true, all_seals & ~seal);
    };
  result["an empty memfd"] = [] { return memfd(0, false, all_seals, false); };
  result["a memfd one page too small"] = [] { return memfd(segment_size - 4096, true, all_seals); };
  result["a memfd one byte too small"] = [] { return memfd(segment_size - 1, true, all_seals); };
  result["a memfd one page too large"] = [] { return memfd(segment_size + 4096, true, all_seals); };
  result["a sparse memfd"] = [] { return memfd(segment_size, false, all_seals); };
  result["a memfd without identity"] = [] { return memfd(segment_size, true, all_seals, false); };
  result["a segment of another capacity"] = [] {
    return unique_fd(::dup(offer(8192).descriptors().front()));
  };
  return result;
}

makers things_that_are_no_bell() {
  makers result = things_that_are_neither();
  result["a segment"] = [] { return memfd(segment_size, true, all_seals); };
  result["the mere path of a reading end"] = [] {
    const unique_fd end = pipe_end(0);
    const std::string path = "/proc/self/fd/" + std::to_string(end.get());
    return unique_fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  };
  result["a FIFO open both ways"] = [] {
    const scratch_directory directory;
    const auto path = directory.path() / "fifo";
    if (::mkfifo(path.c_str(), 0600) != 0)
      throw os_error("mkfifo");
    return unique_fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  };
  return result;
}

void refuses_in_place(listening& here, std::size_t place, const makers& things) {
  const offer own;
  for (const auto& [name, make] : things) {
    BOOST_TEST_CONTEXT(name << " as descriptor " << place) {
      const unique_fd thing = make();
      BOOST_REQUIRE(thing);
      auto descriptors = own.descriptors();
      descriptors[place] = thing.get();
      raw_peer client = welcomed(here);
      BOOST_TEST(client.send(attach_frame(), descriptors));
      BOOST_TEST(refused(client, reject_reason::bad_descriptor));
    }
  }
}

} // namespace

BOOST_AUTO_TEST_CASE(noise_instead_of_a_hello_is_refused) {
  listening here;
  const unsigned seed = std::random_device()();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::minstd_rand random(seed);
  for (int round = 0; round != 100; ++round) {
    byte_string noise(8 + random() % 300);
    for (auto& byte : noise)
      byte = static_cast<std::byte>(random());
    noise[0] = std::byte{'x'};
    raw_peer client = here.client();
    client.send(noise);
    BOOST_TEST(refused(client, reject_reason::malformed));
  }
  BOOST_TEST(eventually([&] { return here.s.failed_handshakes() == 100; }));
}

BOOST_AUTO_TEST_CASE(a_client_that_leaves_in_the_middle_of_its_hello_is_forgotten) {
  listening here;
  const byte_string hello = encode(good_hello());
  for (std::size_t n = 0; n != hello.size(); ++n) {
    raw_peer client = here.client();
    if (n != 0)
      client.send(std::span(hello).first(n));
  }
  BOOST_TEST(eventually([&] { return here.s.failed_handshakes() == hello.size(); }));
}

BOOST_AUTO_TEST_CASE(a_client_that_leaves_in_the_middle_of_its_attach_frame_is_forgotten) {
  listening here;
  const offer own;
  const byte_string attach = encode(attach_frame());
  for (std::size_t n = 0; n != attach.size(); ++n) {
    raw_peer client = welcomed(here);
    if (n != 0)
      client.send(std::span(attach).first(n), own.descriptors());
  }
  BOOST_TEST(eventually([&] { return here.s.failed_handshakes() == attach.size(); }));
}

BOOST_AUTO_TEST_CASE(a_client_that_sends_byte_by_byte_is_served) {
  listening here;
  const offer own;
  raw_peer client = here.client();
  BOOST_TEST(client.send_slowly(encode(good_hello())));
  client.expect<welcome_frame>();
  BOOST_TEST(client.reader().descriptor_count() == 3U);
  BOOST_TEST(client.send_slowly(encode(attach_frame()), own.descriptors()));
  client.expect<detail::ready_frame>();
  BOOST_TEST(here.s.accepted().is_open());
  BOOST_TEST(here.s.failed_handshakes() == 0U);
}

BOOST_AUTO_TEST_CASE(sizes_that_no_frame_can_have_are_refused) {
  listening here;
  for (const unsigned size : {0U, 7U, 257U, 65535U}) {
    byte_string hello = encode(good_hello());
    const auto field = static_cast<std::uint16_t>(size);
    std::memcpy(hello.data() + 6, &field, sizeof field);
    raw_peer client = here.client();
    client.send(hello);
    BOOST_TEST(refused(client, reject_reason::malformed));
  }
}

BOOST_AUTO_TEST_CASE(a_hello_that_is_too_short_or_of_another_type_is_refused) {
  listening here;
  for (std::size_t size = 8; size != sizeof(hello_frame); ++size) {
    byte_string hello = encode(good_hello());
    hello.resize(size);
    hello[6] = static_cast<std::byte>(size);
    raw_peer client = here.client();
    client.send(hello);
    BOOST_TEST(refused(client, reject_reason::malformed));
  }
  for (const unsigned type : {0U, 2U, 3U, 4U, 5U, 6U, 255U}) {
    byte_string hello = encode(good_hello());
    hello[4] = static_cast<std::byte>(type);
    raw_peer client = here.client();
    client.send(hello);
    BOOST_TEST(refused(client, reject_reason::malformed));
  }
}

BOOST_AUTO_TEST_CASE(a_longer_hello_of_a_newer_client_is_understood) {
  listening here;
  byte_string hello = encode(good_hello());
  hello.resize(detail::max_frame_size, std::byte{0x5a});
  const std::uint16_t size = detail::max_frame_size;
  std::memcpy(hello.data() + 6, &size, sizeof size);
  raw_peer client = here.client();
  client.send(hello);
  BOOST_TEST(client.expect<welcome_frame>().abi == layout::abi_version);
}

BOOST_AUTO_TEST_CASE(a_client_without_a_common_version_is_told_so) {
  listening here;
  for (const auto& [lowest, highest] : {std::pair(2, 9), {0, 0}, {0xffff, 0xffff}, {9, 0}}) {
    hello_frame hello = good_hello();
    hello.abi_min = static_cast<std::uint16_t>(lowest);
    hello.abi_max = static_cast<std::uint16_t>(highest);
    raw_peer client = here.client();
    client.send(hello);
    BOOST_TEST(refused(client, reject_reason::version));
  }
}

BOOST_AUTO_TEST_CASE(frames_in_the_wrong_order_are_refused) {
  listening here;
  const offer own;
  {
    raw_peer client = here.client();
    client.send(attach_frame(), own.descriptors());
    BOOST_TEST(refused(client, reject_reason::malformed));
  }
  raw_peer client = welcomed(here);
  client.send(good_hello(), own.descriptors());
  BOOST_TEST(refused(client, reject_reason::malformed));
}

BOOST_AUTO_TEST_CASE(descriptors_with_the_hello_are_refused) {
  listening here;
  const offer own;
  for (std::size_t n = 1; n != 4; ++n) {
    auto descriptors = own.descriptors();
    descriptors.resize(n);
    raw_peer client = here.client();
    client.send(good_hello(), descriptors);
    BOOST_TEST(refused(client, reject_reason::malformed));
  }
}

BOOST_AUTO_TEST_CASE(another_number_of_descriptors_than_three_is_refused) {
  listening here;
  const offer own;
  for (const std::size_t n : std::initializer_list<std::size_t>{0, 1, 2, 4, 253}) {
    auto descriptors = own.descriptors();
    descriptors.resize(n, descriptors.back());
    raw_peer client = welcomed(here);
    BOOST_TEST(client.send(attach_frame(), descriptors));
    BOOST_TEST_CONTEXT(n << " descriptors")
    BOOST_TEST(refused(client, reject_reason::malformed));
  }
}

BOOST_AUTO_TEST_CASE(memory_of_the_wrong_kind_is_refused) {
  listening here;
  refuses_in_place(here, 0, things_that_are_no_segment());
}

BOOST_AUTO_TEST_CASE(doorbells_of_the_wrong_kind_are_refused) {
  listening here;
  refuses_in_place(here, 1, things_that_are_no_bell());
  refuses_in_place(here, 2, things_that_are_no_bell());
}

BOOST_AUTO_TEST_CASE(a_wish_for_nothing_gets_the_smallest_ring_and_one_for_all_the_largest) {
  listening here;
  hello_frame hello = good_hello();
  for (const std::uint64_t wish : {std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    hello.send_capacity = hello.receive_capacity = wish;
    raw_peer client = here.client();
    client.send(hello);
    const auto welcome = client.expect<welcome_frame>();
    const std::uint64_t granted = wish == 0 ? 4096 : listen_options().max_capacity;
    BOOST_TEST(welcome.connector_capacity == granted);
    BOOST_TEST(welcome.listener_capacity == granted);
  }
}
