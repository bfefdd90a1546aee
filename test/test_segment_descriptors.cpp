// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// What peer_segment::open() makes of descriptors that a peer can send.

#include "resources.hpp"
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <string>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sysipc_asio/detail/unique_fd.hpp>
#include <sysipc_asio/error.hpp>
#include <sysipc_asio/segment.hpp>
#include <unistd.h>

namespace data = boost::unit_test::data;
using namespace sysipc_asio;
using detail::unique_fd;
using test::resources;

namespace {

const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
constexpr int all_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;

/// A memfd as a peer that is not this library could make it; correct unless changed.
struct forged_memfd {
  std::size_t capacity = page;
  std::size_t size = layout::make_geometry(page, page).segment_size();
  std::size_t allocated_from = 0;
  int seals = all_seals;
  layout::identity identity{};

  forged_memfd() {
    identity.magic = layout::magic;
    identity.abi_version = layout::abi_version;
    identity.segment_size = size;
    identity.words_offset = layout::page;
    identity.ring_offset = size - capacity;
    identity.ring_capacity = capacity;
    identity.release_offset = 5120;
    identity.release_count = 768;
  }

  unique_fd make() const {
    unique_fd fd(::memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    BOOST_REQUIRE(fd);
    BOOST_REQUIRE(::ftruncate(fd.get(), static_cast<off_t>(size)) == 0);
    if (allocated_from < size)
      BOOST_REQUIRE(::fallocate(fd.get(), 0, static_cast<off_t>(allocated_from),
                                static_cast<off_t>(size - allocated_from)) == 0);
    if (size >= sizeof identity)
      BOOST_REQUIRE(::pwrite(fd.get(), &identity, sizeof identity, 0) == sizeof identity);
    BOOST_REQUIRE(::fcntl(fd.get(), F_ADD_SEALS, seals) == 0);
    return fd;
  }
};

error_code open_error(int fd, std::size_t capacity = page) {
  error_code ec;
  peer_segment::open(fd, capacity, ec);
  return ec;
}

/// The descriptor is refused, stays open and leaves nothing behind.
void check_refused(int fd, std::size_t capacity = page) {
  const resources before = resources::now();
  BOOST_TEST(open_error(fd, capacity) == make_error_code(error::bad_peer_descriptor));
  BOOST_TEST(resources::now() == before);
}

void check_refused(const forged_memfd& forged) {
  const unique_fd fd = forged.make();
  check_refused(fd.get(), forged.capacity);
}

} // namespace

BOOST_AUTO_TEST_SUITE(accepted)

// Each refusal below is thus due to the one thing that it changes.
BOOST_AUTO_TEST_CASE(a_memfd_with_everything_right_is_accepted) {
  BOOST_TEST(!open_error(forged_memfd().make().get()));
}

BOOST_AUTO_TEST_CASE(a_descriptor_that_can_only_be_read_is_enough) {
  const unique_fd fd = forged_memfd().make();
  const auto link = "/proc/self/fd/" + std::to_string(fd.get());
  const unique_fd read_only(::open(link.c_str(), O_RDONLY | O_CLOEXEC));
  BOOST_REQUIRE(read_only);
  BOOST_TEST(!open_error(read_only.get()));
}

BOOST_AUTO_TEST_CASE(the_descriptor_stays_with_the_caller) {
  const unique_fd fd = forged_memfd().make();
  open_error(fd.get());
  BOOST_TEST(::fcntl(fd.get(), F_GETFD) >= 0);
}

BOOST_AUTO_TEST_CASE(what_the_peer_writes_to_its_identity_later_is_not_looked_at) {
  const segment own = segment::create(page);
  const peer_segment peer = peer_segment::open(own.native_handle(), page);
  const std::byte* const ring = peer.ring();
  std::memset(reinterpret_cast<std::byte*>(&own.words()) - layout::page, 0xff, layout::page);
  BOOST_TEST(peer.ring_capacity() == page);
  BOOST_TEST(peer.ring() == ring);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(not_a_memfd)

BOOST_AUTO_TEST_CASE(a_pipe_is_refused) {
  int fds[2];
  BOOST_REQUIRE(::pipe2(fds, O_CLOEXEC) == 0);
  const unique_fd reading(fds[0]);
  const unique_fd writing(fds[1]);
  check_refused(reading.get());
  check_refused(writing.get());
}

BOOST_AUTO_TEST_CASE(a_regular_file_of_the_right_size_and_contents_is_refused) {
  char name[] = "/tmp/sysipc_asio_test_XXXXXX";
  const unique_fd file(::mkostemp(name, O_CLOEXEC));
  BOOST_REQUIRE(file);
  ::unlink(name);
  const forged_memfd forged;
  BOOST_REQUIRE(::posix_fallocate(file.get(), 0, static_cast<off_t>(forged.size)) == 0);
  BOOST_REQUIRE(::pwrite(file.get(), &forged.identity, sizeof forged.identity, 0) > 0);
  check_refused(file.get());
}

BOOST_AUTO_TEST_CASE(a_socket_is_refused) {
  int fds[2];
  BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
  const unique_fd first(fds[0]);
  const unique_fd second(fds[1]);
  check_refused(first.get());
}

BOOST_AUTO_TEST_CASE(a_device_and_a_directory_are_refused) {
  for (const char* const name : {"/dev/null", "/dev/zero", "/"}) {
    const unique_fd fd(::open(name, O_RDONLY | O_CLOEXEC));
    BOOST_REQUIRE(fd);
    check_refused(fd.get());
  }
}

BOOST_AUTO_TEST_CASE(a_descriptor_that_only_names_a_memfd_is_refused) {
  const unique_fd fd = forged_memfd().make();
  const auto link = "/proc/self/fd/" + std::to_string(fd.get());
  const unique_fd path(::open(link.c_str(), O_PATH | O_CLOEXEC));
  BOOST_REQUIRE(path);
  check_refused(path.get());
}

BOOST_AUTO_TEST_CASE(a_closed_descriptor_is_refused) {
  unique_fd fd = forged_memfd().make();
  const int number = fd.get();
  fd.reset();
  check_refused(number);
  check_refused(-1);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(forged)

BOOST_AUTO_TEST_CASE(an_unsealed_memfd_is_refused) {
  forged_memfd m;
  m.seals = 0;
  check_refused(m);
}

BOOST_DATA_TEST_CASE(a_memfd_that_lacks_one_seal_is_refused,
                     data::make({F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_FUTURE_WRITE, F_SEAL_SEAL}),
                     missing) {
  forged_memfd m;
  m.seals = all_seals & ~missing;
  check_refused(m);
}

BOOST_AUTO_TEST_CASE(a_memfd_that_is_too_small_is_refused) {
  const std::size_t right = forged_memfd().size;
  for (const std::size_t size : {std::size_t{0}, std::size_t{64}, right - page, right - 1}) {
    forged_memfd m;
    m.size = size;
    check_refused(m);
  }
}

BOOST_AUTO_TEST_CASE(a_memfd_that_is_too_large_is_refused) {
  for (const std::size_t more : {std::size_t{1}, page, 1024 * page}) {
    forged_memfd m;
    m.size += more;
    check_refused(m);
  }
}

BOOST_AUTO_TEST_CASE(a_memfd_without_its_pages_is_refused) {
  forged_memfd m;
  m.allocated_from = m.size;
  check_refused(m);
}

// The first page gets there with the identity; the second is the hole.
BOOST_AUTO_TEST_CASE(a_memfd_with_a_hole_of_one_page_is_refused) {
  forged_memfd m;
  m.allocated_from = 2 * page;
  check_refused(m);
}

BOOST_AUTO_TEST_CASE(a_wrong_identity_is_refused_whatever_field_is_wrong) {
  for (std::size_t i = 0; i != sizeof(layout::identity); ++i) {
    forged_memfd m;
    reinterpret_cast<unsigned char*>(&m.identity)[i] ^= 1;
    BOOST_TEST_CONTEXT("byte " << i)
    check_refused(m);
  }
}

BOOST_AUTO_TEST_CASE(a_header_of_zeros_is_refused) {
  forged_memfd m;
  m.identity = {};
  check_refused(m);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(announced_capacity)

BOOST_AUTO_TEST_CASE(a_capacity_that_no_ring_has_is_refused) {
  const unique_fd fd = forged_memfd().make();
  for (const std::size_t capacity :
       {std::size_t{0}, std::size_t{1}, page / 2, page - 1, page + 1, page + 8, 3 * page,
        layout::max_ring_capacity + 1, 2 * layout::max_ring_capacity, std::size_t{1} << 32 | page,
        std::size_t{1} << 63, std::numeric_limits<std::size_t>::max()})
    BOOST_TEST_CONTEXT("capacity " << capacity)
  check_refused(fd.get(), capacity);
}

BOOST_AUTO_TEST_CASE(a_capacity_other_than_that_of_the_memfd_is_refused) {
  const segment own = segment::create(4 * page);
  for (const std::size_t capacity : {page, 2 * page, 8 * page, layout::max_ring_capacity})
    BOOST_TEST_CONTEXT("capacity " << capacity)
  check_refused(own.native_handle(), capacity);
}

// The size fits what is announced, but the identity says otherwise.
BOOST_AUTO_TEST_CASE(a_memfd_of_the_announced_size_with_another_capacity_inside_is_refused) {
  forged_memfd m;
  m.identity.ring_capacity = page / 2;
  check_refused(m);
  m.identity.ring_capacity = 2 * page;
  check_refused(m);
}

BOOST_AUTO_TEST_SUITE_END()
