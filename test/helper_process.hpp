// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_TEST_HELPER_PROCESS_HPP
#define SYSIPC_ASIO_TEST_HELPER_PROCESS_HPP

#include "scratch.hpp"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <initializer_list>
#include <poll.h>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <sysipc_asio/detail/unique_fd.hpp>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace sysipc_asio::test {

/// The program peer.cpp in a process of its own, which does not outlive this object.
class helper_process {
public:
  explicit helper_process(std::initializer_list<std::string> arguments) {
    std::vector<std::string> texts{SYSIPC_ASIO_TEST_PEER};
    texts.insert(texts.end(), arguments);
    std::vector<char*> argv;
    for (auto& text : texts)
      argv.push_back(text.data());
    argv.push_back(nullptr);

    int in[2];
    int out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
      throw std::system_error(errno, std::system_category(), "pipe");
    const detail::unique_fd its_in(in[0]);
    const detail::unique_fd its_out(out[1]);
    in_.reset(in[1]);
    out_.reset(out[0]);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, its_in.get(), 0);
    ::posix_spawn_file_actions_adddup2(&actions, its_out.get(), 1);
    const int failed =
        ::posix_spawn(&pid_, SYSIPC_ASIO_TEST_PEER, &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0)
      throw std::system_error(failed, std::system_category(), "posix_spawn");
  }
  helper_process(const helper_process&) = delete;
  helper_process& operator=(const helper_process&) = delete;
  ~helper_process() {
    if (pid_ > 0) {
      signal(SIGKILL);
      wait();
    }
  }

  void signal(int number) const noexcept { ::kill(pid_, number); }
  pid_t pid() const noexcept { return pid_; }

  /// The exit status as the shell has it.
  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR)
      ;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  /// To its standard input.
  void go() {
    if (::write(in_.get(), "g", 1) != 1)
      throw std::runtime_error("the helper is gone");
  }

  /// True if line() would find something.
  bool has_line() const {
    pollfd entry{out_.get(), POLLIN, 0};
    return ::poll(&entry, 1, 0) == 1;
  }

  /// Of its standard output.
  std::string line() {
    std::string result;
    for (char c = 0; ::read(out_.get(), &c, 1) == 1 && c != '\n';)
      result += c;
    return result;
  }

private:
  pid_t pid_ = -1;
  detail::unique_fd in_;
  detail::unique_fd out_;
};

} // namespace sysipc_asio::test

#endif
