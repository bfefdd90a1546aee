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

void check_size(const plan& p, const subject& what, std::size_t size) {
  namespace layout = sysipc_asio::layout;
  const auto capacity = layout::make_geometry(p.common.capacity, layout::page).ring_capacity;
  std::ostringstream s;
  if (what.kind == family::ring && size > layout::max_payload(capacity))
    s << "--size " << size << " does not fit into a ring of " << capacity
      << " bytes (--capacity); the most is " << layout::max_payload(capacity);
  else if (size > what.max_size)
    s << "--size " << size << ": " << what.name << " carries at most " << what.max_size << " bytes";
  else
    return;
  throw usage_error(s.str());
}

void check_sizes(const plan& p) {
  for (const subject* t : p.transports)
    check_size(p, *t, *std::max_element(p.sizes.begin(), p.sizes.end()));
}

std::size_t single_size(const plan& p) {
  return p.sizes.size() == 1 ? p.sizes.front() : 64;
}

const subject* find_transport(const plan& p, std::string_view name) {
  const auto it = std::find_if(p.transports.begin(), p.transports.end(),
                               [&](const subject* t) { return t->name == name; });
  return it == p.transports.end() ? nullptr : *it;
}

void check_channel(const plan& p) {
  if (const subject* channel = find_transport(p, "channel"))
    check_size(p, *channel, single_size(p));
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

namespace {

void identify_rings(boost::json::object& o, const measurement& m) {
  o["fence"] = name_of(m.runs.empty() ? m.used.fences : m.runs.front().first.fences);
  o["capacity"] = m.used.capacity;
}

void identify_inline_limit(boost::json::object& o, const measurement& m) {
  if (m.used.inline_limit != sysipc_asio::automatic_size)
    o["inline_limit"] = m.used.inline_limit;
}

} // namespace

sysipc_asio::backend backend_of(const measurement& m) noexcept {
  return m.runs.empty() ? m.used.backend : m.runs.front().first.backend;
}

void identify_policy(boost::json::object& o, const measurement& m) {
  o["transport"] = m.name;
  if (m.transport->kind == family::foreign)
    return;
  o["backend"] = name_of(backend_of(m));
  // A bare ring has no policy: it spins.
  o["policy"] = name_of(m.transport->kind == family::channel ? m.used.policy
                                                             : sysipc_asio::wait_policy::busy);
}

void identify_channel(boost::json::object& o, const measurement& m) {
  o["backend"] = name_of(backend_of(m));
  o["policy"] = name_of(m.used.policy);
  identify_rings(o, m);
  identify_inline_limit(o, m);
}

void identify_transport(boost::json::object& o, const measurement& m) {
  identify_policy(o, m);
  if (m.transport->kind != family::foreign)
    identify_rings(o, m);
  if (m.transport->kind == family::channel)
    identify_inline_limit(o, m);
  o["size"] = m.used.size;
}

void describe_kicks(boost::json::object& o, const measurement& m, figure sleeps) {
  o["kicks"] = whole(median(m, kicks));
  o["kicks_avoided_percent"] = rounded(median(m, kicks_avoided_percent), 4);
  o["sleeps"] = whole(median(m, sleeps));
}

} // namespace bench
