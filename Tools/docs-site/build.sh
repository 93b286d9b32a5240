#!/usr/bin/env bash
# Builds the documentation as static HTML: the pages of docs/ and the reference of each library, by the docc of
# the toolchain, without a network. MODULES as in Tools/modules.sh.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=.build/docs-site
. Tools/modules.sh

archives=()
convert() { # NAME CATALOG [SYMBOL-GRAPHS]
    tool docc convert "$work/$2" ${3:+--additional-symbol-graph-dir "$work/$3"} --warnings-as-errors \
        --disable-parameters-and-returns-validation \
        --fallback-display-name "$1" --fallback-bundle-identifier "swift-mcp-core.$1" \
        --output-path "$work/$1.doccarchive" >"$work/$1.log" 2>&1 || { cat "$work/$1.log" >&2; exit 1; }
    archives+=("$work/$1.doccarchive")
}

Tools/docs-site/catalogs.py "$work"
convert Guides Guides.docc
Tools/docs-site/links.py "$work/Guides.doccarchive"
for library in "${libraries[@]}"; do
    mkdir "$work/$library"
    tool swift-symbolgraph-extract -module-name "$library" -minimum-access-level public \
        -I "$modules" -I Sources/CMCPSystem/include -target "$target" ${sdk:+-sdk "$sdk"} \
        -skip-synthesized-members -output-dir "$work/$library"
    convert "$library" "$library.docc" "$library"
    Tools/docs-site/reachable.py "$work/$library.doccarchive" "$work/$library/$library.symbols.json"
done
rm -rf "$out"
mkdir -p "$(dirname "$out")"
tool docc merge ${archives[@]+"${archives[@]}"} --synthesized-landing-page-name swift-mcp-core \
    --synthesized-landing-page-kind Package --output-path "$work/site" >/dev/null
tool docc process-archive transform-for-static-hosting "$work/site" --output-path "$out" >/dev/null
echo "docs-site: $(find "$out" -name index.html | wc -l) pages in $out; open documentation/ with any web server:"
echo "    python3 -m http.server --bind 127.0.0.1 --directory $out 8000"
