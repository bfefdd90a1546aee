// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_CROWD_HPP
#define SYSIPC_ASIO_DETAIL_CROWD_HPP

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>
#include <cstdint>
#include <sysipc_asio/detail/config.hpp>

namespace sysipc_asio::detail {

/// How many operations of an execution context wait in its queue for their next spin.
/**
 * The spin of one is at the cost of the others: they share the time that one alone would have.
 */
class crowd final : public asio::execution_context::service {
public:
  static inline asio::execution_context::id id;

  explicit crowd(asio::execution_context& context) : service(context) {}

  static crowd& of(const asio::any_io_executor& executor) {
    return asio::use_service<crowd>(asio::query(executor, asio::execution::context));
  }

  // Relaxed: a hint, on which nothing but the length of a spin depends.
  void enter() noexcept { waiting_.fetch_add(1, std::memory_order_relaxed); }
  void leave() noexcept { waiting_.fetch_sub(1, std::memory_order_relaxed); }
  std::uint32_t waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }

private:
  void shutdown() noexcept override {}

  std::atomic<std::uint32_t> waiting_{0};
};

} // namespace sysipc_asio::detail

#endif
