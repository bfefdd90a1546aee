// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_LARGE_PAYLOADS_HPP
#define SYSIPC_BENCH_LARGE_PAYLOADS_HPP

#include "benchmark.hpp"
#include "plan.hpp"
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

/// What `payload` and its limits have in common.
namespace bench {

/// The sizes that were chosen, or else 1 KiB to 64 MiB.
std::vector<std::size_t> payload_sizes(const plan& p);

/// As many messages as make `bytes`, but neither a handful nor millions.
std::uint64_t count_for(std::uint64_t bytes, std::size_t size) noexcept;

/// A tenth of them, or so many that all memory was written once before the measured ones.
std::uint64_t warmup_for(std::uint64_t count) noexcept;

/// "64 KiB"
std::string size_text(std::size_t size);

struct payload_column {
  std::string heading;
  std::function<bool(const measurement&)> holds;
};

/// GiB/s, and the spread in parentheses: a row for each size, a column for each kind. What is
/// not supported is told below.
void print_payloads(std::ostream& out, const std::string& title, const plan& p,
                    const std::vector<payload_column>& columns,
                    const std::vector<measurement>& all);

} // namespace bench

#endif
