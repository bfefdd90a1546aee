// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "two_ends.hpp"
#include <boost/asio/bind_allocator.hpp>
#include <memory>
#include <new>
#include <optional>
#include <sysipc_asio/channel_pair.hpp>
#include <sysipc_asio/error.hpp>

using namespace sysipc_asio;
using namespace sysipc_asio::test;

namespace {

struct account {
  int allocations = 0;
  int alive = 0;
};

template <typename T>
class counting_allocator {
public:
  using value_type = T;
  explicit counting_allocator(account& a) noexcept : account_(&a) {}
  template <typename U>
  counting_allocator(const counting_allocator<U>& other) noexcept : account_(&other.of()) {}

  T* allocate(std::size_t n) {
    ++account_->allocations;
    ++account_->alive;
    return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(alignof(T))));
  }
  void deallocate(T* p, std::size_t) noexcept {
    --account_->alive;
    ::operator delete(p, std::align_val_t(alignof(T)));
  }
  account& of() const noexcept { return *account_; }
  template <typename U>
  friend bool operator==(const counting_allocator& a, const counting_allocator<U>& b) noexcept {
    return &a.of() == &b.of();
  }

private:
  account* account_;
};

/// How a handler fared.
struct fate {
  int calls = 0;
  int alive = 0;
  error_code result{};
};

/// A handler that can only be moved, and keeps book.
class once {
public:
  explicit once(fate& f) : fate_(&f) { ++fate_->alive; }
  once(once&& other) noexcept : fate_(other.fate_) { ++fate_->alive; }
  once(const once&) = delete;
  ~once() { --fate_->alive; }

  template <typename... Results>
  void operator()(error_code ec, Results&&...) {
    ++fate_->calls;
    fate_->result = ec;
  }

private:
  fate* fate_;
};

using starter = void (*)(channel&, fate&);
struct operation {
  const char* name;
  bool sends;
  starter start;
};

const operation operations[] = {
    {"async_send", true,
     [](channel& ch, fate& f) { ch.async_send(asio::buffer("text", 4), once(f)); }},
    {"async_push", true, [](channel& ch, fate& f) { ch.async_push(1, once(f)); }},
    {"async_wait(wait_send)", true,
     [](channel& ch, fate& f) { ch.async_wait(wait_send, once(f)); }},
    {"async_receive", false, [](channel& ch, fate& f) { ch.async_receive(once(f)); }},
    {"async_receive into", false,
     [](channel& ch, fate& f) {
       static char buffer[4096];
       ch.async_receive(asio::buffer(buffer), once(f));
     }},
    {"async_pop", false, [](channel& ch, fate& f) { ch.async_pop<int>(once(f)); }},
    {"async_wait(wait_receive)", false,
     [](channel& ch, fate& f) { ch.async_wait(wait_receive, once(f)); }},
};

/// Makes an operation wait: the ring to send into is full, the one to receive from is empty.
void start_and_let_wait(two_ends& ends, const operation& op, fate& f) {
  fill(ends.here);
  op.start(ends.here, f);
  ends.poll();
  BOOST_TEST(f.calls == 0);
}

