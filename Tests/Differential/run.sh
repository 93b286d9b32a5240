#!/usr/bin/env bash
# Installs what diff.py compares with, once, into .build, and runs it: Tests/Differential/run.sh DIFF-OPTION... Without Python or a package index it is skipped with one
# line; with CI=true that is a failure.
set -euo pipefail
unset CDPATH
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$root/Tests/Differential

environment() { # NAME REQUIREMENTS
    local venv=$root/.build/$1 list=$here/$2
    cmp -s "$list" "$venv/requirements.txt" && return
    rm -rf "$venv"
    echo "diff: installing $(tr '\n' ' ' <"$list")into .build/$1" >&2
    if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$list"; } \
        >/dev/null 2>&1; then
        echo "diff: skipped: Python with venv and a package index are needed" >&2
        [[ ${CI:-} == true ]] && exit 1
        exit 0
    fi
    cp "$list" "$venv/requirements.txt"
}

environment diff-venv requirements.txt
# The SDKs are needed for the server only.
if [[ " $* " != *' --kind '* || " $* " == *' --kind server '* ]]; then
    environment diff-sdk1 requirements-sdk1.txt
    environment diff-sdk2 requirements-sdk2.txt
fi
exec "$root/.build/diff-venv/bin/python" "$here/diff.py" "$@"
