// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_CHANNEL_PAIR_HPP
#define SYSIPC_ASIO_CHANNEL_PAIR_HPP

#include <boost/system/system_error.hpp>
#include <sysipc_asio/channel.hpp>
#include <sysipc_asio/detail/endpoint.hpp>
#include <utility>

namespace sysipc_asio {

/// Makes a channel with both ends in this process, for two threads or for tests.
/**
 * Each end sends through a ring of its own `send_capacity`. For the two sides of
 * a fork(), connect after it: a channel is not inherited. See accept_on().
 *
 * @param ec system errors; on failure neither channel is open.
 */
template <typename Executor1, typename Executor2>
std::pair<basic_channel<Executor1>, basic_channel<Executor2>>
make_channel_pair(const Executor1& first, const Executor2& second,
                  const channel_options& first_options, const channel_options& second_options,
                  error_code& ec) {
  std::pair<basic_channel<Executor1>, basic_channel<Executor2>> result{
      basic_channel<Executor1>(first), basic_channel<Executor2>(second)};
  auto endpoints =
      detail::make_endpoint_pair(first_options, second_options, backend::automatic, ec);
  if (ec)
    return result;
  result.first = detail::open_channel(first, std::move(endpoints.first), first_options, ec);
  if (!ec)
    result.second = detail::open_channel(second, std::move(endpoints.second), second_options, ec);
  if (ec)
    result.first.close();
  return result;
}

/// As above; throws boost::system::system_error.
template <typename Executor1, typename Executor2>
std::pair<basic_channel<Executor1>, basic_channel<Executor2>>
make_channel_pair(const Executor1& first, const Executor2& second,
                  const channel_options& options = {}) {
  error_code ec;
  auto result = make_channel_pair(first, second, options, options, ec);
  if (ec)
    throw boost::system::system_error(ec, "make_channel_pair");
  return result;
}

} // namespace sysipc_asio

#endif
