// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_TEST_TSO_EXPLORER_HPP
#define SYSIPC_ASIO_TEST_TSO_EXPLORER_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <sysipc_asio/wait.hpp>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

/// Every interleaving of a sender and a receiver on processors with store buffers.
/**
 * Both sides run the library's own wait_machine, arm_word and kick_gate. The rest
 * is a model: four words of memory, and for each side a FIFO store buffer that
 * drains one store at a time, at any time (total store order, as on x86). A symmetric
 * fence waits until the side's own buffer is empty, the heavy asymmetric fence
 * until the peer's was, too; the light asymmetric one does nothing. A system call
 * orders nothing by itself.
 */
namespace sysipc_asio::test::tso {

struct protocol {
  fence_mode fences = fence_mode::symmetric;
  wait_policy policy = wait_policy::sleepy; ///< of both sides
  bool may_spin = true;
  bool credit = true; ///< spinning has paid off before
  int messages = 2;
  int slots = 100;               ///< messages that the ring holds; few make the sender wait
  int cancels = 0;               ///< sleeps of each side that may be cancelled and begun again
  bool sender_fences = true;     ///< false leaves out light fences before data kicks
  bool receiver_fences = true;   ///< false leaves out light fences before space kicks
  bool heavy_data_fence = true;  ///< false: the receiver sleeps without its heavy fence
  bool heavy_space_fence = true; ///< false: the sender sleeps without its heavy fence
};

struct outcome {
  std::size_t states = 0;
  bool lost_wake_up = false;    ///< somewhere nothing can happen any more, and not all is done
  bool always_finishes = false; ///< from everywhere all messages can still arrive
  std::string schedule{};       ///< what led to the lost wake-up
};

class explorer {
public:
  explicit explorer(const protocol& p) : protocol_(p) {}

  outcome run() {
    static const state zero{}; // of static storage, so that its padding is zero, too
    state first = zero;
    for (const int s : {sender, receiver}) {
      side& x = first.sides[static_cast<std::size_t>(s)];
      x.context.policy = protocol_.policy;
      x.context.limits = {1, 2};
      for (int i = 0; !protocol_.credit && i != spin_history::max_credit; ++i)
        x.context.history.miss();
      x.arm = arm_word(own_word_[s]);
      x.gate = kick_gate(peer_word_[s], protocol_.fences);
      x.cancels = static_cast<std::uint8_t>(protocol_.cancels);
      start_wait(x, s);
    }
    add(first, 0, {});
    // `states_` grows meanwhile: breadth first, so schedules are the shortest.
    for (std::uint32_t i = 0; i != states_.size(); ++i) {
      const std::size_t edges = edges_.size();
      for (const int s : {sender, receiver})
        for (const choice c : {choice::proceed, choice::cancel, choice::drain}) {
          state next = states_[i];
          if (step(next, s, c))
            add(next, i, {s, c});
        }
      if (edges_.size() == edges && !finished(states_[i]))
        return {states_.size(), true, false, schedule_to(i)};
    }
    return {states_.size(), false, all_can_finish(), {}};
  }

private:
  enum : int { sender, receiver };
  enum class choice : std::uint8_t { proceed, cancel, drain };
  enum variable : std::uint8_t { tail, head, rx_arm, tx_arm, variables };
  enum class phase : std::uint8_t {
    act,       ///< what the machine said
    popped,    ///< is there more?
    gate,      ///< light fence, load of the peer's arm word
    ring,      ///< the kick
    arming,    ///< store of the arm word
    fence,     ///< heavy fence on this side
    far_fence, ///< heavy fence on the other side
    done
  };
  using action = wait_machine::action;

  struct store {
    variable to;
    std::uint8_t value;
  };

  struct side {
    wait_machine machine;
    wait_context context;
    arm_word arm;
    kick_gate gate;
    std::array<store, 8> buffer;
    std::uint8_t buffered;
    phase at;
    phase after_kick; ///< `act`: the attempt has succeeded; `arming`
    action next;
    std::uint8_t count; ///< messages pushed or popped
    std::uint8_t known; ///< sender: the head it has read; receiver: the head it has published
    bool bell;
    std::uint8_t cancels;
  };

  struct state {
    std::array<side, 2> sides;
    std::array<std::uint8_t, variables> memory;
  };
  static_assert(std::is_trivially_copyable_v<state>);

  static std::string_view bytes(const state& s) {
    // Padding can only make two of one state, never one of two.
    return {reinterpret_cast<const char*>(&s), sizeof s};
  }

