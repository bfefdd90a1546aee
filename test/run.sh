#!/usr/bin/env bash
# Builds and runs all tests. On a fresh Debian 12 nothing else is needed.
#   --quick          without the long stress, the sanitizers and the virtual machines
#   --debug-kernel   the driver's tests also on a kernel with KASAN, lockdep and kmemleak
#                    and on one with KCSAN, which are built first: 10 minutes each, once
# Environment: SYSIPC_ASIO_JOBS, how many compilers at once (default: the CPUs).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

quick=no
debug_kernel=no
for argument in "$@"; do
  case $argument in
    --quick) quick=yes ;;
    --debug-kernel) debug_kernel=yes ;;
    --help | -h)
      sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *)
      echo "run.sh: unknown argument: $argument" >&2
      exit 2
      ;;
  esac
done

example/packages.sh g++ gcc-multilib make clang cmake ninja-build clang-format strace \
  libboost1.81-dev libboost-test1.81-dev libboost-program-options1.81-dev \
  libboost-json1.81-dev libboost-context1.81-dev libboost1.81-tools-dev libzmq3-dev \
  libnng-dev python3-matplotlib

jobs=${SYSIPC_ASIO_JOBS:-$(nproc)}
passed=0
failed=0
logs=build/logs
mkdir -p "$logs"

# step NAME COMMAND...: one line when it works, the whole output when it does not.
step() {
  local name=$1 log start=$SECONDS
  shift
  log="$logs/${name// /-}.log"
  if "$@" >"$log" 2>&1; then
    passed=$((passed + 1))
    echo "ok      $name ($((SECONDS - start)) s)"
  else
    failed=$((failed + 1))
    echo "FAILED  $name ($((SECONDS - start)) s): $*"
    tail -n 100 "$log"
    return 1
  fi
}

# tests NAME FOLDER CTEST-ARGUMENT...: counts the tests, shows their lines.
tests() {
  local name=$1 folder=$2 log line bad total
  shift 2
  log="$logs/tests-${name// /-}.log"
  ctest --test-dir "$folder" --output-on-failure --timeout 900 "$@" 2>&1 | tee "$log" |
    grep -Ev '^ *Start ' || true
  line=$(grep -E '[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+' "$log" || true)
  bad=$(sed -E 's/.*passed, ([0-9]+) tests?.*/\1/' <<<"$line")
  total=$(sed -E 's/.*out of ([0-9]+).*/\1/' <<<"$line")
  if [ -z "$line" ]; then
    failed=$((failed + 1))
    echo "FAILED  tests $name: ctest ended without a summary"
  else
    passed=$((passed + total - bad))
    failed=$((failed + bad))
  fi
}

build() { # build NAME FOLDER CMAKE-ARGUMENT...
  local name=$1 folder=$2
  shift 2
  step "configure $name" cmake -S . -B "$folder" -G Ninja "$@" &&
    step "build $name" cmake --build "$folder" -j "$jobs"
}

labels=()
[ $quick = yes ] && labels=(-LE stress)

# The preset `release`, with the compiler's default options.
if build "release, g++" build -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=g++ \
  -DSYSIPC_ASIO_BUILD_TESTS=ON \
  -DSYSIPC_ASIO_BUILD_EXAMPLES=ON -DSYSIPC_ASIO_BUILD_BENCH=ON; then
  tests "release" build "${labels[@]}"
  step "install and use" test/install.sh build || true
fi

# The other compiler and the other build tool: the library and the programs.
build "clang" build/clang -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=clang++ \
  -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DSYSIPC_ASIO_BUILD_TESTS=OFF || true
step "b2" b2 -q -j"$jobs" build-all || true
step "b2 runs tests" b2 -q -j"$jobs" quick-tests || true

if [ $quick = no ]; then
  # But for the long stress and the enumeration of states in one thread, which they slow
  # down without adding anything.
  export UBSAN_OPTIONS=print_stacktrace=1
  export TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/test/tsan.supp"
  if build asan build/asan --preset asan -DSYSIPC_ASIO_BUILD_BENCH=OFF; then
    tests asan build/asan -LE "stress|exhaustive"
  fi
  # The programs that have threads; the preset has all.
  threaded=(test_{threads,policies,cancellation,fork,handshake,handshake_client_lies}
    test_{handshake_listener_lies,hostile_peer,names,no_memory,resources}
    test_{large_messages,scarce_pool,send_pool})
  if step "configure tsan" cmake --preset tsan -DSYSIPC_ASIO_BUILD_BENCH=OFF &&
    step "build tsan" cmake --build build/tsan -j "$jobs" --target "${threaded[@]}"; then
    tests tsan build/tsan -R "^($(IFS='|' && echo "${threaded[*]}"))\$"
  fi
fi

# vm NAME KERNEL COMMAND...: runs KTAP tests in a virtual machine and counts their lines.
vm() {
  local name=$1 kernel=$2 log start=$SECONDS good bad status=0
  shift 2
  log="$logs/$name-$kernel.log"
  test/vm/run --kernel "$kernel" --file build/test/sysipc_test_peer "$@" \
    >"$log" 2>&1 || status=$?
  good=$(grep -c '^ok ' "$log") || true
  bad=$(grep -c '^not ok ' "$log") || true
  passed=$((passed + good))
  if [ $status = 0 ] && [ "$bad" = 0 ] && [ "$good" != 0 ]; then
    echo "ok      $name on Linux $kernel ($good tests, $((SECONDS - start)) s)"
  else
    failed=$((failed + (bad > 0 ? bad : 1)))
    echo "FAILED  $name on Linux $kernel (status $status, $((SECONDS - start)) s)"
    grep -vE '^ok ' "$log" | tail -n 120
  fi
}

driver_tests=(build/vm/tests/{ioctl,ioctl32,mmap,mmap32,poll,wake,race,fail})
# All that open a channel; each on the driver, for `automatic` finds it there.
library_tests=(test/vm/suite build/test/test_{kernel_backend,channel,channel_end,awaitable}
  build/test/test_{executors,handlers,tokens,cancellation,lifetime,meeting_cancellation}
  build/test/test_{fairness,policies,threads,names,resources,fork,hostile_peer,death}
  build/test/test_{large_messages,scarce_pool})

if [ $quick = no ]; then
  step "the driver, W=1 and sparse" test/vm/lint || true
  step "the driver's DKMS package" test/vm/dkms || true
fi
if [ $quick = no ] &&
  step "build the driver's tests" make -C kmod/test OUT="$PWD/build/vm/tests"; then
  # So often each side sleeps in each test of waking: on 6.12 a million times in all.
  declare -A cycles=([6.1]=20000 [6.12]=50000)
  for kernel in 6.1 6.12; do
    vm driver "$kernel" --timeout 600 -- test/vm/driver "${cycles[$kernel]}" "${driver_tests[@]}"
    vm library "$kernel" --timeout 600 --memory 1024 -- "${library_tests[@]}"
  done
  if [ $debug_kernel = yes ]; then
    vm driver debug --memory 1024 --timeout 3000 -- test/vm/driver 1000 "${driver_tests[@]}"
    # A watched access in 100, not 4000: the driver's are few among the kernel's.
    vm driver kcsan --memory 1024 --timeout 3000 --cmdline kcsan.skip_watch=100 -- \
      test/vm/driver 1000 "${driver_tests[@]}"
  fi
fi

step "formatting" bash -c 'git ls-files "*.hpp" "*.cpp" | xargs -r clang-format --dry-run -Werror' ||
  true

echo "$passed passed, $failed failed"
[ $failed = 0 ]
