// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <string>
#include <sysipc_asio/error.hpp>

namespace sysipc_asio {
namespace {

class category final : public boost::system::error_category {
public:
  // A fixed id makes codes from different shared objects compare equal.
  constexpr category() noexcept : boost::system::error_category(0x5a1c'9e02'73d4'b86fULL) {}

  const char* name() const noexcept override { return "sysipc_asio"; }

  std::string message(int value) const override { return text(value); }

  const char* message(int value, char*, std::size_t) const noexcept override { return text(value); }

private:
  static const char* text(int value) noexcept {
    switch (static_cast<error>(value)) {
    case error::peer_protocol_violation:
      return "the peer broke the protocol of the shared memory";
    case error::handshake_malformed:
      return "the other end does not speak the channel handshake";
    case error::handshake_version:
      return "the other end speaks no common version of the channel layout";
    case error::handshake_timeout:
      return "the other end did not finish the handshake in time";
    case error::not_admitted:
      return "the credentials of the process were refused";
    case error::bad_peer_descriptor:
      return "a descriptor of the handshake is of the wrong kind, size or "
             "not sealed";
    case error::peer_out_of_resources:
      return "the other end ran out of resources during the handshake";
    case error::backend_unavailable:
      return "the backend asked for is not available";
    case error::operation_in_progress:
      return "an operation of this kind is already in progress";
    case error::invalid_name:
      return "invalid channel name";
    case error::unsafe_directory:
      return "the directory for channel names is not private to this user";
    }
    return "unknown error";
  }
};

} // namespace

const boost::system::error_category& error_category() noexcept {
  static constexpr category instance;
  return instance;
}

} // namespace sysipc_asio
