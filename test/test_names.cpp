// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// Where names lead, whose socket file is whose, and who may come in.

#include "scratch.hpp"
#include "server.hpp"
#include "two_processes.hpp"
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <functional>
#include <sys/stat.h>
#include <sys/un.h>
#include <sysipc_asio/detail/name.hpp>
#include <sysipc_asio/detail/unique_fd.hpp>
#include <unistd.h>

using namespace sysipc_asio;
using namespace sysipc_asio::test;
using detail::unique_fd;
namespace fs = std::filesystem;

namespace {

error_code outcome_of_open(std::string_view name) {
  asio::io_context context;
  acceptor a(context);
  error_code ec;
  a.open(name, {}, ec);
  BOOST_TEST(a.is_open() == !ec);
  return ec;
}

error_code outcome_of_connect(std::string_view name, const connect_options& options = {}) {
  asio::io_context context;
  error_code ec;
  connect(context.get_executor(), name, options, ec);
  error_code async_ec;
  async_connect(asio::any_io_executor(context.get_executor()), name, options,
                [&](error_code result, const channel&) { async_ec = result; });
  context.run();
  BOOST_TEST(ec == async_ec);
  return ec;
}

/// A socket file that nobody listens on any more.
void leave_stale_socket(const fs::path& path) {
  const unique_fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.string().copy(address.sun_path, sizeof address.sun_path - 1);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::system_error(errno, std::system_category(), "bind");
}

std::string abstract_name() {
  static int n = 0;
  return "@sysipc-test-" + std::to_string(::getpid()) + "-" + std::to_string(n++);
}

/// Runs `f` in a child; its exit status.
int in_child(const std::function<int()>& f) {
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0)
    ::_exit(f());
  return child_process(pid).wait();
}

} // namespace

BOOST_AUTO_TEST_CASE(a_bare_name_lies_in_the_runtime_directory) {
  const scratch_directory directory;
  server s({}, "bare");
  BOOST_TEST(fs::is_socket(directory.of("bare")));
  BOOST_TEST((fs::status(directory.path() / "sysipc").permissions() == fs::perms::owner_all));
  BOOST_TEST(serves(s));
}

BOOST_AUTO_TEST_CASE(a_name_with_a_slash_is_a_path) {
  const scratch_directory directory;
  server s({}, directory.path() / "socket");
  BOOST_TEST(fs::is_socket(directory.path() / "socket"));
  BOOST_TEST(serves(s));
  BOOST_TEST(!fs::exists(directory.path() / "sysipc"));
}

BOOST_AUTO_TEST_CASE(a_relative_path_works_as_well) {
  const scratch_directory directory;
  const fs::path before = fs::current_path();
  fs::current_path(directory.path());
  {
    server s({}, "./socket");
    BOOST_TEST(serves(s));
  }
  BOOST_TEST(fs::is_empty(directory.path()));
  fs::current_path(before);
}

BOOST_AUTO_TEST_CASE(an_abstract_name_leaves_no_file) {
  const scratch_directory directory;
  server s({}, abstract_name());
  BOOST_TEST(serves(s));
  BOOST_TEST(fs::is_empty(directory.path()));
  BOOST_TEST(outcome_of_open(s.name()) == asio::error::address_in_use);
}

BOOST_AUTO_TEST_CASE(names_that_can_not_be_are_refused) {
  const scratch_directory directory;
  using namespace std::string_view_literals;
  const std::string too_long(108, 'x');
  for (const std::string_view name : {""sv, "."sv, ".."sv, "@"sv, "a\nb"sv, "a\x7f"sv, "a\0b"sv,
                                      "\0"sv, "@a\0"sv, "./a\0"sv, std::string_view(too_long)}) {
    BOOST_TEST(outcome_of_open(name) == error::invalid_name);
    BOOST_TEST(outcome_of_connect(name) == error::invalid_name);
  }
  BOOST_TEST(outcome_of_open("@" + too_long) == error::invalid_name);
  BOOST_TEST(outcome_of_open("/tmp/" + too_long) == error::invalid_name);
}

BOOST_AUTO_TEST_CASE(the_longest_names_that_fit_work) {
  const scratch_directory directory;
  const std::string abstract = abstract_name();
  server a({}, abstract + std::string(107 - abstract.size(), 'x'));
  BOOST_TEST(serves(a));
  const std::string prefix = directory.of("").string();
  server b({}, std::string(107 - prefix.size(), 'x'));
  BOOST_TEST(serves(b));
  BOOST_TEST(outcome_of_open(b.name() + "x") == error::invalid_name);
}

