// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_FENCE_HPP
#define SYSIPC_ASIO_FENCE_HPP

#include <atomic>
#include <cstdint>
#include <sysipc_asio/detail/config.hpp>

namespace sysipc_asio {

/// How a waker's store is ordered before its load of the sleeper's arm word.
enum class fence_mode : std::uint8_t {
  /// A full fence on both sides.
  symmetric,
  /// The sleeper, which is about to enter the kernel anyway, orders both sides
  /// with membarrier(2); the waker pays nothing. Both processes must have
  /// registered, see register_asymmetric_fences().
  asymmetric
};

/// Registers this process for `membarrier(GLOBAL_EXPEDITED)`, once.
/** @returns false where the kernel does not offer it. */
bool register_asymmetric_fences() noexcept;

namespace detail {
/// `membarrier(GLOBAL_EXPEDITED)`.
void process_wide_fence() noexcept;

#if defined(__SANITIZE_THREAD__)
#define SYSIPC_ASIO_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SYSIPC_ASIO_TSAN 1
#endif
#endif

inline void full_fence() noexcept {
#if defined(SYSIPC_ASIO_TSAN)
  // ThreadSanitizer does not model fences; a read-modify-write is one on every
  // architecture it runs on.
  static std::atomic<unsigned> word{0};
  word.fetch_add(1, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

inline void acquire_fence() noexcept {
#if defined(SYSIPC_ASIO_TSAN)
  full_fence();
#else
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
}

inline void release_fence() noexcept {
#if defined(SYSIPC_ASIO_TSAN)
  full_fence();
#else
  std::atomic_thread_fence(std::memory_order_release);
#endif
}
} // namespace detail

/// The waker's fence: after it stored what the sleeper looks for, before it
/// loads the arm word. Pairs with heavy_fence().
inline void light_fence(fence_mode mode) noexcept {
  if (mode == fence_mode::asymmetric)
    // The compiler keeps the order; the processor is ordered from afar by
    // heavy_fence(), which interrupts every running registered process.
    std::atomic_signal_fence(std::memory_order_seq_cst);
  else
    detail::full_fence();
}

/// The sleeper's fence: after it stored its arm word, before it looks a last
/// time for what it waits for. Pairs with light_fence().
inline void heavy_fence(fence_mode mode) noexcept {
  if (mode == fence_mode::asymmetric)
    detail::process_wide_fence();
  else
    detail::full_fence();
}

} // namespace sysipc_asio

#endif
