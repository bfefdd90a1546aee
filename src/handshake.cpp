// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <algorithm>
#include <bit>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <limits>
#include <new>
#include <poll.h>
#include <sys/socket.h>
#include <sysipc_asio/detail/handshake.hpp>
#include <sysipc_asio/detail/kernel_endpoint.hpp>
#include <sysipc_asio/detail/shared_memory.hpp>
#include <sysipc_asio/error.hpp>
#include <sysipc_asio/wait.hpp>
#include <unistd.h>

namespace sysipc_asio::detail {
namespace {

error_code last_error() noexcept {
  return {errno, boost::system::system_category()};
}

std::uint32_t own_features(const channel_options& options) noexcept {
  const bool asymmetric = options.fences == fence_mode::asymmetric && register_asymmetric_fences();
  return asymmetric ? feature_asymmetric_fences : 0;
}

std::size_t granted(std::uint64_t wanted, std::size_t limit) noexcept {
  // The result is a power of two, so the limit is the one below it.
  const std::uint64_t bounded =
      std::min<std::uint64_t>(wanted, std::bit_floor(std::max<std::size_t>(limit, 1)));
  return layout::make_geometry(static_cast<std::size_t>(bounded),
                               static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)))
      .ring_capacity;
}

/// A pool of the size wanted, or as large as is allowed; nothing if even a page is too much.
std::size_t granted_pool(std::uint64_t wanted, std::size_t limit) noexcept {
  const std::size_t page = system_page();
  const std::uint64_t bounded =
      std::min<std::uint64_t>({wanted, limit / page * page, layout::max_pool_size});
  return whole_pages(static_cast<std::size_t>(bounded));
}

reject_reason reason_for(const error_code& ec) noexcept {
  if (ec == error::handshake_version)
    return reject_reason::version;
  if (ec == error::not_admitted)
    return reject_reason::not_admitted;
  if (ec == error::bad_peer_descriptor)
    return reject_reason::bad_descriptor;
  if (ec == error::handshake_timeout)
    return reject_reason::timeout;
  if (ec == error::handshake_malformed)
    return reject_reason::malformed;
  return reject_reason::out_of_resources;
}

error_code error_for(reject_reason reason) noexcept {
  switch (reason) {
  case reject_reason::version:
    return error::handshake_version;
  case reject_reason::not_admitted:
    return error::not_admitted;
  case reject_reason::bad_descriptor:
    return error::bad_peer_descriptor;
  case reject_reason::out_of_resources:
    return error::peer_out_of_resources;
  case reject_reason::timeout:
    return error::handshake_timeout;
  case reject_reason::malformed:
    break;
  }
  return error::handshake_malformed;
}

/// A size that a peer names, which may be beyond what this process can address.
std::size_t bounded_size(std::uint64_t n) noexcept {
  return static_cast<std::size_t>(
      std::min<std::uint64_t>(n, std::numeric_limits<std::size_t>::max()));
}

/// True if a listener may have granted this pool to one who wanted that.
bool is_granted(std::uint64_t granted, std::size_t wanted) noexcept {
  return granted <= whole_pages(wanted) && granted % system_page() == 0;
}

class listener_handshake final : public handshake {
public:
  listener_handshake(unique_fd socket, std::shared_ptr<const listen_options> options)
      : handshake(std::move(socket)), options_(std::move(options)) {}

private:
  enum class state : std::uint8_t { start, hello, attach };

  bool step(error_code& ec) override {
    switch (state_) {
    case state::start:
      check_options(options_->channel, ec);
      if (!ec)
        check_peer(options_->admit, ec);
      state_ = state::hello;
      return false;
    case state::hello:
      if (read_frame(ec))
        welcome(ec);
      return false;
    case state::attach:
      if (!read_frame(ec))
        return false;
      attach(ec);
      return !ec;
    }
    return false;
  }

