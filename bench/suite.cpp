// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "suite.hpp"
#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>

namespace bench {
namespace {

std::vector<measurement> prepare(const plan& p) {
  std::vector<measurement> all;
  for (const benchmark* kind : p.kinds) {
    auto some = kind->prepare(p);
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

pair_report run_once(const measurement& m, std::chrono::seconds timeout) {
  return run_pair(m.make(m.used), m.used.cpus, timeout);
}

/// Messages or round trips per second: the side that takes the time knows.
double rate_of(const pair_report& run) {
  return std::max(run.first.per_second, run.second.per_second);
}

/// Chooses the count, so that a run lasts about `duration`.
/** Both sides have to know it beforehand, so short runs find out how fast it goes. */
void calibrate(measurement& m, std::chrono::duration<double> duration) {
  m.used.count = std::clamp<std::uint64_t>(m.used.count / 100, 1, 1000);
  for (;;) {
    m.used.warmup = m.used.count / 10;
    const double wanted = rate_of(run_once(m, m.timeout)) * duration.count();
    const auto count =
        static_cast<std::uint64_t>(std::clamp(wanted, 1.0, static_cast<double>(most_rounds)));
    if (m.used.count >= count / 10) {
      m.used.count = count;
      m.used.warmup = count / 10;
      return;
    }
    m.used.count = std::min(count / 10 + 1, m.used.count * 100); // the first ones were cold
  }
}

class suite {
public:
  suite(const plan& p, const observer& watcher)
      : plan_(p), watcher_(watcher), all_(prepare(p)), broken_(all_.size()) {
    for (const measurement& m : all_)
      if (m.unsupported.empty()) {
        total_ += static_cast<std::size_t>(m.repeat);
        turns_ = std::max(turns_, m.repeat);
      }
  }

  outcome run() {
    outcome result;
    try {
      for (int turn = 0; turn != turns_; ++turn)
        take_turn(turn);
    } catch (const interrupted& end) {
      result.signal = end.signal;
    }
    std::erase_if(all_,
                  [](const measurement& m) { return m.runs.empty() && m.unsupported.empty(); });
    result.all = std::move(all_);
    result.failed = std::find(broken_.begin(), broken_.end(), true) != broken_.end();
    return result;
  }

private:
  void take_turn(int turn) {
    for (std::size_t i = 0; i != all_.size(); ++i) {
      measurement& m = all_[i];
      if (!m.unsupported.empty() || turn >= m.repeat)
        continue;
      watcher_.before(m, done_++, total_);
      if (!broken_[i])
        broken_[i] = !attempt(m);
    }
  }

  bool attempt(measurement& m) {
    std::chrono::seconds timeout = m.timeout;
    try {
      if (plan_.duration && m.counts) {
        if (m.runs.empty())
          calibrate(m, *plan_.duration);
        timeout += std::chrono::ceil<std::chrono::seconds>(4 * *plan_.duration);
      }
      m.runs.push_back(run_once(m, timeout));
      return true;
    } catch (const interrupted&) {
      throw;
    } catch (const std::exception& failure) {
      watcher_.failed(title_of(m) + ": " + failure.what());
      return false;
    }
  }

  const plan& plan_;
  const observer& watcher_;
  std::vector<measurement> all_;
  std::vector<bool> broken_;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
  int turns_ = 0;
};

} // namespace

outcome run_suite(const plan& p, const observer& watcher) {
  return suite(p, watcher).run();
}

} // namespace bench
