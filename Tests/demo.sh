#!/usr/bin/env bash
# A dialogue between mcp-client and mcp-server about this repository: every command with its real output.
#
#   Tests/demo.sh [FOLDER_WITH_THE_BINARIES]      default .build/debug
set -euo pipefail
unset CDPATH

cd "$(dirname "${BASH_SOURCE[0]}")/.."
git rev-parse --verify HEAD >/dev/null || { echo "demo: needs a clone: it shows the history of this repository" >&2; exit 1; }
# macOS has no timeout(1) of its own.
command -v timeout >/dev/null || timeout() { shift; "$@"; }
binaries=$(cd "${1:-${MCP_BINARIES:-.build/debug}}" && pwd)
export PATH=$binaries:$PATH NO_COLOR=1
config=Examples/demo.jsonc
shown_lines=4
scratch=$(mktemp -d)
daemon=

stop_daemon() {
    if [[ -n $daemon ]] && kill -TERM "$daemon" 2>/dev/null; then
        for _ in $(seq 50); do
            kill -0 "$daemon" 2>/dev/null || break
            sleep 0.1
        done
        kill -KILL "$daemon" 2>/dev/null || true
    fi
    daemon=
}
trap 'stop_daemon; rm -rf "$scratch"' EXIT

heading() { printf '\n== %s\n' "$1"; }

show_command() {
    local word line=
    for word in "$@"; do
        if [[ $word =~ ^[][A-Za-z0-9_./:=@%+,#-]+$ ]]; then line+=" $word"; else line+=" '$word'"; fi
    done
    printf '$%s\n' "$line"
}

# step STATUS COMMAND…: shows the command, runs it, shows the first lines of its output (for a refusal, only
# what happened), and requires the status.
step() {
    local expected=$1 status=0 lines
    shift
    show_command "$@"
    timeout 30 "$@" >"$scratch/output" 2>&1 </dev/null || status=$?
    if [[ $status -ne $expected ]]; then
        cat "$scratch/output"
        printf 'demo: the command above ended with %d, expected %d\n' "$status" "$expected" >&2
        exit 1
    fi
    if [[ $status -ne 0 ]]; then
        printf '%s   [exit status %d]\n' "$(head -n 1 "$scratch/output")" "$status"
        return
    fi
    lines=$(wc -l <"$scratch/output")
    head -n "$((lines == shown_lines + 1 ? lines : shown_lines))" "$scratch/output"
    ((lines <= shown_lines + 1)) || printf '… and %d more lines\n' "$((lines - shown_lines))"
}

start_daemon() {
    local port
    for _ in 1 2 3 4 5; do
        port=$((20000 + RANDOM % 40000))
        address=127.0.0.1:$port
        mcp-server -c "$config" --listen "$address" >"$scratch/daemon.log" 2>&1 </dev/null &
        daemon=$!
        for _ in $(seq 100); do
            kill -0 "$daemon" 2>/dev/null || break
            if mcp-client --connect-timeout 1s ping "$address" >/dev/null 2>&1; then return; fi
            sleep 0.1
        done
        stop_daemon
    done
    echo "demo: the daemon does not start:" >&2
    cat "$scratch/daemon.log" >&2
    exit 1
}

program=(mcp-server -c "$config" --stdio)

heading "The configuration"
step 0 mcp-server check "$config"

heading "Over stdio: the client starts the server"
step 0 mcp-client tools -- "${program[@]}"
step 0 mcp-client call git_log limit=3 -- "${program[@]}"

heading "Over HTTP: one daemon for all clients, revision 2026-07-28 (stateless)"
start_daemon
show_command mcp-server -c "$config" --listen "$address"
head -n 2 "$scratch/daemon.log"
step 0 mcp-client info "$address"
step 0 mcp-client resources "$address"
document=$(mcp-client --select '.resources[0].uri' resources "$address")
step 0 mcp-client read "$address" "${document//\"/}"
step 0 mcp-client call "$address" search "text=exit code"
step 0 mcp-client --json call "$address" git_log limit=1
step 2 mcp-client call "$address" git_log limit=many
step 1 mcp-client call "$address" git_log path=no-such-folder/../../outside
step 5 mcp-client read "$address" docs:///no-such-page.md

heading "The same daemon in revision 2025-11-25 (initialize and a session)"
step 0 mcp-client --protocol 2025-11-25 call "$address" git_log limit=2
step 5 mcp-client --protocol 2025-11-25 read "$address" docs:///no-such-page.md

stop_daemon
heading "All steps did what was expected"
