// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "command_line.hpp"
#include "machine.hpp"
#include "processes.hpp"
#include "progress_line.hpp"
#include "report.hpp"
#include "report_directory.hpp"
#include "suite.hpp"
#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
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

/// Where the results go. Opened before minutes of measuring, not after.
class destination {
public:
  explicit destination(const bench::command& c) : as_json_(!c.json.empty()) {
    if (!c.report.empty())
      report_.emplace(c.report);
    if (as_json_ && c.json != "-") {
      file_.open(c.json);
      if (!file_)
        throw std::runtime_error("can't write " + c.json);
    }
  }

  void write(const bench::plan& p, const std::vector<bench::measurement>& all) {
    std::ostream& out = file_.is_open() ? file_ : std::cout;
    if (as_json_)
      bench::write_json(out, bench::to_json(p, all));
    else
      bench::write_tables(out, p, all);
    if (!out.flush())
      throw std::runtime_error("can't write the results");
    if (!report_)
      return;
    auto rows = bench::to_json(p, all);
    rows.push_back(bench::describe_machine(all));
    report_->write(rows);
  }

  void make_report() const {
    if (report_)
      report_->make_report();
  }

private:
  bool as_json_;
  std::ofstream file_;
  std::optional<bench::report_directory> report_;
};

/// @returns the exit status.
int run(const bench::command& c) {
  require_cpu(c.what.common.cpus.first);
  require_cpu(c.what.common.cpus.second);
  destination results(c);
  bench::take_over_signals();
  const auto [all, signal, failed] = run_suite(c.what);
  if (signal != 0)
    std::cerr << "sysipc-bench: interrupted; here is what was measured so far\n";
  results.write(c.what, all);
  if (signal != 0)
    return 128 + signal;
  results.make_report();
  return failed ? 1 : 0;
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
