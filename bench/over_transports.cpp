// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "over_transports.hpp"
#include "figures.hpp"
#include "names.hpp"
#include "table.hpp"
#include <algorithm>
#include <sstream>
#include <sysipc_asio/layout.hpp>

namespace bench {

void check_sizes(const plan& p) {
  namespace layout = sysipc_asio::layout;
  const auto capacity = layout::make_geometry(p.common.capacity, layout::page).ring_capacity;
  const std::size_t size = *std::max_element(p.sizes.begin(), p.sizes.end());
  for (const subject* t : p.transports) {
    if (t->kind != family::foreign && size > layout::max_payload(capacity)) {
      std::ostringstream s;
      s << "--size " << size << " does not fit into a ring of " << capacity
        << " bytes (--capacity); the most is " << layout::max_payload(capacity);
      throw usage_error(s.str());
    }
    if (size > t->max_size) {
      std::ostringstream s;
      s << "--size " << size << ": " << t->name << " carries at most " << t->max_size << " bytes";
      throw usage_error(s.str());
    }
  }
}

std::uint64_t bounded_count(std::uint64_t usual, std::size_t size) {
  constexpr std::uint64_t most_bytes = std::uint64_t(4) << 30;
  return std::min(usual, std::max<std::uint64_t>(most_bytes / size, 100));
}

measurement over_transport(const benchmark& kind, const plan& p, const subject& what,
                           std::size_t size) {
  measurement m;
  m.kind = &kind;
  m.name = what.name;
  m.detail = std::to_string(size) + " bytes";
  m.transport = &what;
  m.used = p.common;
  m.used.size = size;
  m.repeat = p.repeat_or(usual_repeat);
  return m;
}

void set_count(measurement& m, const std::optional<std::uint64_t>& given, std::uint64_t usual,
               const plan& p) {
  m.used.count = given.value_or(usual);
  m.used.warmup = p.warmup.value_or(m.used.count / 10);
}

std::string title_of(const benchmark& kind, const plan& p, std::size_t size) {
  std::string title(kind.name);
  if (p.sizes.size() != 1)
    title += ", " + std::to_string(size) + " bytes";
  return title;
}

std::string versus_uds(const measurement& m, const std::vector<measurement>& all,
                       bool less_is_better) {
  const auto* uds = find_peer(all, m, "uds");
  if (uds == nullptr)
    return {};
  const double times = less_is_better ? ratio(*uds, m) : ratio(m, *uds);
  return fixed(times, times < 10 ? 2 : 1) + "x";
}

void identify_transport(boost::json::object& o, const measurement& m) {
  o["transport"] = m.name;
  if (m.transport->kind != family::foreign) {
    const bool run = !m.runs.empty();
    o["backend"] = name_of(run ? m.runs.front().first.backend : m.used.backend);
    // A bare ring has no policy: it spins.
    o["policy"] = name_of(m.transport->kind == family::channel ? m.used.policy
                                                               : sysipc_asio::wait_policy::busy);
    o["fence"] = name_of(run ? m.runs.front().first.fences : m.used.fences);
    o["capacity"] = m.used.capacity;
  }
  o["size"] = m.used.size;
}

void describe_kicks(boost::json::object& o, const measurement& m, figure sleeps) {
  o["kicks"] = whole(median(m, kicks));
  o["kicks_avoided_percent"] = rounded(median(m, kicks_avoided_percent), 4);
  o["sleeps"] = whole(median(m, sleeps));
}

} // namespace bench
