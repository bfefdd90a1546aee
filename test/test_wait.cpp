// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <ostream>
#include <sched.h>
#include <sysipc_asio/wait.hpp>
#include <vector>

namespace data = boost::unit_test::data;
using namespace sysipc_asio;
using action = wait_machine::action;

namespace sysipc_asio {

std::ostream& operator<<(std::ostream& out, action a) {
  static constexpr const char* names[] = {"attempt", "spin",   "yield",    "arm",
                                          "sleep",   "disarm", "complete", "abandon"};
  return out << names[static_cast<int>(a)];
}
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
const std::vector<wait_policy> sleeping_policies{wait_policy::adaptive, wait_policy::sleepy,
                                                 wait_policy::kick_always};
const std::vector<wait_policy> spinning_policies{wait_policy::adaptive, wait_policy::kick_always};
const std::vector<fence_mode> both_modes{fence_mode::symmetric, fence_mode::asymmetric};

wait_context context_for(wait_policy policy, spin_limits limits = {2, 5}) {
  wait_context result;
  result.policy = policy;
  result.limits = limits;
  return result;
}

/// Takes the machine to its first sleep, nothing being found anywhere.
void go_to_sleep(wait_machine& m) {
  action a = m.attempted(false);
  while (a == action::spin) {
    a = m.spun(false);
    BOOST_REQUIRE(a == action::yield);
    a = m.yielded();
  }
  BOOST_REQUIRE(a == action::arm);
  BOOST_REQUIRE(m.armed() == action::attempt);
  BOOST_REQUIRE(m.attempted(false) == action::sleep);
}

} // namespace

BOOST_AUTO_TEST_SUITE(machine)

BOOST_DATA_TEST_CASE(what_is_there_at_once_completes_at_once,
                     data::make(all_policies) * data::make({true, false}), policy, may_spin) {
  auto context = context_for(policy);
  wait_machine m(context, may_spin);
  BOOST_TEST(m.start() == action::attempt);
  BOOST_TEST(m.attempted(true) == action::complete);
  BOOST_TEST((context.sleeps + context.spin_hits + context.spin_misses) == 0U);
}

BOOST_DATA_TEST_CASE(it_arms_and_looks_again_before_it_sleeps, data::make(sleeping_policies),
                     policy) {
  auto context = context_for(policy, {});
  wait_machine m(context, true);
  BOOST_TEST(m.attempted(false) == action::arm);
  BOOST_TEST(m.armed() == action::attempt);
  BOOST_TEST(m.attempted(false) == action::sleep);
  BOOST_TEST(context.sleeps == 1U);
}

BOOST_DATA_TEST_CASE(what_comes_while_arming_completes_after_disarming,
                     data::make(sleeping_policies), policy) {
  auto context = context_for(policy, {});
  wait_machine m(context, true);
  m.attempted(false);
  m.armed();
  BOOST_TEST(m.attempted(true) == action::disarm);
  BOOST_TEST(m.disarmed() == action::complete);
  BOOST_TEST(context.sleeps == 0U);
}

BOOST_DATA_TEST_CASE(after_a_sleep_it_disarms_and_looks, data::make(sleeping_policies), policy) {
  auto context = context_for(policy);
  wait_machine m(context, true);
  go_to_sleep(m);
  BOOST_TEST(m.woken() == action::disarm);
  BOOST_TEST(m.disarmed() == action::attempt);
  BOOST_TEST(m.attempted(true) == action::complete);
  BOOST_TEST(context.empty_wakes == 0U);
}

BOOST_DATA_TEST_CASE(a_wake_for_nothing_is_counted_and_leads_back_to_sleep,
                     data::make(sleeping_policies), policy) {
  auto context = context_for(policy);
  wait_machine m(context, true);
  go_to_sleep(m);
  for (unsigned i = 1; i != 4; ++i) {
    m.woken();
    m.disarmed();
    BOOST_TEST(m.attempted(false) == action::arm); // it has spun for this wait
    BOOST_TEST(context.empty_wakes == i);
    m.armed();
    BOOST_TEST(m.attempted(false) == action::sleep);
    BOOST_TEST(context.sleeps == i + 1);
  }
}

BOOST_DATA_TEST_CASE(it_spins_in_slices_and_yields_between_them, data::make(spinning_policies),
                     policy) {
  auto context = context_for(policy, {2, 5});
  wait_machine m(context, true);
  BOOST_TEST(m.attempted(false) == action::spin);
  for (const std::uint32_t looks : {2U, 2U, 1U}) {
    BOOST_TEST(m.slice() == looks);
    BOOST_TEST(m.spun(false) == action::yield);
    BOOST_TEST(m.yielded() == (looks == 1 ? action::arm : action::spin));
  }
  BOOST_TEST(context.spin_misses == 1U);
  BOOST_TEST(context.spin_hits == 0U);
}

