#!/usr/bin/env bash
# Runs tests: Tests/run.sh SWIFT-TEST-OPTION... -- FILTER...
# There is one process for each filter, one after another. At the end of each, everything that its tests have
# opened must have been released: a process with something left names it and exits with the status 86;
# MCP_CENSUS=off omits this check. Failures are repeated at the end, where they are easy to find; a filter that selects
# no test is one, with the status 4. REPEAT=… runs all of them so many times, up to the first failure, and NICE=… at this
# priority. A process has LIMIT=… seconds (600). Ctrl-C ends the tests, too.
set -euo pipefail
export MCP_CENSUS=${MCP_CENSUS:-tests}
repeat=${REPEAT:-1}
[[ $repeat =~ ^[1-9][0-9]*$ ]] || { echo "tests: REPEAT is a number of times, at least 1: $repeat" >&2; exit 2; }
# macOS has no timeout(1) of its own; coreutils of Homebrew bring it.
limit=(timeout -k 10 "${LIMIT:-600}")
command -v timeout >/dev/null || limit=()
options=()
while [ "$1" != -- ]; do options+=("$1"); shift; done
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# timeout(1) has a process group of its own, which Ctrl-C does not reach; it passes this on to all of the group.
tests=
trap '[ -z "$tests" ] || kill "$tests"; exit 130' INT TERM
run() { # FILTER
    local filter=$1 code=0
    echo "--- $filter"
    # Not a pipe: a process that a test left behind would keep it open.
    ${limit[@]+"${limit[@]}"} nice -n "${NICE:-0}" "${SWIFT:-swift}" test --skip-build ${options[@]+"${options[@]}"} --filter "^$filter" \
        > >(tee "$log") 2>&1 <&0 &
    tests=$!
    wait "$tests" || code=$?
    tests=
    if [ "$code" = 0 ]; then
        judge "$filter" && return
        exit 4
    fi
    sleep 1  # for the copy to be complete
    printf '\n--- %s ended with %s. What failed:\n' "$filter" "$code" >&2
    grep -A8 -E 'recorded an issue|^census:' "$log" >&2 || tail -20 "$log" >&2
    exit 1
}
judge() { # FILTER: whether it has selected a test
    local _
    for _ in 1 2 3 4 5; do
        ! grep -qE 'Test run with [1-9]' "$log" || return 0
        sleep 1  # for the copy to be complete
    done
    printf '\n--- %s selected no test\n' "$1" >&2
    return 1
}
for ((round = 1; round <= repeat; round++)); do
    for filter in "$@"; do run "$filter"; done
    [ "$repeat" = 1 ] || echo "--- round $round of $repeat passed"
done
