// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "payload.hpp"
#include "round_trips.hpp"
#include "workload.hpp"
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <unistd.h>
#include <vector>

/// What a Unix stream socket gives to blocking code.
namespace bench {
namespace {

void write_all(int fd, const std::vector<std::byte>& message) {
  for (std::size_t done = 0; done != message.size();) {
    const ssize_t n = ::write(fd, message.data() + done, message.size() - done);
    if (n >= 0)
      done += static_cast<std::size_t>(n);
    else if (errno != EINTR)
      throw std::system_error(errno, std::system_category(), "write");
  }
}

void read_all(int fd, std::vector<std::byte>& message) {
  for (std::size_t done = 0; done != message.size();) {
    const ssize_t n = ::read(fd, message.data() + done, message.size() - done);
    if (n > 0)
      done += static_cast<std::size_t>(n);
    else if (n == 0)
      throw std::runtime_error("the peer closed the socket");
    else if (errno != EINTR)
      throw std::system_error(errno, std::system_category(), "read");
  }
}

side_report ask(unique_fd socket, const settings& s) {
  round_trips trips(s.count);
  const auto question = make_payload(s.size);
  std::vector<std::byte> reply(s.size);
  const auto trip = [&] {
    write_all(socket.get(), question);
    read_all(socket.get(), reply);
  };
  for (std::uint64_t i = 0; i != s.warmup; ++i)
    trip();
  trips.start();
  for (std::uint64_t i = 0; i != s.count; ++i) {
    trip();
    trips.lap();
  }
  expect_payload(reply);
  side_report report;
  trips.report_to(report);
  return report;
}

side_report answer(unique_fd socket, const settings& s) {
  std::vector<std::byte> message(s.size);
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i) {
    read_all(socket.get(), message);
    write_all(socket.get(), message);
  }
  return {};
}

side_report send(unique_fd socket, const settings& s) {
  const auto message = make_payload(s.size);
  for (std::uint64_t i = 0; i != s.warmup + s.count; ++i)
    write_all(socket.get(), message);
  return {};
}

side_report receive(unique_fd socket, const settings& s) {
  std::vector<std::byte> message(s.size);
  for (std::uint64_t i = 0; i != s.warmup; ++i)
    read_all(socket.get(), message);
  const auto start = round_trips::clock::now();
  for (std::uint64_t i = 0; i != s.count; ++i)
    read_all(socket.get(), message);
  side_report report;
  report.per_second = rate_since(start, s.count);
  expect_payload(message);
  return report;
}

} // namespace

workload uds_rtt(const settings& s) {
  return {[s](unique_fd socket) { return ask(std::move(socket), s); },
          [s](unique_fd socket) { return answer(std::move(socket), s); }};
}

workload uds_throughput(const settings& s) {
  return {[s](unique_fd socket) { return send(std::move(socket), s); },
          [s](unique_fd socket) { return receive(std::move(socket), s); }};
}

} // namespace bench
