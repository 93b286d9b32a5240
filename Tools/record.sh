#!/usr/bin/env bash
# Runs a command and keeps its output and its status in .build/figures for Tools/figures.py:
# Tools/record.sh NAME COMMAND…
set -euo pipefail
[[ $# -ge 2 && $1 != */* ]] || { echo "usage: Tools/record.sh NAME COMMAND..." >&2; exit 2; }
folder=$(dirname "${BASH_SOURCE[0]}")/../.build/figures
file=$folder/$1
shift
mkdir -p "$folder"
echo "$*" >"$file"
code=0
"$@" 2>&1 | tee -a "$file" || code=$?
echo "record: ended with $code" >>"$file"
exit "$code"
