// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "blocking_end.hpp"
#include "workload.hpp"
#include <algorithm>
#include <boost/interprocess/ipc/message_queue.hpp>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

/// boost::interprocess::message_queue, with its blocking calls.
namespace bench {
namespace {

using boost::interprocess::message_queue;

std::string unlikely_name() {
  std::random_device random;
  std::ostringstream s;
  s << "sysipc-bench-" << std::hex << random() << random();
  return s.str();
}

/// A queue without a name: fork() hands it on, and nothing is left behind in any event.
class unnamed_queue {
public:
  unnamed_queue(std::size_t messages, std::size_t size)
      : queue_(boost::interprocess::create_only, name_.text.c_str(), messages, size) {
    name_.remove();
  }

  message_queue& operator*() noexcept { return queue_; }

private:
  struct name {
    name() : text(unlikely_name()) {}
    ~name() { remove(); }
    void remove() const noexcept { message_queue::remove(text.c_str()); }

    std::string text;
  };

  name name_;
  message_queue queue_;
};

/// `there` leads from the first side to the second.
struct queues {
  queues(std::size_t messages, std::size_t size) : there(messages, size), back(messages, size) {}

  unnamed_queue there;
  unnamed_queue back;
};

class queue_end : public plain_end {
public:
  queue_end(std::shared_ptr<queues> both, std::size_t size, role as)
      : queues_(std::move(both)), out_(as == role::first ? *queues_->there : *queues_->back),
        in_(as == role::first ? *queues_->back : *queues_->there), payload_(make_payload(size)),
        message_(size) {}

  void send() { out_.send(payload_.data(), payload_.size(), priority); }
  void send_back() { out_.send(message_.data(), message_.size(), priority); }

  std::span<const std::byte> receive() {
    message_queue::size_type size = 0;
    unsigned int of_message = 0;
    in_.receive(message_.data(), message_.size(), size, of_message);
    return std::span(message_).first(size);
  }

private:
  static constexpr unsigned int priority = 0; // one for all keeps the order

  std::shared_ptr<queues> queues_;
  message_queue& out_;
  message_queue& in_;
  std::vector<std::byte> payload_;
  std::vector<std::byte> message_;
};

/// The queues hold as many bytes as our ring does.
auto opener(const settings& s) {
  const std::size_t messages = std::max<std::size_t>(s.capacity / s.size, 2);
  return [both = std::make_shared<queues>(messages, s.size), size = s.size](unique_fd, role as) {
    return queue_end(both, size, as);
  };
}

} // namespace

workload interprocess_mq_rtt(const settings& s) {
  return blocking_rtt(s, opener(s));
}

workload interprocess_mq_throughput(const settings& s) {
  return blocking_throughput(s, opener(s));
}

} // namespace bench
