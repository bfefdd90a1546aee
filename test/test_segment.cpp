// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "resources.hpp"
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <limits>
#include <string>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysipc_asio/detail/unique_fd.hpp>
#include <sysipc_asio/segment.hpp>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace sysipc_asio;
using test::lowered_limit;
using test::resources;

namespace {

const std::size_t system_page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

/// A segment with one page of ring, and the peer's view of it.
struct segment_and_peer {
  segment own = segment::create(system_page);
  peer_segment peer = peer_segment::open(own.native_handle(), own.ring_capacity());
  int fd = own.native_handle();
};

std::byte* start_of(const segment& s) {
  return reinterpret_cast<std::byte*>(&s.words()) - layout::page;
}

void* start_of(const peer_segment& s) {
  auto* const words = reinterpret_cast<const std::byte*>(&s.words());
  return const_cast<std::byte*>(words) - layout::page;
}

bool mapped_in_this_process() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("memfd:sysipc_asio") != std::string::npos)
      return true;
  return false;
}

/// How a child ends that runs `f` and then exits with what it returned.
template <typename F>
int status_of_child(F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::signal(SIGSEGV, SIG_DFL); // Boost.Test and the sanitizers handle it
    ::_exit(f());
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

template <typename F>
void refused(F call, int expected_errno, const char* what) {
  errno = 0;
  BOOST_TEST(call() < 0, what);
  BOOST_TEST(errno == expected_errno, what << " failed with " << std::strerror(errno));
}

} // namespace

BOOST_AUTO_TEST_SUITE(geometry)

BOOST_AUTO_TEST_CASE(a_capacity_is_rounded_up_to_a_power_of_two) {
  for (const std::size_t page : {std::size_t{4096}, std::size_t{16384}, std::size_t{65536}}) {
    BOOST_TEST(layout::make_geometry(page + 1, page).ring_capacity == 2 * page);
    BOOST_TEST(layout::make_geometry(2 * page, page).ring_capacity == 2 * page);
    BOOST_TEST(layout::make_geometry(3 * page, page).ring_capacity == 4 * page);
  }
}

BOOST_AUTO_TEST_CASE(a_ring_has_at_least_a_page_and_at_most_the_maximum) {
  for (const std::size_t page : {std::size_t{4096}, std::size_t{65536}}) {
    BOOST_TEST(layout::make_geometry(0, page).ring_capacity == page);
    BOOST_TEST(layout::make_geometry(page - 1, page).ring_capacity == page);
    for (const std::size_t huge :
         {layout::max_ring_capacity, layout::max_ring_capacity + 1,
          std::numeric_limits<std::size_t>::max() / 2 + 2, std::numeric_limits<std::size_t>::max()})
      BOOST_TEST(layout::make_geometry(huge, page).ring_capacity == layout::max_ring_capacity);
  }
}

