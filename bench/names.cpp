// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "names.hpp"
#include <cstddef>

namespace bench {

std::string_view name_of(sysipc_asio::wait_policy policy) noexcept {
  constexpr std::string_view names[] = {"adaptive", "busy", "sleepy", "kick_always"};
  return names[static_cast<std::size_t>(policy)];
}

std::string_view name_of(sysipc_asio::fence_mode fences) noexcept {
  constexpr std::string_view names[] = {"symmetric", "asymmetric"};
  return names[static_cast<std::size_t>(fences)];
}

std::string_view name_of(sysipc_asio::backend backend) noexcept {
  constexpr std::string_view names[] = {"automatic", "kernel", "interprocess"};
  return names[static_cast<std::size_t>(backend)];
}

std::string_view name_of(receiver_kind receiver) noexcept {
  constexpr std::string_view names[] = {"sampled", "full"};
  return names[static_cast<std::size_t>(receiver)];
}

} // namespace bench
