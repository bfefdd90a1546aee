// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <sysipc_asio/detail/fork_guard.hpp>
#include <unistd.h>

namespace sysipc_asio::detail {

struct fork_registry {
  std::mutex mutex;
  fork_guard* first = nullptr;

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

  void in_child() noexcept {
    int dead[2] = {-1, -1};
    // Without a descriptor to spare the child closes them plainly: the parent's
    // death must not be hidden in any case.
    const bool have_dead = ::pipe2(dead, O_CLOEXEC) == 0;
    if (have_dead)
      ::close(dead[1]);
    for (fork_guard* guard = first; guard != nullptr; guard = guard->next_) {
      for (const int fd : guard->descriptors_)
        if (fd >= 0 && (!have_dead || ::dup3(dead[0], fd, O_CLOEXEC) < 0))
          ::close(fd);
      guard->on_fork_child();
    }
    if (have_dead)
      ::close(dead[0]);
    mutex.unlock();
  }
};

fork_guard::fork_guard() {
  auto& registry = fork_registry::instance();
  const std::lock_guard lock(registry.mutex);
  next_ = registry.first;
  if (next_ != nullptr)
    next_->previous_ = this;
  registry.first = this;
}

fork_guard::~fork_guard() {
  auto& registry = fork_registry::instance();
  const std::lock_guard lock(registry.mutex);
  (previous_ != nullptr ? previous_->next_ : registry.first) = next_;
  if (next_ != nullptr)
    next_->previous_ = previous_;
}

void fork_guard::guard_descriptors(const std::array<int, 6>& descriptors) noexcept {
  const std::lock_guard lock(fork_registry::instance().mutex);
  descriptors_ = descriptors;
}

} // namespace sysipc_asio::detail
