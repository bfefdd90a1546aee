// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "two_ends.hpp"
#include "every_form.hpp"
#include <boost/asio/co_spawn.hpp>
#include <sysipc_asio/channel_pair.hpp>

namespace sysipc_asio::test {

two_ends::two_ends(const channel_options& options) : here(context), there(context) {
  const asio::any_io_executor executor = context.get_executor();
  auto ends = make_channel_pair(executor, executor, options);
  here = std::move(ends.first);
  there = std::move(ends.second);
}

std::size_t two_ends::poll() {
  context.restart();
  return context.poll();
}

std::size_t fill(channel& ch, std::size_t size) {
  const std::string bytes(size, 'f');
  std::size_t n = 0;
  error_code ec;
  for (const asio::const_buffer b :
       {asio::const_buffer(bytes.data(), size), asio::const_buffer()}) {
    while (ch.try_send(b, ec))
      ++n;
    BOOST_TEST(ec == asio::error::would_block);
  }
  return n;
}

std::size_t drain(channel& ch) {
  error_code ec;
  return ch.consume([](std::span<const std::byte>) {}, static_cast<std::size_t>(-1), ec);
}

error_code run(two_ends& ends, asio::awaitable<void> coroutine) {
  std::optional<error_code> result;
  asio::co_spawn(ends.context, std::move(coroutine),
                 [&](const std::exception_ptr& e) { result = code_of(e); });
  BOOST_REQUIRE(ends.run_until([&] { return result.has_value(); }));
  return *result;
}

} // namespace sysipc_asio::test
