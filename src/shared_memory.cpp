// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <cerrno>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sysipc_asio/detail/shared_memory.hpp>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL // Linux 6.3
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace sysipc_asio::detail {
namespace {

constexpr int required_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;

void set_last_error(error_code& ec) noexcept {
  ec.assign(errno, boost::system::system_category());
}

/// RLIMIT_FSIZE holds for memfds, too; to hit it is death by SIGXFSZ.
std::uint64_t file_size_limit() noexcept {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

} // namespace

std::size_t system_page() noexcept {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t whole_pages(std::size_t n) noexcept {
  const std::size_t page = system_page();
  return (n + page - 1) / page * page;
}

unique_fd make_memfd(std::size_t size, error_code& ec) noexcept {
  ec = {};
  if (size > file_size_limit()) {
    ec.assign(EFBIG, boost::system::system_category());
    return {};
  }
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  unique_fd fd(::memfd_create("sysipc_asio", flags | MFD_NOEXEC_SEAL));
  if (!fd && errno == EINVAL) // before Linux 6.3
    fd.reset(::memfd_create("sysipc_asio", flags));
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) {
    set_last_error(ec);
    return {};
  }
  return fd;
}

void allocate(int fd, std::size_t offset, std::size_t size, error_code& ec) noexcept {
  ec = {};
  int result;
  do
    result = ::fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(size));
  while (result < 0 && errno == EINTR);
  if (result != 0)
    set_last_error(ec);
}

void prefault(void* at, std::size_t size) noexcept {
#ifdef MADV_POPULATE_WRITE
  ::madvise(at, size, MADV_POPULATE_WRITE);
#endif
}

void lock(void* at, std::size_t size, error_code& ec) noexcept {
  ec = {};
  if (::mlock2(at, size, MLOCK_ONFAULT) != 0)
    set_last_error(ec);
}

void seal(int fd, error_code& ec) noexcept {
  ec = {};
  if (::fcntl(fd, F_ADD_SEALS, required_seals) != 0)
    set_last_error(ec);
}

bool sealed_and_sized(int fd, std::size_t size) noexcept {
  // F_GET_SEALS fails for all but memfds; hugetlbfs has them too, with other pages.
  const int seals = ::fcntl(fd, F_GET_SEALS);
  struct stat status {};
  struct statfs filesystem {};
  return seals >= 0 && (seals & required_seals) == required_seals && ::fstat(fd, &status) == 0 &&
         static_cast<std::uint64_t>(status.st_size) == size && ::fstatfs(fd, &filesystem) == 0 &&
         filesystem.f_type == TMPFS_MAGIC;
}

bool allocated(int fd, std::size_t size) noexcept {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && static_cast<std::uint64_t>(status.st_blocks) * 512 >= size;
}

} // namespace sysipc_asio::detail
