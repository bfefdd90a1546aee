// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_WAIT_HPP
#define SYSIPC_ASIO_WAIT_HPP

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <sysipc_asio/fence.hpp>
#include <sysipc_asio/layout.hpp>

namespace sysipc_asio {

/// How a side waits when it finds nothing.
enum class wait_policy : std::uint8_t {
  adaptive,   ///< spins as long as spinning has paid off lately, then sleeps
  busy,       ///< never sleeps; for a core of its own
  sleepy,     ///< never spins
  kick_always ///< sleeps as `adaptive` does, and wakes the peer on every message: to measure
              ///< what the conditional kick saves
};

/// What basic_channel::wait() and async_wait() wait for.
enum class wait_type : unsigned char {
  /// There is a message to receive, or there will be none any more.
  wait_receive,
  /// The message or the loan that was refused last, or else the smallest, would fit; or
  /// sending has become impossible.
  wait_send
};
inline constexpr wait_type wait_receive = wait_type::wait_receive;
inline constexpr wait_type wait_send = wait_type::wait_send;

/// The sleeper's word in its own segment: odd while it sleeps or is about to.
class arm_word {
public:
  arm_word() = default;
  explicit arm_word(layout::word64& word) noexcept : word_(&word) {}

  /// Announces the sleep. What was waited for must be looked for once more after this.
  void arm(fence_mode mode) noexcept {
    store(value_ + 1);
    // Pairs with the light fence in kick_gate::due(): either that load sees the odd
    // word, or the look that follows here sees what was stored before that load.
    heavy_fence(mode);
  }

  /// Takes the announcement back.
  void disarm() noexcept { store(value_ + 1); }

  bool armed() const noexcept { return (value_ & 1) != 0; }

private:
  void store(std::uint64_t value) noexcept {
    value_ = value;
    // Relaxed: the word carries no data; heavy_fence() orders what has to be.
    word_->store(value, std::memory_order_relaxed);
  }

  layout::word64* word_ = nullptr;
  std::uint64_t value_ = 0;
};

/// The waker's look at the sleeper's word.
class kick_gate {
public:
  kick_gate() = default;
  kick_gate(const layout::word64& peer_word, fence_mode mode) noexcept
      : peer_word_(&peer_word), mode_(mode) {}

  /// True if the peer sleeps and has not been kicked for this sleep.
  /** To be called after what the peer waits for has been stored. */
  bool due() noexcept {
    light_fence(mode_); // pairs with the heavy fence in arm_word::arm()
    const std::uint64_t word = peer_word_->load(std::memory_order_relaxed);
    if ((word & 1) == 0 || word == kicked_) [[likely]]
      return false;
    kicked_ = word;
    // Pairs with the release fence before a closing side's last odd word.
    detail::acquire_fence();
    return true;
  }

  fence_mode mode() const noexcept { return mode_; }

private:
  const layout::word64* peer_word_ = nullptr;
  std::uint64_t kicked_ = 0;
  fence_mode mode_ = fence_mode::symmetric;
};

/// How long a side may spin.
struct spin_limits {
  std::uint32_t slice = 0; ///< looks at the ring before the scheduler gets a turn
  std::uint32_t total = 0; ///< looks at the ring before sleeping

  /// Limits for the given times, as this processor spins.
  static spin_limits for_durations(std::chrono::nanoseconds slice, std::chrono::nanoseconds total);
};

/// The CPU that this thread is bound to, or -1 if it may run on several.
int only_cpu() noexcept;

/// True if the cgroup's quota leaves this process less than two CPUs.
bool quota_below_two_cpus() noexcept;

/// Tells the processor that this is a spin loop.
inline void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

/// Lets a producer get ahead of a consumer that is as fast as itself.
/**
 * A consumer that looks at the line which the producer is about to write takes
 * it away from it, message by message. So the first look after a burst is put
 * off, for the longer the longer the burst was: in a stream bursts grow, and a
 * single message is answered without delay.
 */
class look_pacer {
public:
  static constexpr std::uint64_t max_steps = 128;

  /// To be called when nothing was found; `consumed` counts messages.
  void pause(std::uint64_t consumed) noexcept {
    const std::uint64_t burst = std::min(consumed - seen_, max_steps);
    std::uint64_t steps = std::min(std::max(burst, std::uint64_t{2}) * burst, max_steps);
    seen_ = consumed;
    do
      cpu_relax();
    while (steps-- > 1);
  }

private:
  std::uint64_t seen_ = 0;
};

/// Remembers whether spinning paid off.
/**
 * Every hit earns credit, every miss costs one. Without credit a side goes to
 * sleep at once, but for one wait in `probe_interval`, which spins to find out
 * whether the peer has become quick again.
 */
class spin_history {
public:
  static constexpr int max_credit = 8;
  static constexpr unsigned probe_interval = 16;

