// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "command_line.hpp"
#include "processes.hpp"
#include "progress_line.hpp"
#include "report.hpp"
#include "suite.hpp"
#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

namespace {

void require_cpu(int cpu) {
  const auto available = bench::available_cpus();
  if (std::find(available.begin(), available.end(), cpu) == available.end())
    throw std::runtime_error("CPU " + std::to_string(cpu) +
                             " is not available to this process; choose others with --cpus");
}

bench::outcome run_suite(const bench::plan& what) {
  const bench::progress_line line;
  const auto show = [&line](const bench::measurement& m, std::size_t done, std::size_t total) {
    line.show(std::to_string(done + 1) + "/" + std::to_string(total) + "  " + title_of(m));
  };
  const auto complain = [&line](const std::string& failure) {
    line.show({});
    std::cerr << "sysipc-bench: " << failure << '\n';
  };
  return bench::run_suite(what, {show, complain});
}

/// @returns the exit status.
int run(const bench::command& c) {
  require_cpu(c.what.common.cpus.first);
  require_cpu(c.what.common.cpus.second);
  std::ofstream file;
  if (!c.json.empty() && c.json != "-") {
    file.open(c.json); // before minutes of measuring, not after
    if (!file)
      throw std::runtime_error("can't write " + c.json);
  }
  bench::take_over_signals();
  const auto [all, signal, failed] = run_suite(c.what);
  if (signal != 0)
    std::cerr << "sysipc-bench: interrupted; here is what was measured so far\n";
  std::ostream& out = file.is_open() ? file : std::cout;
  if (c.json.empty())
    bench::write_tables(out, c.what, all);
  else
    bench::write_json(out, bench::to_json(c.what, all));
  if (!out.flush())
    throw std::runtime_error("can't write the results");
  return signal != 0 ? 128 + signal : failed ? 1 : 0;
}

} // namespace

int main(int argc, char** argv) {
  bench::command c;
  try {
    c = bench::parse_command_line(argc, argv);
  } catch (const std::exception& failure) {
    std::cerr << "sysipc-bench: " << failure.what() << '\n';
    return 2;
  }
  if (!c.help.empty()) {
    std::cout << c.help;
    return 0;
  }
  if (!c.note.empty())
    std::cerr << "sysipc-bench: " << c.note << '\n';
  try {
    return run(c);
  } catch (const std::exception& failure) {
    std::cerr << "sysipc-bench: " << failure.what() << '\n';
    return 1;
  }
}
