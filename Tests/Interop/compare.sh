#!/usr/bin/env bash
# Compares mcp-server with programs from PyPI that make commands into tools, too.
#
#   Tests/Interop/compare.sh MCP_SERVER
set -euo pipefail
unset CDPATH

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

environment() { # NAME PACKAGES
    local folder=$root/.build/compare-venv-$1
    shift
    [[ -e $folder/complete ]] && return
    rm -rf "$folder"
    python3 -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet "$@"
    touch "$folder/complete"
}
environment client "mcp>=2.3"
environment others mcp-proxy==0.13.0 cli-wrap-mcp==0.2.1
environment fastmcp "fastmcp>=4,<5"

PYTHONDONTWRITEBYTECODE=1 "$root/.build/compare-venv-client/bin/python" "$root/Tests/Interop/comparison.py" \
    --server "$1" --others "$root/.build/compare-venv-others" --fastmcp "$root/.build/compare-venv-fastmcp"