  struct hash {
    const std::vector<state>* states;
    std::size_t operator()(std::uint32_t i) const {
      return std::hash<std::string_view>()(bytes((*states)[i]));
    }
  };
  struct equal {
    const std::vector<state>* states;
    bool operator()(std::uint32_t a, std::uint32_t b) const {
      return bytes((*states)[a]) == bytes((*states)[b]);
    }
  };

  void start_wait(side& x, int s) {
    // The machine and the words point to members of the explorer, which step() fills.
    const wait_machine fresh(context_[s], protocol_.may_spin);
    x.machine = fresh;
    x.at = phase::act;
    x.next = x.machine.start();
  }

  void add(state& s, std::uint32_t from, std::pair<int, choice> how) {
    for (side& x : s.sides) // they grow and decide nothing
      x.context.sleeps = x.context.spin_hits = x.context.spin_misses = x.context.empty_wakes = 0;
    const auto index = static_cast<std::uint32_t>(states_.size());
    states_.push_back(s);
    const auto [it, is_new] = seen_.insert(index);
    if (is_new)
      origins_.push_back({from, how});
    else
      states_.pop_back();
    edges_.push_back({*it, from});
  }

  static bool finished(const state& s) {
    return s.sides[sender].at == phase::done && s.sides[receiver].at == phase::done;
  }

  static bool put(side& x, variable to, std::uint64_t value) {
    if (x.buffered == x.buffer.size())
      return false; // stalls until something has drained
    x.buffer[x.buffered++] = {to, static_cast<std::uint8_t>(value)};
    return true;
  }

  /// False if the side cannot do this now.
  bool step(state& s, int who, choice c) {
    side& x = s.sides[static_cast<std::size_t>(who)];
    if (c == choice::drain) {
      if (x.buffered == 0)
        return false;
      s.memory[x.buffer[0].to] = x.buffer[0].value;
      std::copy(x.buffer.begin() + 1, x.buffer.end(), x.buffer.begin());
      x.buffer[--x.buffered] = {};
      return true;
    }
    context_[who] = x.context;
    const bool possible = c == choice::cancel ? cancel(x) : proceed(s, x, who);
    x.context = context_[who];
    return possible;
  }

  static bool cancel(side& x) {
    if (x.at != phase::act || x.next != action::sleep || x.cancels == 0)
      return false;
    --x.cancels;
    x.next = x.machine.cancelled();
    return true;
  }

  bool proceed(state& s, side& x, int who) {
    side& peer = s.sides[static_cast<std::size_t>(1 - who)];
    switch (x.at) {
    case phase::act:
      return act(s, x, who);
    case phase::popped:
      // The laziest consumer: it publishes only when it has caught up, or sleeps.
      if (s.memory[tail] != x.count)
        return succeeded(x);
      return publish(x, phase::act);
    case phase::gate:
      if (protocol_.fences == fence_mode::symmetric && x.buffered != 0 &&
          (who == sender ? protocol_.sender_fences : protocol_.receiver_fences))
        return false;
      peer_word_[who] = s.memory[who == sender ? rx_arm : tx_arm];
      if (x.gate.due() || protocol_.policy == wait_policy::kick_always)
        x.at = phase::ring;
      else
        kicked(x);
      return true;
    case phase::ring:
      peer.bell = true;
      kicked(x);
      return true;
    case phase::arming:
      own_word_[who] = 0;
      if (x.buffered == x.buffer.size())
        return false;
      x.arm.arm(fence_mode::symmetric); // the model's fence is the next phase
      put(x, who == sender ? tx_arm : rx_arm, own_word_[who]);
      x.at = phase::fence;
      return true;
    case phase::fence:
      if (!(who == sender ? protocol_.heavy_space_fence : protocol_.heavy_data_fence))
        return armed(x);
      if (x.buffered != 0)
        return false;
      if (protocol_.fences == fence_mode::symmetric)
        return armed(x);
      x.at = phase::far_fence;
      return true;
    case phase::far_fence:
      return peer.buffered == 0 && armed(x);
    case phase::done:
      break;
    }
    return false;
  }