/// Calls `f(ends, operation)` with a fresh channel for each operation.
template <typename F>
void with_each_operation(F f) {
  for (const operation& op : operations)
    BOOST_TEST_CONTEXT(op.name) {
      f(op);
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(the_associated_allocator)

using io_executor = asio::io_context::executor_type;

struct static_ends {
  asio::io_context context;
  std::pair<basic_channel<io_executor>, basic_channel<io_executor>> ends =
      make_channel_pair(context.get_executor(), context.get_executor(), small_rings());
  account a;
  bool called = false;

  auto handler() {
    return asio::bind_allocator(counting_allocator<char>(a), [this](error_code, const message&) {
      BOOST_TEST(a.alive == 0);
      called = true;
    });
  }
};

BOOST_AUTO_TEST_CASE(is_used_and_everything_is_freed_before_the_handler_runs) {
  static_ends s;
  s.ends.second.async_receive(s.handler());
  BOOST_TEST(s.a.alive > 0);
  s.ends.first.try_push(1);
  s.context.run();
  BOOST_TEST(s.called);
  BOOST_TEST(s.a.allocations > 0);
}

BOOST_AUTO_TEST_CASE(is_used_also_when_the_message_is_there) {
  static_ends s;
  s.ends.first.try_push(1);
  s.ends.second.async_receive(s.handler());
  BOOST_TEST(s.a.alive > 0);
  s.context.run();
  BOOST_TEST(s.called);
}

BOOST_AUTO_TEST_CASE(is_used_also_when_the_operation_fails_at_once) {
  static_ends s;
  s.ends.second.close();
  s.ends.second.async_receive(s.handler());
  BOOST_TEST(s.a.alive > 0);
  s.context.run();
  BOOST_TEST(s.called);
}

BOOST_AUTO_TEST_CASE(gets_everything_back_when_the_operation_is_abandoned) {
  account a;
  {
    asio::io_context context;
    auto ends = make_channel_pair(context.get_executor(), context.get_executor(), small_rings());
    ends.second.async_receive(
        asio::bind_allocator(counting_allocator<char>(a), [](error_code, const message&) {}));
    context.poll();
    BOOST_TEST(a.alive > 0);
  }
  BOOST_TEST(a.alive == 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(a_handler)

void require_called_once(two_ends& ends, const fate& f) {
  BOOST_REQUIRE(ends.run_until([&] { return f.calls == 1; }));
  ends.poll();
  BOOST_TEST(f.calls == 1);
  BOOST_TEST(f.alive == 0);
}

BOOST_AUTO_TEST_CASE(is_called_once_when_nothing_has_to_be_waited_for) {
  with_each_operation([](const operation& op) {
    two_ends ends;
    fate f;
    ends.there.try_push(1);
    op.start(ends.here, f);
    BOOST_TEST(f.calls == 0);
    require_called_once(ends, f);
    BOOST_TEST(!f.result);
  });
}

BOOST_AUTO_TEST_CASE(is_called_once_after_a_wait) {
  with_each_operation([](const operation& op) {
    two_ends ends;
    fate f;
    start_and_let_wait(ends, op, f);
    drain(ends.there);
    ends.there.try_push(1);
    require_called_once(ends, f);
    BOOST_TEST(!f.result);
  });
}

BOOST_AUTO_TEST_CASE(is_called_once_with_operation_aborted_after_cancel_close_and_destruction) {
  for (int how : {0, 1, 2})
    with_each_operation([how](const operation& op) {
      two_ends ends;
      fate f;
      start_and_let_wait(ends, op, f);
      if (how == 0) {
        ends.here.cancel();
        ends.here.cancel();
      } else if (how == 1) {
        ends.here.close();
      } else {
        const channel gone(std::move(ends.here));
      }
      BOOST_TEST(f.calls == 0);
      require_called_once(ends, f);
      BOOST_TEST(f.result == asio::error::operation_aborted);
    });
}

BOOST_AUTO_TEST_CASE(is_destroyed_uncalled_with_its_context) {
  with_each_operation([](const operation& op) {
    for (bool ready : {false, true}) {
      fate f;
      {
        two_ends ends;
        if (!ready)
          fill(ends.here);
        else
          ends.there.try_push(1);
        op.start(ends.here, f);
      }
      BOOST_TEST(f.calls == 0);
      BOOST_TEST(f.alive == 0);
    }
  });
}

BOOST_AUTO_TEST_CASE(is_destroyed_uncalled_with_its_context_also_when_it_owns_the_channel) {
  fate f;
  {
    asio::io_context context;
    const asio::any_io_executor executor = context.get_executor();
    auto ends = make_channel_pair(executor, executor, small_rings());
    const auto owned = std::make_shared<channel>(std::move(ends.first));
    owned->async_receive(
        [owned, o = once(f)](error_code ec, const message& m) mutable { o(ec, m); });
    context.poll();
  }
  BOOST_TEST(f.calls == 0);
  BOOST_TEST(f.alive == 0);
}

BOOST_AUTO_TEST_SUITE_END()
