// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "stream_end.hpp"
#include "workload.hpp"
#include <array>
#include <fcntl.h>
#include <memory>

/// What two pipes, one each way, give to blocking code.
namespace bench {
namespace {

struct pipe_ends {
  unique_fd reading;
  unique_fd writing;
};

pipe_ends make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::system_category(), "pipe2");
  return {unique_fd(fds[0]), unique_fd(fds[1])};
}

/// The pipes are there before fork(); each side keeps its ends.
auto opener(const settings& s) {
  using pipes = std::array<pipe_ends, 2>;
  const auto both = std::make_shared<pipes>(pipes{make_pipe(), make_pipe()});
  return [both, size = s.size](unique_fd, role as) {
    pipe_ends& out = (*both)[as == role::first ? 0 : 1];
    pipe_ends& in = (*both)[as == role::first ? 1 : 0];
    out.reading.reset();
    in.writing.reset();
    return stream_end(std::move(in.reading), std::move(out.writing), size);
  };
}

} // namespace

workload pipe_rtt(const settings& s) {
  return blocking_rtt(s, opener(s));
}

workload pipe_throughput(const settings& s) {
  return blocking_throughput(s, opener(s));
}

} // namespace bench
