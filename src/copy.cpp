// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include <cstring>
#include <sysipc_asio/detail/copy.hpp>

// The sanitizers know memcpy(), and see into no assembly.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SYSIPC_ASIO_COPY_BY_STRING_INSTRUCTION
#include <cpuid.h>
#endif

namespace sysipc_asio::detail {

#ifdef SYSIPC_ASIO_COPY_BY_STRING_INSTRUCTION

namespace {

/// Below it, memcpy() is as fast, or does the same.
constexpr std::size_t least_for_string_instruction = 512 * 1024;

constexpr unsigned enhanced_movsb = 1U << 9; ///< of CPUID leaf 7, in EBX

bool has_fast_string_instruction() noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & enhanced_movsb) != 0;
}

} // namespace

void copy_for_reader(void* to, const void* from, std::size_t n) noexcept {
  static const bool fast = has_fast_string_instruction();
  if (n < least_for_string_instruction || !fast)
    return copy_bytes(to, from, n);
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

#else

void copy_for_reader(void* to, const void* from, std::size_t n) noexcept {
  copy_bytes(to, from, n);
}

#endif

} // namespace sysipc_asio::detail
