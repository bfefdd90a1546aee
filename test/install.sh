#!/usr/bin/env bash
# install.sh BUILD: installs the library of that build folder to a temporary prefix and
# uses it as a stranger would: by find_package(), and by add_subdirectory().
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix"
mkdir "$work/user"
cat >"$work/user/main.cpp" <<'CPP'
#include <boost/asio/io_context.hpp>
#include <sysipc_asio/channel_pair.hpp>
int main() {
  boost::asio::io_context context;
  auto pair = sysipc_asio::make_channel_pair(context.get_executor(), context.get_executor());
  pair.first.try_push(42);
  return pair.second.try_pop<int>() == 42 ? 0 : 1;
}
CPP
cat >"$work/user/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES CXX)
if(SYSIPC_ASIO_SOURCE)
  add_subdirectory(${SYSIPC_ASIO_SOURCE} sysipc_asio)
else()
  find_package(sysipc_asio REQUIRED)
endif()
add_executable(user main.cpp)
target_link_libraries(user PRIVATE sysipc_asio::sysipc_asio)
CMAKE
cmake -S "$work/user" -B "$work/installed" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix"
cmake --build "$work/installed"
"$work/installed/user"
cmake -S "$work/user" -B "$work/subdirectory" -G Ninja -DSYSIPC_ASIO_SOURCE="$source"
cmake --build "$work/subdirectory"
"$work/subdirectory/user"
