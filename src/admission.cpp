// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <sysipc_asio/options.hpp>
#include <unistd.h>

namespace sysipc_asio {

bool same_user_or_root(const peer_credentials& peer) noexcept {
  return peer.uid == 0 || peer.uid == ::geteuid();
}

} // namespace sysipc_asio
