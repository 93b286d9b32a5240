#!/usr/bin/env bash
# Runs the tests in an instrumented build of its own and prints the lines and regions that they execute, by folder:
# `make coverage`.
#
#     Tests/Coverage/coverage.sh [--write] [-- FILTER...]
#
# A folder below its floor (floors.txt) fails, and so does a suite; --write raises floors, and never lowers one. The
# programs that the tests start are counted too, those that are killed included. With filters, only their suites run, and
# floors are not checked.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
swift=${SWIFT:-swift}
tools=$(dirname "$(readlink -f "$(command -v "$swift")")")
build=$PWD/.build/coverage
# macOS has no timeout(1) of its own; coreutils of Homebrew bring it.
limit=(timeout --foreground -k 10 1800)
command -v timeout >/dev/null || limit=()
write=()
if [ "${1:-}" = --write ]; then write=(--write) && shift; fi
if [ "${1:-}" = -- ]; then shift; fi
if [ $# != 0 ] && [ ${#write[@]} != 0 ]; then
    echo "coverage: WRITE=1 needs all suites: leave out FILTER" >&2
    exit 2
fi
suites=("$@")
[ $# != 0 ] || suites=('MCPCoreTests.[A-H]' 'MCPCoreTests.[I-R]' 'MCPCoreTests.[S-Z]' MCPHarnessTests MCPAppsTests MCPFoundationTests
    FuzzTests SimulationTests DaemonTests ClientCLITests FaultTests ConformanceTests DocsTests)

# Where processes write: in the programs, since the tests start most of them with an environment of its own. Processes of
# one program add to one of eight files. %c: while they run, not at their end, which many do not reach.
mkdir -p "$build"
echo "const char __llvm_profile_filename[] = \"$build/raw/%c%8m.profraw\";" |
    "$tools/clang" -fPIC -x c -c - -o "$build/profile.o"
"$swift" build --build-tests --enable-code-coverage --scratch-path "$build" -Xlinker "$build/profile.o" \
    -Xswiftc -Xllvm -Xswiftc -runtime-counter-relocation 2>&1 | grep -E 'error:|omplete'
program=$(find "$build/debug/" -maxdepth 1 -name '*PackageTests.xctest')
rm -rf "$build/raw"
mkdir -p "$build/raw"
export SWIFT_BACKTRACE=enable=no SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=12
failed=()
for suite in "${suites[@]}"; do
    code=0 started=$SECONDS
    ${limit[@]+"${limit[@]}"} "$program" --testing-library swift-testing --filter "^$suite" >"$build/tests.log" 2>&1 || code=$?
    echo "coverage: $suite ended with $code after $((SECONDS - started)) s: $(grep -oE 'Test run with .*' "$build/tests.log" | tail -1)"
    [ "$code" = 0 ] || failed+=("$suite")
done
"$tools/llvm-profdata" merge -sparse "$build"/raw/*.profraw -o "$build/all.profdata"
"$tools/llvm-cov" export -summary-only -instr-profile "$build/all.profdata" "$program" \
    -object "$build/debug/mcp-server" -object "$build/debug/mcp-client" >"$build/summary.json"
check=()
if [ ${#failed[@]} != 0 ]; then write=(); fi
code=0
[ $# = 0 ] || check=(--no-floors)
Tests/Coverage/floors.py "$build/summary.json" ${check[@]+"${check[@]}"} ${write[@]+"${write[@]}"} || code=$?
if [ ${#failed[@]} != 0 ]; then
    echo "coverage: these suites failed, or did not end within 30 min: ${failed[*]}" >&2
    exit 1
fi
exit "$code"
