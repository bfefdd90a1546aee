// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_REPORT_HPP
#define SYSIPC_BENCH_REPORT_HPP

#include "benchmark.hpp"
#include <boost/json/array.hpp>
#include <iosfwd>
#include <vector>

namespace bench {

/// Tables for people, with units, and ratios to what was measured in the same run.
void write_tables(std::ostream& out, const plan& p, const std::vector<measurement>& all);

/// A flat object for each measurement.
boost::json::array to_json(const plan& p, const std::vector<measurement>& all);

/// An object a line.
void write_json(std::ostream& out, const boost::json::array& rows);

} // namespace bench

#endif
