// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "blocking_end.hpp"
#include "payload_stream.hpp"
#include "rendezvous.hpp"
#include "temporary_directory.hpp"
#include "workload.hpp"
#include <cstring>
#include <memory>
#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>
#include <stdexcept>
#include <string>

/// nng: a pair of pair0 sockets over ipc://, with its blocking calls on messages.
namespace bench {
namespace {

void check(const char* what, int error) {
  if (error != 0) [[unlikely]]
    throw std::runtime_error(std::string(what) + ": " + ::nng_strerror(error));
}

class pair_socket {
public:
  pair_socket() { check("nng_pair0_open", ::nng_pair0_open(&value_)); }
  pair_socket(const pair_socket&) = delete;
  pair_socket& operator=(const pair_socket&) = delete;
  ~pair_socket() { ::nng_close(value_); }

  nng_socket get() const noexcept { return value_; }

private:
  nng_socket value_;
};

struct message_deleter {
  void operator()(nng_msg* m) const noexcept { ::nng_msg_free(m); }
};
using message = std::unique_ptr<nng_msg, message_deleter>;

class pair_end : public plain_end {
public:
  pair_end(unique_fd other_side, const std::string& address, std::size_t size, role as)
      : other_side_(std::move(other_side)), payload_(make_payload(size)) {
    // The limit for messages from strangers is 1 MiB by default.
    check("nng_socket_set", ::nng_socket_set_size(socket_.get(), NNG_OPT_RECVMAXSZ, size));
    if (as == role::first) {
      check("nng_listen", ::nng_listen(socket_.get(), address.c_str(), nullptr, 0));
      tell(other_side_.get());
    } else {
      hear(other_side_.get());
      check("nng_dial", ::nng_dial(socket_.get(), address.c_str(), nullptr, 0));
    }
  }

  void send() {
    send_filled([this](std::span<std::byte> to) {
      std::memcpy(to.data(), payload_.data(), payload_.size());
    });
  }

  /// The library owns what is sent: each message is made anew, filled in place.
  template <typename Fill>
  void send_filled(Fill fill) {
    nng_msg* m = nullptr;
    check("nng_msg_alloc", ::nng_msg_alloc(&m, payload_.size()));
    message owned(m);
    fill(std::span(static_cast<std::byte*>(::nng_msg_body(m)), payload_.size()));
    send(std::move(owned));
  }

  void send_back() { send(std::move(received_)); }

  std::span<const std::byte> receive() {
    nng_msg* m = nullptr;
    check("nng_recvmsg", ::nng_recvmsg(socket_.get(), &m, 0));
    received_.reset(m);
    return {static_cast<const std::byte*>(::nng_msg_body(m)), ::nng_msg_len(m)};
  }

  // Closing a socket drops what is on its way.
  void tell_received() const { tell(other_side_.get()); }
  void await_received() const { hear(other_side_.get()); }

private:
  void send(message m) {
    check("nng_sendmsg", ::nng_sendmsg(socket_.get(), m.get(), 0));
    m.release(); // only if it was sent
  }

  unique_fd other_side_;
  pair_socket socket_;
  message received_;
  std::vector<std::byte> payload_;
};

auto opener(const settings& s) {
  return [size = s.size, directory = std::make_shared<temporary_directory>()](unique_fd other_side,
                                                                              role as) {
    return pair_end(std::move(other_side), "ipc://" + (directory->path() / "nng").string(), size,
                    as);
  };
}

} // namespace

workload nng_rtt(const settings& s) {
  return blocking_rtt(s, opener(s));
}

workload nng_throughput(const settings& s) {
  return blocking_throughput(s, opener(s));
}

workload nng_payload(const settings& s) {
  return payload_stream(s, opener(s));
}

} // namespace bench
