#!/usr/bin/env bash
# The daemon and the tests under a sanitizer: `make sanitize KIND=thread|address|confinement` (Linux).
#
#     Tests/Sanitize/sanitize.sh KIND [all | FILTER...]
#
# `confinement` is a debug build of a copy in which no state is exempt from the check for overlapping accesses. The state
# of a loop asserts its thread in every debug build (EventLoop.assertConfined).
#
# First a control: what the sanitizer has to see, and what it must not report. Then the daemon, loaded by
# Tests/Soak/soak.py for MINUTES=…; with filters (`all`: every suite), the tests instead, each suite in a process of its
# own, those that run the most threads first. A report that Tests/Sanitize/KIND.txt does not list fails, also one of a
# program that a test starts, and so does a suite that crashes, hangs, or runs no test. Tests that fail are counted and named: in a program that is ten times
# slower, those that measure time may fail, and `make test` judges them. The build is separate, in
# .build/sanitize-KIND, and large.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
case ${1:-} in
thread | address | confinement) kind=$1 ;;
*)
    echo "usage: sanitize.sh thread|address|confinement [all | FILTER...]" >&2
    exit 2
    ;;
esac
shift
swift=${SWIFT:-swift}
build=.build/sanitize-$kind
mkdir -p "$build"
export SWIFT_BACKTRACE=enable=no MCP_CENSUS=tests SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8
suites=(SimulationTests 'MCPCoreTests.[A-H]' 'MCPCoreTests.[I-R]' 'MCPCoreTests.[S-Z]' MCPHarnessTests MCPAppsTests
    MCPFoundationTests FuzzTests FaultTests DaemonTests ClientCLITests ConformanceTests DocsTests)
[ "${1:-all}" = all ] || suites=("$@")

flags=("--sanitize=$kind" --scratch-path "$build")
compiler=("-sanitize=$kind")
case $kind in
thread | address)
    # The options of each program, also of one that a test starts without its own environment. The compiler is that of
    # the toolchain, which knows the calling convention of Swift.
    "$(dirname "$(command -v "$swift")")/clang" -O1 -c -DREPORT="\"$PWD/$build/report\"" \
        -DSUPPRESSIONS="\"$PWD/Tests/Sanitize/thread.txt\"" -o "$build/$kind.o" "Tests/Sanitize/$kind.c"
    flags+=(-Xlinker "$PWD/$build/$kind.o")
    compiler+=("$build/$kind.o")
    ;;
confinement)
    compiler=(-enforce-exclusivity=checked)
    # Files that have not changed keep their times, so that they are not compiled again.
    mkdir -p "$build/changed" "$build/source"
    git ls-files -z | tar --null -T - -cf - | tar -xf - -C "$build/changed"
    grep -rl '@exclusivity(unchecked)' "$build/changed/Sources" | xargs sed -i 's/@exclusivity(unchecked) *//'
    (cd "$build/changed" && find . -type f) | while read -r file; do
        cmp -s "$build/changed/$file" "$build/source/$file" && continue
        mkdir -p "$(dirname "$build/source/$file")"
        cp -p "$build/changed/$file" "$build/source/$file"
    done
    (cd "$build/source" && find . -type f -not -path './.build/*') | while read -r file; do
        [ -e "$build/changed/$file" ] || rm "$build/source/$file"
    done
    rm -rf "$build/changed"
    flags=(-Xswiftc -enforce-exclusivity=checked --package-path "$build/source" --scratch-path "$build")
    ;;
esac

# What is reported: each leak, and each other error, but not what address.txt lists.
listed=$(grep -vE '^(#|$)' Tests/Sanitize/address.txt | paste -sd '|')
reports() {
    { cat "$@" 2>/dev/null || true; } | LISTED=$listed awk -v RS= '
        /(^|\n)(Direct|Indirect) leak of / {
            isOurs = 1
            for (count = split($0, lines, "\n"); count > 0; count--) if (lines[count] ~ ENVIRON["LISTED"]) isOurs = 0
            found += isOurs
            next
        }
        { found += gsub(/(WARNING|ERROR): (Thread|Address)Sanitizer/, "") }
        END { print found + 0 }'
}