  void welcome(error_code& ec) {
    hello_frame hello;
    if (!reader_.get(hello) || reader_.descriptor_count() != 0) {
      ec = error::handshake_malformed;
      return;
    }
    if (hello.abi_min > layout::abi_version || hello.abi_max < layout::abi_version) {
      ec = error::handshake_version;
      return;
    }
    const std::uint32_t common = own_features(options_->channel) & hello.features;
    agree((common & feature_asymmetric_fences) != 0, hello.only_cpu);
    welcome_frame answer;
    answer.abi = layout::abi_version;
    answer.features = common;
    answer.connector_capacity = granted(hello.send_capacity, options_->max_capacity);
    answer.listener_capacity = granted(hello.receive_capacity, options_->max_capacity);
    answer.only_cpu = only_cpu();
    answer.connector_pool = granted_pool(hello.send_pool, options_->max_pool);
    // Its own wish counts, too: it is this side's memory.
    answer.listener_pool =
        granted_pool(std::min<std::uint64_t>(hello.receive_pool, options_->channel.send_pool),
                     options_->max_pool);
    answer.max_message_size = options_->channel.max_message_size;
    result_.peer_max_message = bounded_size(hello.max_message_size);
    connector_capacity_ = static_cast<std::size_t>(answer.connector_capacity);
    connector_pool_ = static_cast<std::size_t>(answer.connector_pool);
    unique_fd for_peer = make_half(static_cast<std::size_t>(answer.listener_capacity), ec);
    if (!ec)
      result_.pool =
          make_pool(static_cast<std::size_t>(answer.listener_pool), options_->channel, ec);
    if (ec)
      return;
    answer.backend = static_cast<std::uint16_t>(result_.backend);
    send_with_descriptors(answer, for_peer.get(), ec);
    reader_.clear();
    state_ = state::attach;
  }

  /// This side's half, and of the driver's channel the peer's endpoint.
  unique_fd make_half(std::size_t capacity, error_code& ec) {
    if (choose_backend(options_->backend, ec) == backend::kernel) {
      auto [mine, theirs] = make_endpoints(capacity, connector_capacity_, ec);
      if (!ec)
        adopt(make_own_half(std::move(mine), capacity, ec), options_->channel, ec);
      if (!ec)
        return std::move(theirs);
      if (options_->backend == backend::kernel)
        return {};
      ec = {}; // it has its limits, the other one may have room
    }
    if (!ec)
      adopt(make_own_half(capacity, ec), options_->channel, ec);
    return {};
  }

  void attach(error_code& ec) {
    attach_frame frame;
    if (!reader_.get(frame))
      ec = error::handshake_malformed;
    if (!ec)
      attach_peer(connector_capacity_, connector_pool_, ec);
    if (!ec)
      send_frame(socket(), ready_frame(), {}, ec);
  }

  void fail(const error_code& ec) noexcept override {
    if (ec != asio::error::operation_aborted) { // a listener that closes just goes
      reject_frame frame;
      frame.reason = reason_for(ec);
      error_code ignored;
      send_frame(socket(), frame, {}, ignored);
    }
    handshake::fail(ec);
  }

  std::shared_ptr<const listen_options> options_;
  std::size_t connector_capacity_ = 0;
  std::size_t connector_pool_ = 0;
  state state_ = state::start;
};

class connector_handshake final : public handshake {
public:
  connector_handshake(unique_fd socket, connect_options options)
      : handshake(std::move(socket)), options_(std::move(options)) {}

private:
  enum class state : std::uint8_t { start, welcome, ready };

  bool step(error_code& ec) override {
    switch (state_) {
    case state::start:
      check_options(options_.channel, ec);
      if (!ec)
        check_peer(options_.admit, ec);
      if (!ec)
        hello(ec);
      return false;
    case state::welcome:
      if (read_frame(ec))
        attach(ec);
      return false;
    case state::ready:
      if (!read_frame(ec))
        return false;
      if (ready_frame frame; !reader_.get(frame) || reader_.descriptor_count() != 0)
        ec = unexpected();
      return !ec;
    }
    return false;
  }

