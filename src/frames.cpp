// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sysipc_asio/detail/frames.hpp>
#include <sysipc_asio/error.hpp>

namespace sysipc_asio::detail {
namespace {

error_code last_error() noexcept {
  return {errno, boost::system::system_category()};
}

} // namespace

frame_header frame_reader::header() const noexcept {
  frame_header result;
  std::memcpy(&result, bytes_.data(), sizeof result);
  return result;
}

bool frame_reader::get(void* frame, std::size_t size) const noexcept {
  if (size_ < size)
    return false;
  std::memcpy(frame, bytes_.data(), size);
  return true;
}

void frame_reader::clear() noexcept {
  size_ = 0;
  descriptor_count_ = 0;
  for (auto& fd : descriptors_)
    fd.reset();
}

frame_reader::status frame_reader::read(int socket, error_code& ec) {
  ec = {};
  if (size_ < sizeof(frame_header) && !receive(socket, sizeof(frame_header), ec))
    return ec ? status::failed : status::incomplete;
  const frame_header h = header();
  if (h.magic != frame_magic || h.size < sizeof h || h.size > max_frame_size) {
    ec = error::handshake_malformed;
    return status::failed;
  }
  if (size_ < h.size && !receive(socket, h.size, ec))
    return ec ? status::failed : status::incomplete;
  return status::complete;
}

/// True once `up_to` bytes are there; false with or without an error.
bool frame_reader::receive(int socket, std::size_t up_to, error_code& ec) {
  while (size_ < up_to) {
    iovec part{bytes_.data() + size_, up_to - size_};
    // One more than allowed, to tell a client that sends too many from a lack of our own.
    alignas(cmsghdr) char control[CMSG_SPACE((frame_descriptors + 1) * sizeof(int))];
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t n = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0) {
      if (errno == EINTR)
        continue;
      if (errno != EAGAIN)
        ec = last_error();
      return false;
    }
    take_ancillary(&message, ec);
    if (ec)
      return false;
    if (n == 0) {
      ec = asio::error::connection_reset;
      return false;
    }
    size_ += static_cast<std::size_t>(n);
  }
  return true;
}

void frame_reader::take_ancillary(void* opaque, error_code& ec) {
  auto& message = *static_cast<msghdr*>(opaque);
  std::size_t arrived = 0;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) {
      ec = error::handshake_malformed;
      continue; // descriptors that follow must still be closed
    }
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i != count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
      ++arrived;
      if (descriptor_count_ < frame_descriptors)
        descriptors_[descriptor_count_++].reset(fd);
      else {
        unique_fd surplus(fd);
        ec = error::handshake_malformed;
      }
    }
  }
  if (!ec && (message.msg_flags & MSG_CTRUNC) != 0)
    ec = arrived > frame_descriptors ? error_code(error::handshake_malformed)
                                     : error_code(boost::system::errc::too_many_files_open,
                                                  boost::system::system_category());
}

void send_frame(int socket, std::span<const std::byte> frame,
                std::initializer_list<int> descriptors, error_code& ec) {
  iovec part{const_cast<std::byte*>(frame.data()), frame.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(frame_descriptors * sizeof(int))]{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  std::array<int, frame_descriptors + 1> present{};
  const auto last = std::copy_if(descriptors.begin(), descriptors.end(), present.begin(),
                                 [](int fd) { return fd >= 0; });
  if (last != present.begin()) {
    const std::size_t bytes = static_cast<std::size_t>(last - present.begin()) * sizeof(int);
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(c), present.data(), bytes);
  }
  ssize_t n;
  do
    n = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  if (n < 0 && errno == EAGAIN) // never on the fresh socket of a handshake
    ec = asio::error::no_buffer_space;
  else if (n < 0)
    ec = last_error();
  else if (static_cast<std::size_t>(n) != frame.size())
    ec = asio::error::no_buffer_space;
  else
    ec = {};
}

} // namespace sysipc_asio::detail
