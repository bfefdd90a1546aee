// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

// Two processes that send each other one message at a time and sleep in between. A
// wake-up that is lost shows as ten seconds without progress.

#include "ring_fixture.hpp"
#include "two_processes.hpp"
#include <boost/system/system_error.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <random>

namespace data = boost::unit_test::data;
using namespace sysipc_asio;
using detail::kicker;
using action = wait_machine::action;

namespace sysipc_asio {
inline std::ostream& operator<<(std::ostream& out, fence_mode mode) {
  return out << (mode == fence_mode::symmetric ? "symmetric" : "asymmetric");
}
} // namespace sysipc_asio

namespace {

const std::uint64_t all_cycles =
    test::count_from_environment("SYSIPC_TEST_CYCLES", 1'000'000, 50'000);

/// One side: a ring each way, and the library's machine between attempts and sleeps.
class side {
public:
  side(segment& own, peer_segment& peer, int socket, fence_mode mode)
      : mode_(registered(mode)), kicker_(make_kicker()),
        // The peer has registered, too, when its descriptor arrives.
        bell_(test::exchange_descriptors(socket, kicker_.reading_end())), arm_(own.words().rx_arm),
        gate_(peer.words().rx_arm, mode), out_(own, peer), in_(own, peer) {
    context_.policy = wait_policy::sleepy;
  }

  void send(std::uint64_t n) {
    if (out_.try_push(asio::buffer(&n, sizeof n)) != ring_status::ok)
      throw std::runtime_error("a push failed");
    if (gate_.due())
      kicker_.kick();
  }

  void receive(std::uint64_t expected) {
    wait_machine machine(context_, true);
    for (action next = machine.start();;) {
      switch (next) {
      case action::attempt:
        next = machine.attempted(attempt(expected));
        break;
      case action::arm:
        in_.publish_head();
        arm_.arm(mode_);
        next = machine.armed();
        break;
      case action::sleep:
        test::await_kick(bell_.get(), deadline_);
        next = machine.woken();
        break;
      case action::disarm:
        arm_.disarm();
        next = machine.disarmed();
        break;
      case action::complete:
        return deadline_.progress();
      default:
        throw std::logic_error("a sleepy machine asked for something else");
      }
    }
  }

  std::uint64_t sleeps() const noexcept { return context_.sleeps; }
  std::uint64_t empty_wakes() const noexcept { return context_.empty_wakes; }

private:
  static fence_mode registered(fence_mode mode) {
    if (mode == fence_mode::asymmetric && !register_asymmetric_fences())
      throw std::runtime_error("no membarrier(2) here");
    return mode;
  }

  static kicker make_kicker() {
    error_code ec;
    kicker result = kicker::create(ec);
    if (ec)
      throw boost::system::system_error(ec, "kicker::create");
    return result;
  }

  bool attempt(std::uint64_t expected) {
    std::uint64_t got = 0;
    std::size_t n = 0;
    const ring_status status = in_.try_pop(asio::buffer(&got, sizeof got), n);
    if (status == ring_status::would_block)
      return false;
    if (status != ring_status::ok || n != sizeof got || got != expected)
      throw std::runtime_error("message " + std::to_string(expected) + " is wrong");
    return true;
  }

  fence_mode mode_;
  kicker kicker_;
  detail::unique_fd bell_;
  arm_word arm_;
  kick_gate gate_;
  wait_context context_;
  ring_producer out_;
  ring_consumer in_;
  test::deadline deadline_;
};

/// Lets the peer's message meet each step of going to sleep.
class dawdler {
public:
  // Not the same pauses on both sides, or they would never meet.
  dawdler(unsigned most, unsigned seed) : random_(seed), most_(most) {}
  void operator()() {
    if (most_ != 0)
      for (auto n = random_() % most_; n != 0; --n)
        cpu_relax();
  }

private:
  std::minstd_rand random_;
  unsigned most_;
};

void ping_pong(fence_mode mode, test::placement where, unsigned pauses, std::uint64_t cycles) {
  const int status = test::run_two_processes(
      test::one_page,
      [&](segment& own, peer_segment& peer, int socket) {
        side s(own, peer, socket, mode);
        dawdler dawdle(pauses, 1);
        for (std::uint64_t i = 0; i != cycles; ++i) {
          s.send(i);
          dawdle();
          s.receive(~i);
        }
        BOOST_TEST(s.sleeps() > 0U);
        BOOST_TEST_MESSAGE(cycles << " cycles, " << s.sleeps() << " sleeps, " << s.empty_wakes()
                                  << " of them for nothing");
      },
      [&](segment& own, peer_segment& peer, int socket) {
        side s(own, peer, socket, mode);
        dawdler dawdle(pauses, 2);
        for (std::uint64_t i = 0; i != cycles; ++i) {
          s.receive(i);
          dawdle();
          s.send(~i);
        }
        return 0;
      },
      where);
  BOOST_TEST(status == 0);
}

const std::vector<fence_mode> both_modes{fence_mode::symmetric, fence_mode::asymmetric};

} // namespace

BOOST_DATA_TEST_CASE(every_sleep_ends_on_two_cpus, data::make(both_modes), mode) {
  ping_pong(mode, test::placement::two_cpus(), 0, all_cycles / 6);
}

BOOST_DATA_TEST_CASE(every_sleep_ends_on_one_cpu, data::make(both_modes), mode) {
  ping_pong(mode, test::placement::one_cpu(), 0, all_cycles / 6);
}

BOOST_DATA_TEST_CASE(every_sleep_ends_whenever_the_message_came, data::make(both_modes), mode) {
  ping_pong(mode, test::placement::two_cpus(), 1000, all_cycles / 6);
}
