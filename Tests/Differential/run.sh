#!/usr/bin/env bash
# Installs what diff.py compares with, once, and runs it. Without Python or a package index it is skipped with one
# line; with CI=true that is a failure.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$root/Tests/Differential
venv=$root/.build/diff-venv

if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
    rm -rf "$venv"
    if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check \
        -r "$here/requirements.txt"; } >/dev/null 2>&1; then
        echo "diff: skipped: Python with venv and a package index are needed" >&2
        [[ ${CI:-} == true ]] && exit 1
        exit 0
    fi
    cp "$here/requirements.txt" "$venv/requirements.txt"
fi
exec "$venv/bin/python" "$here/diff.py" "$@"
