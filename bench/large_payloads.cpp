// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "large_payloads.hpp"
#include "figures.hpp"
#include "table.hpp"
#include <algorithm>
#include <utility>

namespace bench {
namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;

std::string cell(const measurement* m) {
  if (m == nullptr)
    return {};
  if (!m->unsupported.empty())
    return "-";
  return fixed(gib_per_second(*m), 2) + " (" + percent(spread_percent(*m)) + ")";
}

using remark = std::pair<std::string, std::string>;

void note(std::vector<remark>& remarks, remark r) {
  if (std::find(remarks.begin(), remarks.end(), r) == remarks.end())
    remarks.push_back(std::move(r));
}

} // namespace

std::vector<std::size_t> payload_sizes(const plan& p) {
  if (p.sizes_chosen)
    return p.sizes;
  return {kib, 16 * kib, 64 * kib, 256 * kib, mib, 4 * mib, 8 * mib, 16 * mib, 64 * mib};
}

std::uint64_t count_for(std::uint64_t bytes, std::size_t size) noexcept {
  return std::clamp<std::uint64_t>(bytes / size, 8, 200'000);
}

std::uint64_t warmup_for(std::uint64_t count) noexcept {
  constexpr std::uint64_t once_round = 9; // a ring of four has room for up to nine
  return std::max(count / 10, once_round);
}

std::string size_text(std::size_t size) {
  if (size % mib == 0)
    return std::to_string(size / mib) + " MiB";
  if (size % kib == 0)
    return std::to_string(size / kib) + " KiB";
  return std::to_string(size) + " bytes";
}

void print_payloads(std::ostream& out, const std::string& title, const plan& p,
                    const std::vector<payload_column>& columns,
                    const std::vector<measurement>& all) {
  std::vector<std::string> heading{title};
  for (const payload_column& c : columns)
    heading.push_back(c.heading);
  table t(std::move(heading));
  std::vector<remark> remarks;
  for (const std::size_t size : payload_sizes(p)) {
    std::vector<std::string> row{size_text(size)};
    for (const payload_column& c : columns) {
      const auto it = std::find_if(all.begin(), all.end(), [&](const measurement& m) {
        return m.used.size == size && c.holds(m);
      });
      row.push_back(cell(it == all.end() ? nullptr : &*it));
      if (it != all.end() && !it->unsupported.empty())
        note(remarks, {c.heading, it->unsupported});
    }
    const bool measured = std::any_of(row.begin() + 1, row.end(),
                                      [](const std::string& text) { return !text.empty(); });
    if (measured) // else it was interrupted before
      t.add(std::move(row));
  }
  for (const auto& [name, reason] : remarks)
    t.add_unsupported(name, reason);
  t.print(out);
}

} // namespace bench
