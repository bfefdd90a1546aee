// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_SHARED_MEMORY_HPP
#define SYSIPC_ASIO_DETAIL_SHARED_MEMORY_HPP

#include <boost/interprocess/mapped_region.hpp>
#include <cstddef>
#include <cstdint>
#include <sysipc_asio/detail/config.hpp>
#include <sysipc_asio/detail/unique_fd.hpp>

/// The system calls that segments and pools have in common.
namespace sysipc_asio::detail {

/// What boost::interprocess::mapped_region calls a MemoryMappable.
class mappable_fd {
public:
  mappable_fd(int fd, boost::interprocess::mode_t mode) noexcept : fd_(fd), mode_(mode) {}
  boost::interprocess::mapping_handle_t get_mapping_handle() const noexcept { return {fd_, false}; }
  boost::interprocess::mode_t get_mode() const noexcept { return mode_; }

private:
  int fd_;
  boost::interprocess::mode_t mode_;
};

std::size_t system_page() noexcept;

/// `n` rounded up to whole pages of the system.
std::size_t whole_pages(std::size_t n) noexcept;

/// A memfd of `size` bytes that takes seals and has no memory yet.
unique_fd make_memfd(std::size_t size, error_code& ec) noexcept;

/// Gives a part of a memfd its memory; in place of a SIGBUS later, an error now.
void allocate(int fd, std::size_t offset, std::size_t size, error_code& ec) noexcept;

/// Maps each page now, not when it is touched first. Best effort: needs Linux 5.14.
void prefault(void* at, std::size_t size) noexcept;

/// Keeps the pages that are mapped, now or later, from being swapped out.
void lock(void* at, std::size_t size, error_code& ec) noexcept;

/// Against shrinking, growing, further writers and further seals. Once the owner has mapped it.
void seal(int fd, error_code& ec) noexcept;

/// True of a memfd of ordinary pages, sealed by seal(), of exactly that size.
bool sealed_and_sized(int fd, std::size_t size) noexcept;

/// True if all the memory is there.
bool allocated(int fd, std::size_t size) noexcept;

} // namespace sysipc_asio::detail

#endif
