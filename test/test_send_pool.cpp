// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "scratch.hpp"
#include <algorithm>
#include <array>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <sysipc_asio/detail/peer_memory.hpp>
#include <sysipc_asio/detail/send_pool.hpp>
#include <thread>
#include <vector>

namespace data = boost::unit_test::data;
using namespace sysipc_asio;
using detail::send_pool;
using status = send_pool::status;

namespace sysipc_asio::detail {
inline std::ostream& operator<<(std::ostream& out, send_pool::status s) {
  static constexpr const char* names[] = {"ok", "exhausted", "no memory", "never"};
  return out << names[static_cast<int>(s)];
}
} // namespace sysipc_asio::detail

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

/// A pool, and the words in which its peer gives back.
struct lender {
  explicit lender(std::size_t size = 4 * mib, std::size_t max_leases = layout::release_count) {
    channel_options options;
    options.max_leases = max_leases;
    error_code ec;
    pool = send_pool::create(size, options, ec);
    BOOST_REQUIRE(!ec);
    pool->set_releases(releases.data());
  }

  send_pool::block& take(std::size_t n) {
    send_pool::block* b = nullptr;
    BOOST_REQUIRE(pool->take(n, b) == status::ok);
    BOOST_REQUIRE(b->capacity >= n);
    BOOST_REQUIRE(b->size == n);
    return *b;
  }
  /// Sends a block; what the peer is told.
  layout::lease_record send(send_pool::block& b) {
    const auto record = pool->describe(b);
    pool->sent(b);
    return record;
  }
  void release(const layout::lease_record& r) {
    releases[r.id].store(r.generation, std::memory_order_release);
  }

  std::array<layout::word32, layout::release_count> releases{};
  detail::send_pool_ptr pool;
};

} // namespace

BOOST_AUTO_TEST_SUITE(a_pool)