BOOST_DATA_TEST_CASE(those_that_spin_in_turn_share_the_time_of_a_slice,
                     data::make(spinning_policies), policy) {
  auto context = context_for(policy, {32, 70});
  wait_machine m(context, true);
  m.share_with(3);
  m.attempted(false);
  for (const std::uint32_t looks : {8U, 8U, 1U}) { // of 32, 32 and 6 that are left
    BOOST_TEST(m.slice() == looks);
    BOOST_TEST(m.spun(false) == action::yield);
    BOOST_TEST(m.yielded() == (looks == 1 ? action::arm : action::spin));
  }
  BOOST_TEST(context.spin_misses == 1U);
}

BOOST_DATA_TEST_CASE(what_is_found_spinning_is_attempted, data::make(spinning_policies), policy) {
  auto context = context_for(policy);
  wait_machine m(context, true);
  m.attempted(false);
  BOOST_TEST(m.spun(true) == action::attempt);
  BOOST_TEST(m.attempted(true) == action::complete);
  BOOST_TEST(context.spin_hits == 1U);
  BOOST_TEST(context.spin_misses == 0U);
}

BOOST_DATA_TEST_CASE(it_spins_again_when_what_was_found_is_gone, data::make(spinning_policies),
                     policy) {
  auto context = context_for(policy, {2, 5});
  wait_machine m(context, true);
  m.attempted(false);
  m.spun(true);
  BOOST_TEST(m.attempted(false) == action::spin);
  BOOST_TEST(m.slice() == 2U);
}

BOOST_DATA_TEST_CASE(a_side_that_may_not_spin_sleeps_at_once, data::make(sleeping_policies),
                     policy) {
  auto context = context_for(policy);
  wait_machine m(context, false);
  BOOST_TEST(m.attempted(false) == action::arm);
}

BOOST_DATA_TEST_CASE(without_limits_it_never_spins, data::make(sleeping_policies), policy) {
  auto context = context_for(policy, {});
  wait_machine m(context, true);
  BOOST_TEST(m.attempted(false) == action::arm);
}

BOOST_AUTO_TEST_CASE(a_sleepy_side_never_spins) {
  auto context = context_for(wait_policy::sleepy, {100, 1000});
  wait_machine m(context, true);
  BOOST_TEST(m.attempted(false) == action::arm);
}

BOOST_DATA_TEST_CASE(a_busy_side_never_sleeps,
                     data::make({true, false}) *
                         data::make({spin_limits{2, 5}.total, spin_limits{}.total}),
                     may_spin, total) {
  auto context = context_for(wait_policy::busy, {total / 2, total});
  wait_machine m(context, may_spin);
  action a = m.attempted(false);
  for (int i = 0; i != 1000; ++i) {
    BOOST_REQUIRE((a == action::spin || a == action::yield));
    if (a == action::spin)
      BOOST_REQUIRE(m.slice() >= 1U);
    a = a == action::spin ? m.spun(false) : m.yielded();
  }
  while (a != action::spin)
    a = m.yielded();
  BOOST_TEST(m.spun(true) == action::attempt);
  BOOST_TEST(m.attempted(true) == action::complete);
  BOOST_TEST(context.sleeps == 0U);
}

BOOST_AUTO_TEST_CASE(a_side_that_stopped_spinning_wins_nothing_back_within_one_wait) {
  auto context = context_for(wait_policy::adaptive, {1, 1});
  for (int i = 0; i != spin_history::max_credit; ++i) {
    wait_machine m(context, true);
    BOOST_REQUIRE(m.attempted(false) == action::spin);
    m.spun(false);
    BOOST_REQUIRE(m.yielded() == action::arm);
  }
  BOOST_TEST(context.spin_misses == static_cast<unsigned>(spin_history::max_credit));
  wait_machine m(context, true);
  BOOST_TEST(m.attempted(false) == action::arm);
}

BOOST_DATA_TEST_CASE(a_cancelled_sleep_is_disarmed_and_abandoned, data::make(sleeping_policies),
                     policy) {
  auto context = context_for(policy);
  wait_machine m(context, true);
  go_to_sleep(m);
  BOOST_TEST(m.cancelled() == action::disarm);
  BOOST_TEST(m.disarmed() == action::abandon);
}

