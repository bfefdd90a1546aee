#!/bin/bash
# Copyright (c) 2026 the sysipc_asio authors.
# Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

# Usage: demo.sh
# Installs what is missing (Debian 12), builds the examples and compares round trips over a
# channel, a Unix socket and TCP, all to one server with one event loop on one thread.

set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
work=$(mktemp -d)
server=

finish() {
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" || true
  fi
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

die() {
  echo "demo.sh: $1" >&2
  exit 1
}

quietly() {
  "$@" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    die "failed: $*"
  }
}

example/packages.sh g++ cmake ninja-build libboost1.81-dev libboost-program-options1.81-dev \
  libboost-json1.81-dev libboost-test1.81-dev libboost-context1.81-dev

if [ ! -f build/CMakeCache.txt ]; then
  quietly cmake -S . -B build -G Ninja -DSYSIPC_ASIO_BUILD_TESTS=OFF -DSYSIPC_ASIO_BUILD_BENCH=OFF
fi
quietly cmake --build build --target echo_server latency_client bridge

# A core for each side, if there are two to have.
on_server=() on_client=()
if taskset -c 0 true 2>/dev/null && taskset -c 1 true 2>/dev/null; then
  on_server=(taskset -c 0)
  on_client=(taskset -c 1)
fi

name=@sysipc-demo-$$
run_server=("${on_server[@]}" build/example/echo_server
  --name "$name" --tcp 127.0.0.1:0 --unix "$work/socket")
echo "\$ ${run_server[*]}"
"${run_server[@]}" >"$work/server" &
server=$!
for ((i = 0; i < 100; i++)); do
  if grep -q '^listening on unix' "$work/server"; then
    break
  elif ! kill -0 "$server" 2>/dev/null; then
    die "the server did not start"
  fi
  sleep 0.05
done
cat "$work/server"
tcp=$(sed -n 's/^listening on tcp //p' "$work/server")
[ -n "$tcp" ] || die "the server does not say that it listens"

# measure TRANSPORT OPTION VALUE: leaves what the client says in $work/TRANSPORT.
measure() {
  local command=("${on_client[@]}" build/example/latency_client "$2" "$3")
  echo "\$ ${command[*]}"
  "${command[@]}" >"$work/$1" || die "the client failed"
}
measure channel --name "$name"
measure unix --unix "$work/socket"
measure tcp --tcp "$tcp"

kill -TERM "$server"
status=0
wait "$server" || status=$?
server=
[ "$status" -eq 0 ] || die "the server ended with status $status"
[ ! -e "$work/socket" ] || die "the server left its socket behind"

echo
echo "The channel:"
cat "$work/channel"
echo
echo "Round trips of 64 bytes in us, and how many times that of the channel:"
awk '
  function us(value, unit) { return value * (unit ~ /^us/ ? 1 : unit ~ /^ms/ ? 1e3 : 1e6) }
  BEGIN { printf "%-12s %18s %18s %18s\n", "", "p50", "p99", "p99.9" }
  $1 == "p50" {
    now[1] = us($2, $3); now[2] = us($8, $9); now[3] = us($11, $12)
    if (NR == 1) for (i = 1; i <= 3; i++) base[i] = now[i]
    n = split(FILENAME, path, "/")
    printf "%-12s", path[n]
    for (i = 1; i <= 3; i++) printf " %10.2f %6.1fx", now[i], now[i] / base[i]
    print ""
  }' "$work/channel" "$work/unix" "$work/tcp"