BOOST_DATA_TEST_CASE(lends_blocks_of_every_size,
                     data::make({1, 63, 64, 65, 4095, 4097, 65536, 100'000, 1 << 20, 3 << 20}), n) {
  lender l;
  const auto size = static_cast<std::size_t>(n);
  auto& b = l.take(size);
  BOOST_TEST(reinterpret_cast<std::uintptr_t>(b.data) % 64 == 0U);
  std::fill_n(b.data, b.capacity, std::byte{0x5a});
  const auto record = l.send(b);
  BOOST_TEST(record.size == size);
  BOOST_TEST(record.generation != 0U);
  error_code ec;
  const auto seen = detail::peer_pool::open(l.pool->native_handle(), l.pool->size(), ec);
  BOOST_REQUIRE(!ec);
  const auto payload = seen.at(record);
  BOOST_TEST(payload.size() == size);
  BOOST_TEST((std::count(payload.begin(), payload.end(), std::byte{0x5a}) == n));
}

BOOST_AUTO_TEST_CASE(says_never_only_above_its_largest_block) {
  lender l;
  send_pool::block* b = nullptr;
  BOOST_TEST(l.pool->take(l.pool->max_block() + 1, b) == status::never);
  BOOST_TEST(l.pool->take(l.pool->max_block(), b) == status::ok);
  BOOST_TEST(l.pool->max_block() > l.pool->size() / 10 * 9);
}

BOOST_AUTO_TEST_CASE(takes_memory_from_the_host_only_as_it_needs_it) {
  lender l(64 * mib);
  BOOST_TEST(l.pool->used().committed == 0U);
  l.pool->give_back(l.take(1000));
  BOOST_TEST(l.pool->used().committed > 0U);
  BOOST_TEST(l.pool->used().committed <= mib);
  l.take(8 * mib);
  BOOST_TEST(l.pool->used().committed >= 8 * mib);
  BOOST_TEST(l.pool->used().committed <= 10 * mib);
}

BOOST_AUTO_TEST_CASE(lends_hot_memory_first) {
  lender l;
  // As much as stays in the cache, and no more than that.
  for (const std::size_t n : {std::size_t{1}, std::size_t{5000}, 64 * std::size_t{1024}, mib}) {
    std::set<const std::byte*> places;
    for (int i = 0; i != 100; ++i) {
      auto& b = l.take(n);
      places.insert(b.data);
      l.release(l.send(b));
    }
    BOOST_TEST(places.size() <= 16U);
    BOOST_TEST((places.size() - 1) * n <= 128U * 1024);
  }
}

BOOST_AUTO_TEST_CASE(is_exhausted_until_the_peer_gives_back) {
  lender l;
  std::vector<layout::lease_record> out;
  send_pool::block* b = nullptr;
  while (l.pool->take(mib, b) == status::ok)
    out.push_back(l.send(*b));
  BOOST_REQUIRE(out.size() >= 3U);
  BOOST_TEST(!l.pool->could_take(mib));
  l.release(out[1]); // in any order
  BOOST_TEST(l.pool->could_take(mib));
  BOOST_TEST(l.pool->take(mib, b) == status::ok);
  BOOST_TEST(l.pool->take(mib, b) == status::exhausted);
}

BOOST_AUTO_TEST_CASE(is_exhausted_when_all_leases_are_out) {
  lender l(4 * mib, 3);
  auto& first = l.take(100);
  auto& second = l.take(100);
  auto& third = l.take(100);
  send_pool::block* b = nullptr;
  BOOST_TEST(l.pool->take(100, b) == status::exhausted);
  l.pool->give_back(second);
  BOOST_TEST(l.pool->take(100, b) == status::ok);
  l.release(l.send(first));
  BOOST_TEST(l.pool->take(100, b) == status::ok);
  BOOST_TEST(l.pool->take(100, b) == status::exhausted);
  l.pool->give_back(third);
}

BOOST_AUTO_TEST_CASE(frees_nothing_for_a_release_of_what_is_not_out) {
  lender l(4 * mib, 2);
  auto& held = l.take(mib);
  auto& sent = l.take(mib);
  auto record = l.send(sent);
  for (auto& word : l.releases) // never lent, held, and of other generations
    word = record.generation + 1;
  BOOST_TEST(l.pool->used().held == 1U);
  BOOST_TEST(l.pool->used().out == 1U);
  for (auto& word : l.releases)
    word = record.generation - 1;
  BOOST_TEST(l.pool->used().out == 1U);
  l.release(record);
  l.release(record); // twice is once
  BOOST_TEST(l.pool->used().out == 0U);
  send_pool::block* b = nullptr;
  BOOST_TEST(l.pool->take(mib, b) == status::ok);
  BOOST_TEST(b->data != held.data);
  record = l.send(*b); // the same lease again: the old word is not its release
  BOOST_TEST(l.pool->used().out == 1U);
}

BOOST_AUTO_TEST_CASE(never_uses_the_generation_that_stands_for_none) {
  lender l(4 * mib, 1);
  send_pool::block& before = l.take(1000);
  before.generation = 0xffffffff; // the 2^32nd message
  l.pool->give_back(before);
  send_pool::block& after = l.take(1000);
  BOOST_TEST(after.generation == 1U);
  const auto record = l.send(after);
  send_pool::block* none = nullptr;
  BOOST_TEST(l.pool->take(1000, none) == status::exhausted);
  l.release(record);
  BOOST_TEST(l.take(1000).generation == 2U);
}

BOOST_AUTO_TEST_CASE(tells_its_listener_what_this_side_frees) {
  lender l;
  int told = 0;
  l.pool->set_listener([&] { ++told; });
  auto& b = l.take(1000);
  l.pool->give_back(b);
  BOOST_TEST(told == 1);
}

BOOST_AUTO_TEST_CASE(leaves_nothing_behind) {
  { const lender warm_up; }
  const auto before = sysipc_asio::test::holdings::now();
  {
    lender l(64 * mib);
    l.send(l.take(8 * mib));
  }
  BOOST_TEST(sysipc_asio::test::holdings::now() == before);
}

BOOST_AUTO_TEST_CASE(of_an_unmappable_size_is_an_error) {
  error_code ec;
  BOOST_TEST(send_pool::create(std::size_t{1} << 60, {}, ec) == nullptr);
  BOOST_TEST(ec.failed());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(property)

namespace {

/// Takes, fills, sends, drops; the peer gives back in any order, in threads of its own. No two
/// blocks in use overlap, nothing that is in use changes, and in the end all is free.
void take_and_give_back(unsigned seed) {
  constexpr int steps = 20'000;
  lender l(8 * mib, 100);
  std::mutex mutex; // of what follows
  std::map<const std::byte*, std::size_t> in_use;
  std::vector<std::pair<layout::lease_record, std::byte>> out;
  bool done = false;
  int faults = 0;
  error_code ec;
  const auto seen = detail::peer_pool::open(l.pool->native_handle(), l.pool->size(), ec);
  BOOST_REQUIRE(!ec);
  const std::byte* const base = seen.at({0, 1, 0, 1}).data();

  const auto receiver = [&](unsigned number) {
    std::mt19937 random(seed * 7 + number);
    for (;;) {
      const std::lock_guard lock(mutex);
      if (out.empty()) {
        if (done)
          return;
        continue;
      }
      const std::size_t i = random() % out.size();
      const auto [record, fill] = out[i];
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(i));
      const auto payload = seen.at(record);
      if (payload.front() != fill || payload.back() != fill || payload[payload.size() / 2] != fill)
        ++faults;
      in_use.erase(base + record.offset);
      l.release(record);
    }
  };
  std::thread first(receiver, 1);
  std::thread second(receiver, 2);
  std::mt19937 random(seed);
  std::vector<std::pair<send_pool::block*, std::byte>> held;
  for (int i = 0; i != steps; ++i) {
    const std::size_t n = 1 + random() % (random() % 8 == 0 ? mib : 20'000);
    send_pool::block* b = nullptr;
    if (held.size() < 10 && l.pool->take(n, b) == status::ok) {
      const std::lock_guard lock(mutex);
      const auto* const at = seen.at(l.pool->describe(*b)).data();
      const auto next = in_use.lower_bound(at);
      if (next != in_use.end() && next->first < at + n)
        ++faults;
      if (next != in_use.begin() && std::prev(next)->first + std::prev(next)->second > at)
        ++faults;
      in_use[at] = n;
      const auto fill = static_cast<std::byte>(i);
      std::fill_n(b->data, n, fill);
      held.emplace_back(b, fill);
    }
    if (held.empty() || random() % 2 == 0)
      continue;
    const std::size_t which = random() % held.size();
    const auto [block, fill] = held[which];
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
    const auto record = l.pool->describe(*block);
    const std::lock_guard lock(mutex);
    if (random() % 4 == 0) {
      in_use.erase(base + record.offset);
      l.pool->give_back(*block);
    } else {
      l.pool->sent(*block);
      out.emplace_back(record, fill);
    }
  }
  for (const auto& [block, fill] : held)
    l.pool->give_back(*block);
  {
    const std::lock_guard lock(mutex);
    done = true;
  }
  first.join();
  second.join();
  BOOST_TEST(faults == 0);
  BOOST_TEST(l.pool->used().out == 0U);
  BOOST_TEST(l.pool->used().held == 0U);
  send_pool::block* all = nullptr;
  BOOST_TEST(l.pool->take(l.pool->max_block(), all) == status::ok);
}

} // namespace

BOOST_DATA_TEST_CASE(blocks_in_use_are_apart, data::xrange(1U, 5U), seed) {
  take_and_give_back(seed);
}

BOOST_AUTO_TEST_SUITE_END()