BOOST_DATA_TEST_CASE(a_wait_that_is_cancelled_before_it_armed_has_nothing_to_disarm,
                     data::make(all_policies), policy) {
  auto context = context_for(policy);
  wait_machine m(context, true);
  m.attempted(false);
  BOOST_TEST(m.cancelled() == action::abandon);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(history)

BOOST_AUTO_TEST_CASE(spinning_is_worth_a_try_until_it_has_failed_often) {
  spin_history h;
  for (int i = 0; i != spin_history::max_credit; ++i) {
    BOOST_TEST(h.worth_a_try());
    h.miss();
  }
  BOOST_TEST(!h.worth_a_try());
}

BOOST_AUTO_TEST_CASE(without_credit_one_wait_in_an_interval_is_a_probe) {
  spin_history h;
  for (int i = 0; i != spin_history::max_credit; ++i)
    h.miss();
  int probes = 0;
  for (int i = 0; i != 4 * spin_history::probe_interval; ++i)
    if (h.worth_a_try()) {
      ++probes;
      h.miss();
      BOOST_TEST((i + 1) % spin_history::probe_interval == 0);
    }
  BOOST_TEST(probes == 4);
}

BOOST_AUTO_TEST_CASE(one_hit_pays_for_two_misses) {
  spin_history h;
  for (int i = 0; i != 100; ++i)
    h.miss();
  h.hit();
  for (int i = 0; i != 2; ++i) {
    BOOST_TEST(h.worth_a_try());
    h.miss();
  }
  BOOST_TEST(!h.worth_a_try());
}

BOOST_AUTO_TEST_CASE(credit_does_not_grow_without_bound) {
  spin_history h;
  for (int i = 0; i != 1000; ++i)
    h.hit();
  for (int i = 0; i != spin_history::max_credit; ++i)
    h.miss();
  BOOST_TEST(!h.worth_a_try());
}

BOOST_AUTO_TEST_CASE(the_pacer_returns_whatever_the_count) {
  look_pacer pacer;
  for (const std::uint64_t consumed :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1'000'000}, std::uint64_t{1'000'000},
        std::numeric_limits<std::uint64_t>::max(), std::uint64_t{3}})
    pacer.pause(consumed);
  BOOST_TEST(look_pacer::max_steps > 0U);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(words)

BOOST_DATA_TEST_CASE(the_word_is_odd_exactly_while_armed, data::make(both_modes), mode) {
  register_asymmetric_fences();
  layout::word64 word{0};
  arm_word arm(word);
  BOOST_TEST(!arm.armed());
  for (std::uint64_t i = 0; i != 3; ++i) {
    arm.arm(mode);
    BOOST_TEST(arm.armed());
    BOOST_TEST(word.load() == 2 * i + 1);
    arm.disarm();
    BOOST_TEST(!arm.armed());
    BOOST_TEST(word.load() == 2 * i + 2);
  }
}

BOOST_DATA_TEST_CASE(a_side_that_never_slept_is_not_kicked, data::make(both_modes), mode) {
  const layout::word64 word{0};
  kick_gate gate(word, mode);
  for (int i = 0; i != 3; ++i)
    BOOST_TEST(!gate.due());
}

BOOST_DATA_TEST_CASE(each_sleep_is_kicked_once, data::make(both_modes), mode) {
  layout::word64 word{0};
  arm_word arm(word);
  kick_gate gate(word, mode);
  for (int i = 0; i != 3; ++i) {
    arm.arm(mode);
    BOOST_TEST(gate.due());
    BOOST_TEST(!gate.due());
    arm.disarm();
    BOOST_TEST(!gate.due());
  }
}

BOOST_AUTO_TEST_CASE(a_sleep_is_kicked_also_when_the_word_was_never_seen_even) {
  layout::word64 word{1};
  kick_gate gate(word, fence_mode::symmetric);
  BOOST_TEST(gate.due());
  word = 3;
  BOOST_TEST(gate.due());
  word = 0xffff'ffff'ffff'ffffULL;
  BOOST_TEST(gate.due());
  BOOST_TEST(!gate.due());
}

BOOST_DATA_TEST_CASE(the_gate_knows_its_fences, data::make(both_modes), mode) {
  const layout::word64 word{0};
  BOOST_TEST(kick_gate(word, mode).mode() == mode);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(limits)

BOOST_AUTO_TEST_CASE(a_thread_knows_when_it_is_bound_to_one_cpu) {
  cpu_set_t before;
  BOOST_REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  for (int cpu = 0; cpu != CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &before)) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      BOOST_REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
      BOOST_TEST(only_cpu() == cpu);
    }
  ::sched_setaffinity(0, sizeof before, &before);
  BOOST_TEST((CPU_COUNT(&before) == 1 || only_cpu() == -1));
}

BOOST_AUTO_TEST_CASE(longer_times_allow_more_looks) {
  using namespace std::chrono_literals;
  const auto none = spin_limits::for_durations(0ns, 0ns);
  BOOST_TEST(none.slice == 0U);
  BOOST_TEST(none.total == 0U);
  const auto some = spin_limits::for_durations(2us, 20us);
  BOOST_TEST(some.slice > 0U);
  BOOST_TEST(some.slice < some.total);
  const auto for_ever = spin_limits::for_durations(24h, 24h * 365);
  BOOST_TEST(for_ever.total <= 1'000'000'000U);
  BOOST_TEST(for_ever.total > some.total);
  BOOST_TEST(spin_limits::for_durations(-1s, -1s).total == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
