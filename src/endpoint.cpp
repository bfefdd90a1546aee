// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <cerrno>
#include <fcntl.h>
#include <sysipc_asio/detail/endpoint.hpp>
#include <unistd.h>

namespace sysipc_asio {

namespace detail {
namespace {

unique_fd duplicate(int fd, error_code& ec) noexcept {
  unique_fd result(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!result)
    ec.assign(errno, boost::system::system_category());
  return result;
}

void give(const endpoint& from, endpoint& to, error_code& ec) {
  if (!ec)
    to.peer = peer_segment::open(from.own.native_handle(), from.own.ring_capacity(), ec);
  if (!ec)
    to.data_bell = duplicate(from.data_kick.reading_end(), ec);
  if (!ec)
    to.space_bell = duplicate(from.space_kick.reading_end(), ec);
  to.credentials = {::getpid(), ::geteuid(), ::getegid()};
}

} // namespace

endpoint make_own_half(std::size_t ring_capacity, error_code& ec) {
  endpoint result;
  result.own = segment::create(ring_capacity, ec);
  if (!ec)
    result.data_kick = kicker::create(ec);
  if (!ec)
    result.space_kick = kicker::create(ec);
  return result;
}

std::pair<endpoint, endpoint> make_endpoint_pair(const channel_options& first,
                                                 const channel_options& second, error_code& ec) {
  std::pair<endpoint, endpoint> result;
  result.first = make_own_half(first.send_capacity, ec);
  if (!ec)
    result.second = make_own_half(second.send_capacity, ec);
  give(result.first, result.second, ec);
  give(result.second, result.first, ec);
  const bool asymmetric = first.fences == fence_mode::asymmetric &&
                          second.fences == fence_mode::asymmetric && register_asymmetric_fences();
  result.first.fences = result.second.fences =
      asymmetric ? fence_mode::asymmetric : fence_mode::symmetric;
  result.first.may_spin = result.second.may_spin = only_cpu() < 0;
  if (ec)
    return {};
  return result;
}

} // namespace detail
} // namespace sysipc_asio
