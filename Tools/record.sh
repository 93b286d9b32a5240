#!/usr/bin/env bash
# Runs a command and keeps its output in .build/figures for Tools/figures.py: Tools/record.sh NAME COMMAND…
set -euo pipefail
folder=$(dirname "${BASH_SOURCE[0]}")/../.build/figures
file=$folder/$1
shift
mkdir -p "$folder"
echo "$*" >"$file"
"$@" 2>&1 | tee -a "$file"
