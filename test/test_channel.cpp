// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "every_form.hpp"
#include <sysipc_asio/error.hpp>
#include <vector>

using namespace sysipc_asio;
using namespace sysipc_asio::test;

namespace {

const std::string sixteen = "sixteen bytes, 1";

void require_received(channel& ch, const std::string& expected) {
  const auto m = ch.try_receive();
  BOOST_REQUIRE(m.has_value());
  BOOST_TEST(m->view() == expected);
}

} // namespace

BOOST_AUTO_TEST_SUITE(messages)

BOOST_AUTO_TEST_CASE(every_form_of_sending_reaches_every_form_of_receiving) {
  two_ends ends;
  with_each_sending_form([&](send_form send) {
    with_each_receiving_form([&](receive_form receive) {
      BOOST_TEST(!send(ends, ends.here, sixteen));
      const outcome r = receive(ends, ends.there, 64);
      BOOST_TEST(!r.ec);
      BOOST_TEST(r.bytes == sixteen);
    });
  });
}

BOOST_AUTO_TEST_CASE(keep_their_boundaries_and_order) {
  two_ends ends;
  for (const char* text : {"one", "", "three"})
    BOOST_TEST(ends.here.try_send(asio::buffer(std::string(text))));
  for (const char* text : {"one", "", "three"})
    require_received(ends.there, text);
}

BOOST_AUTO_TEST_CASE(may_be_empty_in_every_form) {
  two_ends ends;
  for (const auto& send : send_forms)
    for (const auto& receive : receive_into_forms) {
      BOOST_TEST_CONTEXT(send.name << " -> " << receive.name) {
        BOOST_TEST(!send.run(ends, ends.here, ""));
        const outcome r = receive.run(ends, ends.there, 0);
        BOOST_TEST(!r.ec);
        BOOST_TEST(r.bytes.empty());
      }
    }
}

BOOST_AUTO_TEST_CASE(are_gathered_from_and_scattered_to_buffer_sequences) {
  two_ends ends;
  const std::vector<asio::const_buffer> from{asio::buffer("ab", 2), asio::buffer("", 0),
                                             asio::buffer("cde", 3)};
  BOOST_TEST(ends.here.try_send(from));
  char one[1], two[2], rest[8];
  const std::array<asio::mutable_buffer, 3> to{asio::buffer(one), asio::buffer(two),
                                               asio::buffer(rest)};
  BOOST_TEST(ends.there.try_receive(to).value() == 5U);
  BOOST_TEST(std::string(one, 1) == "a");
  BOOST_TEST(std::string(two, 2) == "bc");
  BOOST_TEST(std::string(rest, 2) == "de");
}

