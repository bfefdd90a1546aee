// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_ASIO_DETAIL_FRAMES_HPP
#define SYSIPC_ASIO_DETAIL_FRAMES_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <sysipc_asio/detail/config.hpp>
#include <sysipc_asio/detail/unique_fd.hpp>

/// The frames of the handshake, as they cross the Unix socket; little-endian.
/**
 *     connector                              listener
 *       hello                          ->
 *                                      <-    welcome + segment, data, space, pool
 *       attach + segment, data, space, pool  ->
 *                                      <-    ready
 *
 * `reject` may take the place of any of the listener's. doc/layout.md has the rules.
 */
namespace sysipc_asio::detail {

enum class frame_type : std::uint16_t { hello = 1, welcome = 2, attach = 3, ready = 4, reject = 5 };

enum class reject_reason : std::uint32_t {
  malformed = 1,
  version = 2,
  not_admitted = 3,
  bad_descriptor = 4,
  out_of_resources = 5,
  timeout = 6,
};

inline constexpr std::uint32_t frame_magic = 0x4950'5953; // "SYPI"
/// A newer version may send longer frames; what is beyond the known fields is ignored.
inline constexpr std::size_t max_frame_size = 256;
/// Segment, data, space, pool.
inline constexpr std::size_t frame_descriptors = 4;

inline constexpr std::uint32_t feature_asymmetric_fences = 1;

struct frame_header {
  std::uint32_t magic = frame_magic;
  frame_type type{};
  std::uint16_t size = 0;
};

struct hello_frame {
  static constexpr frame_type type = frame_type::hello;
  frame_header header{};
  std::uint16_t abi_min = 0;
  std::uint16_t abi_max = 0;
  std::uint32_t features = 0;
  std::uint64_t send_capacity = 0;    ///< for the connector's ring, wanted
  std::uint64_t receive_capacity = 0; ///< for the listener's ring, wanted
  std::int32_t only_cpu = -1;
  std::uint32_t reserved = 0;
  std::uint64_t send_pool = 0;        ///< for the connector's pool, wanted
  std::uint64_t receive_pool = 0;     ///< for the listener's pool, wanted
  std::uint64_t max_message_size = 0; ///< that the connector takes
};
static_assert(sizeof(hello_frame) == 64);

struct welcome_frame {
  static constexpr frame_type type = frame_type::welcome;
  frame_header header{};
  std::uint16_t abi = 0;
  std::uint16_t backend = 0;
  std::uint32_t features = 0;
  std::uint64_t connector_capacity = 0; ///< granted
  std::uint64_t listener_capacity = 0;  ///< granted
  std::int32_t only_cpu = -1;
  std::uint32_t reserved = 0;
  std::uint64_t connector_pool = 0;   ///< granted; 0 for none
  std::uint64_t listener_pool = 0;    ///< granted; 0 for none
  std::uint64_t max_message_size = 0; ///< that the listener takes
};
static_assert(sizeof(welcome_frame) == 64);

struct attach_frame {
  static constexpr frame_type type = frame_type::attach;
  frame_header header{};
  std::uint64_t reserved = 0;
};
static_assert(sizeof(attach_frame) == 16);

struct ready_frame {
  static constexpr frame_type type = frame_type::ready;
  frame_header header{};
  std::uint64_t reserved = 0;
};
static_assert(sizeof(ready_frame) == 16);

struct reject_frame {
  static constexpr frame_type type = frame_type::reject;
  frame_header header{};
  reject_reason reason{};
  std::uint32_t reserved = 0;
};
static_assert(sizeof(reject_frame) == 16);

/// Receives one frame after the other, never a byte beyond the current one.
class frame_reader {
public:
  enum class status : std::uint8_t { incomplete, complete, failed };

  /// Takes what has arrived. Never blocks.
  /**
   * @param ec with `failed`: `connection_reset` if the other end closed,
   * `error::handshake_malformed`, or a system error;
   * `too_many_files_open` if its descriptors found no place here.
   */
  status read(int socket, error_code& ec);

  /// Of the complete frame.
  frame_type type() const noexcept { return header().type; }

  /// The frame as a `Frame`, if it is long enough and of that type.
  template <typename Frame>
  bool get(Frame& frame) const noexcept {
    return type() == Frame::type && get(&frame, sizeof frame);
  }

  std::size_t descriptor_count() const noexcept { return descriptor_count_; }
  unique_fd take_descriptor(std::size_t i) noexcept { return std::move(descriptors_[i]); }

  /// Ready for the next frame; descriptors that were not taken are closed.
  void clear() noexcept;

private:
  frame_header header() const noexcept;
  bool get(void* frame, std::size_t size) const noexcept;
  bool receive(int socket, std::size_t up_to, error_code& ec);
  void take_ancillary(void* message, error_code& ec);

  std::array<std::byte, max_frame_size> bytes_{};
  std::size_t size_ = 0;
  std::array<unique_fd, frame_descriptors> descriptors_{};
  std::size_t descriptor_count_ = 0;
};

/// Sends a frame with those of the descriptors that are not negative. Never blocks.
void send_frame(int socket, std::span<const std::byte> frame,
                std::initializer_list<int> descriptors, error_code& ec);

template <typename Frame>
void send_frame(int socket, Frame frame, std::initializer_list<int> descriptors, error_code& ec) {
  frame.header.type = Frame::type;
  frame.header.size = sizeof frame;
  send_frame(socket, std::as_bytes(std::span(&frame, 1)), descriptors, ec);
}

} // namespace sysipc_asio::detail

#endif
