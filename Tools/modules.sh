# Sourced by the tools that read the compiled libraries. Sets `libraries`, `modules` (their folder; MODULES names
# one that is already there), `target`, `sdk` (empty: none) and `work`, a folder that goes at the end.
swift=${SWIFT:-swift}
libraries=(MCPCore MCPHarness MCPApps MCPFoundation)
tools=$(dirname "$(readlink -f "$(command -v "$swift")")")
# Runs a program of the toolchain.
tool() { local name=$1; shift; if [[ -x $tools/$name ]]; then "$tools/$name" "$@"; else "$name" "$@"; fi; }
modules=${MODULES:-}
if [[ -z $modules ]]; then
    # The options of the Makefile.
    options=(${CI:+-Xswiftc -warnings-as-errors})
    for library in MCPApps MCPFoundation; do
        "$swift" build ${options[@]+"${options[@]}"} --target "$library" >/dev/null
    done
    modules=$("$swift" build --show-bin-path)/Modules
fi
target=$("$swift" -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)",/\1/p')
sdk=
[[ $(uname) != Darwin ]] || sdk=$(xcrun --show-sdk-path)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
