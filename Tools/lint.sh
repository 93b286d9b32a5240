#!/usr/bin/env bash
# The rules that a program can check: format, sizes, imports and words.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
status=0
complain() {
    echo "lint: $1" >&2
    status=1
}

mapfile -t swift < <(git ls-files 'Package.swift' 'Sources/*.swift' 'Tests/*.swift' 'Examples/*.swift')
mapfile -t sources < <(git ls-files 'Sources/*.swift')

swift format lint --strict --parallel --configuration .swift-format "${swift[@]}" || status=1

# Sizes: a file that grows beyond 600 lines has a second idea in it.
for file in "${sources[@]}"; do
    lines=$(wc -l <"$file")
    ((lines <= 600)) || complain "$file has $lines lines; 600 is the most"
done
awk 'FNR == 1 { start = 0 }
    match($0, /^ *(@[a-zA-Z()_]+ )*((public|package|private|fileprivate|internal|static|final|override|mutating|consuming|nonisolated|convenience|required) )*(func|init)[ (<?]/) {
        indent = match($0, /[^ ]/) - 1; start = FNR; name = $0 }
    start && FNR > start && match($0, /[^ ]/) - 1 == indent && /^ *}/ {
        if (FNR - start > 60) { printf "lint: %s:%d: a function of %d lines; 60 is the most\n", FILENAME, start, FNR - start; bad = 1 }
        start = 0 }
    END { exit bad }' "${sources[@]}" >&2 || status=1
while IFS= read -r hit; do complain "longer than 110 columns: $hit"; done < <(
    LC_ALL=C.UTF-8 grep -nE '^.{111,}' "${sources[@]}" | grep -vE '"""|https?://' | cut -d: -f1,2 || true)

# Imports: the library and the programs stand on the standard library, Dispatch and the C library alone; WebKit
# is there for a view in a window of its own, where the system has it.
allowed='^(public |package |internal |@preconcurrency )*import (Dispatch|Synchronization|Glibc|Musl|Darwin|WebKit|CMCPSystem|MCPCore)$'
for file in "${sources[@]}"; do
    while IFS= read -r line; do
        [[ $line =~ $allowed ]] || complain "$file: forbidden: $line"
    done < <(grep -E '^[a-z@ ]*\bimport [A-Za-z]' "$file" | sed 's/^ *//' | grep -vE '^//' || true)
done
[[ -z $(git ls-files '*.c' '*.m' '*.cc') ]] || complain "there is C code besides the header of CMCPSystem"
! grep -q '\.package(' Package.swift || complain "Package.swift has a dependency"

# Words. No shell, no regular expressions on input, nothing left for later, nothing that traps on input.
forbid() { # PATTERN WHY FILES…
    local pattern=$1 why=$2 hits
    shift 2
    hits=$(grep -nE "$pattern" "$@" 2>/dev/null || true)
    [[ -z $hits ]] || complain "$why:
$hits"
}
forbid '\b(TODO|FIXME|XXX|HACK)\b' "left for later" "${sources[@]}"
forbid '\btry!|\bas! ' "traps on the unexpected" "${sources[@]}"
mapfile -t code < <(printf '%s\n' "${sources[@]}" | grep -v '^Sources/MCPServerDaemon/Config/')
forbid '"/bin/sh"|\bpopen\(|\bsystem\(' "a shell" "${code[@]}"
mapfile -t core < <(git ls-files 'Sources/MCPCore/*.swift')
forbid '\bRegex\b|/\.\*/' "a regular expression of the standard library" "${core[@]}"
forbid '^ *print\(' "prints" "${core[@]}"

# An error of the system is never read as "empty" or "at the end": whoever drops one says why, beside it.
mapfile -t system < <(git ls-files Sources/MCPCore/{Platform,Events,TLS}/ Sources/MCPCore/Transport/{HTTP,Stdio}/ \
    Sources/MCPServerDaemon/ | grep '\.swift$')
awk 'FNR == 1 { comment = -9 }
    { text = $0 }
    /\/\// { comment = FNR }
    /try\?.*(Syscalls\.|Files\.|loop\.(register|modify)|openRoot|writeNonBlocking|\.list\(|(RootDirectory|DirectoryWatch|LogSink)\()/ ||
    /^ *_ = (unsafe )?(write|read|send|recv|fcntl|fsync|inotify_[a-z_]+|mcp_[a-z_]+|kevent64|ioctl|shutdown)\(/ {
        if (FNR - comment > 3) { printf "lint: %s:%d: drops an error of the system without a reason beside it\n", FILENAME, FNR; bad = 1 } }
    END { exit bad }' "${system[@]}" >&2 || status=1

# Unsafe state that other threads can see says why it is safe.
for file in $(grep -lE '@unchecked Sendable' "${sources[@]}" || true); do
    grep -qE '// SAFETY:' "$file" || complain "$file: @unchecked Sendable without a SAFETY line"
done
((status == 0)) && echo "lint: ${#swift[@]} files, nothing to complain about"
exit "$status"
