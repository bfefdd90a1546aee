// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_TEST_SCRATCH_HPP
#define SYSIPC_ASIO_TEST_SCRATCH_HPP

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <dirent.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <string>
#include <sysipc_asio/error.hpp>
#include <system_error>
#include <thread>

namespace sysipc_asio {

inline std::ostream& operator<<(std::ostream& out, error e) {
  return out << make_error_code(e).message();
}

} // namespace sysipc_asio

namespace sysipc_asio::test {

/// Looks again and again until `condition` holds; false if it never did, in ten seconds.
template <typename F>
bool eventually(F condition, std::chrono::seconds limit = std::chrono::seconds(10)) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline)
      return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

/// A directory of this object's own, in which bare channel names lie meanwhile.
class scratch_directory {
public:
  scratch_directory() {
    std::string path = "/tmp/sysipc-test-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr)
      throw std::system_error(errno, std::system_category(), "mkdtemp");
    path_ = path;
    if (const char* const before = std::getenv("XDG_RUNTIME_DIR"))
      before_ = before;
    ::setenv("XDG_RUNTIME_DIR", path_.c_str(), 1);
  }
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;
  ~scratch_directory() {
    if (before_)
      ::setenv("XDG_RUNTIME_DIR", before_->c_str(), 1);
    else
      ::unsetenv("XDG_RUNTIME_DIR");
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const noexcept { return path_; }
  /// Where the socket of a bare name lies.
  std::filesystem::path of(const std::string& bare_name) const {
    return path_ / "sysipc" / bare_name;
  }

private:
  std::filesystem::path path_;
  std::optional<std::string> before_;
};

/// The descriptors of this process, and its mappings of channels' memory.
struct holdings {
  std::ptrdiff_t descriptors = 0;
  std::ptrdiff_t mappings = 0;

  static holdings now() {
    holdings result;
    if (DIR* const directory = ::opendir("/proc/self/fd")) {
      while (::readdir(directory) != nullptr)
        ++result.descriptors;
      ::closedir(directory);
    }
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
      if (line.find("memfd:sysipc_asio") != std::string::npos)
        ++result.mappings;
    return result;
  }

  friend bool operator==(const holdings&, const holdings&) = default;
  friend std::ostream& operator<<(std::ostream& out, const holdings& h) {
    return out << h.descriptors << " descriptors and " << h.mappings << " mappings of channels";
  }
};

/// True as soon as this process holds what it held before. Other threads may be letting go.
inline bool nothing_leaked_since(const holdings& before) {
  return eventually([&] { return holdings::now() == before; });
}

} // namespace sysipc_asio::test

#endif
