// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <sysipc_asio/detail/name.hpp>
#include <sysipc_asio/error.hpp>
#include <unistd.h>

namespace sysipc_asio::detail {
namespace {

error_code last_error() noexcept {
  return {errno, boost::system::system_category()};
}

/// A directory that belongs to this user and that nobody else can change.
bool is_own_directory(const std::string& path, mode_t forbidden) noexcept {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & forbidden) == 0;
}

std::string directory_for_bare_names() {
  if (const char* base = ::secure_getenv("XDG_RUNTIME_DIR"); base != nullptr && *base == '/')
    return std::string(base) + "/sysipc";
  const std::string uid = std::to_string(::geteuid());
  if (const std::string base = "/run/user/" + uid; is_own_directory(base, 0))
    return base + "/sysipc";
  return "/tmp/sysipc-" + uid;
}

std::string path_for_bare_name(std::string_view name, bool create, error_code& ec) {
  const std::string directory = directory_for_bare_names();
  if (create && ::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    ec = last_error();
  else if (::access(directory.c_str(), F_OK) != 0)
    ec = last_error();
  else if (!is_own_directory(directory, 077))
    ec = error::unsafe_directory;
  return directory + "/" + std::string(name);
}

bool is_plain(std::string_view name) noexcept {
  return !name.empty() && name != "." && name != ".." &&
         std::none_of(name.begin(), name.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

} // namespace

socket_address resolve_name(std::string_view name, bool create, error_code& ec) {
  ec = {};
  socket_address result;
  result.address.sun_family = AF_UNIX;
  std::string text; // of sun_path, without a terminator
  if (!is_plain(name) || name == "@") {
    ec = error::invalid_name;
  } else if (name.front() == '@') {
    text.assign(1, '\0').append(name.substr(1));
  } else {
    text = name.find('/') != std::string_view::npos ? std::string(name)
                                                    : path_for_bare_name(name, create, ec);
    result.path = text;
  }
  if (!ec && text.size() >= sizeof result.address.sun_path)
    ec = error::invalid_name;
  if (ec)
    return {};
  std::memcpy(result.address.sun_path, text.data(), text.size());
  // An abstract name has no terminator: every byte of the size belongs to it.
  result.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + text.size() +
                                       (result.path.empty() ? 0 : 1));
  return result;
}

} // namespace sysipc_asio::detail
