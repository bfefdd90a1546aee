// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_NAMES_HPP
#define SYSIPC_BENCH_NAMES_HPP

#include "settings.hpp"
#include <string_view>
#include <sysipc_asio/fence.hpp>
#include <sysipc_asio/options.hpp>
#include <sysipc_asio/wait.hpp>

/// What options and results call the values of an enumeration.
namespace bench {

std::string_view name_of(sysipc_asio::wait_policy policy) noexcept;
std::string_view name_of(sysipc_asio::fence_mode fences) noexcept;
std::string_view name_of(sysipc_asio::backend backend) noexcept;
std::string_view name_of(receiver_kind receiver) noexcept;

} // namespace bench

#endif
