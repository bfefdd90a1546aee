// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sysipc_asio/detail/fork_guard.hpp>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace sysipc_asio::detail {

struct fork_registry {
  std::mutex mutex;
  fork_guard::node* first = nullptr;

  static fork_registry& instance() {
    // Never destroyed: channels in static objects may outlive any static of ours.
    static fork_registry* const registry = [] {
      auto* r = new fork_registry;
      ::pthread_atfork([] { instance().mutex.lock(); }, [] { instance().mutex.unlock(); },
                       [] { instance().in_child(); });
      return r;
    }();
    return *registry;
  }

  /// Calls only what is async-signal-safe: other threads of the parent held who knows what.
  void in_child() noexcept {
    int dead[2] = {-1, -1};
    // Without a descriptor to spare the child closes them plainly: the parent's
    // death must not be hidden in any case.
    const bool have_dead = ::pipe2(dead, O_CLOEXEC) == 0;
    if (have_dead)
      ::close(dead[1]);
    for (fork_guard::node* n = first; n != nullptr; n = n->next) {
      const fork_claim& claim = n->claim;
      for (const int fd : claim.descriptors)
        if (fd >= 0 && (!have_dead || ::dup3(dead[0], fd, O_CLOEXEC) < 0))
          ::close(fd);
      if (claim.size != 0)
        ::mmap(claim.address, claim.size, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
      if (claim.mark != nullptr)
        claim.mark->store(claim.inherited, std::memory_order_relaxed);
    }
    if (have_dead)
      ::close(dead[0]);
    mutex.unlock();
  }
};

std::mutex& fork_guard::registry_mutex() {
  return fork_registry::instance().mutex;
}

fork_guard::fork_guard(const fork_claim& claim) : node_(new node{claim}) {
  auto& registry = fork_registry::instance();
  const std::lock_guard lock(registry.mutex);
  node_->next = registry.first;
  if (node_->next != nullptr)
    node_->next->previous = node_.get();
  registry.first = node_.get();
  node_->linked = true;
}

fork_guard::node::~node() {
  if (!linked)
    return;
  const std::lock_guard lock(registry_mutex());
  unlink(*this);
}

void fork_guard::unlink(node& n) noexcept {
  if (!n.linked)
    return;
  (n.previous != nullptr ? n.previous->next : fork_registry::instance().first) = n.next;
  if (n.next != nullptr)
    n.next->previous = n.previous;
  n.linked = false;
}

} // namespace sysipc_asio::detail
