// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "every_form.hpp"
#include <boost/asio/use_awaitable.hpp>

namespace sysipc_asio::test {
namespace {

using asio::awaitable;

awaitable<void> co_send(channel& ch, asio::const_buffer b, error_code* ec) {
  if (ec != nullptr)
    co_await ch.send(b, *ec);
  else
    co_await ch.send(b);
}
awaitable<void> co_async_send(channel& ch, asio::const_buffer b) {
  const std::size_t n = co_await ch.async_send(b, asio::use_awaitable);
  BOOST_TEST(n == b.size());
}
awaitable<void> co_push(channel& ch, value v, error_code* ec) {
  if (ec != nullptr)
    co_await ch.push(v, *ec);
  else
    co_await ch.push(v);
}
} // namespace

const std::array<named<send_form>, 8> send_forms{{
    {"try_send, error_code",
     [](two_ends&, channel& ch, const std::string& bytes) {
       error_code ec;
       const bool sent = ch.try_send(asio::buffer(bytes), ec);
       BOOST_TEST(sent == !ec);
       return ec;
     }},
    {"try_send, throwing",
     [](two_ends&, channel& ch, const std::string& bytes) {
       error_code would_block;
       const error_code ec = thrown_by([&] {
         if (!ch.try_send(asio::buffer(bytes)))
           would_block = asio::error::would_block;
       });
       return ec ? ec : would_block;
     }},
    {"blocking_send, error_code",
     [](two_ends&, channel& ch, const std::string& bytes) {
       error_code ec = asio::error::fault;
       ch.blocking_send(asio::buffer(bytes), ec);
       return ec;
     }},
    {"blocking_send, throwing",
     [](two_ends&, channel& ch, const std::string& bytes) {
       return thrown_by([&] { ch.blocking_send(asio::buffer(bytes)); });
     }},
    {"co_await send, error_code",
     [](two_ends& ends, channel& ch, const std::string& bytes) {
       error_code ec = asio::error::fault;
       BOOST_TEST(!run(ends, co_send(ch, asio::buffer(bytes), &ec)));
       return ec;
     }},
    {"co_await send, throwing",
     [](two_ends& ends, channel& ch, const std::string& bytes) {
       return run(ends, co_send(ch, asio::buffer(bytes), nullptr));
     }},
    {"async_send, use_awaitable",
     [](two_ends& ends, channel& ch, const std::string& bytes) {
       return run(ends, co_async_send(ch, asio::buffer(bytes)));
     }},
    {"async_send, callback",
     [](two_ends& ends, channel& ch, const std::string& bytes) {
       std::optional<error_code> result;
       ch.async_send(asio::buffer(bytes), [&](error_code ec, std::size_t n) {
         BOOST_TEST((ec || n == bytes.size()));
         result = ec;
       });
       BOOST_REQUIRE(ends.run_until([&] { return result.has_value(); }));
       return *result;
     }},
}};

const std::array<named<send_form>, 7> push_forms{{
    {"try_push, error_code",
     [](two_ends&, channel& ch, const std::string& text) {
       error_code ec;
       const bool sent = ch.try_push(value_of(text), ec);
       BOOST_TEST(sent == !ec);
       return ec;
     }},
    {"try_push, throwing",
     [](two_ends&, channel& ch, const std::string& text) {
       error_code would_block;
       const error_code ec = thrown_by([&] {
         if (!ch.try_push(value_of(text)))
           would_block = asio::error::would_block;
       });
       return ec ? ec : would_block;
     }},
    {"blocking_push, error_code",
     [](two_ends&, channel& ch, const std::string& text) {
       error_code ec = asio::error::fault;
       ch.blocking_push(value_of(text), ec);
       return ec;
     }},
    {"blocking_push, throwing",
     [](two_ends&, channel& ch, const std::string& text) {
       return thrown_by([&] { ch.blocking_push(value_of(text)); });
     }},
    {"co_await push, error_code",
     [](two_ends& ends, channel& ch, const std::string& text) {
       error_code ec = asio::error::fault;
       BOOST_TEST(!run(ends, co_push(ch, value_of(text), &ec)));
       return ec;
     }},
    {"co_await push, throwing",
     [](two_ends& ends, channel& ch, const std::string& text) {
       return run(ends, co_push(ch, value_of(text), nullptr));
     }},
    {"async_push, callback",
     [](two_ends& ends, channel& ch, const std::string& text) {
       std::optional<error_code> result;
       ch.async_push(value_of(text), [&](error_code ec) { result = ec; });
       BOOST_REQUIRE(ends.run_until([&] { return result.has_value(); }));
       return *result;
     }},
}};

} // namespace sysipc_asio::test
