#!/usr/bin/env bash
# Runs the interoperability matrix against the official Python SDK (PyPI `mcp`).
#
#   Tests/Interop/run.sh [MCP_SERVER [MCP_CLIENT]]
#
# The environment variables MCP_SERVER and MCP_CLIENT can also name the two binaries. If something needed to
# run the matrix (Python, venv, a package index) is missing, the matrix is skipped with one line; with CI=true
# that is a failure.
set -euo pipefail
unset CDPATH

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$root/Tests/Interop
server=${1:-${MCP_SERVER:-$root/.build/debug/mcp-server}}
client=${2:-${MCP_CLIENT:-$root/.build/debug/mcp-client}}
venv=$root/.build/interop-venv
providers=$root/.build/interop-providers-venv # authorization servers
# macOS has no timeout(1) of its own; coreutils of Homebrew bring it.
command -v timeout >/dev/null || timeout() { while [[ $1 == -* ]]; do shift; done; shift; "$@"; }
limit=${INTEROP_LIMIT:-175} # seconds for the matrix, which stops on its own a little earlier

skip() {
    echo "interop: skipped: $1" >&2
    [[ ${CI:-} == true ]] && exit 1
    exit 0
}

for binary in "$server" "$client"; do
    if [[ ! -x $binary ]]; then
        echo "interop: $binary does not exist; build it first (swift build)" >&2
        exit 1
    fi
done

install_python() {
    if [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y python3 python3-venv
    fi >/dev/null 2>&1
}

has_proxy() {
    PATH=$PATH:/usr/sbin
    command -v nginx >/dev/null && command -v openssl >/dev/null && return
    [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null || return
    {
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
            nginx-light openssl
    } >/dev/null 2>&1
}

has_caddy() {
    command -v caddy >/dev/null && return
    [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null || return
    {
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends caddy
    } >/dev/null 2>&1
}

has_store() {
    command -v redis-server >/dev/null && return
    [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null || return
    {
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends redis-server
    } >/dev/null 2>&1
}

# Installs Glewlwyd, an authorization server, if that is possible; without it, its cases are skipped with a line.
install_glewlwyd() {
    command -v glewlwyd >/dev/null && return
    [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null || return 0
    {
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
            glewlwyd openssl
    } >/dev/null 2>&1 || true
}

# Makes a virtual environment with the packages of a list. A folder that an interrupted run left incomplete has
# no `complete` mark and is created again.
environment() { # FOLDER REQUIREMENTS
    [[ -e $1/complete && ! $2 -nt $1/complete ]] && return
    rm -rf "$1"
    mkdir -p "$(dirname "$1")"
    if ! python3 -m venv "$1" >/dev/null 2>&1; then
        install_python || true
        rm -rf "$1"
        python3 -m venv "$1" >/dev/null 2>&1 || skip "python3 with venv is needed (apt-get install python3-venv)"
    fi
    "$1/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "Python 3.11 or newer is needed"
    timeout 300 "$1/bin/python" -m pip install --quiet --requirement "$2" >/dev/null 2>&1 ||
        skip "pip could not install $(tr '\n' ' ' <"$2")from a package index"
    touch "$1/complete"
}
# Makes the environments of SDK generations, several at a time.
generations() {
    local entry name list
    for entry in "mcp-1.2 mcp==1.2.* pydantic<2.11" "mcp-1.8 mcp==1.8.* pydantic<2.11" "mcp-1.9 mcp==1.9.* pydantic<2.11" \
        "mcp-1.3 mcp==1.3.* pydantic<2.11" "mcp-1.30 mcp==1.30.* mcp-server-sqlite==2025.4.25" \
        "fastmcp-1 fastmcp==1.*" "fastmcp-2 fastmcp>=2,<3" "fastmcp-3 fastmcp>=3,<4" "fastmcp-4 fastmcp>=4,<5" \
        "native mcp-grafana==2.1.1 kglite==0.21.2"; do
        name=${entry%% *}
        list=$root/.build/interop-venv-$name.txt
        tr ' ' '\n' <<<"${entry#* }" >"$list.new"
        if cmp -s "$list.new" "$list"; then rm "$list.new"; else mv "$list.new" "$list"; fi
        (environment "$root/.build/interop-venv-$name" "$list") &
    done
    wait
}
environment "$venv" "$here/requirements.txt"
generations
environment "$providers" "$here/requirements-authorization.txt"

# Runs one program of this folder. What failed is named once more at the end, since the output is long.
logs=$root/.build/interop-logs
rm -rf "$logs" && mkdir -p "$logs"
failed=()
part() { # SECONDS NAME ARGUMENT…
    local limit=$1 name=$2 status=0
    shift 2
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 timeout --kill-after=10 "$limit" \
        "$venv/bin/python" "$here/$name.py" "$@" 2>&1 | tee "$logs/$name" || status=${PIPESTATUS[0]}
    [[ $status -ne 124 && $status -ne 137 ]] || echo "interop: $name: not finished after $limit s" | tee -a "$logs/$name"
    [[ $status -eq 0 ]] || failed+=("$name")
}
lacks() { # NAME REASON
    echo "interop: $1: skipped: $2" | tee "$logs/$1" >&2
    [[ ${CI:-} != true ]] || failed+=("$1")
}

programs=(--server "$server" --client "$client")
part "$limit" matrix "${programs[@]}" --limit $((limit - 10))
part 240 client_tools "${programs[@]}"
part 240 apps "${programs[@]}"
part 240 long_calls "${programs[@]}"
part 300 upstreams "${programs[@]}"
part 480 servers --client "$client" --venvs "$root/.build"
install_glewlwyd
export PROVIDERS=$providers/bin
part 400 authorization "${programs[@]}"
if has_proxy; then
    part 240 proxy "${programs[@]}"
    part 120 nginx --server "$server"
    part 180 devices "${programs[@]}"
    part 180 app "${programs[@]}" --example "$root/.build/debug/example-client-tools"
else
    lacks proxy "nginx and openssl are needed (apt-get install nginx-light openssl)"
fi
if has_caddy; then
    part 120 caddy --server "$server"
else
    lacks caddy "Caddy is needed (apt-get install caddy)"
fi
if has_proxy && has_store; then
    part 300 instances --server "$server"
else
    lacks instances "nginx and Redis are needed (apt-get install nginx-light redis-server)"
fi

for name in ${failed[@]+"${failed[@]}"}; do
    echo "interop: $name failed; the lines that say so, and its last ones:"
    grep -nE 'FAILED|Error|failed:' "$logs/$name" | tail -n 10 || true
    tail -n 12 "$logs/$name"
done
echo "interop: ${#failed[@]} parts failed${failed[*]+: ${failed[*]}}"
[[ ${#failed[@]} -eq 0 ]]
