// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <linux/sysipc.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sysipc_asio/detail/kernel_endpoint.hpp>
#include <sysipc_asio/error.hpp>
#include <sysipc_asio/layout.hpp>
#include <unistd.h>

namespace sysipc_asio::detail {
namespace {

constexpr std::uint32_t read_word = layout::page + offsetof(layout::words, rx_arm);
constexpr std::uint32_t write_word = layout::page + offsetof(layout::words, tx_arm);

unique_fd open_driver() noexcept {
  return unique_fd(::open("/dev/sysipc", O_RDWR | O_CLOEXEC));
}

std::uint64_t segment_bytes(std::size_t ring_capacity) noexcept {
  return layout::make_geometry(ring_capacity, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)))
      .segment_size();
}

/// Not fstat(): of a file of the peer's own file system, that would ask the peer.
bool identity_of(int fd, struct statx& id) noexcept {
  return ::statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &id) == 0;
}

/// True for what has no file system: all of that is one inode. What remains is the kernel's
/// own, so that its ioctl() asks nobody else.
bool is_anonymous(int fd, error_code& ec) noexcept {
  const unique_fd known(::eventfd(0, EFD_CLOEXEC));
  struct statx theirs {};
  struct statx ours {};
  if (!known || !identity_of(known.get(), ours)) {
    ec.assign(errno, boost::system::system_category());
    return false;
  }
  return identity_of(fd, theirs) && theirs.stx_ino == ours.stx_ino &&
         theirs.stx_dev_major == ours.stx_dev_major && theirs.stx_dev_minor == ours.stx_dev_minor;
}

} // namespace

std::uint64_t peer_segment_offset() noexcept {
  return SYSIPC_MMAP_PEER;
}

bool driver_is_there() noexcept {
  return static_cast<bool>(open_driver());
}

std::pair<unique_fd, unique_fd> make_endpoints(std::size_t first_capacity,
                                               std::size_t second_capacity, error_code& ec) {
  const unique_fd driver = open_driver();
  sysipc_create request{};
  request.size = sizeof request;
  request.segment_bytes[0] = segment_bytes(first_capacity);
  request.segment_bytes[1] = segment_bytes(second_capacity);
  request.read_word = read_word;
  request.write_word = write_word;
  if (!driver || ::ioctl(driver.get(), SYSIPC_IOC_CREATE, &request) != 0) {
    ec.assign(errno, boost::system::system_category());
    return {};
  }
  ec = {};
  return {unique_fd(request.fd[0]), unique_fd(request.fd[1])};
}

void check_endpoint(int fd, std::size_t own_capacity, std::size_t peer_capacity,
                    error_code& ec) noexcept {
  ec = {};
  sysipc_info info{};
  info.size = sizeof info;
  const bool good = is_anonymous(fd, ec) && ::ioctl(fd, SYSIPC_IOC_INFO, &info) == 0 &&
                    info.segment_bytes[0] == segment_bytes(own_capacity) &&
                    info.segment_bytes[1] == segment_bytes(peer_capacity) &&
                    info.read_word == read_word && info.write_word == write_word;
  if (!good && !ec)
    ec = error::bad_peer_descriptor;
}

bool kick_endpoint(int fd, bell_kind wakes) noexcept {
  return ::ioctl(fd, SYSIPC_IOC_KICK,
                 wakes == bell_kind::endpoint_data ? SYSIPC_KICK_READ : SYSIPC_KICK_WRITE) == 0 ||
         errno != EPIPE;
}

void shut_endpoint_down(int fd) noexcept {
  ::ioctl(fd, SYSIPC_IOC_SHUTDOWN, 0);
}

} // namespace sysipc_asio::detail
