// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#ifndef SYSIPC_BENCH_RUNGS_MQ_HPP
#define SYSIPC_BENCH_RUNGS_MQ_HPP

#include <string>

namespace bench {

/// Empty if this process can have POSIX message queues.
std::string why_no_mq();

} // namespace bench

#endif