BOOST_AUTO_TEST_CASE(travel_both_ways_at_once) {
  two_ends ends;
  BOOST_TEST(ends.here.try_send(asio::buffer("there", 5)));
  BOOST_TEST(ends.there.try_send(asio::buffer("here", 4)));
  require_received(ends.here, "here");
  require_received(ends.there, "there");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(sizes)

BOOST_AUTO_TEST_CASE(of_exactly_max_send_size_are_sent_in_every_form) {
  two_ends ends;
  const std::string most(ends.here.max_send_size(), 'm');
  BOOST_TEST(most.size() == ends.there.max_receive_size());
  for (const auto& form : send_forms)
    BOOST_TEST_CONTEXT(form.name) {
      BOOST_TEST(!form.run(ends, ends.here, most));
      require_received(ends.there, most);
    }
}

BOOST_AUTO_TEST_CASE(above_max_send_size_are_refused_in_every_form_and_nothing_is_sent) {
  two_ends ends;
  const std::string too_much(ends.here.max_send_size() + 1, 'm');
  for (const auto& form : send_forms)
    BOOST_TEST_CONTEXT(form.name) {
      BOOST_TEST(form.run(ends, ends.here, too_much) == asio::error::message_size);
      BOOST_TEST(!ends.there.try_receive().has_value());
    }
  BOOST_TEST(ends.here.stats().sent.messages == 0U);
}

BOOST_AUTO_TEST_CASE(above_max_send_size_are_refused_at_once_also_when_the_ring_is_full) {
  two_ends ends;
  fill(ends.here);
  const std::string too_much(ends.here.max_send_size() + 1, 'm');
  for (const auto& form : send_forms)
    BOOST_TEST_CONTEXT(form.name) {
      BOOST_TEST(form.run(ends, ends.here, too_much) == asio::error::message_size);
    }
}

BOOST_AUTO_TEST_CASE(above_the_buffer_are_refused_in_every_form_and_the_message_stays) {
  two_ends ends;
  ends.here.try_send(asio::buffer(sixteen));
  for (const auto& form : receive_into_forms)
    BOOST_TEST_CONTEXT(form.name) {
      BOOST_TEST(form.run(ends, ends.there, 15).ec == asio::error::message_size);
    }
  require_received(ends.there, sixteen);
}

BOOST_AUTO_TEST_CASE(above_the_buffer_are_told_to_the_handler) {
  two_ends ends;
  ends.here.try_send(asio::buffer(sixteen));
  std::size_t size = 0;
  char small[4];
  ends.there.async_receive(asio::buffer(small), [&](error_code ec, std::size_t n) {
    BOOST_TEST(ec == asio::error::message_size);
    size = n;
  });
  ends.poll();
  BOOST_TEST(size == 16U);
}

BOOST_AUTO_TEST_CASE(other_than_the_value_are_refused_in_every_form_and_the_message_stays) {
  two_ends ends;
  for (const std::string& bytes : {std::string(15, 'x'), std::string(17, 'x'), std::string()}) {
    ends.here.try_send(asio::buffer(bytes));
    for (const auto& form : pop_forms)
      BOOST_TEST_CONTEXT(form.name) {
        BOOST_TEST(form.run(ends, ends.there, 0).ec == asio::error::message_size);
      }
    require_received(ends.there, bytes);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(nothing_to_do)

BOOST_AUTO_TEST_CASE(gives_would_block_in_the_try_forms_only) {
  two_ends ends;
  for (std::size_t i : {0U, 1U}) {
    BOOST_TEST(receive_into_forms[i].run(ends, ends.there, 9).ec == asio::error::would_block);
    BOOST_TEST(receive_message_forms[i].run(ends, ends.there, 9).ec == asio::error::would_block);
    BOOST_TEST(pop_forms[i].run(ends, ends.there, 9).ec == asio::error::would_block);
  }
  fill(ends.here, 16);
  for (std::size_t i : {0U, 1U}) {
    BOOST_TEST(send_forms[i].run(ends, ends.here, sixteen) == asio::error::would_block);
    BOOST_TEST(push_forms[i].run(ends, ends.here, sixteen) == asio::error::would_block);
  }
}

BOOST_AUTO_TEST_CASE(leaves_the_error_code_clear_after_a_success) {
  two_ends ends;
  error_code ec = asio::error::fault;
  BOOST_TEST(ends.here.try_push(1, ec));
  BOOST_TEST(!ec);
  ec = asio::error::fault;
  BOOST_TEST(ends.there.try_pop<int>(ec).value() == 1);
  BOOST_TEST(!ec);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(not_open)

void require_bad_descriptor_everywhere(two_ends& ends, channel& ch) {
  BOOST_TEST(!ch.is_open());
  with_each_sending_form(
      [&](send_form send) { BOOST_TEST(send(ends, ch, sixteen) == asio::error::bad_descriptor); });
  with_each_receiving_form([&](receive_form receive) {
    BOOST_TEST(receive(ends, ch, 64).ec == asio::error::bad_descriptor);
  });
  error_code ec;
  const auto ignore = [](std::span<const std::byte>) {};
  BOOST_TEST(ch.consume(ignore, 1, ec) == 0U);
  BOOST_TEST(ec == asio::error::bad_descriptor);
  BOOST_TEST(thrown_by([&] { ch.consume(ignore); }) == asio::error::bad_descriptor);
  for (wait_type what : {wait_receive, wait_send}) {
    std::optional<error_code> waited;
    ch.async_wait(what, [&](error_code e) { waited = e; });
    BOOST_REQUIRE(ends.run_until([&] { return waited.has_value(); }));
    BOOST_TEST(*waited == asio::error::bad_descriptor);
  }
  ch.shutdown();
  ch.cancel();
  ch.close();
}

BOOST_AUTO_TEST_CASE(gives_bad_descriptor_in_every_form_when_never_opened) {
  two_ends ends;
  channel never(ends.context);
  require_bad_descriptor_everywhere(ends, never);
  BOOST_TEST(never.max_send_size() == 0U);
  BOOST_TEST(never.max_receive_size() == 0U);
  BOOST_TEST(never.stats().sent.messages == 0U);
}

BOOST_AUTO_TEST_CASE(gives_bad_descriptor_in_every_form_after_a_move) {
  two_ends ends;
  channel taken(std::move(ends.here));
  require_bad_descriptor_everywhere(ends, ends.here);
  BOOST_TEST(taken.is_open());
  BOOST_TEST((ends.here.get_executor() == taken.get_executor()));
  BOOST_TEST(taken.try_push(1));
  BOOST_TEST(ends.there.try_pop<int>().value() == 1);
}

BOOST_AUTO_TEST_CASE(gives_bad_descriptor_in_every_form_after_close) {
  two_ends ends;
  ends.there.try_push(1);
  ends.here.close();
  require_bad_descriptor_everywhere(ends, ends.here);
}

BOOST_AUTO_TEST_CASE(is_what_a_channel_becomes_when_such_a_one_is_moved_onto_it) {
  two_ends ends;
  two_ends others;
  ends.here = std::move(others.here);
  BOOST_TEST(thrown_by([&] { ends.there.try_receive(); }) == asio::error::eof);
  BOOST_TEST(ends.here.try_push(1));
  BOOST_TEST(others.there.try_pop<int>().value() == 1);
  ends.here = channel(ends.context);
  BOOST_TEST(!ends.here.is_open());
  BOOST_TEST(thrown_by([&] { others.there.try_receive(); }) == asio::error::eof);
}

BOOST_AUTO_TEST_SUITE_END()
