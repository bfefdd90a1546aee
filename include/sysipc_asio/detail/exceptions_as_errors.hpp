// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_EXCEPTIONS_AS_ERRORS_HPP
#define SYSIPC_ASIO_DETAIL_EXCEPTIONS_AS_ERRORS_HPP

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <new>
#include <sysipc_asio/error.hpp>

namespace sysipc_asio::detail {

/// Calls `f`; what it throws for want of memory or descriptors is returned.
template <typename F>
error_code exceptions_as_errors(F&& f) {
  try {
    f();
  } catch (const boost::system::system_error& failure) {
    return failure.code();
  } catch (const std::bad_alloc&) {
    return asio::error::no_memory;
  }
  return {};
}

} // namespace sysipc_asio::detail

#endif
