// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <boost/interprocess/exceptions.hpp>
#include <boost/interprocess/indexes/iset_index.hpp>
#include <boost/interprocess/managed_external_buffer.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>
#include <mutex>
#include <sys/mman.h>
#include <sysipc_asio/detail/exceptions_as_errors.hpp>
#include <sysipc_asio/detail/fork_guard.hpp>
#include <sysipc_asio/detail/send_pool.hpp>
#include <sysipc_asio/detail/shared_memory.hpp>
#include <sysipc_asio/error.hpp>
#include <utility>
#include <vector>

namespace sysipc_asio::detail {
namespace {

namespace bip = boost::interprocess;

using allocator =
    bip::basic_managed_external_buffer<char, bip::rbtree_best_fit<bip::null_mutex_family>,
                                       bip::iset_index>;

/// What the allocator needs for itself, and for the block's alignment, at most.
constexpr std::size_t overhead = 1024;
/// Taken from the host at a time, at least.
constexpr std::size_t commit_step = 256 * 1024;

/// Sizes are rounded up so that a block that was freed fits messages that are not quite equal.
std::size_t rounded(std::size_t n) noexcept {
  const std::size_t step =
      std::max(std::bit_floor(std::max<std::size_t>(n, 1)) / 16, layout::pool_alignment);
  return (std::max<std::size_t>(n, 1) + step - 1) / step * step;
}

constexpr unsigned char usable = 0;
constexpr unsigned char inherited = 1;

} // namespace

struct send_pool::state {
  unique_fd fd;
  std::size_t size = 0;
  std::size_t committed = 0;
  bip::mapped_region region;
  allocator memory;
  /// By lease.
  std::array<block, layout::release_count> blocks{};
  std::vector<std::uint32_t> free_ids;
  std::vector<std::uint32_t> out_ids;
  std::size_t held = 0;
  /// Freed last, as they are, the newest at the end: their lines are still in the cache.
  struct kept_memory {
    std::byte* data = nullptr;
    std::size_t capacity = 0;
  };
  std::vector<kept_memory> kept;
  static constexpr std::size_t max_kept = 128;
  /// Blocks that are out, and bytes of them, before a new one asks whether they came back.
  static constexpr std::size_t most_to_leave = 16;
  static constexpr std::size_t most_bytes_to_leave = 128 * 1024;
  const layout::word32* releases = nullptr;
  bool prefault = false;

  /// What was given back and collect() has not found yet: a list of leases, each plus one.
  /// Pushed to under the mutex, taken as a whole without it: sends need no locked instruction,
  /// which would wait for the lines of the message before.
  std::atomic<std::uint32_t> given_back{0};
  std::mutex mutex;            ///< of what follows
  std::function<void()> freed; ///< tells the channel
  bool detached = false;
  std::size_t last_held = 0; ///< once detached

  std::atomic<unsigned char> mark{usable};
  fork_guard guard; ///< last, to be gone before the addresses are free

  std::byte* base() const noexcept { return static_cast<std::byte*>(region.get_address()); }
  std::uint32_t id_of(const block& b) const noexcept {
    return static_cast<std::uint32_t>(&b - blocks.data());
  }
  bool is_inherited() const noexcept { return mark.load(std::memory_order_relaxed) != usable; }

