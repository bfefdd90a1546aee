// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "command_line.hpp"
#include "processes.hpp"
#include "report.hpp"
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

void run(const bench::command& c) {
  require_cpu(c.what.common.cpus.first);
  require_cpu(c.what.common.cpus.second);
  std::ofstream file;
  if (!c.json.empty() && c.json != "-") {
    file.open(c.json); // before minutes of measuring, not after
    if (!file)
      throw std::runtime_error("can't write " + c.json);
  }
  bench::take_over_signals();
  const auto all = bench::run_suite(c.what);
  std::ostream& out = file.is_open() ? file : std::cout;
  if (c.json.empty())
    bench::write_tables(out, c.what, all);
  else
    bench::write_json(out, c.what, all);
  if (!out.flush())
    throw std::runtime_error("can't write the results");
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
    run(c);
  } catch (const std::exception& failure) {
    std::cerr << "sysipc-bench: " << failure.what() << '\n';
    return 1;
  }
}
