// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "serialized_rounds.hpp"
#include "workload.hpp"
#include <fcntl.h>
#include <memory>
#include <stdexcept>
#include <sysipc_asio/detail/endpoint.hpp>
#include <sysipc_asio/detail/handshake.hpp>
#include <sysipc_asio/wait.hpp>
#include <system_error>
#include <utility>

/// What a channel sleeps on and is woken with, without its rings and without Asio.
namespace bench {
namespace {

namespace detail = sysipc_asio::detail;

detail::endpoint open(unique_fd socket, const settings& s, role as) {
  constexpr std::chrono::seconds timeout(5);
  if (::fcntl(socket.get(), F_SETFL, O_NONBLOCK) != 0)
    throw std::system_error(errno, std::system_category(), "fcntl");
  sysipc_asio::listen_options listen;
  listen.backend = s.backend;
  listen.channel.fences = s.fences;
  sysipc_asio::connect_options connect;
  connect.channel.fences = s.fences;
  const auto handshake =
      as == role::first
          ? detail::make_listener_handshake(
                std::move(socket), std::make_shared<const sysipc_asio::listen_options>(listen))
          : detail::make_connector_handshake(std::move(socket), connect);
  boost::system::error_code ec;
  detail::endpoint result = detail::run_blocking(*handshake, timeout, ec);
  if (ec)
    throw std::system_error(ec, "handshake");
  return result;
}

/// Says that it sleeps, looks once more, and sleeps: a receiver that never spins.
class doorbell_rung {
public:
  explicit doorbell_rung(detail::endpoint e)
      : endpoint_(std::move(e)), arm_(endpoint_.own.words().rx_arm),
        gate_(endpoint_.peer.words().rx_arm, endpoint_.fences),
        kind_(endpoint_.backend == sysipc_asio::backend::kernel ? detail::bell_kind::endpoint_data
                                                                : detail::bell_kind::pipe) {}

  void wake(round_word&) {
    if (gate_.due())
      endpoint_.data_kick.kick();
  }

  void await(const round_word& word, std::uint32_t round) {
    const auto here = [&] { return word.load(std::memory_order_acquire) == round; };
    while (!here()) {
      arm_.arm(endpoint_.fences);
      const auto heard =
          here() ? detail::bell::quiet : detail::wait_bell(endpoint_.data_bell.get(), kind_);
      arm_.disarm();
      if (heard == detail::bell::hung_up && !here()) // its last round may have been the last thing
        throw std::runtime_error("the other side is gone");
    }
  }

  side_report report() const noexcept {
    side_report result;
    result.backend = endpoint_.backend;
    result.fences = endpoint_.fences;
    return result;
  }

private:
  detail::endpoint endpoint_;
  sysipc_asio::arm_word arm_;
  sysipc_asio::kick_gate gate_;
  detail::bell_kind kind_;
};

} // namespace

workload doorbell_rounds(const settings& s) {
  return serialized_rounds(
      s, [s](unique_fd socket, role as) { return doorbell_rung(open(std::move(socket), s, as)); });
}

} // namespace bench