# In a list, a $ is the end of a name, wherever it stands: behind another one, nothing is matched, or everything.
! grep -nE '^[^#]*\$.' Tests/Sanitize/*.txt || { echo "sanitize: a name is cut off at its \$" >&2 && exit 1; }

control() { # WORD EXPECTED
    local code=0 found
    rm -f "$build"/report.*
    "$build/control" "$1" >"$build/control.log" 2>&1 || code=$?
    found=$(reports "$build/control.log" "$build"/report.*)
    case "$2 $code $found" in 'found '*' '[1-9]* | 'silent 0 0' | 'trapped '1[3-9]?' 0') return ;; esac
    echo "sanitize: the control \"$1\" ended with $code and $found reports, but must be $2" >&2
    tail -q -n 20 "$build/control.log" "$build"/report.* >&2
    exit 1
}
# The linker warns of what the sanitizer's libraries contain.
if ! "${swift}c" -swift-version 6 -parse-as-library "${compiler[@]}" -g Tests/Sanitize/Control.swift \
    -o "$build/control" >"$build/control.log" 2>&1; then
    cat "$build/control.log" >&2
    exit 1
fi
if [ "$kind" = thread ]; then
    control race found
    control mutex silent
elif [ "$kind" = address ]; then
    control overread found
    control leak found
    control cycle found
    control weak silent
else
    control overlap trapped
fi
echo "sanitize: $kind: the control is as it must be"

# What is wrong with the run of a suite, or nothing. Its own tests may fail.
fault() { # CODE LOG
    local found summary tests
    found=$(reports "$2" "$build"/report.*)
    summary=$(grep -aoE 'Test run with [0-9]+ tests? .*(passed|failed)' "$2" | tail -1 || true)
    tests=$(grep -oE "[0-9]+" <<<"$summary" | head -1 || true)
    if [ "$found" != 0 ]; then
        echo "$found reports"
    elif [ "$1" = 124 ] || [ "$1" = 137 ]; then
        echo "did not end"
    elif [ -z "$summary" ]; then
        echo "ended with $1 before its end"
    elif [ "$tests" = 0 ]; then
        echo "ran no test"
    elif [ "$1 ${summary##* }" != "0 passed" ] && [ "$1 ${summary##* }" != "1 failed" ]; then
        echo "$summary, but ended with $1"
    fi
}

failures() { # LOG: the names of the tests that failed
    grep -aoE '^✘ Test .* failed after' "$1" | grep -vE "^✘ Test (run with|case) " | sed 's/^✘ Test //; s/ failed after$//' | sort -u || true
}

if [ $# = 0 ]; then
    for product in mcp-server mcp-client; do
        "$swift" build --product "$product" "${flags[@]}" 2>&1 | grep -E 'error:|complete'
    done
    rm -f "$build"/report.*
    # The daemon counts its owners. It is not killed: its reports come at its end.
    code=0
    Tests/Soak/soak.py "$build/debug/mcp-server" --no-kills --minutes "${MINUTES:-1}" || code=$?
    found=$(reports "$build"/report.*)
    echo "sanitize: $kind: the loaded daemon: $found reports, the soak ended with $code"
    [ "$found" = 0 ] && [ "$code" = 0 ]
    exit
fi

"$swift" build --build-tests "${flags[@]}" 2>&1 | grep -E 'error:|Build complete'
program=$(find "$build/debug/" -maxdepth 1 -name '*PackageTests.xctest')
[ -x "$program" ] || { echo "sanitize: $kind: there is no program of tests in $build/debug" >&2 && exit 1; }
faults=()
failed=()
for suite in "${suites[@]}"; do
    code=0 started=$SECONDS
    log=$build/$(tr -dc 'A-Za-z-' <<<"$suite").log
    rm -f "$build"/report.*
    # Instrumented code does not fit into the stack of SmallStackTests, nor its shadow into a limit of memory.
    timeout --foreground -k 10 1800 "$program" --testing-library swift-testing \
        --filter "^$suite" --skip "SmallStackTests|aLimitOfMemory" >"$log" 2>&1 || code=$?
    fault=$(fault "$code" "$log")
    # One file for each process, and those of the next suite take their names.
    cat "$build"/report.* >"${log%.log}.reports" 2>/dev/null || true
    [ -z "$fault" ] || faults+=("$suite: $fault")
    mapfile -t -O ${#failed[@]} failed < <(failures "$log")
    echo "sanitize: $kind: $suite: $(reports "$log" "$build"/report.*) reports, ended with $code after $((SECONDS - started)) s:" \
        "$(grep -aoE 'Test run with .*' "$log" | tail -1)"
done
[ ${#failed[@]} = 0 ] || printf 'sanitize: %s: %d tests failed:%s\n' "$kind" ${#failed[@]} "$(printf ' %s;' "${failed[@]}")"
[ ${#faults[@]} = 0 ] && exit
printf "sanitize: $kind: %s\n" "${faults[@]}" >&2
echo "sanitize: see $build/*.log and $build/*.reports" >&2
exit 1