BOOST_AUTO_TEST_CASE(names_are_bytes) {
  const scratch_directory directory;
  server s({}, "käse & brot *");
  BOOST_TEST(serves(s));
}

BOOST_AUTO_TEST_CASE(a_directory_that_others_can_change_is_not_used) {
  const scratch_directory directory;
  const fs::path sysipc = directory.path() / "sysipc";
  fs::create_directory(sysipc);
  for (const unsigned mode : {0755U, 0710U, 0701U, 0770U, 01777U}) {
    BOOST_REQUIRE(::chmod(sysipc.c_str(), mode) == 0);
    BOOST_TEST(outcome_of_open("name") == error::unsafe_directory);
    BOOST_TEST(outcome_of_connect("name") == error::unsafe_directory);
  }
  BOOST_REQUIRE(::chmod(sysipc.c_str(), 0700) == 0);
  BOOST_TEST(!outcome_of_open("name"));
}

BOOST_AUTO_TEST_CASE(a_directory_that_is_a_link_or_a_file_is_not_used) {
  const scratch_directory directory;
  const fs::path sysipc = directory.path() / "sysipc";
  const fs::path elsewhere = directory.path() / "elsewhere";
  fs::create_directory(elsewhere);
  fs::permissions(elsewhere, fs::perms::owner_all);
  fs::create_symlink(elsewhere, sysipc);
  BOOST_TEST(outcome_of_open("name") == error::unsafe_directory);
  fs::remove(sysipc);
  std::ofstream(sysipc) << "a file";
  BOOST_TEST(outcome_of_open("name") == error::unsafe_directory);
}

BOOST_AUTO_TEST_CASE(a_directory_of_another_user_is_not_used) {
  if (::geteuid() != 0)
    return;
  const scratch_directory directory;
  const fs::path sysipc = directory.path() / "sysipc";
  fs::create_directory(sysipc);
  fs::permissions(sysipc, fs::perms::owner_all);
  BOOST_REQUIRE(::chown(sysipc.c_str(), 65534, 65534) == 0);
  BOOST_TEST(outcome_of_open("name") == error::unsafe_directory);
  BOOST_TEST(outcome_of_connect("name") == error::unsafe_directory);
}

BOOST_AUTO_TEST_CASE(a_name_on_which_somebody_listens_is_in_use) {
  const scratch_directory directory;
  server s;
  BOOST_TEST(outcome_of_open(s.name()) == asio::error::address_in_use);
  BOOST_TEST(serves(s));
  BOOST_TEST(s.unclaimed() == 0U);
}

BOOST_AUTO_TEST_CASE(files_that_are_no_sockets_are_in_use_and_stay) {
  const scratch_directory directory;
  const fs::path file = directory.path() / "file";
  std::ofstream(file) << "precious";
  BOOST_TEST(outcome_of_open(file.string()) == asio::error::address_in_use);
  BOOST_TEST(fs::file_size(file) == 8U);

  const fs::path link = directory.path() / "link";
  const fs::path target = directory.path() / "target";
  leave_stale_socket(target);
  fs::create_symlink(target, link);
  BOOST_TEST(outcome_of_open(link.string()) == asio::error::address_in_use);
  BOOST_TEST(fs::is_symlink(link));
  BOOST_TEST(fs::is_socket(target));

  const fs::path subdirectory = directory.path() / "subdirectory";
  fs::create_directory(subdirectory);
  BOOST_TEST(outcome_of_open(subdirectory.string()) == asio::error::address_in_use);
  BOOST_TEST(fs::is_directory(subdirectory));
}

BOOST_AUTO_TEST_CASE(a_stale_socket_is_replaced) {
  const scratch_directory directory;
  const fs::path path = directory.path() / "stale";
  leave_stale_socket(path);
  BOOST_TEST(outcome_of_connect(path.string()) == asio::error::connection_refused);
  server s({}, path);
  BOOST_TEST(serves(s));
}

BOOST_AUTO_TEST_CASE(nobody_is_an_error_of_its_own) {
  const scratch_directory directory;
  const auto no_file = boost::system::errc::no_such_file_or_directory;
  BOOST_TEST(outcome_of_connect("nobody") == no_file);
  BOOST_TEST(!fs::exists(directory.path() / "sysipc"));
  BOOST_TEST(outcome_of_connect((directory.path() / "nobody").string()) == no_file);
  BOOST_TEST(outcome_of_connect(abstract_name()) == asio::error::connection_refused);
  BOOST_TEST(outcome_of_open((directory.path() / "no/such/directory").string()) == no_file);
}

