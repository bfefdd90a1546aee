// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_MACHINE_HPP
#define SYSIPC_BENCH_MACHINE_HPP

#include "benchmark.hpp"
#include <boost/json/object.hpp>
#include <vector>

namespace bench {

/// What results depend on besides the options: the processor, the kernel, the build, and
/// whether any of `all` used the driver.
boost::json::object describe_machine(const std::vector<measurement>& all);

} // namespace bench

#endif
