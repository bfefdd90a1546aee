// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// The litmus test behind the wait protocol, on this machine: each side stores to a
// word of its own, then loads the other's. With fences in between, at least one of
// them sees the other's store. That a machine lets both miss it without fences
// cannot be asserted; it is counted and printed.

#include "two_processes.hpp"
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <ostream>
#include <sys/mman.h>
#include <sysipc_asio/fence.hpp>

namespace data = boost::unit_test::data;
using namespace sysipc_asio;

namespace sysipc_asio {
inline std::ostream& operator<<(std::ostream& out, fence_mode mode) {
  return out << (mode == fence_mode::symmetric ? "symmetric" : "asymmetric");
}
} // namespace sysipc_asio

namespace {

const std::uint64_t rounds = test::count_from_environment("SYSIPC_TEST_ROUNDS", 200'000, 50'000);

/// What the two sides share; each word has lines of its own.
struct shared_words {
  struct one_side {
    alignas(128) layout::word64 stored{0};
    alignas(128) layout::word64 arrived{0};
    alignas(128) layout::word64 seen{0};
  };
  one_side sides[2];
};

class shared_memory {
public:
  shared_memory()
      : words_(
            static_cast<shared_words*>(::mmap(nullptr, sizeof(shared_words), PROT_READ | PROT_WRITE,
                                              MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    new (words_) shared_words();
  }
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  ~shared_memory() { ::munmap(words_, sizeof(shared_words)); }
  shared_words* operator->() const noexcept { return words_; }

private:
  shared_words* words_;
};

/// Both arrive here before either goes on.
void meet(const shared_memory& shared, int me, std::uint64_t round) {
  shared->sides[me].arrived.store(round, std::memory_order_release);
  test::deadline limit;
  for (unsigned looks = 1; shared->sides[1 - me].arrived.load(std::memory_order_acquire) < round;
       ++looks)
    if (looks % 256 == 0) {
      limit.check();
      ::sched_yield();
    }
}

/// Runs store, fence, load on both sides; returns how often neither saw the other's store.
template <typename FirstFence, typename SecondFence>
std::uint64_t both_missed(FirstFence first_fence, SecondFence second_fence) {
  const shared_memory shared;
  std::uint64_t missed = 0;
  const auto play = [&](int me, auto fence, auto after_round) {
    auto& mine = shared->sides[me];
    auto& other = shared->sides[1 - me];
    for (std::uint64_t i = 1; i <= rounds; ++i) {
      meet(shared, me, 2 * i - 1);
      mine.stored.store(i, std::memory_order_relaxed);
      fence();
      mine.seen.store(other.stored.load(std::memory_order_relaxed), std::memory_order_relaxed);
      meet(shared, me, 2 * i);
      after_round(i);
    }
  };
  const auto where = test::placement::two_cpus();
  const auto parent = [&](auto&&...) {
    play(0, first_fence, [&](std::uint64_t i) {
      missed += shared->sides[0].seen.load() < i && shared->sides[1].seen.load() < i;
    });
  };
  const auto child = [&](auto&&...) {
    play(1, second_fence, [](std::uint64_t) {});
    return 0;
  };
  BOOST_TEST(test::run_two_processes(layout::min_ring_capacity, parent, child, where) == 0);
  return missed;
}

} // namespace

BOOST_DATA_TEST_CASE(with_a_light_and_a_heavy_fence_one_side_always_sees_the_other,
                     data::make({fence_mode::symmetric, fence_mode::asymmetric}), mode) {
  // Before the fork: the child inherits it.
  if (mode == fence_mode::asymmetric && !register_asymmetric_fences()) {
    BOOST_TEST_MESSAGE("no membarrier(2) here");
    return;
  }
  BOOST_TEST(both_missed([&] { light_fence(mode); }, [&] { heavy_fence(mode); }) == 0U);
  BOOST_TEST(both_missed([&] { heavy_fence(mode); }, [&] { light_fence(mode); }) == 0U);
}

BOOST_AUTO_TEST_CASE(without_fences_this_machine_may_let_both_sides_miss_the_other) {
  const auto nothing = [] { std::atomic_signal_fence(std::memory_order_seq_cst); };
  const std::uint64_t n = both_missed(nothing, nothing);
  BOOST_TEST_MESSAGE("without fences both sides missed the other in "
                     << n << " of " << rounds << " rounds: this machine "
                     << (n != 0 ? "shows" : "does not show") << " why they are needed");
}

BOOST_AUTO_TEST_CASE(with_the_fence_of_one_side_only_this_machine_may_let_both_miss_the_other) {
  const std::uint64_t n = both_missed([] { std::atomic_signal_fence(std::memory_order_seq_cst); },
                                      [] { heavy_fence(fence_mode::symmetric); });
  BOOST_TEST_MESSAGE("with one symmetric fence both sides missed the other in "
                     << n << " of " << rounds << " rounds: this machine "
                     << (n != 0 ? "shows" : "does not show") << " why the other is needed");
}
