// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <fstream>
#include <linux/membarrier.h>
#include <sched.h>
#include <string>
#include <sys/syscall.h>
#include <sysipc_asio/wait.hpp>
#include <thread>
#include <unistd.h>

namespace sysipc_asio {
namespace {

long membarrier(int command) noexcept {
  return ::syscall(SYS_membarrier, command, 0, 0);
}

/// The CPUs that cgroup v2 grants to `path` and each of its parents; a big number if unlimited.
double granted_cpus(std::string path) {
  double result = 1e9;
  for (;;) {
    std::ifstream file("/sys/fs/cgroup" + path + "/cpu.max");
    std::string quota;
    double period = 0;
    if (file >> quota >> period && quota != "max" && period > 0)
      result = std::min(result, std::strtod(quota.c_str(), nullptr) / period);
    const auto slash = path.find_last_of('/');
    if (slash == std::string::npos)
      return result;
    path.erase(slash);
  }
}

/// Nanoseconds that one look of a spin loop takes here.
double spin_step_ns() {
  using clock = std::chrono::steady_clock;
  constexpr int steps = 256;
  double best = 1e9;
  for (int round = 0; round != 8; ++round) { // the least disturbed of several
    const auto start = clock::now();
    for (int i = 0; i != steps; ++i)
      cpu_relax();
    best = std::min(best, std::chrono::duration<double, std::nano>(clock::now() - start).count());
  }
  return std::max(best / steps, 0.25);
}

} // namespace

bool register_asymmetric_fences() noexcept {
  // Registration belongs to the address space: a fork()ed child inherits it, exec() drops it.
  static const bool registered = [] {
    const long offered = membarrier(MEMBARRIER_CMD_QUERY);
    return offered > 0 && (offered & MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0 &&
           membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
  }();
  return registered;
}

void detail::process_wide_fence() noexcept {
  if (membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0) [[likely]]
    return;
  // Refused after it was granted: a seccomp filter that came later. The peer relies on
  // us; its stores reach memory by themselves, in far less than this.
  full_fence();
  std::this_thread::sleep_for(std::chrono::microseconds(100));
  full_fence();
}

int only_cpu() noexcept {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != 1)
    return -1;
  int cpu = 0;
  while (!CPU_ISSET(cpu, &set))
    ++cpu;
  return cpu;
}

bool quota_below_two_cpus() noexcept {
  try {
    std::ifstream file("/proc/self/cgroup");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("0::/"))
        return granted_cpus(line.substr(3)) < 2.0;
  } catch (...) { // no memory: then there is no reason to spin, either
    return true;
  }
  return false;
}

spin_limits spin_limits::for_durations(std::chrono::nanoseconds slice,
                                       std::chrono::nanoseconds total) {
  static const double step = spin_step_ns();
  const auto looks = [](std::chrono::nanoseconds time) {
    return static_cast<std::uint32_t>(
        std::clamp(static_cast<double>(time.count()) / step, 0.0, 1e9));
  };
  return {looks(slice), looks(total)};
}

} // namespace sysipc_asio