  void hello(error_code& ec) {
    hello_frame frame;
    frame.abi_min = frame.abi_max = layout::abi_version;
    frame.features = own_features(options_.channel);
    frame.send_capacity = options_.channel.send_capacity;
    frame.receive_capacity = options_.channel.receive_capacity;
    frame.only_cpu = only_cpu();
    frame.send_pool = options_.channel.send_pool;
    frame.receive_pool = options_.channel.receive_pool;
    frame.max_message_size = options_.channel.max_message_size;
    send_frame(socket(), frame, {}, ec);
    hear_why(ec);
    state_ = state::welcome;
  }

  void attach(error_code& ec) {
    welcome_frame frame;
    if (!reader_.get(frame)) {
      ec = unexpected();
      return;
    }
    if (frame.abi != layout::abi_version) {
      ec = error::handshake_version;
      return;
    }
    // The listener may grant less than was asked for, never more.
    const auto wanted_send = granted(options_.channel.send_capacity, layout::max_ring_capacity);
    const auto wanted_receive =
        granted(options_.channel.receive_capacity, layout::max_ring_capacity);
    const bool kernel = frame.backend == static_cast<std::uint16_t>(backend::kernel);
    if ((!kernel && frame.backend != static_cast<std::uint16_t>(backend::interprocess)) ||
        frame.connector_capacity > wanted_send || frame.listener_capacity > wanted_receive ||
        !is_granted(frame.connector_pool, options_.channel.send_pool) ||
        !is_granted(frame.listener_pool, options_.channel.receive_pool)) {
      ec = error::handshake_malformed;
      return;
    }
    const auto own_capacity = static_cast<std::size_t>(frame.connector_capacity);
    const auto peer_capacity = static_cast<std::size_t>(frame.listener_capacity);
    const auto peers_pool = static_cast<std::size_t>(frame.listener_pool);
    result_.peer_max_message = bounded_size(frame.max_message_size);
    result_.pool = make_pool(static_cast<std::size_t>(frame.connector_pool), options_.channel, ec);
    if (ec)
      return;
    agree((own_features(options_.channel) & frame.features & feature_asymmetric_fences) != 0,
          frame.only_cpu);
    if (kernel)
      return attach_endpoint(own_capacity, peer_capacity, peers_pool, ec);
    attach_peer(peer_capacity, peers_pool, ec);
    if (!ec)
      adopt(make_own_half(own_capacity, ec), options_.channel, ec);
    if (ec)
      return;
    send_with_descriptors(attach_frame(), -1, ec);
    answered(ec);
  }

  void attach_endpoint(std::size_t own_capacity, std::size_t peer_capacity, std::size_t peers_pool,
                       error_code& ec) {
    if (reader_.descriptor_count() != (peers_pool == 0 ? 1 : 2)) {
      ec = error::handshake_malformed;
      return;
    }
    unique_fd fd = reader_.take_descriptor(0);
    check_endpoint(fd.get(), own_capacity, peer_capacity, ec);
    if (!ec)
      adopt(make_own_half(std::move(fd), own_capacity, ec), options_.channel, ec);
    if (!ec)
      result_.peer = peer_segment::of_endpoint(result_.data_bell.get(), peer_capacity, ec);
    if (!ec)
      attach_pool(1, peers_pool, ec);
    if (ec)
      return;
    send_with_descriptors(attach_frame(), -1, ec);
    answered(ec);
  }

  void answered(error_code& ec) noexcept {
    hear_why(ec);
    reader_.clear();
    state_ = state::ready;
  }

  /// A listener that left may have said why: the next read tells.
  static void hear_why(error_code& ec) noexcept {
    if (ec == asio::error::broken_pipe || ec == asio::error::connection_reset)
      ec = {};
  }

  /// What a frame means that is not the one expected.
  error_code unexpected() const noexcept {
    reject_frame frame;
    return reader_.get(frame) ? error_for(frame.reason) : error_code(error::handshake_malformed);
  }

  const connect_options options_;
  state state_ = state::start;
};

} // namespace

bool handshake::run() noexcept {
  while (!over_) {
    error_code ec;
    try {
      over_ = step(ec);
    } catch (const std::bad_alloc&) {
      ec = asio::error::no_memory;
    }
    if (ec == asio::error::would_block)
      return false;
    if (ec)
      fail(ec);
  }
  return true;
}

