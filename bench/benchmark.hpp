// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_BENCHMARK_HPP
#define SYSIPC_BENCH_BENCHMARK_HPP

#include "plan.hpp"
#include "processes.hpp"
#include "settings.hpp"
#include "subject.hpp"
#include "workload.hpp"
#include <boost/json/object.hpp>
#include <chrono>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// A number that a run has found out.
using figure = double (*)(const pair_report&);

/// One line of the outcome: what is run, and what each run found.
struct measurement {
  const benchmark* kind = nullptr;
  std::string_view name;              ///< of the transport, the limit or the like
  std::string detail;                 ///< what else the progress line says, or empty
  const subject* transport = nullptr; ///< the entry of the table that it is, if it is one
  settings used{};
  std::function<workload(const settings&)> make; ///< for one run
  figure main = nullptr;                         ///< whose spread is told, and of which ratios are
  int repeat = 1;
  bool counts = true; ///< --duration may choose `used.count`
  std::chrono::seconds timeout{120};
  std::string unsupported; ///< why it can't be run here; it is listed, nevertheless
  std::vector<pair_report> runs;
};

/// Lists what is measured, and knows how it is to be told.
struct benchmark {
  std::string_view name;
  std::string_view help;
  /// Throws usage_error at what is sensible by itself but not for this; may be null.
  void (*check)(const plan& p);
  std::vector<measurement> (*prepare)(const plan& p);
  /// Finds its own measurements, and those to compare with, among all.
  void (*print)(std::ostream& out, const plan& p, const std::vector<measurement>& all);
  /// The members that tell one measurement from the others.
  void (*identify)(boost::json::object& o, const measurement& m);
  /// The members that hold its figures. Only for one that was run.
  void (*describe)(boost::json::object& o, const measurement& m,
                   const std::vector<measurement>& all);
  /// The transports that it has instead of those of the table.
  std::span<const std::string_view> transports{};
};

/// "rtt of uds, 64 bytes"
std::string title_of(const measurement& m);

/// In the order in which they are run and reported.
std::span<const benchmark* const> benchmarks() noexcept;

} // namespace bench

#endif
