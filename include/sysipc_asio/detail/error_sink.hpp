// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_ERROR_SINK_HPP
#define SYSIPC_ASIO_DETAIL_ERROR_SINK_HPP

#include <sysipc_asio/detail/config.hpp>

namespace sysipc_asio::detail {

/// Where a co_awaited operation leaves its error: with its caller, or in an exception.
class error_sink {
public:
  error_sink() = default;
  explicit error_sink(error_code& ec) noexcept : ec_(&ec) {}

  /// False if the caller wants an exception instead.
  bool take(const error_code& ec) const noexcept {
    if (ec_ == nullptr)
      return false;
    *ec_ = ec;
    return true;
  }

private:
  error_code* ec_ = nullptr;
};

} // namespace sysipc_asio::detail

#endif
