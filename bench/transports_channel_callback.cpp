// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "payload.hpp"
#include "round_trips.hpp"
#include "side_of_channel.hpp"
#include "silence.hpp"
#include "usage_meter.hpp"
#include "workload.hpp"
#include <boost/asio/buffer.hpp>
#include <boost/system/system_error.hpp>
#include <sysipc_asio/statistics.hpp>
#include <vector>

/// The channel with handlers: each operation is started by the handler of the one before.
namespace bench {
namespace {

using boost::system::error_code;

/// What the four parts have in common.
class part {
public:
  part(unique_fd socket, const settings& s, role as)
      : side_(std::move(socket), s, as), settings_(s), payload_(make_payload(s.size)),
        message_(s.size) {}

protected:
  template <typename Handler>
  void send(const std::vector<std::byte>& message, Handler handler) {
    side_.ch.async_send(boost::asio::buffer(message), [handler](error_code ec, std::size_t) {
      check(ec);
      handler();
    });
  }

  template <typename Handler>
  void receive(Handler handler) {
    side_.ch.async_receive(boost::asio::buffer(message_),
                           [this, handler](error_code ec, std::size_t n) {
                             check(ec);
                             expect_size(n, message_.size());
                             handler();
                           });
  }

  bool measuring_starts() const noexcept { return done_ == settings_.warmup; }
  bool measuring() const noexcept { return done_ >= settings_.warmup; }
  bool complete() const noexcept { return done_ == settings_.warmup + settings_.count; }

  static void check(error_code ec) {
    if (ec)
      throw boost::system::system_error(ec); // out of run()
  }

  side_of_channel side_;
  const settings settings_;
  const std::vector<std::byte> payload_;
  std::vector<std::byte> message_;
  std::uint64_t done_ = 0;
};

class asker : part {
public:
  asker(unique_fd socket, const settings& s, role as)
      : part(std::move(socket), s, as), trips_(s.count) {}

  side_report run() {
    next();
    side_.context.run();
    expect_payload(message_);
    side_report result = side_.report();
    trips_.report_to(result);
    return result;
  }

private:
  void next() {
    if (measuring_starts()) {
      side_.start_counting();
      trips_.start();
    }
    if (!complete())
      send(payload_, [this] { await_reply(); });
  }

  void await_reply() {
    receive([this] {
      if (measuring())
        trips_.lap();
      ++done_;
      next();
    });
  }

  round_trips trips_;
};

class answerer : part {
public:
  using part::part;

  side_report run() {
    next();
    side_.context.run();
    return side_.report();
  }

private:
  void next() {
    if (!complete())
      receive([this] { reply(); });
  }

  void reply() {
    send(message_, [this] {
      ++done_;
      next();
    });
  }
};

class sender : part {
public:
  using part::part;

  side_report run() {
    next();
    side_.context.run();
    return side_.report();
  }

private:
  void next() {
    if (measuring_starts()) {
      be_silent(settings_);
      side_.start_counting();
    }
    if (!complete())
      send(payload_, [this] {
        ++done_;
        next();
      });
  }
};

class receiver : part {
public:
  using part::part;

  side_report run() {
    next();
    side_.context.run();
    side_report result = side_.report();
    result.per_second = per_second_;
    usage_.report_to(result);
    expect_payload(message_);
    return result;
  }

private:
  void next() {
    if (measuring_starts()) {
      side_.start_counting();
      usage_ = usage_meter();
      start_ = round_trips::clock::now();
    }
    if (complete())
      per_second_ = rate_since(start_, settings_.count);
    else
      receive([this] {
        ++done_;
        next();
      });
  }

  round_trips::clock::time_point start_;
  double per_second_ = 0;
  usage_meter usage_;
};

template <typename Part>
side run(const settings& s, role as) {
  return [s, as](unique_fd socket) { return Part(std::move(socket), s, as).run(); };
}

} // namespace

workload channel_callback_rtt(const settings& s) {
  return {run<asker>(s, role::first), run<answerer>(s, role::second)};
}

workload channel_callback_throughput(const settings& s) {
  return {run<sender>(s, role::first), run<receiver>(s, role::second)};
}

} // namespace bench