  bool commit(std::size_t more) noexcept;
  std::byte* allocate(std::size_t n) noexcept;
  void deallocate(std::byte* p) noexcept { memory.deallocate(p); }
  /// From what was freed last, or else from the allocator.
  kept_memory find(std::size_t n) noexcept;
  kept_memory find_kept(std::size_t n) noexcept;
  void keep(kept_memory m) noexcept;
  void forget_kept() noexcept;
  void free(std::uint32_t id) noexcept;
  void take_given_back() noexcept;
  void collect() noexcept;
  bool is_in_use() const noexcept { return held != 0 || !out_ids.empty(); }
  bool has_lease() noexcept {
    if (free_ids.empty())
      collect();
    return !free_ids.empty();
  }
};

bool send_pool::state::commit(std::size_t more) noexcept {
  more = std::min(whole_pages(std::max(more, commit_step)), size - committed);
  if (more == 0)
    return false;
  error_code ec;
  detail::allocate(fd.get(), committed, more, ec);
  if (ec)
    return false;
  if (prefault)
    detail::prefault(base() + committed, more);
  try {
    if (committed == 0)
      memory = allocator(bip::create_only, base(), more);
    else
      memory.grow(more);
  } catch (const bip::interprocess_exception&) {
    return false;
  }
  committed += more;
  return true;
}

std::byte* send_pool::state::allocate(std::size_t n) noexcept {
  if (committed == 0)
    return nullptr;
  return static_cast<std::byte*>(memory.allocate_aligned(n, layout::pool_alignment, std::nothrow));
}

send_pool::state::kept_memory send_pool::state::find_kept(std::size_t n) noexcept {
  for (auto it = kept.rbegin(); it != kept.rend(); ++it)
    if (it->capacity == n) {
      const kept_memory b = *it;
      kept.erase(std::next(it).base());
      return b;
    }
  return {nullptr, 0};
}

send_pool::state::kept_memory send_pool::state::find(std::size_t n) noexcept {
  if (const kept_memory b = find_kept(n); b.data != nullptr)
    return b;
  // To look at what was given back has a line come from the peer: better for several blocks
  // at once, as long as all of them stay in the cache.
  if (out_ids.size() < most_to_leave && out_ids.size() * n < most_bytes_to_leave)
    if (std::byte* const p = allocate(n))
      return {p, n};
  collect();
  if (const kept_memory b = find_kept(n); b.data != nullptr)
    return b;
  if (std::byte* const p = allocate(n))
    return {p, n};
  // Those kept may be what is in the way. Then more memory; what is free at the end counts.
  forget_kept();
  if (std::byte* const p = allocate(n))
    return {p, n};
  if (commit(n + overhead))
    if (std::byte* const p = allocate(n))
      return {p, n};
  return {nullptr, 0};
}

void send_pool::state::forget_kept() noexcept {
  for (const kept_memory& b : kept)
    deallocate(b.data);
  kept.clear();
}

void send_pool::state::keep(kept_memory b) noexcept {
  if (kept.size() == max_kept) {
    deallocate(kept.front().data);
    kept.erase(kept.begin());
  }
  kept.push_back(b);
}

void send_pool::state::free(std::uint32_t id) noexcept {
  free_ids.push_back(id);
  keep({blocks[id].data, blocks[id].capacity});
}

void send_pool::state::take_given_back() noexcept {
  if (given_back.load(std::memory_order_relaxed) == 0)
    return;
  // Acquire: pairs with the release in give_back(). Whoever filled the block is done with it.
  std::uint32_t first = given_back.exchange(0, std::memory_order_acquire);
  for (; first != 0; first = blocks[first - 1].next_given_back) {
    free(first - 1);
    --held;
  }
}

void send_pool::state::collect() noexcept {
  take_given_back();
  if (releases == nullptr)
    return;
  std::size_t left = 0;
  for (const std::uint32_t id : out_ids) {
    // Acquire: pairs with the release store in peer_memory::give_back(). The peer has read
    // the payload before its bytes are written again.
    if (releases[id].load(std::memory_order_acquire) == blocks[id].generation)
      free(id);
    else
      out_ids[left++] = id;
  }
  out_ids.resize(left);
}

void detach_pool::operator()(send_pool* pool) const noexcept {
  pool->detach();
}

send_pool::send_pool(std::unique_ptr<state> s) noexcept : state_(std::move(s)) {
  for (block& b : state_->blocks)
    b.pool = this;
}

send_pool::~send_pool() = default;

void send_pool::detach() noexcept {
  state& s = *state_;
  // In a fork()ed child there is no pool, and the mutex may be another thread's for ever:
  // what is left of it stays.
  if (s.is_inherited())
    return;
  {
    const std::lock_guard lock(s.mutex);
    s.take_given_back();
    s.freed = {};
    s.detached = true;
    s.last_held = s.held;
    if (s.held != 0) // the last give_back() deletes it, perhaps as soon as the mutex is free
      return;
  }
  delete this;
}

send_pool_ptr send_pool::create(std::size_t size, const channel_options& options, error_code& ec) {
  auto s = std::make_unique<state>();
  s->size = size;
  s->fd = make_memfd(size, ec);
  if (ec)
    return nullptr;
  try {
    bip::mapped_region(mappable_fd(s->fd.get(), bip::read_write), bip::read_write, 0, size)
        .swap(s->region);
  } catch (const bip::interprocess_exception& e) {
    ec.assign(e.get_native_error(), boost::system::system_category());
    return nullptr;
  }
  const auto failed = [&ec] { ec.assign(errno, boost::system::system_category()); };
  if (::madvise(s->base(), size, MADV_DONTFORK) != 0) {
    failed();
    return nullptr;
  }
  fork_claim claim{{s->fd.get(), -1}, s->base(), size};
  claim.mark = &s->mark;
  claim.inherited = inherited;
  ec = exceptions_as_errors([&] {
    s->guard = fork_guard(claim);
    s->kept.reserve(state::max_kept);
    s->out_ids.reserve(layout::release_count);
    s->free_ids.reserve(layout::release_count);
    for (std::size_t id = std::min(options.max_leases, layout::release_count); id-- != 0;)
      s->free_ids.push_back(static_cast<std::uint32_t>(id));
  });
  if (!ec)
    seal(s->fd.get(), ec);
  if (ec)
    return nullptr;
  // Best effort: a core dump has better things to show; and the fallback of huge pages is
  // ordinary ones.
  ::madvise(s->base(), size, MADV_DONTDUMP);
  if (options.huge_pages)
    ::madvise(s->base(), size, MADV_HUGEPAGE);
  if (options.lock_memory)
    lock(s->base(), size, ec);
  if (ec)
    return nullptr;
  s->prefault = options.prefault || options.lock_memory;
  if (options.prefault && !s->commit(size)) {
    ec = asio::error::no_memory;
    return nullptr;
  }
  return send_pool_ptr(new send_pool(std::move(s)));
}

int send_pool::native_handle() const noexcept {
  return state_->fd.get();
}

std::size_t send_pool::size() const noexcept {
  return state_->size;
}

std::size_t send_pool::max_block() const noexcept {
  // What rounding up to a sixteenth leaves of it.
  return state_->size > 2 * overhead ? (state_->size - overhead) / 17 * 16 : 0;
}

void send_pool::set_releases(const layout::word32* words) noexcept {
  state_->releases = words;
}

void send_pool::set_listener(std::function<void()> given_back) noexcept {
  if (state_->is_inherited())
    return;
  const std::lock_guard lock(state_->mutex);
  state_->freed = std::move(given_back);
}

send_pool::status send_pool::take(std::size_t n, block*& result) noexcept {
  state& s = *state_;
  if (n > max_block())
    return status::never;
  if (s.is_inherited() || !s.has_lease())
    return status::exhausted;
  const auto found = s.find(rounded(n));
  if (found.data == nullptr)
    return s.is_in_use() ? status::exhausted : status::no_memory;
  block& b = s.blocks[s.free_ids.back()];
  s.free_ids.pop_back();
  b.data = found.data;
  b.capacity = found.capacity;
  b.size = n;
  if (++b.generation == 0) // which a release word says that nobody has written
    b.generation = 1;
  ++s.held;
  result = &b;
  return status::ok;
}

bool send_pool::could_take(std::size_t n) noexcept {
  state& s = *state_;
  if (n > max_block())
    return true;
  if (s.is_inherited() || !s.has_lease())
    return false;
  const auto found = s.find(rounded(n));
  if (found.data == nullptr)
    return !s.is_in_use();
  s.keep(found);
  return true;
}

layout::lease_record send_pool::describe(const block& b) const noexcept {
  return {static_cast<std::uint64_t>(b.data - state_->base()), b.size, state_->id_of(b),
          b.generation};
}

void send_pool::sent(block& b) noexcept {
  --state_->held;
  state_->out_ids.push_back(state_->id_of(b));
}

void send_pool::give_back(block& b) noexcept {
  state& s = *state_;
  if (s.is_inherited()) // see detach()
    return;
  {
    const std::lock_guard lock(s.mutex);
    if (!s.detached) {
      b.next_given_back = s.given_back.load(std::memory_order_relaxed);
      // Release: pairs with the acquire in take_given_back(). Others push under the mutex;
      // that all was taken meanwhile is what the comparison finds.
      while (!s.given_back.compare_exchange_weak(b.next_given_back, s.id_of(b) + 1,
                                                 std::memory_order_release,
                                                 std::memory_order_relaxed)) {
      }
      if (s.freed)
        s.freed();
      return;
    }
    if (--s.last_held != 0)
      return;
  }
  delete this;
}

send_pool::usage send_pool::used() noexcept {
  state_->collect();
  return {state_->held, state_->out_ids.size(), state_->committed};
}

} // namespace sysipc_asio::detail
