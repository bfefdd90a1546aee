// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "processes.hpp"
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <type_traits>
#include <unistd.h>
#include <utility>

namespace bench {
namespace {

using clock = std::chrono::steady_clock;

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::system_category(), what);
}

/// What a child writes to its pipe, once. Short enough that the write is atomic.
struct verdict {
  bool failed = false;
  side_report report{};
  std::array<char, 256> error{};
};
static_assert(std::is_trivially_copyable_v<verdict> && sizeof(verdict) <= 4096);

int& termination_signals() {
  static int fd = -1;
  return fd;
}

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  return set;
}

int take_signal() {
  signalfd_siginfo info{};
  if (::read(termination_signals(), &info, sizeof info) != sizeof info)
    throw_errno("signalfd");
  return static_cast<int>(info.ssi_signo);
}

void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0)
    throw_errno("sched_setaffinity");
}

verdict perform(const side& part, unique_fd socket, int cpu) {
  verdict result;
  try {
    pin(cpu);
    result.report = part(std::move(socket));
  } catch (const std::exception& failure) {
    result.failed = true;
    std::strncpy(result.error.data(), failure.what(), result.error.size() - 1);
  }
  return result;
}

/// A side's process, seen from the parent, which kills and reaps it.
class child {
public:
  /// `unwanted`: the other side's end of the socketpair. The child must not keep it
  /// open, or it would never see its peer's death.
  child(const char* name, const side& part, unique_fd socket, const unique_fd* unwanted, int cpu)
      : name_(std::string(name) + " side (CPU " + std::to_string(cpu) + ")") {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      throw_errno("pipe2");
    pipe_ = unique_fd(ends[0]);
    unique_fd writing_end(ends[1]);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0)
      throw_errno("fork");
    if (pid_ != 0)
      return;

    // The parent may have died already, which prctl() would not tell.
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent)
      ::_exit(1);
    // A terminal sends its signals to this process, too. They stay blocked: it is the
    // parent who ends a run, and must not take it for a failure.
    std::signal(SIGPIPE, SIG_IGN); // a dead peer is an error like others
    if (unwanted != nullptr)
      ::close(unwanted->get());
    const verdict result = perform(part, std::move(socket), cpu);
    // No destructors and no stdio buffers: they are the parent's.
    ::_exit(::write(writing_end.get(), &result, sizeof result) == sizeof result ? 0 : 1);
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child() { end(); }

  /// For poll(): readable when there is a verdict, or the child is dead. -1 when done.
  int pipe() const noexcept { return pipe_.get(); }

  /// Takes the verdict.
  void collect() {
    verdict v;
    const ssize_t n = ::read(pipe_.get(), &v, sizeof v);
    pipe_.reset();
    if (n != static_cast<ssize_t>(sizeof v))
      throw std::runtime_error(name_ + " died: " + cause_of_death());
    if (v.failed)
      throw std::runtime_error(name_ + ": " + v.error.data());
    report_ = v.report;
  }

  const side_report& report() const noexcept { return report_; }

private:
  std::string cause_of_death() {
    int status = 0;
    const pid_t reaped = ::waitpid(pid_, &status, 0);
    pid_ = -1;
    if (reaped < 0)
      return "cause unknown";
    if (WIFSIGNALED(status))
      return std::string("signal ") + ::strsignal(WTERMSIG(status));
    return "exit status " + std::to_string(WEXITSTATUS(status));
  }

  void end() noexcept {
    if (pid_ <= 0)
      return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  std::string name_;
  unique_fd pipe_;
  pid_t pid_ = -1;
  side_report report_{};
};

/// Waits until both have reported.
void await_both(child& first, child& second, clock::time_point deadline) {
  while (first.pipe() >= 0 || second.pipe() >= 0) {
    // Those that are done are -1, which poll() passes over.
    std::array<pollfd, 3> fds{{{first.pipe(), POLLIN, 0},
                               {second.pipe(), POLLIN, 0},
                               {termination_signals(), POLLIN, 0}}};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock::now()).count();
    const int n = ::poll(fds.data(), fds.size(), static_cast<int>(std::max<long>(left, 0)));
    if (n < 0 && errno != EINTR)
      throw_errno("poll");
    if (n == 0)
      throw std::runtime_error("a run timed out");
    if (n < 0)
      continue;
    if (fds[2].revents != 0)
      throw interrupted(take_signal());
    if (fds[0].revents != 0)
      first.collect();
    if (fds[1].revents != 0)
      second.collect();
  }
}

} // namespace

std::vector<int> available_cpus() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0)
    throw_errno("sched_getaffinity");
  std::vector<int> result;
  for (int cpu = 0; cpu != CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set))
      result.push_back(cpu);
  return result;
}

void take_over_signals() {
  const sigset_t set = handled_signals();
  if (::sigprocmask(SIG_BLOCK, &set, nullptr) != 0)
    throw_errno("sigprocmask");
  termination_signals() = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (termination_signals() < 0)
    throw_errno("signalfd");
}

pair_report run_pair(const workload& work, const placement& cpus, std::chrono::seconds timeout) {
  const clock::time_point deadline = clock::now() + timeout;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw_errno("socketpair");
  unique_fd for_first(ends[0]);
  unique_fd for_second(ends[1]);
  // Each constructor consumes an end, so that the parent keeps neither.
  child first("the first", work.first, std::move(for_first), &for_second, cpus.first);
  child second("the second", work.second, std::move(for_second), nullptr, cpus.second);
  await_both(first, second, deadline);
  return {first.report(), second.report()};
}

} // namespace bench
