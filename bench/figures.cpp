// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "figures.hpp"
#include <algorithm>
#include <functional>
#include <utility>

namespace bench {
namespace {

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::vector<double> of_each_run(const measurement& m, figure f) {
  std::vector<double> result(m.runs.size());
  std::transform(m.runs.begin(), m.runs.end(), result.begin(), f);
  return result;
}

} // namespace

double kicks_avoided_percent(const pair_report& r) {
  const double avoided = static_cast<double>(r.first.kicks_avoided);
  const double chances = avoided + static_cast<double>(r.first.kicks);
  return chances > 0 ? 100 * avoided / chances : 0;
}

double cpu_percent(const pair_report& r) {
  return r.second.seconds > 0 ? 100 * r.second.cpu_seconds / r.second.seconds : 0;
}

double median(const measurement& m, figure f) {
  return median_of(of_each_run(m, f));
}

double spread_percent(const measurement& m) {
  const auto values = of_each_run(m, m.main);
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  const double middle = median_of(values);
  return middle > 0 ? 100 * (*greatest - *least) / middle : 0;
}

double gib_per_second(const measurement& m) {
  constexpr double gib = 1 << 30;
  return median(m, millions_per_second) * 1e6 * static_cast<double>(m.used.size) / gib;
}

double ratio(const measurement& m, const measurement& base) {
  std::vector<double> ratios = of_each_run(m, m.main);
  const std::vector<double> divisors = of_each_run(base, base.main);
  ratios.resize(std::min(ratios.size(), divisors.size())); // the last turn may be incomplete
  std::transform(ratios.begin(), ratios.end(), divisors.begin(), ratios.begin(), std::divides<>());
  return median_of(std::move(ratios));
}

const measurement* find_measured(const std::vector<measurement>& all,
                                 const std::function<bool(const measurement&)>& wanted) {
  const auto it = std::find_if(all.begin(), all.end(), [&](const measurement& candidate) {
    return !candidate.runs.empty() && wanted(candidate);
  });
  return it == all.end() ? nullptr : &*it;
}

const measurement* find_limit(const std::vector<measurement>& all, std::string_view name) {
  return find_measured(all, [&](const measurement& candidate) {
    return candidate.kind->name == "limits" && candidate.name == name;
  });
}

const measurement* find_peer(const std::vector<measurement>& all, const measurement& m,
                             std::string_view transport) {
  return find_measured(all, [&](const measurement& candidate) {
    return candidate.kind == m.kind && candidate.used.size == m.used.size &&
           candidate.name == transport;
  });
}

} // namespace bench
