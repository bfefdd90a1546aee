// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_TEST_EVERY_FORM_HPP
#define SYSIPC_ASIO_TEST_EVERY_FORM_HPP

#include "two_ends.hpp"
#include <array>
#include <boost/asio/awaitable.hpp>
#include <exception>
#include <optional>

/// Every way to send and every way to receive, each as a function that runs the
/// io_context until it is over, for tests of what all of them have in common.
namespace sysipc_asio::test {

/// What came out of an operation. A form that throws nothing and does nothing
/// counts as would_block.
struct outcome {
  error_code ec{};
  std::string bytes{};
};

/// The error that `f` throws.
template <typename F>
error_code thrown_by(F f) {
  try {
    f();
  } catch (const boost::system::system_error& e) {
    return e.code();
  }
  return {};
}

inline error_code code_of(const std::exception_ptr& e) {
  if (!e)
    return {};
  return thrown_by([&] { std::rethrow_exception(e); });
}

/// Runs a coroutine to its end and returns what it threw, if anything.
error_code run(two_ends& ends, asio::awaitable<void> coroutine);

template <typename Form>
struct named {
  const char* name;
  Form run;
};

using value = std::array<char, 16>;

inline value value_of(const std::string& text) {
  value result{};
  std::memcpy(result.data(), text.data(), std::min(text.size(), result.size()));
  return result;
}
inline std::string text_of(const value& v) {
  return std::string(v.data(), v.size());
}

using send_form = error_code (*)(two_ends&, channel&, const std::string&);

/// The ways to send any number of bytes.
extern const std::array<named<send_form>, 8> send_forms;

/// The ways to send a value: the first bytes of the text.
extern const std::array<named<send_form>, 7> push_forms;

using receive_form = outcome (*)(two_ends&, channel&, std::size_t);

/// The ways to receive into a buffer of that many bytes.
extern const std::array<named<receive_form>, 7> receive_into_forms;

/// The ways to receive a message; the size is ignored.
extern const std::array<named<receive_form>, 7> receive_message_forms;

/// The ways to receive a value; the size is ignored.
extern const std::array<named<receive_form>, 7> pop_forms;

/// Calls `f` with each sending form.
template <typename F>
void with_each_sending_form(F f) {
  for (const auto& form : send_forms)
    BOOST_TEST_CONTEXT(form.name) {
      f(form.run);
    }
  for (const auto& form : push_forms)
    BOOST_TEST_CONTEXT(form.name) {
      f(form.run);
    }
}

/// Calls `f` with each receiving form.
template <typename F>
void with_each_receiving_form(F f) {
  for (const auto& form : receive_into_forms)
    BOOST_TEST_CONTEXT(form.name) {
      f(form.run);
    }
  for (const auto& form : receive_message_forms)
    BOOST_TEST_CONTEXT(form.name) {
      f(form.run);
    }
  for (const auto& form : pop_forms)
    BOOST_TEST_CONTEXT(form.name) {
      f(form.run);
    }
}

} // namespace sysipc_asio::test

#endif
