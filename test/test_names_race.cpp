// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// Two processes find the same stale socket file and both want the name.

#include "scratch.hpp"
#include "two_processes.hpp"
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>
#include <string>
#include <sys/un.h>
#include <sysipc_asio/acceptor.hpp>
#include <sysipc_asio/connect.hpp>

using namespace sysipc_asio;
using namespace sysipc_asio::test;
using detail::unique_fd;

namespace {

void leave_stale_socket(const std::string& path) {
  const unique_fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::system_error(errno, std::system_category(), "bind");
}

char receive_byte(int socket) {
  char byte = 0;
  if (::read(socket, &byte, 1) != 1)
    ::_exit(0); // the test is over
  return byte;
}

void send_byte(int socket, char byte) {
  if (::send(socket, &byte, 1, MSG_NOSIGNAL) != 1)
    throw std::system_error(errno, std::system_category(), "send");
}

/// Wants the name at each 'g'; says 'w' and serves one client, or 'l'.
[[noreturn]] void contend(int socket, const std::string& path) {
  for (;;) {
    asio::io_context context;
    acceptor a(context);
    error_code ec;
    receive_byte(socket);
    a.open(path, {}, ec);
    if (!ec) {
      send_byte(socket, 'w');
      error_code failure;
      channel client = a.accept(failure);
      client.try_push(::getpid(), failure);
      receive_byte(socket); // closes and removes the file
      a.close();
    } else {
      send_byte(socket, ec == asio::error::address_in_use ? 'l' : 'e');
      receive_byte(socket);
    }
    send_byte(socket, 'd');
  }
}

struct contender {
  explicit contender(const std::string& path) : process(start(path, socket)) {}

  unique_fd socket;
  child_process process;

private:
  static pid_t start(const std::string& path, unique_fd& ours) {
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
      throw std::system_error(errno, std::system_category(), "socketpair");
    ours.reset(fds[0]);
    unique_fd theirs(fds[1]);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ours.reset();
      contend(theirs.get(), path);
    }
    return pid;
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(of_two_that_race_for_a_stale_name_exactly_one_gets_it) {
  const scratch_directory directory;
  const std::string path = directory.path() / "contended";
  contender one(path);
  contender other(path);
  for (int round = 0; round != 200; ++round) {
    leave_stale_socket(path);
    send_byte(one.socket.get(), 'g');
    send_byte(other.socket.get(), 'g');
    std::string answers;
    answers += receive_byte(one.socket.get());
    answers += receive_byte(other.socket.get());
    BOOST_TEST_CONTEXT("round " << round)
    BOOST_REQUIRE((answers == "wl" || answers == "lw"));

    asio::io_context context;
    channel client = connect(context.get_executor(), path);
    BOOST_TEST(client.blocking_pop<pid_t>() == client.credentials().pid);
    for (const auto* c : {&one, &other})
      send_byte(c->socket.get(), 'c');
    for (const auto* c : {&one, &other})
      BOOST_TEST(receive_byte(c->socket.get()) == 'd');
    BOOST_TEST(!std::filesystem::exists(path));
  }
}
