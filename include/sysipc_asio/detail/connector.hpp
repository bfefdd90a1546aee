// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_CONNECTOR_HPP
#define SYSIPC_ASIO_DETAIL_CONNECTOR_HPP

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <sysipc_asio/detail/endpoint_waiter.hpp>
#include <sysipc_asio/detail/handshake.hpp>
#include <sysipc_asio/options.hpp>

namespace sysipc_asio::detail {

/// Connects and shakes hands, blocking this thread.
endpoint connect_blocking(std::string_view name, const connect_options& options, error_code& ec);

/// Connects and shakes hands in an execution context. Whatever fails is told to `waiter`.
void connect_async(const asio::any_io_executor& executor, const std::string& name,
                   const connect_options& options, std::shared_ptr<endpoint_waiter> waiter);

/// Shakes hands on a socket that is connected already, in an execution context.
void handshake_async(const asio::any_io_executor& executor, std::unique_ptr<handshake> h,
                     std::chrono::nanoseconds timeout, std::shared_ptr<endpoint_waiter> waiter);

} // namespace sysipc_asio::detail

#endif
