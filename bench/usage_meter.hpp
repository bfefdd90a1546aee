// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_USAGE_METER_HPP
#define SYSIPC_BENCH_USAGE_METER_HPP

#include "workload.hpp"
#include <chrono>
#include <cstdint>
#include <sys/resource.h>
#include <sys/time.h>

namespace bench {

/// What this process, with all its threads, uses from here on.
class usage_meter {
public:
  usage_meter() noexcept : usage_(now()), start_(clock::now()) {}

  void report_to(side_report& report) const noexcept {
    const rusage after = now();
    report.seconds = std::chrono::duration<double>(clock::now() - start_).count();
    report.cpu_seconds = seconds(after.ru_utime) + seconds(after.ru_stime) -
                         seconds(usage_.ru_utime) - seconds(usage_.ru_stime);
    report.voluntary_switches = static_cast<std::uint64_t>(after.ru_nvcsw - usage_.ru_nvcsw);
    report.involuntary_switches = static_cast<std::uint64_t>(after.ru_nivcsw - usage_.ru_nivcsw);
  }

private:
  using clock = std::chrono::steady_clock;

  static rusage now() noexcept {
    rusage result{};
    ::getrusage(RUSAGE_SELF, &result);
    return result;
  }

  static double seconds(const timeval& t) noexcept {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  }

  rusage usage_;
  clock::time_point start_;
};

} // namespace bench

#endif