BOOST_AUTO_TEST_CASE(the_ring_starts_at_a_page_behind_the_header) {
  BOOST_TEST(layout::make_geometry(4096, 4096).ring_offset == 8192U);
  BOOST_TEST(layout::make_geometry(4096, 16384).ring_offset == 16384U);
  BOOST_TEST(layout::make_geometry(4096, 65536).ring_offset == 65536U);
  BOOST_TEST(layout::make_geometry(4096, 4096).segment_size() == 12288U);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(contents)

BOOST_AUTO_TEST_CASE(a_new_segment_says_what_it_is) {
  const segment s = segment::create(3 * system_page);
  layout::identity id;
  std::memcpy(&id, start_of(s), sizeof id);
  BOOST_TEST(std::memcmp(&id, "SYSIPC01", 8) == 0);
  BOOST_TEST(id.abi_version == layout::abi_version);
  BOOST_TEST(id.segment_size == s.size());
  BOOST_TEST(id.words_offset == layout::page);
  BOOST_TEST(id.ring_offset == s.size() - s.ring_capacity());
  BOOST_TEST(id.ring_capacity == 4 * system_page);
  BOOST_TEST(s.words().state.load() == static_cast<std::uint32_t>(layout::side_state::open));
}

BOOST_AUTO_TEST_CASE(the_ring_and_the_words_of_a_new_segment_are_zero) {
  const segment s = segment::create(system_page);
  BOOST_TEST((s.words().rx_head | s.words().rx_arm | s.words().tx_arm | s.words().tx_tail) == 0U);
  BOOST_TEST(std::all_of(s.ring(), s.ring() + 2 * s.ring_capacity(),
                         [](std::byte b) { return b == std::byte{0}; }));
}

BOOST_AUTO_TEST_CASE(the_pages_of_a_new_segment_are_allocated) {
  const segment s = segment::create(1024 * 1024);
  struct stat status {};
  BOOST_REQUIRE(::fstat(s.native_handle(), &status) == 0);
  BOOST_TEST(static_cast<std::size_t>(status.st_blocks) * 512 >= s.size());
}

BOOST_AUTO_TEST_CASE(what_the_owner_writes_after_sealing_is_seen_by_the_peer) {
  const segment_and_peer s;
  s.own.words().rx_head.store(42);
  s.own.ring()[100] = std::byte{7};
  BOOST_TEST(s.peer.words().rx_head.load() == 42U);
  BOOST_TEST((s.peer.ring()[100] == std::byte{7}));
  BOOST_TEST(s.peer.ring_capacity() == s.own.ring_capacity());
}

BOOST_AUTO_TEST_CASE(a_write_across_the_end_of_the_ring_is_seen_at_its_start) {
  for (const std::size_t capacity : {system_page, 16 * system_page}) {
    const segment own = segment::create(capacity);
    const peer_segment peer = peer_segment::open(own.native_handle(), capacity);
    std::memcpy(own.ring() + capacity - 4, "abcdefgh", 8);
    BOOST_TEST(std::memcmp(own.ring(), "efgh", 4) == 0);
    BOOST_TEST(std::memcmp(peer.ring(), "efgh", 4) == 0);
    BOOST_TEST(std::memcmp(peer.ring() + capacity - 4, "abcdefgh", 8) == 0);
    own.ring()[capacity - 1 + capacity] = std::byte{9};
    BOOST_TEST((peer.ring()[capacity - 1] == std::byte{9}));
  }
}

BOOST_AUTO_TEST_CASE(a_moved_segment_keeps_its_memory) {
  segment first = segment::create(system_page);
  first.ring()[0] = std::byte{5};
  std::byte* const where = first.ring();
  segment second = std::move(first);
  BOOST_TEST(second.ring() == where);
  BOOST_TEST((second.ring()[0] == std::byte{5}));
  BOOST_TEST(static_cast<bool>(second));
}

BOOST_AUTO_TEST_CASE(the_memory_outlives_its_descriptor) {
  segment_and_peer s;
  s.own.close_handle();
  BOOST_TEST(s.own.native_handle() == -1);
  BOOST_TEST(::fcntl(s.fd, F_GETFD) < 0);
  s.own.ring()[1] = std::byte{3};
  BOOST_TEST((s.peer.ring()[1] == std::byte{3}));
}

BOOST_AUTO_TEST_CASE(the_descriptor_is_not_inherited_by_other_programs) {
  const segment s = segment::create(system_page);
  BOOST_TEST((::fcntl(s.native_handle(), F_GETFD) & FD_CLOEXEC) != 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(sealed)

BOOST_AUTO_TEST_CASE(no_new_writable_mapping_can_be_made) {
  const segment_and_peer s;
  const auto map = [&](int fd) {
    void* const p = ::mmap(nullptr, system_page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? -1 : 0;
  };
  refused([&] { return map(s.fd); }, EPERM, "mmap");
  const auto link = "/proc/self/fd/" + std::to_string(s.fd);
  const detail::unique_fd reopened(::open(link.c_str(), O_RDWR | O_CLOEXEC));
  BOOST_REQUIRE(reopened);
  refused([&] { return map(reopened.get()); }, EPERM, "mmap of the reopened file");
}

BOOST_AUTO_TEST_CASE(the_peer_cannot_make_its_mapping_writable) {
  const segment_and_peer s;
  refused([&] { return ::mprotect(start_of(s.peer), system_page, PROT_READ | PROT_WRITE); }, EACCES,
          "mprotect of the header");
  auto* const ring = const_cast<std::byte*>(s.peer.ring());
  refused([&] { return ::mprotect(ring, system_page, PROT_WRITE); }, EACCES,
          "mprotect of the ring");
  refused([&] { return ::mprotect(ring + s.own.ring_capacity(), system_page, PROT_WRITE); }, EACCES,
          "mprotect of the mirror");
}

BOOST_AUTO_TEST_CASE(the_peer_cannot_write_through_the_descriptor) {
  const segment_and_peer s;
  refused([&] { return ::pwrite(s.fd, "x", 1, 0); }, EPERM, "pwrite");
  refused([&] { return ::write(s.fd, "x", 1); }, EPERM, "write");
  const detail::unique_fd zero(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  refused([&] { return ::sendfile(s.fd, zero.get(), nullptr, 16); }, EPERM, "sendfile");
}

BOOST_AUTO_TEST_CASE(the_size_is_fixed) {
  const segment_and_peer s;
  const auto size = static_cast<off_t>(s.own.size());
  const auto page = static_cast<off_t>(system_page);
  refused([&] { return ::ftruncate(s.fd, 0); }, EPERM, "shrinking to nothing");
  refused([&] { return ::ftruncate(s.fd, size - page); }, EPERM, "shrinking");
  refused([&] { return ::ftruncate(s.fd, size + page); }, EPERM, "growing");
  refused([&] { return ::fallocate(s.fd, 0, size, page); }, EPERM, "allocating behind the end");
}

BOOST_AUTO_TEST_CASE(no_page_can_be_taken_away) {
  const segment_and_peer s;
  const auto page = static_cast<off_t>(system_page);
  refused([&] { return ::fallocate(s.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, page); },
          EPERM, "punching a hole");
  refused([&] { return ::madvise(start_of(s.peer), system_page, MADV_REMOVE); }, EACCES,
          "MADV_REMOVE by the peer");
}

BOOST_AUTO_TEST_CASE(no_seal_can_be_added) {
  const segment_and_peer s;
  refused([&] { return ::fcntl(s.fd, F_ADD_SEALS, F_SEAL_WRITE); }, EPERM, "adding a seal");
}

BOOST_AUTO_TEST_CASE(a_private_copy_does_not_change_the_segment) {
  const segment_and_peer s;
  void* const p = ::mmap(nullptr, system_page, PROT_READ | PROT_WRITE, MAP_PRIVATE, s.fd, 0);
  if (p == MAP_FAILED)
    return;
  std::memset(p, 0xff, system_page);
  ::munmap(p, system_page);
  BOOST_TEST(std::memcmp(start_of(s.own), "SYSIPC01", 8) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(forked)

BOOST_AUTO_TEST_CASE(a_child_does_not_inherit_the_mappings) {
  const segment_and_peer s;
  BOOST_REQUIRE(mapped_in_this_process());
  BOOST_TEST(status_of_child([] { return mapped_in_this_process() ? 1 : 0; }) == 0);
}

BOOST_AUTO_TEST_CASE(a_child_that_touches_any_part_of_the_mappings_dies) {
  const segment_and_peer s;
  const std::size_t c = s.own.ring_capacity();
  const volatile std::byte* const parts[] = {
      start_of(s.own),  s.own.ring(),
      s.own.ring() + c, static_cast<const std::byte*>(start_of(s.peer)),
      s.peer.ring(),    s.peer.ring() + c};
  for (const volatile std::byte* const part : parts) {
    const int status = status_of_child([&] { return std::to_integer<int>(*part) & 0; });
    BOOST_TEST(WIFSIGNALED(status));
    BOOST_TEST(WTERMSIG(status) == SIGSEGV);
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(exhaustion)

BOOST_AUTO_TEST_CASE(a_thousand_segments_leave_nothing_behind) {
  { const segment_and_peer warm_up; }
  const resources before = resources::now();
  for (int i = 0; i != 1000; ++i)
    const segment_and_peer s;
  BOOST_TEST(resources::now() == before);
}

// The undefined behaviour sanitizer looks at objects through descriptors of its own.
BOOST_AUTO_TEST_CASE(without_a_descriptor_to_spare_create_fails_and_leaks_nothing,
                     *boost::unit_test::enable_if<!test::sanitized>()) {
  const resources before = resources::now();
  error_code ec;
  {
    const lowered_limit none(RLIMIT_NOFILE, 3);
    BOOST_TEST(!segment::create(system_page, ec));
  }
  BOOST_TEST(ec == boost::system::errc::too_many_files_open);
  BOOST_TEST(resources::now() == before);
}

BOOST_AUTO_TEST_CASE(a_limit_on_file_sizes_is_an_error_and_not_death_by_SIGXFSZ) {
  const resources before = resources::now();
  error_code ec;
  {
    const lowered_limit small_files(RLIMIT_FSIZE, system_page);
    BOOST_TEST(!segment::create(system_page, ec));
  }
  BOOST_TEST(ec == boost::system::errc::file_too_large);
  BOOST_TEST(resources::now() == before);
}

BOOST_AUTO_TEST_CASE(a_peer_segment_needs_no_descriptor_of_its_own,
                     *boost::unit_test::enable_if<!test::sanitized>()) {
  const segment own = segment::create(system_page);
  error_code ec;
  const lowered_limit none(RLIMIT_NOFILE, 3);
  peer_segment::open(own.native_handle(), own.ring_capacity(), ec);
  BOOST_TEST(!ec);
}

BOOST_AUTO_TEST_CASE(without_address_space_create_and_open_fail_and_leak_nothing,
                     *boost::unit_test::enable_if<!test::sanitized>()) {
  constexpr std::size_t capacity = 64 * 1024 * 1024;
  const segment own = segment::create(capacity);
  const resources before = resources::now();
  error_code from_create;
  error_code from_open;
  {
    const lowered_limit little(RLIMIT_AS, 1024 * 1024);
    BOOST_TEST(!segment::create(capacity, from_create));
    peer_segment::open(own.native_handle(), capacity, from_open);
  }
  BOOST_TEST(from_create == boost::system::errc::not_enough_memory);
  BOOST_TEST(from_open == boost::system::errc::not_enough_memory);
  BOOST_TEST(resources::now() == before);
}

BOOST_AUTO_TEST_CASE(whatever_mapping_is_one_too_many_create_and_open_leak_nothing,
                     *boost::unit_test::enable_if<!test::sanitized>()) {
  // One reservation, of which every other page is a mapping of its own.
  constexpr std::size_t pages = 200'000;
  void* const area = ::mmap(nullptr, pages * system_page, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  BOOST_REQUIRE(area != MAP_FAILED);
  const auto page = [&](std::size_t i) { return static_cast<std::byte*>(area) + i * system_page; };
  const segment own = segment::create(system_page);
  const resources empty = resources::now();
  std::size_t used = 0;
  while (2 * used < pages && ::mprotect(page(2 * used), system_page, PROT_READ) == 0)
    ++used;
  bool failed = false;
  bool succeeded = false;
  for (int spare = 0; spare != 8; ++spare) {
    const resources before = resources::now();
    error_code ec;
    segment::create(system_page, ec);
    BOOST_TEST(resources::now() == before);
    (ec ? failed : succeeded) = true;
    peer_segment::open(own.native_handle(), own.ring_capacity(), ec);
    BOOST_TEST(resources::now() == before);
    (ec ? failed : succeeded) = true;
    --used;
    ::mprotect(page(2 * used), system_page, PROT_NONE);
  }
  BOOST_TEST(failed);
  BOOST_TEST(succeeded);
  ::mprotect(area, pages * system_page, PROT_NONE);
  BOOST_TEST(resources::now() == empty);
  ::munmap(area, pages * system_page);
}

BOOST_AUTO_TEST_CASE(the_forms_without_an_error_code_throw,
                     *boost::unit_test::enable_if<!test::sanitized>()) {
  const lowered_limit none(RLIMIT_NOFILE, 3);
  BOOST_CHECK_THROW(segment::create(system_page), boost::system::system_error);
  BOOST_CHECK_THROW(peer_segment::open(-1, system_page), boost::system::system_error);
}

BOOST_AUTO_TEST_SUITE_END()