BOOST_AUTO_TEST_CASE(close_removes_the_file_and_the_name_can_be_had_again) {
  const scratch_directory directory;
  for (int i = 0; i != 3; ++i) {
    server s({}, "again");
    BOOST_TEST(serves(s));
  }
  BOOST_TEST(!fs::exists(directory.of("again")));
}

BOOST_AUTO_TEST_CASE(close_removes_only_its_own_file) {
  const scratch_directory directory;
  asio::io_context context;
  acceptor first(context, "name");
  fs::remove(directory.of("name"));
  server second({}, "name");
  first.close();
  BOOST_TEST(fs::is_socket(directory.of("name")));
  BOOST_TEST(serves(second));

  acceptor third(context, "third");
  fs::remove(directory.of("third"));
  std::ofstream(directory.of("third")) << "precious";
  third.close();
  BOOST_TEST(fs::file_size(directory.of("third")) == 8U);
}

BOOST_AUTO_TEST_CASE(a_forked_child_removes_nothing) {
  const scratch_directory directory;
  server s;
  asio::io_context context;
  std::optional<acceptor> inherited;
  inherited.emplace(context, "inherited");
  const int status = in_child([&] {
    inherited.reset();
    return 0;
  });
  BOOST_TEST(status == 0);
  BOOST_TEST(fs::is_socket(directory.of("inherited")));
  inherited.reset();
  BOOST_TEST(!fs::exists(directory.of("inherited")));
}

BOOST_AUTO_TEST_CASE(who_is_not_admitted_is_told_so) {
  const scratch_directory directory;
  std::vector<peer_credentials> asked;
  listen_options options;
  options.admit = [&](const peer_credentials& peer) {
    asked.push_back(peer);
    return false;
  };
  server s(options);
  // Often: the refusal may be there before the connector has said a word.
  const int rounds = 500;
  int told = 0;
  for (int i = 0; i != rounds; ++i) {
    asio::io_context context;
    error_code ec;
    connect(context.get_executor(), s.name(), {}, ec);
    told += ec == error::not_admitted;
  }
  BOOST_TEST(told == rounds);
  BOOST_TEST(eventually([&] { return s.failed_handshakes() == rounds; }));
  BOOST_TEST(asked.size() == std::size_t{rounds});
  BOOST_TEST(asked.front().pid == ::getpid());
  BOOST_TEST(asked.front().uid == ::geteuid());
}

BOOST_AUTO_TEST_CASE(a_connector_can_refuse_a_listener) {
  const scratch_directory directory;
  server s;
  connect_options options;
  peer_credentials seen;
  options.admit = [&](const peer_credentials& peer) {
    seen = peer;
    return false;
  };
  BOOST_TEST(outcome_of_connect(s.name(), options) == error::not_admitted);
  BOOST_TEST(seen.pid == ::getpid());
  BOOST_TEST(serves(s));
}

BOOST_AUTO_TEST_CASE(another_user_is_not_admitted_unless_he_is_root) {
  if (::geteuid() != 0)
    return;
  const std::string name = abstract_name();
  asio::io_context context;
  acceptor listener(context, name);
  const auto connect_as_nobody = [&] {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0)
      return 1;
    asio::io_context own;
    error_code ec;
    connect_options any;
    any.admit = [](const peer_credentials&) { return true; };
    connect(own.get_executor(), name, any, ec);
    return ec == error::not_admitted ? 0 : 2;
  };
  listener.async_accept(
      [](error_code ec, const channel&) { BOOST_TEST(ec == asio::error::operation_aborted); });
  std::thread running([&] { context.run(); });
  BOOST_TEST(in_child(connect_as_nobody) == 0);
  BOOST_TEST(eventually([&] { return listener.failed_handshakes() == 1; }));
  listener.close();
  running.join();
}

BOOST_AUTO_TEST_CASE(the_default_admits_the_same_user_and_root) {
  const uid_t self = ::geteuid();
  BOOST_TEST(same_user_or_root({1, self, 1}));
  BOOST_TEST(same_user_or_root({1, 0, 0}));
  BOOST_TEST(!same_user_or_root({1, self + 1, 0}));
  BOOST_TEST(!same_user_or_root({}));
}
