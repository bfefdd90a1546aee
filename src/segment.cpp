// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <boost/interprocess/exceptions.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sysipc_asio/detail/exceptions_as_errors.hpp>
#include <sysipc_asio/detail/kernel_endpoint.hpp>
#include <sysipc_asio/error.hpp>
#include <sysipc_asio/segment.hpp>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL // Linux 6.3
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace sysipc_asio {
namespace {

namespace bip = boost::interprocess;

constexpr int required_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;

error_code last_error() noexcept {
  return {errno, boost::system::system_category()};
}

std::size_t system_page() noexcept {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// What boost::interprocess::mapped_region calls a MemoryMappable.
class mappable_fd {
public:
  mappable_fd(int fd, bip::mode_t mode) noexcept : fd_(fd), mode_(mode) {}
  bip::mapping_handle_t get_mapping_handle() const noexcept { return {fd_, false}; }
  bip::mode_t get_mode() const noexcept { return mode_; }

private:
  int fd_;
  bip::mode_t mode_;
};

/// Address space that stays ours until something is mapped over it.
class reservation {
public:
  explicit reservation(std::size_t size) noexcept
      : data_(::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
        size_(size) {}
  reservation(const reservation&) = delete;
  reservation& operator=(const reservation&) = delete;
  ~reservation() {
    if (*this && size_ != 0)
      ::munmap(data_, size_);
  }

  explicit operator bool() const noexcept { return data_ != MAP_FAILED; }
  std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }

  /// The first `n` bytes now belong to a mapping that replaced them.
  void give_up(std::size_t n) noexcept {
    data_ = data() + n;
    size_ -= n;
  }

private:
  void* data_;
  std::size_t size_;
};

detail::unique_fd make_memfd() noexcept {
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int fd = ::memfd_create("sysipc_asio", flags | MFD_NOEXEC_SEAL);
  if (fd < 0 && errno == EINVAL) // before Linux 6.3
    fd = ::memfd_create("sysipc_asio", flags);
  return detail::unique_fd(fd);
}

/// RLIMIT_FSIZE holds for memfds, too; to hit it is death by SIGXFSZ.
std::uint64_t file_size_limit() noexcept {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

int allocate(int fd, std::size_t size) noexcept {
  int result;
  do
    result = ::fallocate(fd, 0, 0, static_cast<off_t>(size));
  while (result < 0 && errno == EINTR);
  return result;
}

bool sealed_and_sized(int fd, std::size_t size) noexcept {
  // F_GET_SEALS fails for all but memfds; hugetlbfs has them too, with other pages.
  const int seals = ::fcntl(fd, F_GET_SEALS);
  struct stat status {};
  struct statfs filesystem {};
  return seals >= 0 && (seals & required_seals) == required_seals && ::fstat(fd, &status) == 0 &&
         static_cast<std::uint64_t>(status.st_size) == size &&
         // A page that is not there yet would be charged to whoever reads it first.
         static_cast<std::uint64_t>(status.st_blocks) * 512 >= size &&
         ::fstatfs(fd, &filesystem) == 0 && filesystem.f_type == TMPFS_MAGIC;
}

layout::identity identity_of(const layout::geometry& geometry) noexcept {
  layout::identity id{};
  id.magic = layout::magic;
  id.abi_version = layout::abi_version;
  id.segment_size = geometry.segment_size();
  id.words_offset = layout::page;
  id.ring_offset = geometry.ring_offset;
  id.ring_capacity = geometry.ring_capacity;
  return id;
}

} // namespace

detail::mirrored_mapping detail::mirrored_mapping::map(int fd, std::uint64_t offset,
                                                       const layout::geometry& geometry,
                                                       bip::mode_t mode, error_code& ec) {
  const std::size_t size = geometry.segment_size();
  reservation space(size + geometry.ring_capacity);
  if (!space) {
    ec = last_error();
    return {};
  }
  mirrored_mapping result;
  try {
    const mappable_fd file(fd, mode);
    const auto from = static_cast<bip::offset_t>(offset);
    bip::mapped_region segment(file, mode, from, size, space.data(), MAP_FIXED);
    space.give_up(size);
    bip::mapped_region mirror(file, mode, from + static_cast<bip::offset_t>(geometry.ring_offset),
                              geometry.ring_capacity, space.data(), MAP_FIXED);
    space.give_up(geometry.ring_capacity);
    result.segment_.swap(segment);
    result.mirror_.swap(mirror);
  } catch (const bip::interprocess_exception& e) {
    ec.assign(e.get_native_error(), boost::system::system_category());
    return {};
  }
  if (::madvise(result.data(), size + geometry.ring_capacity, MADV_DONTFORK) != 0) {
    ec = last_error();
    return {};
  }
  ec = exceptions_as_errors([&] {
    result.guard_ = fork_guard(fork_claim{{-1, -1}, result.data(), size + geometry.ring_capacity});
  });
  if (ec)
    return {};
  // Best effort: a core dump has better things to show.
  ::madvise(result.data(), size + geometry.ring_capacity, MADV_DONTDUMP);
  return result;
}

segment segment::create(std::size_t ring_capacity, error_code& ec) {
  segment result;
  result.geometry_ = layout::make_geometry(ring_capacity, system_page());
  const std::size_t size = result.geometry_.segment_size();

  if (size > file_size_limit()) {
    ec.assign(EFBIG, boost::system::system_category());
    return {};
  }
  detail::unique_fd fd = make_memfd();
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(size)) != 0 ||
      allocate(fd.get(), size) != 0) {
    ec = last_error();
    return {};
  }
  result.mapping_ =
      detail::mirrored_mapping::map(fd.get(), 0, result.geometry_, bip::read_write, ec);
  if (ec)
    return {};
  result.initialise();
  // Only now: the seal refuses new writable mappings, ours exists already.
  if (::fcntl(fd.get(), F_ADD_SEALS, required_seals) != 0) {
    ec = last_error();
    return {};
  }
  result.fd_ = std::move(fd);
  return result;
}

segment segment::create(std::size_t ring_capacity) {
  error_code ec;
  segment result = create(ring_capacity, ec);
  if (ec)
    throw boost::system::system_error(ec, "segment::create");
  return result;
}

segment segment::of_endpoint(int fd, std::size_t ring_capacity, error_code& ec) {
  segment result;
  result.geometry_ = layout::make_geometry(ring_capacity, system_page());
  result.mapping_ = detail::mirrored_mapping::map(fd, 0, result.geometry_, bip::read_write, ec);
  if (ec)
    return {};
  result.initialise();
  return result;
}

void segment::initialise() noexcept {
  const layout::identity id = identity_of(geometry_);
  std::memcpy(mapping_.data(), &id, sizeof id);
  words().state.store(static_cast<std::uint32_t>(layout::side_state::open),
                      std::memory_order_relaxed);
}

peer_segment peer_segment::open(int fd, std::size_t ring_capacity, error_code& ec) {
  peer_segment result;
  result.geometry_ = layout::make_geometry(ring_capacity, system_page());
  if (result.geometry_.ring_capacity != ring_capacity ||
      !sealed_and_sized(fd, result.geometry_.segment_size())) {
    ec = error::bad_peer_descriptor;
    return {};
  }
  result.map(fd, 0, ec);
  if (ec)
    return {};
  return result;
}

peer_segment peer_segment::of_endpoint(int fd, std::size_t ring_capacity, error_code& ec) {
  peer_segment result;
  result.geometry_ = layout::make_geometry(ring_capacity, system_page());
  result.map(fd, detail::peer_segment_offset(), ec);
  if (ec)
    return {};
  return result;
}

void peer_segment::map(int fd, std::uint64_t offset, error_code& ec) {
  mapping_ = detail::mirrored_mapping::map(fd, offset, geometry_, bip::read_only, ec);
  if (ec)
    return;
  layout::identity id;
  std::memcpy(&id, mapping_.data(), sizeof id);
  const layout::identity expected = identity_of(geometry_);
  if (std::memcmp(&id, &expected, sizeof id) != 0)
    ec = error::bad_peer_descriptor;
}

peer_segment peer_segment::open(int fd, std::size_t ring_capacity) {
  error_code ec;
  peer_segment result = open(fd, ring_capacity, ec);
  if (ec)
    throw boost::system::system_error(ec, "peer_segment::open");
  return result;
}

} // namespace sysipc_asio
