// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "report.hpp"
#include "figures.hpp"
#include "names.hpp"
#include "table.hpp"
#include <algorithm>
#include <boost/json/serialize.hpp>
#include <ostream>
#include <string>

namespace bench {
namespace {

void print_heading(std::ostream& out, const plan& p, std::size_t runs) {
  const settings& s = p.common;
  // Where the transports are a benchmark's own, so are the sizes.
  if (std::any_of(p.kinds.begin(), p.kinds.end(), [](auto* b) { return b->transports.empty(); })) {
    if (p.sizes.size() == 1)
      out << p.sizes.front() << "-byte messages, ";
    else
      out << "messages of " << p.sizes.size() << " sizes, ";
  }
  out << "CPUs " << s.cpus.first << " and " << s.cpus.second << ", median of " << runs
      << (runs == 1 ? " run" : " runs") << "; channels: policy " << name_of(s.policy) << ", fence "
      << name_of(s.fences) << ", rings of " << s.capacity << " bytes\n";
  if (s.cpus.shared())
    out << "note: both processes share CPU " << s.cpus.first
        << ": they take turns, and yield it where they would spin\n";
}

boost::json::object to_json(const plan& p, const measurement& m,
                            const std::vector<measurement>& all) {
  boost::json::object o;
  o["bench"] = m.kind->name;
  m.kind->identify(o, m);
  if (!m.unsupported.empty()) {
    o["supported"] = false;
    o["reason"] = m.unsupported;
    return o;
  }
  m.kind->describe(o, m, all);
  o["spread_percent"] = rounded(spread_percent(m), 1);
  o["repeat"] = m.runs.size();
  o["cpus"] = std::to_string(p.common.cpus.first) + "," + std::to_string(p.common.cpus.second);
  o["shared_cpu"] = p.common.cpus.shared();
  return o;
}

} // namespace

void write_tables(std::ostream& out, const plan& p, const std::vector<measurement>& all) {
  // As many as were asked for, unless interrupted: then some have one less.
  std::size_t runs = 0;
  for (const measurement& m : all)
    runs = std::max(runs, m.runs.size());
  print_heading(out, p, runs);
  for (const benchmark* kind : p.kinds)
    kind->print(out, p, all);
}

boost::json::array to_json(const plan& p, const std::vector<measurement>& all) {
  boost::json::array rows;
  for (const measurement& m : all)
    rows.push_back(to_json(p, m, all));
  return rows;
}

void write_json(std::ostream& out, const boost::json::array& rows) {
  out << '[';
  const char* separator = "\n  ";
  for (const auto& row : rows) {
    out << separator << boost::json::serialize(row);
    separator = ",\n  ";
  }
  out << "\n]\n";
}

} // namespace bench
