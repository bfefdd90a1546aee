// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "every_form.hpp"
#include <boost/asio/use_awaitable.hpp>

namespace sysipc_asio::test {
namespace {

using asio::awaitable;

awaitable<void> co_receive(channel& ch, std::string& to, error_code* ec) {
  message m;
  if (ec != nullptr)
    m = co_await ch.receive(*ec);
  else
    m = co_await ch.receive();
  to = m.view();
}
awaitable<void> co_pop(channel& ch, std::string& to, error_code* ec) {
  value v{};
  if (ec != nullptr)
    v = co_await ch.pop<value>(*ec);
  else
    v = co_await ch.pop<value>();
  to = text_of(v);
}

} // namespace

const std::array<named<receive_form>, 7> receive_message_forms{{
    {"try_receive, error_code",
     [](two_ends&, channel& ch, std::size_t) {
       outcome r;
       if (const auto m = ch.try_receive(r.ec))
         r.bytes = m->view();
       return r;
     }},
    {"try_receive, throwing",
     [](two_ends&, channel& ch, std::size_t) {
       outcome r{asio::error::would_block, {}};
       std::optional<message> m;
       const error_code ec = thrown_by([&] { m = ch.try_receive(); });
       if (ec || m)
         r.ec = ec;
       if (m)
         r.bytes = m->view();
       return r;
     }},
    {"blocking_receive, error_code",
     [](two_ends&, channel& ch, std::size_t) {
       outcome r{asio::error::fault, {}};
       const message m = ch.blocking_receive(r.ec);
       r.bytes = m.view();
       return r;
     }},
    {"blocking_receive, throwing",
     [](two_ends&, channel& ch, std::size_t) {
       outcome r;
       r.ec = thrown_by([&] { r.bytes = ch.blocking_receive().view(); });
       return r;
     }},
    {"co_await receive, error_code",
     [](two_ends& ends, channel& ch, std::size_t) {
       outcome r{asio::error::fault, {}};
       BOOST_TEST(!run(ends, co_receive(ch, r.bytes, &r.ec)));
       return r;
     }},
    {"co_await receive, throwing",
     [](two_ends& ends, channel& ch, std::size_t) {
       outcome r;
       r.ec = run(ends, co_receive(ch, r.bytes, nullptr));
       return r;
     }},
    {"async_receive, callback",
     [](two_ends& ends, channel& ch, std::size_t) {
       std::optional<outcome> result;
       ch.async_receive([&](error_code ec, const message& m) {
         result = outcome{ec, std::string(m.view())};
       });
       BOOST_REQUIRE(ends.run_until([&] { return result.has_value(); }));
       return *result;
     }},
}};

const std::array<named<receive_form>, 7> pop_forms{{
    {"try_pop, error_code",
     [](two_ends&, channel& ch, std::size_t) {
       outcome r;
       if (const auto v = ch.try_pop<value>(r.ec))
         r.bytes = text_of(*v);
       return r;
     }},
    {"try_pop, throwing",
     [](two_ends&, channel& ch, std::size_t) {
       outcome r{asio::error::would_block, {}};
       std::optional<value> v;
       const error_code ec = thrown_by([&] { v = ch.try_pop<value>(); });
       if (ec || v)
         r.ec = ec;
       if (v)
         r.bytes = text_of(*v);
       return r;
     }},
    {"blocking_pop, error_code",
     [](two_ends&, channel& ch, std::size_t) {
       outcome r{asio::error::fault, {}};
       const value v = ch.blocking_pop<value>(r.ec);
       if (!r.ec)
         r.bytes = text_of(v);
       return r;
     }},
    {"blocking_pop, throwing",
     [](two_ends&, channel& ch, std::size_t) {
       outcome r;
       r.ec = thrown_by([&] { r.bytes = text_of(ch.blocking_pop<value>()); });
       return r;
     }},
    {"co_await pop, error_code",
     [](two_ends& ends, channel& ch, std::size_t) {
       outcome r{asio::error::fault, {}};
       BOOST_TEST(!run(ends, co_pop(ch, r.bytes, &r.ec)));
       if (r.ec)
         r.bytes.clear();
       return r;
     }},
    {"co_await pop, throwing",
     [](two_ends& ends, channel& ch, std::size_t) {
       outcome r;
       r.ec = run(ends, co_pop(ch, r.bytes, nullptr));
       return r;
     }},
    {"async_pop, callback",
     [](two_ends& ends, channel& ch, std::size_t) {
       std::optional<outcome> result;
       ch.async_pop<value>([&](error_code ec, const value& v) {
         result = outcome{ec, ec ? std::string() : text_of(v)};
       });
       BOOST_REQUIRE(ends.run_until([&] { return result.has_value(); }));
       return *result;
     }},
}};

} // namespace sysipc_asio::test
