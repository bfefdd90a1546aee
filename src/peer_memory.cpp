// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <boost/interprocess/exceptions.hpp>
#include <sys/mman.h>
#include <sysipc_asio/detail/peer_memory.hpp>
#include <sysipc_asio/detail/shared_memory.hpp>
#include <sysipc_asio/error.hpp>

namespace sysipc_asio::detail {

namespace bip = boost::interprocess;

peer_pool peer_pool::open(int fd, std::size_t size, error_code& ec) {
  peer_pool result;
  if (!sealed_and_sized(fd, size)) {
    ec = error::bad_peer_descriptor;
    return result;
  }
  ec = {};
  try {
    bip::mapped_region(mappable_fd(fd, bip::read_only), bip::read_only, 0, size)
        .swap(result.region_);
  } catch (const bip::interprocess_exception& e) {
    ec.assign(e.get_native_error(), boost::system::system_category());
    return result;
  }
  ::madvise(result.region_.get_address(), size, MADV_DONTDUMP); // best effort
  return result;
}

peer_memory::peer_memory(segment own_segment, peer_segment peers_segment, peer_pool peers_pool,
                         fence_mode fences)
    : own(std::move(own_segment)), peer(std::move(peers_segment)), pool(std::move(peers_pool)),
      fences_(fences) {
  fork_claim claim;
  claim.mark = &mark_;
  claim.inherited = inherited;
  guard_ = fork_guard(claim);
}

void peer_memory::open(const kicker& space) noexcept {
  const std::lock_guard lock(mutex_);
  space_ = &space;
}

void peer_memory::close() noexcept {
  // In a fork()ed child the mutex may be another thread's for ever.
  if (mark_.load(std::memory_order_relaxed) != usable)
    return;
  const std::lock_guard lock(mutex_);
  space_ = nullptr;
}

void peer_memory::kick() noexcept {
  const std::lock_guard lock(mutex_);
  if (space_ != nullptr)
    space_->kick();
}

} // namespace sysipc_asio::detail
