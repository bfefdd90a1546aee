// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <boost/interprocess/exceptions.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <sys/mman.h>
#include <sysipc_asio/detail/exceptions_as_errors.hpp>
#include <sysipc_asio/detail/kernel_endpoint.hpp>
#include <sysipc_asio/detail/shared_memory.hpp>
#include <sysipc_asio/error.hpp>
#include <sysipc_asio/segment.hpp>

namespace sysipc_asio {
namespace {

namespace bip = boost::interprocess;

error_code last_error() noexcept {
  return {errno, boost::system::system_category()};
}

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

layout::identity identity_of(const layout::geometry& geometry) noexcept {
  layout::identity id{};
  id.magic = layout::magic;
  id.abi_version = layout::abi_version;
  id.segment_size = geometry.segment_size();
  id.words_offset = layout::page;
  id.ring_offset = geometry.ring_offset;
  id.ring_capacity = geometry.ring_capacity;
  id.release_offset = layout::page + offsetof(layout::words, release);
  id.release_count = layout::release_count;
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
    const detail::mappable_fd file(fd, mode);
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
  result.geometry_ = layout::make_geometry(ring_capacity, detail::system_page());
  const std::size_t size = result.geometry_.segment_size();
  result.fd_ = detail::make_memfd(size, ec);
  if (!ec)
    detail::allocate(result.fd_.get(), 0, size, ec);
  if (!ec)
    result.mapping_ =
        detail::mirrored_mapping::map(result.fd_.get(), 0, result.geometry_, bip::read_write, ec);
  if (ec)
    return {};
  result.initialise();
  // Only now: the seal refuses new writable mappings, ours exists already.
  detail::seal(result.fd_.get(), ec);
  if (ec)
    return {};
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
  result.geometry_ = layout::make_geometry(ring_capacity, detail::system_page());
  result.mapping_ = detail::mirrored_mapping::map(fd, 0, result.geometry_, bip::read_write, ec);
  if (ec)
    return {};
  result.initialise();
  return result;
}

void segment::prefault() noexcept {
  detail::prefault(mapping_.data(), size() + ring_capacity());
}

void segment::lock(error_code& ec) noexcept {
  detail::lock(mapping_.data(), size(), ec);
}

void segment::initialise() noexcept {
  const layout::identity id = identity_of(geometry_);
  std::memcpy(mapping_.data(), &id, sizeof id);
  words().state.store(static_cast<std::uint32_t>(layout::side_state::open),
                      std::memory_order_relaxed);
}

peer_segment peer_segment::open(int fd, std::size_t ring_capacity, error_code& ec) {
  peer_segment result;
  result.geometry_ = layout::make_geometry(ring_capacity, detail::system_page());
  if (result.geometry_.ring_capacity != ring_capacity ||
      !detail::sealed_and_sized(fd, result.geometry_.segment_size()) ||
      // A page that is not there yet would be charged to whoever reads it first.
      !detail::allocated(fd, result.geometry_.segment_size())) {
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
  result.geometry_ = layout::make_geometry(ring_capacity, detail::system_page());
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
