// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "every_form.hpp"
#include <boost/asio/use_awaitable.hpp>

namespace sysipc_asio::test {
namespace {

using asio::awaitable;

awaitable<void> co_receive_into(channel& ch, asio::mutable_buffer b, std::string& to,
                                error_code* ec) {
  std::size_t n = 0;
  if (ec != nullptr)
    n = co_await ch.receive(b, *ec);
  else
    n = co_await ch.receive(b);
  to.assign(static_cast<const char*>(b.data()), std::min(n, b.size()));
}
} // namespace

const std::array<named<receive_form>, 7> receive_into_forms{{
    {"try_receive into, error_code",
     [](two_ends&, channel& ch, std::size_t size) {
       outcome r{{}, std::string(size, '-')};
       const auto n = ch.try_receive(asio::buffer(r.bytes), r.ec);
       BOOST_TEST(n.has_value() == !r.ec);
       r.bytes.resize(n.value_or(0));
       return r;
     }},
    {"try_receive into, throwing",
     [](two_ends&, channel& ch, std::size_t size) {
       outcome r{asio::error::would_block, std::string(size, '-')};
       std::optional<std::size_t> n;
       const error_code ec = thrown_by([&] { n = ch.try_receive(asio::buffer(r.bytes)); });
       if (ec || n)
         r.ec = ec;
       r.bytes.resize(n.value_or(0));
       return r;
     }},
    {"blocking_receive into, error_code",
     [](two_ends&, channel& ch, std::size_t size) {
       outcome r{asio::error::fault, std::string(size, '-')};
       const std::size_t n = ch.blocking_receive(asio::buffer(r.bytes), r.ec);
       r.bytes.resize(r.ec ? 0 : n);
       return r;
     }},
    {"blocking_receive into, throwing",
     [](two_ends&, channel& ch, std::size_t size) {
       outcome r{{}, std::string(size, '-')};
       std::size_t n = 0;
       r.ec = thrown_by([&] { n = ch.blocking_receive(asio::buffer(r.bytes)); });
       r.bytes.resize(n);
       return r;
     }},
    {"co_await receive into, error_code",
     [](two_ends& ends, channel& ch, std::size_t size) {
       outcome r{asio::error::fault, {}};
       std::string into(size, '-');
       BOOST_TEST(!run(ends, co_receive_into(ch, asio::buffer(into), r.bytes, &r.ec)));
       return r;
     }},
    {"co_await receive into, throwing",
     [](two_ends& ends, channel& ch, std::size_t size) {
       outcome r;
       std::string into(size, '-');
       r.ec = run(ends, co_receive_into(ch, asio::buffer(into), r.bytes, nullptr));
       return r;
     }},
    {"async_receive into, callback",
     [](two_ends& ends, channel& ch, std::size_t size) {
       std::string into(size, '-');
       std::optional<outcome> result;
       ch.async_receive(asio::buffer(into), [&](error_code ec, std::size_t n) {
         result = outcome{ec, into.substr(0, ec ? 0 : n)};
       });
       BOOST_REQUIRE(ends.run_until([&] { return result.has_value(); }));
       return *result;
     }},
}};

} // namespace sysipc_asio::test
