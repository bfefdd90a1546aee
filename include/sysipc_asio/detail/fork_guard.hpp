// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_FORK_GUARD_HPP
#define SYSIPC_ASIO_DETAIL_FORK_GUARD_HPP

#include <array>
#include <sysipc_asio/detail/config.hpp>

namespace sysipc_asio::detail {

/// Keeps a fork()ed child's hands off what belongs to its parent.
/**
 * A child that kept the sockets open would hide its parent's death from the
 * peer. In the child, before fork() returns, each guarded descriptor is replaced
 * by a dead pipe (the number stays taken, so that a destructor that runs in
 * the child neither closes a stranger nor unregisters the parent's descriptor
 * from the epoll instance that both share), and on_fork_child() is called.
 *
 * Not seen by a raw clone(2); exec() is covered by CLOEXEC.
 */
class fork_guard {
public:
  fork_guard(const fork_guard&) = delete;
  fork_guard& operator=(const fork_guard&) = delete;

protected:
  fork_guard();
  ~fork_guard();

  /// The descriptors to guard, until they are closed.
  void guard_descriptors(const std::array<int, 6>& descriptors) noexcept;
  void guard_nothing() noexcept { guard_descriptors({-1, -1, -1, -1, -1, -1}); }

  /// Runs in the child; may only do what is async-signal-safe.
  virtual void on_fork_child() noexcept = 0;

private:
  friend struct fork_registry;
  fork_guard* next_ = nullptr;
  fork_guard* previous_ = nullptr;
  std::array<int, 6> descriptors_{-1, -1, -1, -1, -1, -1};
};

} // namespace sysipc_asio::detail

#endif
