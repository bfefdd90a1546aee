// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_DEFAULT_TOKEN_HPP
#define SYSIPC_ASIO_DETAIL_DEFAULT_TOKEN_HPP

#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <sysipc_asio/detail/config.hpp>
#include <type_traits>

namespace sysipc_asio::detail {

/// The executor's default token, or `deferred`, as Asio itself has it since Boost 1.86.
template <typename Executor>
using default_token_t =
    std::conditional_t<std::is_void_v<typename asio::default_completion_token<Executor>::type>,
                       asio::deferred_t, typename asio::default_completion_token<Executor>::type>;

} // namespace sysipc_asio::detail

#endif
