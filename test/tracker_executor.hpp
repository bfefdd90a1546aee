// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_TEST_TRACKER_EXECUTOR_HPP
#define SYSIPC_ASIO_TEST_TRACKER_EXECUTOR_HPP

#include <boost/asio/any_io_executor.hpp>
#include <sysipc_asio/detail/config.hpp>
#include <type_traits>
#include <utility>

namespace sysipc_asio::test {

/// What a tracker_executor was asked to do.
struct track {
  int executed = 0;
  int inside = 0; ///< functions of this executor on the stack
};

/// An executor that knows whether the calling function runs on it.
class tracker_executor {
public:
  tracker_executor(asio::any_io_executor inner, track& t) : inner_(std::move(inner)), track_(&t) {}

  template <typename F>
  void execute(F f) const {
    ++track_->executed;
    inner_.execute(on_the_stack<F>{std::move(f), track_});
  }

  template <typename Property>
  auto query(const Property& p) const
      -> decltype(asio::query(std::declval<const asio::any_io_executor&>(), p)) {
    return asio::query(inner_, p);
  }
  template <typename Property>
  requires asio::can_require<asio::any_io_executor, Property>::value tracker_executor
  require(const Property& p)
  const { return {asio::require(inner_, p), *track_}; }
  template <typename Property>
  requires asio::can_prefer<asio::any_io_executor, Property>::value tracker_executor
  prefer(const Property& p)
  const { return {asio::prefer(inner_, p), *track_}; }

  friend bool operator==(const tracker_executor& a, const tracker_executor& b) noexcept {
    return a.track_ == b.track_ && a.inner_ == b.inner_;
  }
  friend bool operator!=(const tracker_executor& a, const tracker_executor& b) noexcept {
    return !(a == b);
  }

private:
  template <typename F>
  struct on_the_stack {
    void operator()() {
      ++t->inside;
      f();
      --t->inside;
    }
    F f;
    track* t;
  };

  asio::any_io_executor inner_;
  track* track_;
};

} // namespace sysipc_asio::test

#endif
