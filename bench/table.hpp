// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_TABLE_HPP
#define SYSIPC_BENCH_TABLE_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

/// What results are written with: for people, and as JSON.
namespace bench {

inline std::string fixed(double value, int digits) {
  std::ostringstream s;
  s << std::fixed << std::setprecision(digits) << value;
  return s.str();
}

inline std::string percent(double value, int digits = 0) {
  return fixed(value, digits) + " %";
}

/// With the digits that mean something; a double would be written with all of them.
inline double rounded(double value, int digits) {
  const double scale = std::pow(10.0, digits);
  return std::round(value * scale) / scale;
}

inline std::int64_t whole(double value) {
  return std::llround(value);
}

/// Aligned columns, the first to the left. A column without any entry is left out.
class table {
public:
  explicit table(std::vector<std::string> heading) : heading_(std::move(heading)) {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  /// Tells, in place of figures, why there are none.
  void add_unsupported(std::string name, const std::string& reason) {
    add({std::move(name) + ": " + reason});
  }

  /// Nothing, if an interruption left nothing to print.
  void print(std::ostream& out) const {
    if (rows_.empty())
      return;
    out << '\n';
    print_row(out, heading_);
    for (const auto& row : rows_)
      print_row(out, row);
  }

private:
  void print_row(std::ostream& out, const std::vector<std::string>& row) const {
    for (std::size_t column = 0; column != row.size(); ++column) {
      const std::size_t width = width_of(column);
      if (column == 0)
        out << std::left << std::setw(static_cast<int>(width)) << row[column] << std::right;
      else if (width != 0)
        out << "  " << std::setw(static_cast<int>(width)) << row[column];
    }
    out << '\n';
  }

  /// A row of one cell is a remark, as long as it likes.
  std::size_t width_of(std::size_t column) const {
    std::size_t width = 0;
    for (const auto& row : rows_)
      if (row.size() > std::max<std::size_t>(column, 1))
        width = std::max(width, row[column].size());
    return width == 0 ? (column == 0 ? heading_[0].size() : 0)
                      : std::max(width, heading_[column].size());
  }

  std::vector<std::string> heading_;
  std::vector<std::vector<std::string>> rows_;
};

} // namespace bench

#endif
