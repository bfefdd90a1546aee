// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <boost/asio/error.hpp>
#include <cerrno>
#include <fcntl.h>
#include <sysipc_asio/detail/endpoint.hpp>
#include <sysipc_asio/detail/kernel_endpoint.hpp>
#include <sysipc_asio/detail/shared_memory.hpp>
#include <sysipc_asio/error.hpp>
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

kicker make_kicker(int endpoint_fd, bell_kind wakes, error_code& ec) {
  unique_fd own = duplicate(endpoint_fd, ec);
  return ec ? kicker() : kicker::of_endpoint(std::move(own), wakes, ec);
}

void give(const endpoint& from, endpoint& to, error_code& ec) {
  if (!ec)
    to.peer = peer_segment::open(from.own.native_handle(), from.own.ring_capacity(), ec);
  if (!ec)
    to.data_bell = duplicate(from.data_kick.reading_end(), ec);
  if (!ec)
    to.space_bell = duplicate(from.space_kick.reading_end(), ec);
}

void give_pool(endpoint& from, const channel_options& sender, const channel_options& receiver,
               endpoint& to, error_code& ec) {
  if (!ec)
    from.pool = make_pool(sender.send_pool, sender, ec);
  if (!ec && from.pool)
    to.peers_pool = peer_pool::open(from.pool->native_handle(), from.pool->size(), ec);
  from.peer_max_message = receiver.max_message_size;
}

using endpoint_pair = std::pair<endpoint, endpoint>;

endpoint_pair interprocess_pair(const channel_options& first, const channel_options& second,
                                error_code& ec) {
  endpoint_pair result;
  result.first = make_own_half(first.send_capacity, ec);
  if (!ec)
    result.second = make_own_half(second.send_capacity, ec);
  give(result.first, result.second, ec);
  give(result.second, result.first, ec);
  return result;
}

endpoint_pair kernel_pair(const channel_options& first, const channel_options& second,
                          error_code& ec) {
  endpoint_pair result;
  auto [one, other] = make_endpoints(first.send_capacity, second.send_capacity, ec);
  const int first_fd = one.get();
  const int second_fd = other.get();
  if (!ec)
    result.first = make_own_half(std::move(one), first.send_capacity, ec);
  if (!ec)
    result.second = make_own_half(std::move(other), second.send_capacity, ec);
  if (!ec)
    result.first.peer = peer_segment::of_endpoint(first_fd, result.second.own.ring_capacity(), ec);
  if (!ec)
    result.second.peer = peer_segment::of_endpoint(second_fd, result.first.own.ring_capacity(), ec);
  return result;
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

endpoint make_own_half(unique_fd fd, std::size_t ring_capacity, error_code& ec) {
  endpoint result;
  result.backend = backend::kernel;
  result.own = segment::of_endpoint(fd.get(), ring_capacity, ec);
  // One descriptor for each way to wait, and for each way to wake: every direction
  // of a channel opens and closes its own.
  if (!ec)
    result.space_bell = duplicate(fd.get(), ec);
  if (!ec)
    result.data_kick = make_kicker(fd.get(), bell_kind::endpoint_data, ec);
  if (!ec)
    result.space_kick = make_kicker(fd.get(), bell_kind::endpoint_space, ec);
  result.data_bell = std::move(fd);
  return result;
}

std::pair<endpoint, endpoint> make_endpoint_pair(const channel_options& first,
                                                 const channel_options& second, backend wanted,
                                                 error_code& ec) {
  endpoint_pair result;
  bool kernel = choose_backend(wanted, ec) == backend::kernel;
  if (!ec)
    check_options(first, ec);
  if (!ec)
    check_options(second, ec);
  if (ec)
    return {};
  if (kernel) {
    result = kernel_pair(first, second, ec);
    if (ec && wanted == backend::automatic) { // it has its limits, the other one may have room
      kernel = false;
      ec = {};
    }
  }
  if (!kernel && !ec)
    result = interprocess_pair(first, second, ec);
  if (!ec)
    hold_in_memory(result.first.own, first, ec);
  if (!ec)
    hold_in_memory(result.second.own, second, ec);
  give_pool(result.first, first, second, result.second, ec);
  give_pool(result.second, second, first, result.first, ec);
  if (ec)
    return {};
  const bool asymmetric = first.fences == fence_mode::asymmetric &&
                          second.fences == fence_mode::asymmetric && register_asymmetric_fences();
  result.first.fences = result.second.fences =
      asymmetric ? fence_mode::asymmetric : fence_mode::symmetric;
  result.first.may_spin = result.second.may_spin = only_cpu() < 0;
  result.first.credentials = result.second.credentials = {::getpid(), ::geteuid(), ::getegid()};
  return result;
}

void hold_in_memory(segment& own, const channel_options& options, error_code& ec) noexcept {
  ec = {};
  if (options.prefault || options.lock_memory)
    own.prefault();
  if (options.lock_memory)
    own.lock(ec);
}

void check_options(const channel_options& options, error_code& ec) noexcept {
  ec = {};
  if (options.send_pool > layout::max_pool_size || options.receive_pool > layout::max_pool_size ||
      options.max_leases == 0 || options.max_leases > layout::release_count ||
      options.max_message_size == 0)
    ec = asio::error::invalid_argument;
}

send_pool_ptr make_pool(std::size_t size, const channel_options& options, error_code& ec) {
  if (size == 0)
    return nullptr;
  return send_pool::create(whole_pages(size), options, ec);
}

backend choose_backend(backend wanted, error_code& ec) noexcept {
  ec = {};
  if (wanted == backend::interprocess)
    return backend::interprocess;
  if (driver_is_there())
    return backend::kernel;
  if (wanted == backend::kernel)
    ec = error::backend_unavailable;
  return backend::interprocess;
}

} // namespace detail
} // namespace sysipc_asio
