// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "figures.hpp"
#include <algorithm>
#include <functional>
#include <utility>

namespace bench {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

template <typename F>
std::vector<double> of_each_run(const measurement& m, F figure) {
  std::vector<double> result;
  for (const pair_report& run : m.runs)
    result.push_back(static_cast<double>(figure(run)));
  return result;
}

double avoided_percent(const side_report& sender) {
  const double avoided = static_cast<double>(sender.kicks_avoided);
  const double chances = avoided + static_cast<double>(sender.kicks);
  return chances > 0 ? 100 * avoided / chances : 0;
}

std::vector<double> main_figures(const measurement& m) {
  return of_each_run(m, [&m](const pair_report& r) {
    return measures_time(m) ? r.first.p50_ns : r.second.per_second / 1e6;
  });
}

} // namespace

figures summarize(const measurement& m) {
  const auto main_figure = main_figures(m);
  const auto [least, greatest] = std::minmax_element(main_figure.begin(), main_figure.end());
  const double middle = median(main_figure);
  figures f;
  f.spread_percent = middle > 0 ? 100 * (*greatest - *least) / middle : 0;
  f.kicks = median(of_each_run(m, [](const pair_report& r) { return r.first.kicks; }));
  f.kicks_avoided_percent =
      median(of_each_run(m, [](const pair_report& r) { return avoided_percent(r.first); }));
  if (measures_time(m)) {
    f.p50_ns = middle;
    f.p99_ns = median(of_each_run(m, [](const pair_report& r) { return r.first.p99_ns; }));
    f.p999_ns = median(of_each_run(m, [](const pair_report& r) { return r.first.p999_ns; }));
    f.sleeps = median(of_each_run(m, [](const pair_report& r) { return r.first.sleeps; }));
  } else {
    f.millions_per_second = middle;
    f.sleeps = median(of_each_run(m, [](const pair_report& r) { return r.second.sleeps; }));
  }
  return f;
}

double ratio(const measurement& m, const measurement& base) {
  std::vector<double> ratios = main_figures(m);
  const std::vector<double> divisors = main_figures(base);
  ratios.resize(std::min(ratios.size(), divisors.size())); // the last turn may be incomplete
  std::transform(ratios.begin(), ratios.end(), divisors.begin(), ratios.begin(), std::divides<>());
  return median(std::move(ratios));
}

const measurement* find_limit(const std::vector<measurement>& all, const measurement& m) {
  const auto it = std::find_if(all.begin(), all.end(), [&m](const measurement& candidate) {
    return candidate.kind == bench_kind::limits && measures_time(candidate) == measures_time(m);
  });
  return it == all.end() ? nullptr : &*it;
}

const measurement* find_peer(const std::vector<measurement>& all, const measurement& m,
                             std::string_view transport) {
  const auto it = std::find_if(all.begin(), all.end(), [&](const measurement& candidate) {
    return candidate.kind == m.kind && candidate.used.size == m.used.size &&
           candidate.what->name == transport;
  });
  return it == all.end() ? nullptr : &*it;
}

} // namespace bench
