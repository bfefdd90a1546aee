// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "report_directory.hpp"
#include "report.hpp"
#include <array>
#include <csignal>
#include <memory>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <system_error>
#include <utility>

namespace bench {
namespace {

/// For a child: what this process blocks for itself it would inherit.
class default_signals {
public:
  default_signals() {
    sigset_t none;
    sigemptyset(&none);
    ::posix_spawnattr_init(&value_);
    ::posix_spawnattr_setsigmask(&value_, &none);
    ::posix_spawnattr_setflags(&value_, POSIX_SPAWN_SETSIGMASK);
  }
  default_signals(const default_signals&) = delete;
  default_signals& operator=(const default_signals&) = delete;
  ~default_signals() { ::posix_spawnattr_destroy(&value_); }

  const posix_spawnattr_t* get() const noexcept { return &value_; }

private:
  posix_spawnattr_t value_;
};

/// Runs a program of the PATH until it ends. @returns why it failed, or nothing.
std::string run(std::string program, std::string script, std::string argument) {
  const std::array<char*, 4> argv{program.data(), script.data(), argument.data(), nullptr};
  pid_t pid = -1;
  const int error =
      ::posix_spawnp(&pid, program.c_str(), nullptr, default_signals().get(), argv.data(), environ);
  if (error != 0)
    return program + ": " + std::generic_category().message(error);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR)
      return "waitpid: " + std::generic_category().message(errno);
  if (WIFSIGNALED(status))
    return script + ": signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0)
    return script + ": exit status " + std::to_string(WEXITSTATUS(status));
  return {};
}

} // namespace

report_directory::report_directory(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error)
    throw std::runtime_error("can't make the directory " + path_.string() + ": " + error.message());
  results_.open(path_ / "results.json");
  if (!results_)
    throw std::runtime_error("can't write " + (path_ / "results.json").string());
}

void report_directory::write(const boost::json::array& rows) {
  write_json(results_, rows);
  results_.close();
  if (!results_)
    throw std::runtime_error("can't write the results");
}

void report_directory::make_report() const {
  const std::string script = SYSIPC_BENCH_REPORT_SCRIPT;
  const std::string failure = run("python3", script, path_.string());
  if (!failure.empty())
    throw std::runtime_error("the results are in " + (path_ / "results.json").string() +
                             ", but no report was made (" + failure + "); to make it: python3 " +
                             script + " " + path_.string());
}

} // namespace bench
