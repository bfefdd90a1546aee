// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "report.hpp"
#include "figures.hpp"
#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>

namespace bench {
namespace {

std::string fixed(double value, int digits) {
  std::ostringstream s;
  s << std::fixed << std::setprecision(digits) << value;
  return s.str();
}

std::string text(std::string_view view) {
  return std::string(view);
}

/// Aligned columns, the first to the left. A column without any entry is left out.
class table {
public:
  explicit table(std::vector<std::string> heading) : heading_(std::move(heading)) {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

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

  std::size_t width_of(std::size_t column) const {
    std::size_t width = 0;
    for (const auto& row : rows_)
      width = std::max(width, row[column].size());
    return width == 0 ? 0 : std::max(width, heading_[column].size());
  }

  std::vector<std::string> heading_;
  std::vector<std::vector<std::string>> rows_;
};

/// The limit of the hardware that `m` was run beside, or null.
const measurement* limit_for(const measurement& m, const std::vector<measurement>& all) {
  if (m.kind == bench_kind::limits)
    return nullptr;
  if (measures_time(m))
    return find_limit(all, m);
  // A line a message: at other sizes there is nothing to compare.
  return m.used.size == 64 ? find_limit(all, m) : nullptr;
}

/// A ring alone spins for the answer, and has nobody to kick.
bool has_kicks(const measurement& m) {
  return m.what->kind == family::channel || (m.what->kind == family::ring && !measures_time(m));
}

std::string versus_limit(const measurement& m, const std::vector<measurement>& all) {
  const auto* limit = limit_for(m, all);
  if (limit == nullptr)
    return {};
  return measures_time(m) ? fixed(ratio(m, *limit), 2) + "x"
                          : fixed(100 * ratio(m, *limit), 0) + " %";
}

/// How many times better than a blocking Unix socket.
std::string versus_uds(const measurement& m, const std::vector<measurement>& all) {
  const auto* uds = find_peer(all, m, "uds");
  if (uds == nullptr)
    return {};
  const double times = measures_time(m) ? ratio(*uds, m) : ratio(m, *uds);
  return fixed(times, times < 10 ? 2 : 1) + "x";
}

void print_limits(std::ostream& out, const std::vector<measurement>& all) {
  table t({"limits", "p50 ns", "p99 ns", "p99.9 ns", "M lines/s", "spread"});
  for (const measurement& m : all) {
    if (m.kind != bench_kind::limits)
      continue;
    const figures f = summarize(m);
    const std::string spread = fixed(f.spread_percent, 0) + " %";
    if (measures_time(m))
      t.add({text(m.what->name), fixed(f.p50_ns, 0), fixed(f.p99_ns, 0), fixed(f.p999_ns, 0), "-",
             spread});
    else
      t.add({text(m.what->name), "-", "-", "-", fixed(f.millions_per_second, 2), spread});
  }
  t.print(out);
}

void print_rtt(std::ostream& out, const std::string& title, std::size_t size,
               const std::vector<measurement>& all) {
  table t({title, "p50 ns", "p99 ns", "p99.9 ns", "spread", "vs limit", "vs uds"});
  for (const measurement& m : all) {
    if (m.kind != bench_kind::rtt || m.used.size != size)
      continue;
    const figures f = summarize(m);
    t.add({text(m.what->name), fixed(f.p50_ns, 0), fixed(f.p99_ns, 0), fixed(f.p999_ns, 0),
           fixed(f.spread_percent, 0) + " %", versus_limit(m, all), versus_uds(m, all)});
  }
  t.print(out);
}

void print_throughput(std::ostream& out, const std::string& title, std::size_t size,
                      const std::vector<measurement>& all) {
  table t({title, "M msg/s", "MiB/s", "kicks", "kicks avoided", "spread", "vs limit", "vs uds"});
  for (const measurement& m : all) {
    if (m.kind != bench_kind::throughput || m.used.size != size)
      continue;
    const figures f = summarize(m);
    const double mib = f.millions_per_second * 1e6 * static_cast<double>(m.used.size) / 1048576;
    t.add({text(m.what->name), fixed(f.millions_per_second, f.millions_per_second < 0.1 ? 5 : 2),
           fixed(mib, 0), has_kicks(m) ? fixed(f.kicks, 0) : "-",
           has_kicks(m) ? fixed(f.kicks_avoided_percent, 4) + " %" : "-",
           fixed(f.spread_percent, 0) + " %", versus_limit(m, all), versus_uds(m, all)});
  }
  t.print(out);
}

/// With the digits that mean something; a double would be written with all of them.
double rounded(double value, int digits) {
  const double scale = std::pow(10.0, digits);
  return std::round(value * scale) / scale;
}

std::int64_t whole(double value) {
  return std::llround(value);
}

void describe_transport(boost::json::object& o, const measurement& m) {
  o["transport"] = m.what->name;
  if (m.what->kind != family::foreign) {
    const side_report& agreed = m.runs.front().first;
    o["backend"] = name_of(agreed.backend);
    // A bare ring has no policy: it spins.
    o["policy"] =
        name_of(m.what->kind == family::channel ? m.used.policy : sysipc_asio::wait_policy::busy);
    o["fence"] = name_of(agreed.fences);
    o["capacity"] = m.used.capacity;
  }
  o["size"] = m.used.size;
}

boost::json::object describe(const measurement& m, const std::vector<measurement>& all) {
  const figures f = summarize(m);
  boost::json::object o;
  o["bench"] = name_of(m.kind);
  if (m.kind == bench_kind::limits)
    o["metric"] = m.what->name;
  else
    describe_transport(o, m);
  if (measures_time(m)) {
    o["rounds"] = m.used.count;
    o["rtt_p50_ns"] = whole(f.p50_ns);
    o["rtt_p99_ns"] = whole(f.p99_ns);
    o["rtt_p999_ns"] = whole(f.p999_ns);
  } else {
    o["messages"] = m.used.count;
    o[m.kind == bench_kind::limits ? "mlines_per_s" : "mmsg_per_s"] =
        rounded(f.millions_per_second, 6);
  }
  if (has_kicks(m)) {
    o["kicks"] = whole(f.kicks);
    o["kicks_avoided_percent"] = rounded(f.kicks_avoided_percent, 4);
    o["sleeps"] = whole(f.sleeps);
  }
  if (const auto* limit = limit_for(m, all))
    o["vs_limit"] = rounded(ratio(m, *limit), 3);
  o["spread_percent"] = rounded(f.spread_percent, 1);
  return o;
}

} // namespace

void write_tables(std::ostream& out, const plan& p, const std::vector<measurement>& all) {
  const settings& s = p.common;
  // As many as were asked for, unless interrupted: then some have one less.
  std::size_t runs = 0;
  for (const measurement& m : all)
    runs = std::max(runs, m.runs.size());
  if (p.sizes.size() == 1)
    out << p.sizes.front() << "-byte messages";
  else
    out << "messages of " << p.sizes.size() << " sizes";
  out << ", CPUs " << s.cpus.first << " and " << s.cpus.second << ", median of " << runs
      << (runs == 1 ? " run" : " runs") << "; channels: policy " << name_of(s.policy) << ", fence "
      << name_of(s.fences) << ", rings of " << s.capacity << " bytes\n";
  if (s.cpus.shared())
    out << "note: both processes share CPU " << s.cpus.first
        << ": they take turns, and yield it where they would spin\n";
  for (const bench_kind kind : p.kinds) {
    if (kind == bench_kind::limits) {
      print_limits(out, all);
      continue;
    }
    for (const std::size_t size : p.sizes) {
      std::string title = text(name_of(kind));
      if (p.sizes.size() != 1)
        title += ", " + std::to_string(size) + " bytes";
      if (kind == bench_kind::rtt)
        print_rtt(out, title, size, all);
      else
        print_throughput(out, title, size, all);
    }
  }
}

void write_json(std::ostream& out, const plan& p, const std::vector<measurement>& all) {
  out << '[';
  const char* separator = "\n  ";
  for (const measurement& m : all) {
    boost::json::object o = describe(m, all);
    o["repeat"] = m.runs.size();
    o["cpus"] = std::to_string(p.common.cpus.first) + "," + std::to_string(p.common.cpus.second);
    o["shared_cpu"] = p.common.cpus.shared();
    out << separator << boost::json::serialize(o);
    separator = ",\n  ";
  }
  out << "\n]\n";
}

} // namespace bench
