#!/usr/bin/env bash
# examples.sh FOLDER: runs the example programs in FOLDER as a user would.
set -euo pipefail
bin=$1
work=$(mktemp -d)
name="@sysipc-examples-$$"
servers=()
cleanup() {
  for pid in "${servers[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap cleanup EXIT

fail() {
  echo "examples.sh: $*" >&2
  exit 1
}

# expect STATUS COMMAND...: and one line on stderr at most, none if it succeeds.
expect() {
  local wanted=$1 status=0
  shift
  "$@" >"$work/out" 2>"$work/err" || status=$?
  [ $status = "$wanted" ] || fail "exit $status instead of $wanted: $* ($(cat "$work/err"))"
  if [ "$wanted" = 0 ]; then
    [ ! -s "$work/err" ] || fail "unexpected on stderr: $* ($(cat "$work/err"))"
  else
    [ "$(wc -l <"$work/err")" = 1 ] || fail "not one line of reason: $* ($(cat "$work/err"))"
  fi
}

# wait_for TEXT FILE PID: until the program has printed TEXT.
wait_for() {
  for _ in $(seq 1000); do
    if grep -q -- "$1" "$2"; then return; fi
    kill -0 "$3" 2>/dev/null || fail "ended before it printed '$1': $(cat "$2")"
    sleep 0.01
  done
  fail "never printed '$1'"
}

start_server() {
  "$bin/echo_server" --name "$name" --tcp 127.0.0.1:0 --unix "$work/socket" >"$work/server" &
  server=$!
  servers+=("$server")
  wait_for "listening on unix" "$work/server" "$server"
  tcp=$(sed -n 's/^listening on tcp //p' "$work/server")
}

echo "usage"
for program in echo_server latency_client bridge frames; do
  expect 0 "$bin/$program" --help
  expect 2 "$bin/$program"
  expect 2 "$bin/$program" --no-such-option
done
expect 2 "$bin/echo_server" --tcp nonsense
expect 2 "$bin/echo_server" --tcp 127.0.0.1:70000
expect 2 "$bin/latency_client" --name x --tcp 127.0.0.1:1
expect 2 "$bin/latency_client" --name x --rounds -1
expect 2 "$bin/latency_client" --name x --size many
expect 2 "$bin/frames" --serve x --watch y
expect 2 "$bin/frames" --serve x --mib 0
expect 1 "$bin/latency_client" --name "$name-nobody"
expect 1 "$bin/frames" --watch "$name-nobody"
expect 1 "$bin/latency_client" --unix "$work/nobody"

echo "one event loop, three kinds of clients"
start_server
expect 0 "$bin/latency_client" --name "$name" --rounds 20000
expect 0 "$bin/latency_client" --tcp "$tcp" --rounds 2000
expect 0 "$bin/latency_client" --unix "$work/socket" --rounds 2000
grep -q "p99.9" "$work/out" || fail "no percentiles"
for size in 8 9 1000 65536; do
  expect 0 "$bin/latency_client" --name "$name" --rounds 100 --size $size
done
expect 1 "$bin/echo_server" --unix "$work/socket" # somebody lives there

echo "many clients at once"
clients=()
for _ in $(seq 8); do
  "$bin/latency_client" --name "$name" --rounds 2000 --brief >/dev/null &
  clients+=($!)
  "$bin/latency_client" --tcp "$tcp" --rounds 1000 --brief >/dev/null &
  clients+=($!)
done
for client in "${clients[@]}"; do wait "$client" || fail "a client failed"; done

echo "an idle server sleeps"
for _ in $(seq 10); do
  "$bin/latency_client" --name "$name" --rounds 100000000 --brief >/dev/null 2>&1 &
  clients+=($!)
  servers+=($!)
done
sleep 1
for client in "${clients[@]: -10}"; do kill -STOP "$client"; done # connected, and silent
sleep 1
switches() { awk '/ctxt_switches/ { n += $2 } END { print n }' "/proc/$server/status"; }
before=$(switches)
sleep 2
[ "$(switches)" = "$before" ] || fail "the server woke up $(($(switches) - before)) times while idle"
for client in "${clients[@]: -10}"; do kill -KILL "$client"; done

echo "bridge"
"$bin/bridge" --tcp 127.0.0.1:0 --name "$name" >"$work/bridge" &
bridge=$!
servers+=("$bridge")
wait_for "listening" "$work/bridge" "$bridge"
port=$(grep -Eo '[0-9]+$' "$work/bridge" | tail -1)
expect 0 "$bin/latency_client" --tcp "127.0.0.1:$port" --rounds 1000
kill -TERM "$bridge"
wait "$bridge" || fail "the bridge did not end cleanly"

echo "frames"
"$bin/frames" --serve "$name-frames" --frames 60 --mib 1 --pool-mib 8 --interval-us 500 >"$work/camera" &
camera=$!
servers+=("$camera")
wait_for "serving" "$work/camera" "$camera"
"$bin/frames" --watch "$name-frames" --hold 6 --pause-us 20000 >"$work/slow" &
slow=$!
expect 0 "$bin/frames" --watch "$name-frames" --hold 3
cp "$work/out" "$work/fast"
wait "$slow" || fail "the slow watcher failed"
for watcher in slow fast; do # frames: N seen, N shared, N dropped, ...
  read -r _ seen _ shared _ dropped _ <"$work/$watcher"
  [ $((seen + dropped)) = 60 ] && [ "$seen" = "$shared" ] || fail "$watcher: $(cat "$work/$watcher")"
  [ $watcher = fast ] || [ "$dropped" -gt 0 ] || fail "back-pressure: $(cat "$work/$watcher")"
done
kill -TERM "$camera"
wait "$camera" || fail "the camera did not end cleanly"

echo "the end"
"$bin/latency_client" --name "$name" --rounds 100000000 --brief >/dev/null 2>"$work/gone" &
client=$!
sleep 0.5
kill -TERM "$server"
wait "$server" || fail "the server did not end cleanly"
[ ! -e "$work/socket" ] || fail "the server left its socket"
status=0
wait "$client" || status=$?
[ $status = 1 ] && [ "$(wc -l <"$work/gone")" = 1 ] || fail "client: $status, $(cat "$work/gone")"

start_server
"$bin/latency_client" --name "$name" --rounds 100000000 --brief >/dev/null 2>"$work/gone" &
client=$!
sleep 0.5
kill -KILL "$server"
status=0
wait "$client" || status=$?
[ $status = 1 ] && [ "$(wc -l <"$work/gone")" = 1 ] || fail "client: $status, $(cat "$work/gone")"
start_server # replaces the stale socket
expect 0 "$bin/latency_client" --unix "$work/socket" --rounds 100
kill -INT "$server"
wait "$server" || fail "the server did not end cleanly on SIGINT"
echo "ok"
