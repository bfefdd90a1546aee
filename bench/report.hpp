// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_REPORT_HPP
#define SYSIPC_BENCH_REPORT_HPP

#include "suite.hpp"
#include <iosfwd>
#include <vector>

namespace bench {

/// Tables for people, with units, and ratios to what was measured in the same run.
void write_tables(std::ostream& out, const plan& p, const std::vector<measurement>& all);

/// One array of flat objects.
void write_json(std::ostream& out, const plan& p, const std::vector<measurement>& all);

} // namespace bench

#endif
