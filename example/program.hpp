// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_EXAMPLE_PROGRAM_HPP
#define SYSIPC_ASIO_EXAMPLE_PROGRAM_HPP

#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/program_options.hpp>
#include <boost/system/system_error.hpp>
#include <charconv>
#include <cstdint>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sysipc_asio/error.hpp>
#include <sysipc_asio/options.hpp>

/// What the command lines of the examples have in common.
namespace example {

namespace asio = boost::asio;
namespace po = boost::program_options;
using asio::ip::tcp;
using boost::system::error_code;
using unix_stream = asio::local::stream_protocol;

/// The command line makes no sense.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Something failed, and what it was.
struct failure : std::runtime_error {
  failure(const std::string& what, const error_code& ec)
      : std::runtime_error(what + ": " + reason(ec)) {}

  static std::string reason(const error_code& ec) {
    // "End of file" says little to somebody who opened no file.
    return ec == asio::error::eof ? "the other side closed the connection" : ec.message();
  }
};

/// @throws failure, or usage_error if it is the name of a channel that is wrong
inline void check(const error_code& ec, const std::string& what) {
  if (ec == sysipc_asio::error::invalid_name)
    throw usage_error(what + ": " + ec.message());
  if (ec)
    throw failure(what, ec);
}

/// Why, in one line; without the source location that system_error::what() has.
inline std::string describe(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const boost::system::system_error& e) {
    return failure::reason(e.code());
  } catch (const std::exception& e) {
    return e.what();
  }
}

/// Calls `body` and turns how it ended into an exit status: 0, 1, or 2 for usage errors.
template <typename Body>
int run_program(std::string_view name, Body body) {
  int status = 1;
  try {
    try {
      body();
      return 0;
    } catch (const usage_error&) {
      status = 2;
      throw;
    } catch (const po::error&) {
      status = 2;
      throw;
    }
  } catch (...) {
    std::cerr << name << ": " << describe(std::current_exception()) << '\n';
  }
  return status;
}

/// @returns false if only the help was asked for, which has been printed then.
inline bool parse(int argc, char** argv, const po::options_description& known,
                  po::variables_map& values) {
  namespace style = po::command_line_style;
  const po::positional_options_description none; // else stray words are ignored
  po::store(po::command_line_parser(argc, argv)
                .options(known)
                .positional(none)
                .style(style::unix_style & ~style::allow_guessing)
                .run(),
            values);
  if (values.count("help") != 0) {
    std::cout << known;
    return false;
  }
  po::notify(values);
  return true;
}

/// The number given as `option`, which was declared as std::int64_t: unsigned types accept -1.
inline std::size_t number(const po::variables_map& values, const std::string& option,
                          std::int64_t min, std::int64_t max) {
  const auto n = values[option].as<std::int64_t>();
  if (n < min || n > max)
    throw usage_error("--" + option + " must be from " + std::to_string(min) + " to " +
                      std::to_string(max));
  return static_cast<std::size_t>(n);
}

/// The endpoint that `text` means: 127.0.0.1:80 or [::1]:80.
inline tcp::endpoint tcp_address(const std::string& text) {
  const usage_error wrong("'" + text + "' is not of the form ADDRESS:PORT with a numeric address");
  const auto colon = text.rfind(':');
  if (colon == std::string::npos)
    throw wrong;
  std::string host = text.substr(0, colon);
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets)
    host = host.substr(1, host.size() - 2);
  error_code ec;
  const auto address = asio::ip::make_address(host, ec);
  if (ec || address.is_v6() != brackets)
    throw wrong;
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, port);
  if (error != std::errc() || stop != end)
    throw wrong;
  return {address, port};
}

inline unix_stream::endpoint unix_address(const std::string& path) {
  if (path.empty() || path.size() >= sizeof(sockaddr_un::sun_path))
    throw usage_error("'" + path + "' is empty or too long for the path of a socket");
  return {path};
}

inline sysipc_asio::wait_policy wait_policy(const po::variables_map& values) {
  const auto& name = values["policy"].as<std::string>();
  if (!values["policy"].defaulted() && values.count("name") == 0)
    throw usage_error("--policy is for channels and needs --name");
  if (name == "adaptive")
    return sysipc_asio::wait_policy::adaptive;
  if (name == "busy")
    return sysipc_asio::wait_policy::busy;
  if (name == "sleepy")
    return sysipc_asio::wait_policy::sleepy;
  throw usage_error("--policy must be adaptive, busy or sleepy");
}

} // namespace example

#endif
