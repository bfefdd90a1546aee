// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_COMMAND_LINE_HPP
#define SYSIPC_BENCH_COMMAND_LINE_HPP

#include "plan.hpp"
#include <string>

namespace bench {

struct command {
  plan what;
  std::string json;   ///< a file, `-` for the standard output, or empty for a table
  std::string report; ///< a directory for results and a report, or empty
  std::string help;   ///< if not empty, all that is asked for
  std::string note;   ///< if not empty, a line about what `all` does not comprise
};

/// @throws usage_error, or another exception that means the same
command parse_command_line(int argc, const char* const* argv);

} // namespace bench

#endif
