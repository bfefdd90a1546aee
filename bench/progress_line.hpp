// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_PROGRESS_LINE_HPP
#define SYSIPC_BENCH_PROGRESS_LINE_HPP

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unistd.h>

namespace bench {

/// A line on the standard error that is written over and over, if that is a terminal that can.
class progress_line {
public:
  progress_line() = default;
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line() { show({}); }

  /// The text instead of the one before. Unbuffered: nothing is left for fork() to copy.
  void show(const std::string& text) const noexcept {
    if (terminal_)
      ::dprintf(STDERR_FILENO, "\r\033[K%s", text.c_str());
  }

private:
  static bool can_erase() noexcept {
    const char* const kind = std::getenv("TERM");
    return kind != nullptr && std::string_view(kind) != "dumb";
  }

  bool terminal_ = ::isatty(STDERR_FILENO) == 1 && can_erase();
};

} // namespace bench

#endif
