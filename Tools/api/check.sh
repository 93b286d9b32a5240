#!/usr/bin/env bash
# Compares the public API of each library with its baseline, by the digester of the toolchain, and prints every
# change that would break a program: check.sh. `--write` makes the present API the baseline. Changes that are
# meant are lines of Tools/api/breaking.txt until the next baseline. MODULES as in Tools/modules.sh.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. Tools/modules.sh
status=0
for library in "${libraries[@]}"; do
    tool swift-api-digester -dump-sdk -module "$library" -o "$work/all.json" -I "$modules" -I Sources/CMCPSystem/include \
        -sdk "${sdk:-/}" -target "$target" -avoid-location -avoid-tool-args -swift-only -abort-on-module-fail 2>"$work/log" ||
        { cat "$work/log" >&2; exit 1; }
    Tools/api/public.py "$work/all.json" >"$work/now.json"
    if [[ ${1:-} == --write ]]; then
        gzip -9nc "$work/now.json" >"Tools/api/$library.json.gz"
        echo "api: baseline of $library written"
        continue
    fi
    gzip -dc "Tools/api/$library.json.gz" >"$work/baseline.json"
    tool swift-api-digester -diagnose-sdk -input-paths "$work/baseline.json" -input-paths "$work/now.json" -print-module \
        -sdk "${sdk:-/}" -target "$target" >"$work/changes" 2>&1
    grep -vE '^(/\*.*\*/)?$' "$work/changes" | sort | grep -vxFf Tools/api/breaking.txt >"$work/breaking" || true
    if [[ -s $work/breaking ]]; then
        cat "$work/breaking" >&2
        status=1
    else
        echo "api: $library: nothing that breaks a program"
    fi
done
if ((status)); then
    echo "api: these changes break programs. If they are meant, name them in CHANGELOG.md and add the lines to" \
        "Tools/api/breaking.txt" >&2
fi
exit "$status"
