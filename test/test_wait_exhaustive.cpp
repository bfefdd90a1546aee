// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// No interleaving loses a wake-up, and each fence is needed for that.

#include "tso_explorer.hpp"
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ostream>

namespace data = boost::unit_test::data;
using namespace sysipc_asio;
using test::tso::explore;
using test::tso::outcome;
using test::tso::protocol;

namespace sysipc_asio {

std::ostream& operator<<(std::ostream& out, wait_policy p) {
  static constexpr const char* names[] = {"adaptive", "busy", "sleepy", "kick_always"};
  return out << names[static_cast<int>(p)];
}
std::ostream& operator<<(std::ostream& out, fence_mode m) {
  return out << (m == fence_mode::symmetric ? "symmetric" : "asymmetric");
}

} // namespace sysipc_asio

namespace {

const std::vector<wait_policy> all_policies{wait_policy::adaptive, wait_policy::busy,
                                            wait_policy::sleepy, wait_policy::kick_always};
// Those of which a side sleeps and is kicked only if it says so.
const std::vector<wait_policy> kicked_policies{wait_policy::adaptive, wait_policy::sleepy};
const std::vector<fence_mode> both_modes{fence_mode::symmetric, fence_mode::asymmetric};

void check_no_wake_up_is_lost(const protocol& p) {
  BOOST_TEST_CONTEXT(p.messages << " messages, " << p.slots << " slots") {
    const outcome o = explore(p);
    BOOST_TEST_MESSAGE(o.states << " states");
    BOOST_TEST(!o.lost_wake_up, "lost wake-up:" << o.schedule);
    BOOST_TEST(o.always_finishes);
    BOOST_TEST(o.states > 10U * static_cast<unsigned>(p.messages));
  }
}

void check_a_wake_up_is_lost(const protocol& p) {
  const outcome o = explore(p);
  BOOST_TEST(o.lost_wake_up);
  BOOST_TEST_MESSAGE("lost wake-up after" << o.schedule);
}

protocol base(fence_mode mode, wait_policy policy) {
  protocol p;
  p.fences = mode;
  p.policy = policy;
  return p;
}

} // namespace

BOOST_AUTO_TEST_SUITE(a_receiver_that_waits_for_data)

BOOST_DATA_TEST_CASE(gets_every_message,
                     data::make(both_modes) * data::make(all_policies) * data::make({true, false}),
                     mode, policy, may_spin) {
  protocol p = base(mode, policy);
  p.may_spin = may_spin;
  for (p.messages = 1; p.messages <= 3; ++p.messages)
    check_no_wake_up_is_lost(p);
}

BOOST_DATA_TEST_CASE(gets_every_message_though_spinning_has_not_paid_off,
                     data::make(both_modes) * data::make(all_policies), mode, policy) {
  protocol p = base(mode, policy);
  p.credit = false;
  for (p.messages = 1; p.messages <= 3; ++p.messages)
    check_no_wake_up_is_lost(p);
}

BOOST_DATA_TEST_CASE(gets_every_message_after_sleeps_that_were_cancelled,
                     data::make(both_modes) * data::make(all_policies), mode, policy) {
  protocol p = base(mode, policy);
  p.cancels = 2;
  check_no_wake_up_is_lost(p);
}

BOOST_DATA_TEST_CASE(misses_one_without_the_heavy_fence,
                     data::make(both_modes) * data::make(kicked_policies), mode, policy) {
  protocol p = base(mode, policy);
  p.messages = 1;
  p.heavy_data_fence = false;
  check_a_wake_up_is_lost(p);
}

BOOST_DATA_TEST_CASE(misses_one_without_the_light_fence_of_the_sender, data::make(kicked_policies),
                     policy) {
  protocol p = base(fence_mode::symmetric, policy);
  p.messages = 1;
  p.sender_fences = false;
  check_a_wake_up_is_lost(p);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(a_sender_that_waits_for_space)

// Both sides wait now: the sender for every slot, the receiver for every message.
BOOST_DATA_TEST_CASE(sends_every_message,
                     data::make(both_modes) * data::make(all_policies) * data::make({true, false}),
                     mode, policy, may_spin) {
  protocol p = base(mode, policy);
  p.may_spin = may_spin;
  p.messages = 3;
  for (p.slots = 1; p.slots <= 2; ++p.slots)
    check_no_wake_up_is_lost(p);
}

BOOST_DATA_TEST_CASE(sends_every_message_though_spinning_has_not_paid_off,
                     data::make(both_modes) * data::make(all_policies), mode, policy) {
  protocol p = base(mode, policy);
  p.credit = false;
  p.messages = 3;
  p.slots = 1;
  check_no_wake_up_is_lost(p);
}

BOOST_DATA_TEST_CASE(sends_every_message_after_sleeps_that_were_cancelled,
                     data::make(both_modes) * data::make(all_policies), mode, policy) {
  protocol p = base(mode, policy);
  p.slots = 1;
  p.cancels = 1;
  check_no_wake_up_is_lost(p);
}

BOOST_DATA_TEST_CASE(misses_some_without_the_heavy_fence,
                     data::make(both_modes) * data::make(kicked_policies), mode, policy) {
  protocol p = base(mode, policy);
  p.slots = 1;
  p.heavy_space_fence = false;
  check_a_wake_up_is_lost(p);
}

BOOST_DATA_TEST_CASE(misses_some_without_the_light_fence_of_the_receiver,
                     data::make(kicked_policies), policy) {
  protocol p = base(fence_mode::symmetric, policy);
  p.slots = 1;
  p.receiver_fences = false;
  check_a_wake_up_is_lost(p);
}

BOOST_AUTO_TEST_SUITE_END()
