// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_REPORT_DIRECTORY_HPP
#define SYSIPC_BENCH_REPORT_DIRECTORY_HPP

#include <boost/json/array.hpp>
#include <filesystem>
#include <fstream>

namespace bench {

/// Where `--report` leaves the results, and what is made of them.
class report_directory {
public:
  /// Makes it if need be. Throws if nothing can be written there.
  explicit report_directory(std::filesystem::path path);

  /// results.json
  void write(const boost::json::array& rows);

  /// The charts and tables. Throws, saying how to make them later.
  void make_report() const;

private:
  std::filesystem::path path_;
  std::ofstream results_;
};

} // namespace bench

#endif
