// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_FORK_GUARD_HPP
#define SYSIPC_ASIO_DETAIL_FORK_GUARD_HPP

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <sysipc_asio/detail/config.hpp>

namespace sysipc_asio::detail {

/// What a fork()ed child must not have of its parent's.
struct fork_claim {
  /// Replaced by a dead pipe: a child that kept them open would hide its parent's death
  /// from the peer. The numbers stay taken, so that a destructor that runs in the child
  /// neither closes a stranger nor unregisters the parent's descriptor from the epoll
  /// instance that both share.
  std::array<int, 2> descriptors{-1, -1};
  /// Pages that are not inherited: the addresses stay taken, since a destructor that
  /// runs in the child unmaps them.
  void* address = nullptr;
  std::size_t size = 0;
  /// Set to `inherited` in the child.
  std::atomic<unsigned char>* mark = nullptr;
  unsigned char inherited = 0;
};

/// Has a claim carried out in every child, before fork() returns there.
/** Not seen by a raw clone(2); exec() is covered by CLOEXEC. */
class fork_guard {
public:
  fork_guard() = default;
  explicit fork_guard(const fork_claim& claim);
  fork_guard(fork_guard&&) noexcept = default;
  fork_guard& operator=(fork_guard&&) noexcept = default;

  /// Lifts the claim; `release()` gives up what it was about, with no fork in between.
  template <typename Release>
  void lift(Release release) noexcept {
    const std::lock_guard lock(registry_mutex());
    release();
    if (node_)
      unlink(*node_);
    node_.reset();
  }

private:
  friend struct fork_registry;
  struct node {
    fork_claim claim;
    node* next = nullptr;
    node* previous = nullptr;
    bool linked = false;
    ~node();
  };

  static std::mutex& registry_mutex();
  static void unlink(node& n) noexcept; // with the mutex held

  std::unique_ptr<node> node_;
};

} // namespace sysipc_asio::detail

#endif