bool handshake::read_frame(error_code& ec) {
  switch (reader_.read(socket(), ec)) {
  case frame_reader::status::complete:
    return true;
  case frame_reader::status::incomplete:
    ec = asio::error::would_block;
    return false;
  case frame_reader::status::failed:
    break;
  }
  return false;
}

void handshake::check_peer(const admission_predicate& admit, error_code& ec) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    ec = last_error();
    return;
  }
  result_.credentials = {credentials.pid, credentials.uid, credentials.gid};
  const bool admitted = admit ? admit(result_.credentials) : same_user_or_root(result_.credentials);
  ec = admitted ? error_code() : error_code(error::not_admitted);
}

void handshake::adopt(endpoint half, const channel_options& options, error_code& ec) noexcept {
  result_.backend = half.backend;
  result_.own = std::move(half.own);
  result_.data_kick = std::move(half.data_kick);
  result_.space_kick = std::move(half.space_kick);
  if (half.backend == backend::kernel) {
    result_.data_bell = std::move(half.data_bell);
    result_.space_bell = std::move(half.space_bell);
  }
  if (!ec)
    hold_in_memory(result_.own, options, ec);
}

void handshake::attach_pool(std::size_t place, std::size_t size, error_code& ec) {
  if (size != 0)
    result_.peers_pool = peer_pool::open(reader_.take_descriptor(place).get(), size, ec);
}

void handshake::attach_peer(std::size_t ring_capacity, std::size_t peers_pool, error_code& ec) {
  const bool kernel = result_.backend == backend::kernel;
  const std::size_t others = kernel ? 0 : 3;
  if (reader_.descriptor_count() != others + (peers_pool == 0 ? 0 : 1)) {
    ec = error::handshake_malformed;
    return;
  }
  attach_pool(others, peers_pool, ec);
  if (ec)
    return;
  if (kernel) {
    result_.peer = peer_segment::of_endpoint(result_.data_bell.get(), ring_capacity, ec);
    return;
  }
  const unique_fd memory = reader_.take_descriptor(0);
  unique_fd data = reader_.take_descriptor(1);
  unique_fd space = reader_.take_descriptor(2);
  if (!is_reading_end(data.get()) || !is_reading_end(space.get())) {
    ec = error::bad_peer_descriptor;
    return;
  }
  result_.peer = peer_segment::open(memory.get(), ring_capacity, ec);
  result_.data_bell = std::move(data);
  result_.space_bell = std::move(space);
}

void handshake::agree(bool fences, std::int32_t peer_only_cpu) noexcept {
  result_.fences = fences ? fence_mode::asymmetric : fence_mode::symmetric;
  result_.may_spin = peer_only_cpu < 0 || peer_only_cpu != only_cpu();
}

void handshake::fail(const error_code& ec) noexcept {
  error_ = ec;
  over_ = true;
  result_ = {};
}

std::unique_ptr<handshake> make_listener_handshake(unique_fd socket,
                                                   std::shared_ptr<const listen_options> options) {
  return std::make_unique<listener_handshake>(std::move(socket), std::move(options));
}

std::unique_ptr<handshake> make_connector_handshake(unique_fd socket, connect_options options) {
  return std::make_unique<connector_handshake>(std::move(socket), std::move(options));
}

std::chrono::steady_clock::time_point deadline_after(std::chrono::nanoseconds timeout) noexcept {
  constexpr std::chrono::nanoseconds year = std::chrono::hours(24 * 365);
  return std::chrono::steady_clock::now() + std::min(timeout, year);
}

endpoint run_blocking(handshake& h, std::chrono::nanoseconds timeout, error_code& ec) {
  using clock = std::chrono::steady_clock;
  const auto deadline = deadline_after(timeout);
  while (!h.run()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now()).count();
    pollfd entry{h.socket(), POLLIN, 0};
    if (left <= 0)
      h.abort(error::handshake_timeout);
    else
      ::poll(&entry, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
  }
  return h.take(ec);
}

} // namespace sysipc_asio::detail
