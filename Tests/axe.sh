#!/usr/bin/env bash
# Makes sure that axe, the checker of web pages for people with disabilities, is in .build/axe/axe.min.js. It comes from
# a package of PyPI. Without Python or a package index, its tests are skipped; with CI=true that is a failure.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# macOS has no timeout(1) of its own; coreutils of Homebrew bring it.
command -v timeout >/dev/null || timeout() { shift; "$@"; }
package=axe-playwright-python==0.1.8
folder=.build/axe
[[ -e $folder/axe.min.js && $(cat "$folder/package" 2>/dev/null) == "$package" ]] && exit
rm -rf "$folder"
mkdir -p "$folder"
if timeout 120 python3 -m pip download --quiet --no-deps --dest "$folder" "$package" >/dev/null 2>&1 &&
    python3 -m zipfile -e "$folder"/*.whl "$folder/unpacked"; then
    mv "$folder/unpacked/axe_playwright_python/axe.min.js" "$folder/"
    rm -rf "$folder"/*.whl "$folder/unpacked"
    echo "$package" >"$folder/package"
else
    echo "e2e: accessibility: skipped: pip could not download $package" >&2
    [[ ${CI:-} != true ]]
fi