  bool act(state& s, side& x, int who) {
    switch (x.next) {
    case action::attempt:
      return who == sender ? push(s, x) : pop(s, x);
    case action::spin:
      x.next = x.machine.spun(who == sender ? room(s, x) : s.memory[tail] != x.count);
      return true;
    case action::yield:
      x.next = x.machine.yielded();
      return true;
    case action::arm:
      if (who == receiver && x.known != x.count)
        return publish(x, phase::arming);
      x.at = phase::arming;
      return true;
    case action::sleep:
      if (!x.bell)
        return false;
      x.bell = false;
      x.next = x.machine.woken();
      return true;
    case action::disarm:
      if (x.buffered == x.buffer.size())
        return false;
      x.arm.disarm();
      put(x, who == sender ? tx_arm : rx_arm, own_word_[who]);
      x.next = x.machine.disarmed();
      return true;
    case action::complete:
      if (x.count == protocol_.messages)
        x.at = phase::done;
      else
        start_wait(x, who);
      return true;
    case action::abandon:
      start_wait(x, who);
      return true;
    }
    return false;
  }

  bool room(const state& s, side& x) const {
    if (x.count - x.known >= protocol_.slots)
      x.known = s.memory[head];
    return x.count - x.known < protocol_.slots;
  }

  bool push(const state& s, side& x) {
    if (!room(s, x)) {
      x.next = x.machine.attempted(false);
      return true;
    }
    if (!put(x, tail, x.count + 1U))
      return false;
    ++x.count;
    x.after_kick = phase::act;
    x.at = phase::gate;
    return true;
  }

  bool pop(const state& s, side& x) {
    if (s.memory[tail] == x.count) {
      x.next = x.machine.attempted(false);
      return true;
    }
    ++x.count;
    x.at = phase::popped;
    return true;
  }

  bool publish(side& x, phase afterwards) {
    if (!put(x, head, x.count))
      return false;
    x.known = x.count;
    x.after_kick = afterwards;
    x.at = phase::gate;
    return true;
  }

  static void kicked(side& x) {
    if (x.after_kick == phase::act)
      succeeded(x);
    else
      x.at = x.after_kick;
  }

  static bool succeeded(side& x) {
    x.at = phase::act;
    x.next = x.machine.attempted(true);
    return true;
  }

  static bool armed(side& x) {
    x.at = phase::act;
    x.next = x.machine.armed();
    return true;
  }

  bool all_can_finish() {
    std::sort(edges_.begin(), edges_.end());
    std::vector<bool> can(states_.size());
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i != states_.size(); ++i)
      if (finished(states_[i])) {
        can[i] = true;
        open.push_back(i);
      }
    std::size_t n = open.size();
    while (!open.empty()) {
      const edge first{open.back(), 0};
      open.pop_back();
      for (auto it = std::lower_bound(edges_.begin(), edges_.end(), first);
           it != edges_.end() && it->first == first.first; ++it)
        if (!can[it->second]) {
          can[it->second] = true;
          open.push_back(it->second);
          ++n;
        }
    }
    return n == states_.size();
  }

  std::string schedule_to(std::uint32_t i) const {
    static constexpr std::string_view actions[] = {"attempt", "spin",   "yield",    "arm",
                                                   "sleep",   "disarm", "complete", "abandon"};
    static constexpr std::string_view phases[] = {"",         "look for more", "gate",      "kick",
                                                  "arm word", "heavy fence",   "far fence", "done"};
    std::vector<std::string> lines;
    for (; i != 0; i = origins_[i].from) {
      const auto [who, c] = origins_[i].how;
      const side& x = states_[origins_[i].from].sides[static_cast<std::size_t>(who)];
      std::string line = who == sender ? "\n  sender: " : "\n  receiver: ";
      if (c == choice::proceed)
        line += x.at == phase::act ? actions[static_cast<std::size_t>(x.next)]
                                   : phases[static_cast<std::size_t>(x.at)];
      else
        line += c == choice::cancel ? "cancel" : "a store drains";
      lines.push_back(std::move(line));
    }
    std::string result;
    for (auto it = lines.rbegin(); it != lines.rend(); ++it)
      result += *it;
    return result;
  }

  struct origin {
    std::uint32_t from;
    std::pair<int, choice> how;
  };
  using edge = std::pair<std::uint32_t, std::uint32_t>; ///< to, from

  protocol protocol_;
  // What the library's objects inside a state point to; filled before each step.
  wait_context context_[2];
  layout::word64 own_word_[2]{};
  layout::word64 peer_word_[2]{};

  std::vector<state> states_;
  std::vector<origin> origins_;
  std::vector<edge> edges_;
  std::unordered_set<std::uint32_t, hash, equal> seen_{1024, hash{&states_}, equal{&states_}};
};

inline outcome explore(const protocol& p) {
  return explorer(p).run();
}

} // namespace sysipc_asio::test::tso

#endif
