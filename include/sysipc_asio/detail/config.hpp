// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_CONFIG_HPP
#define SYSIPC_ASIO_DETAIL_CONFIG_HPP

#include <boost/asio/detail/config.hpp>
#include <boost/system/error_code.hpp>
#include <boost/version.hpp>

#if BOOST_VERSION < 108100
#error "sysipc_asio needs Boost 1.81 or newer"
#endif

#if !defined(__linux__)
#error "sysipc_asio runs on Linux only"
#endif

#if !defined(BOOST_ASIO_HAS_CO_AWAIT)
#error "sysipc_asio needs C++20 coroutines"
#endif

namespace boost::asio {}

namespace sysipc_asio {

namespace asio = boost::asio;
using boost::system::error_code;

} // namespace sysipc_asio

#endif
