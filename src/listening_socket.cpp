// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <boost/asio/error.hpp>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sysipc_asio/detail/listening_socket.hpp>
#include <sysipc_asio/detail/name.hpp>
#include <thread>
#include <unistd.h>
#include <utility>

namespace sysipc_asio::detail {
namespace {

error_code last_error() noexcept {
  return {errno, boost::system::system_category()};
}

/// Keeps other listeners from replacing or removing files of a directory meanwhile.
/**
 * Between bind() and listen() a live socket looks stale, and between the look
 * and the unlink() a stale one may have been replaced.
 */
class directory_lock {
public:
  /// `patience` is for honest neighbours, who hold it for an instant.
  directory_lock(const std::string& file, std::chrono::milliseconds patience, error_code& ec) {
    const auto slash = file.find_last_of('/');
    const std::string directory = file.substr(0, slash + 1);
    struct stat status {};
    if (::stat(directory.c_str(), &status) != 0) {
      ec = last_error();
      return;
    }
    // In a directory of somebody else's, such as /tmp, anybody could hold the lock.
    if (status.st_uid != ::geteuid() || (status.st_mode & S_IWOTH) != 0)
      return;
    fd_.reset(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd_) {
      ec = last_error();
      return;
    }
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) {
        ec = last_error();
        return;
      }
      if (std::chrono::steady_clock::now() > deadline) {
        ec = asio::error::timed_out;
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

private:
  unique_fd fd_;
};

unique_fd make_socket() noexcept {
  return unique_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// True if the file is a socket that nobody listens on.
bool is_stale(const socket_address& where) noexcept {
  struct stat status {};
  if (::lstat(where.path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode))
    return false;
  const unique_fd probe = make_socket();
  return probe && ::connect(probe.get(), where.get(), where.size) != 0 && errno == ECONNREFUSED;
}

bool bind_socket(int fd, const socket_address& where, error_code& ec) {
  ec = {};
  if (::bind(fd, where.get(), where.size) == 0)
    return true;
  ec = last_error();
  return false;
}

} // namespace

listening_socket& listening_socket::operator=(listening_socket&& other) noexcept {
  if (this != &other) {
    remove_file();
    fd_ = std::move(other.fd_);
    path_ = std::exchange(other.path_, {});
    device_ = other.device_;
    inode_ = other.inode_;
    owner_ = other.owner_;
  }
  return *this;
}

listening_socket listening_socket::open(std::string_view name, int backlog, error_code& ec) {
  const socket_address where = resolve_name(name, true, ec);
  if (ec)
    return {};
  listening_socket result;
  result.fd_ = make_socket();
  if (!result.fd_) {
    ec = last_error();
    return {};
  }
  if (where.path.empty()) {
    if (bind_socket(result.native_handle(), where, ec) &&
        ::listen(result.native_handle(), backlog) != 0)
      ec = last_error();
    return ec ? listening_socket() : std::move(result);
  }

  const directory_lock lock(where.path, std::chrono::seconds(2), ec);
  if (ec)
    return {};
  if (!bind_socket(result.native_handle(), where, ec) && ec == asio::error::address_in_use &&
      is_stale(where)) {
    ::unlink(where.path.c_str());
    bind_socket(result.native_handle(), where, ec);
  }
  if (ec)
    return {};
  struct stat status {};
  if (::lstat(where.path.c_str(), &status) != 0 || ::listen(result.native_handle(), backlog) != 0) {
    ec = last_error();
    ::unlink(where.path.c_str());
    return {};
  }
  result.path_ = where.path;
  result.device_ = status.st_dev;
  result.inode_ = status.st_ino;
  result.owner_ = ::getpid();
  return result;
}

void listening_socket::remove_file() noexcept {
  if (path_.empty() || owner_ != ::getpid()) // a fork()ed child is not the owner
    return;
  try {
    error_code ec;
    const directory_lock lock(path_, std::chrono::milliseconds(100), ec);
    struct stat status {};
    if (!ec && ::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ &&
        status.st_ino == inode_)
      ::unlink(path_.c_str());
  } catch (...) { // no memory: the file stays, and is stale
  }
  path_.clear();
}

} // namespace sysipc_asio::detail
