// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_TEMPORARY_DIRECTORY_HPP
#define SYSIPC_BENCH_TEMPORARY_DIRECTORY_HPP

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace bench {

/// A directory for sockets that must have a path; it goes with all that is in it.
/**
 * A workload owns it, so that it belongs to the process that starts the sides and is
 * removed however they end.
 */
class temporary_directory {
public:
  temporary_directory() {
    std::string path = std::filesystem::temp_directory_path() / "sysipc-bench-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr)
      throw std::system_error(errno, std::system_category(), "mkdtemp");
    path_ = path;
  }
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;
  ~temporary_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const noexcept { return path_; }

private:
  std::filesystem::path path_;
};

} // namespace bench

#endif