  bool worth_a_try() noexcept {
    if (credit_ > 0)
      return true;
    return ++idle_waits_ % probe_interval == 0;
  }
  void hit() noexcept { credit_ = std::min(credit_ + 2, max_credit); }
  void miss() noexcept { credit_ = std::max(credit_ - 1, 0); }

private:
  int credit_ = max_credit;
  unsigned idle_waits_ = 0;
};

/// What one direction of a channel keeps between its waits.
struct wait_context {
  wait_policy policy = wait_policy::adaptive;
  spin_limits limits{};
  spin_history history{};
  std::uint64_t sleeps = 0;
  std::uint64_t spin_hits = 0;
  std::uint64_t spin_misses = 0;
  std::uint64_t empty_wakes = 0; ///< woken, and nothing was there
};

/// The wait protocol without any I/O.
/**
 * The machine says what to do next; its user does it and reports the outcome.
 * Blocking calls, coroutines, composed operations and the tests drive the same
 * one:
 *
 *     attempt -> complete                              there was something
 *             -> spin (-> yield -> spin)* -> attempt   it came while spinning
 *             -> arm -> attempt -> disarm -> complete  it came while arming
 *                               -> sleep -> disarm -> attempt ...
 */
class wait_machine {
public:
  enum class action : std::uint8_t {
    attempt,  ///< try the operation, report with attempted()
    spin,     ///< look up to slice() times, report with spun()
    yield,    ///< let others run, then report with yielded()
    arm,      ///< publish progress, arm_word::arm(), report with armed()
    sleep,    ///< wait for the doorbell, report with woken() or cancelled()
    disarm,   ///< arm_word::disarm(), report with disarmed()
    complete, ///< the attempt succeeded; the wait is over
    abandon   ///< the wait was cancelled; nothing was consumed
  };

  /// Of no context: may only be assigned to or destroyed.
  wait_machine() = default;

  /// `may_spin`: the caller may be held up for a slice.
  wait_machine(wait_context& context, bool may_spin) noexcept
      : context_(&context), may_spin_(may_spin) {}

  /// So many others spin in turn with this wait: all of them share the time of a slice.
  void share_with(std::uint32_t others) noexcept { others_ = others; }

  /// The looks that the next `spin` may take.
  std::uint32_t slice() const noexcept { return slice_; }

  action start() noexcept { return action::attempt; }

  action attempted(bool success) noexcept {
    if (success) {
      if (armed_) {
        result_ = action::complete;
        return action::disarm;
      }
      return action::complete;
    }
    if (armed_) {
      ++context_->sleeps;
      return action::sleep;
    }
    if (woken_) {
      ++context_->empty_wakes;
      woken_ = false;
    }
    if (!spun_ && spinning_allowed()) {
      spun_ = true;
      left_ = context_->limits.total;
      return next_slice();
    }
    return without_spin();
  }

  action spun(bool found) noexcept {
    if (found) {
      ++context_->spin_hits;
      context_->history.hit();
      // What was seen may be gone for this attempt (not room enough, say): the
      // next miss is entitled to a spin of its own.
      spun_ = false;
      return action::attempt;
    }
    return action::yield;
  }

  action yielded() noexcept {
    if (context_->policy == wait_policy::busy) {
      left_ = context_->limits.total;
      return next_slice();
    }
    if (left_ > 0)
      return next_slice();
    ++context_->spin_misses;
    context_->history.miss();
    return action::arm;
  }

  action armed() noexcept {
    armed_ = true;
    return action::attempt;
  }

  action woken() noexcept {
    woken_ = true;
    result_ = action::attempt;
    return action::disarm;
  }

  /// The sleep or the wait as a whole was cancelled.
  action cancelled() noexcept {
    result_ = action::abandon;
    return armed_ ? action::disarm : action::abandon;
  }

  action disarmed() noexcept {
    armed_ = false;
    return result_;
  }

private:
  bool spinning_allowed() noexcept {
    if (!may_spin_)
      return false;
    if (context_->policy == wait_policy::busy)
      return true;
    return context_->policy != wait_policy::sleepy && context_->limits.total != 0 &&
           context_->history.worth_a_try();
  }

  action next_slice() noexcept {
    slice_ = std::max(context_->limits.slice, std::uint32_t{1});
    if (context_->policy != wait_policy::busy)
      slice_ = std::min(slice_, left_);
    left_ -= std::min(slice_, left_);
    slice_ = std::max(slice_ / (others_ + 1), std::uint32_t{1});
    return action::spin;
  }

  action without_spin() const noexcept {
    return context_->policy == wait_policy::busy ? action::yield : action::arm;
  }

  wait_context* context_ = nullptr;
  std::uint32_t left_ = 0;
  std::uint32_t slice_ = 1;
  std::uint32_t others_ = 0;
  action result_ = action::attempt;
  bool may_spin_ = false;
  bool armed_ = false;
  bool spun_ = false;
  bool woken_ = false;
};

} // namespace sysipc_asio

#endif
