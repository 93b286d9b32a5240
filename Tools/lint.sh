#!/usr/bin/env bash
# The rules that can be checked by a program: format, sizes, imports and words.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/.."
status=0
complain() {
    echo "lint: $1" >&2
    status=1
}

# As mapfile -t, which the bash of macOS (3.2) does not have.
collect() { # NAME: makes the lines of the standard input an array
    local line
    eval "$1=()"
    while IFS= read -r line; do eval "$1+=(\"\$line\")"; done
}

git rev-parse --verify HEAD >/dev/null || { echo "lint: needs a clone: it looks at the files that git knows" >&2; exit 1; }
collect swift < <(git ls-files 'Package.swift' 'Sources/*.swift' 'Tests/*.swift' 'Examples/*.swift')
collect sources < <(git ls-files 'Sources/*.swift')

swift format lint --strict --parallel --configuration .swift-format "${swift[@]}" || status=1

# Sizes: a file that grows beyond 600 lines contains a second idea.
for file in "${sources[@]}"; do
    lines=$(wc -l <"$file")
    ((lines <= 600)) || complain "$file has $lines lines; the limit is 600"
done
awk 'FNR == 1 { start = 0 }
    match($0, /^ *(@[a-zA-Z()_]+ )*((public|package|private|fileprivate|internal|static|final|override|mutating|consuming|nonisolated|convenience|required) )*(func|init)[ (<?]/) {
        indent = match($0, /[^ ]/) - 1; start = FNR; name = $0 }
    start && FNR > start && match($0, /[^ ]/) - 1 == indent && /^ *}/ {
        if (FNR - start > 60) { printf "lint: %s:%d: a function of %d lines; the limit is 60\n", FILENAME, start, FNR - start; bad = 1 }
        start = 0 }
    END { exit bad }' "${sources[@]}" >&2 || status=1
# Not every system has C.UTF-8: what continues a character is not counted.
while IFS= read -r hit; do complain "longer than 110 columns: $hit"; done < <(
    LC_ALL=C awk 'length($0) > 110 && !/"""|https?:\/\// {
        gsub(/[\200-\277]/, ""); if (length($0) > 110) print FILENAME ":" FNR }' "${sources[@]}")

# A clone gets the mode that was committed.
while read -r mode _ _ file; do
    [[ $mode != 100644 || $(head -c 2 "$file" | tr -d '\0') != '#!' ]] || complain "$file is a script that cannot be run: chmod +x"
done < <(git ls-files -s '*.py' '*.sh')

# Without a folder, such as from a mktemp that failed, cd stays where it is.
hits=$(git ls-files -z '*.sh' ':!Tools/lint.sh' .ci | xargs -0 grep -n 'cd "\$(' | grep -v 'cd "\$(dirname ' || true)
[[ -z $hits ]] || complain "cd into the output of a command that may fail: give it a name first
$hits"

# With a CDPATH of the user, cd may print the folder, or go to another one.
while IFS= read -r file; do
    grep -qx 'unset CDPATH' "$file" || complain "$file changes the folder: it needs a line with unset CDPATH"
done < <(git ls-files -z '*.sh' .ci | xargs -0 grep -lE '(^|[ (;&])cd ')

# Scripts that people run on macOS too: its bash is 3.2, its tools are BSD's. The others are for Linux, or say what they
# need.
collect scripts < <(git ls-files '*.sh' ':!Tools/lint.sh' ':!Tools/layers.sh' ':!Tests/Sanitize' \
    ':!Tools/dist/build.sh' ':!Tools/dist/check.sh' ':!Tools/dist/rootfs.sh')
hits=$(grep -nE '\b(mapfile|readarray|coproc|wait -n|(declare|local|typeset) -[a-z]*[Ang])\b|\[\[ -v |\|&|&>>' "${scripts[@]}" || true
    grep -nE '\$\{[A-Za-z_]+(\[@\])?(,|\^|@[A-Za-z])|EPOCH(SECONDS|REALTIME)|printf .?%\(|\{[a-z_]+\}[<>]' "${scripts[@]}" || true)
[[ -z $hits ]] || complain "bash 3.2 does not have it:
$hits"
hits=$(grep -nE '\bsed (-[a-zE]+ )*(-i|-z)|\bgrep -[A-Za-z]*P|\bdate .*(-d|--date|-R|%N)|\bstat -(c|-)|-printf |\bxargs .*(-r|-d)|\bsort -[a-z]*V' \
        "${scripts[@]}" || true
    grep -nE '\b(cp|mv|ln|rm|tar|mktemp|head|tail|sort|readlink|base64|cut) --[a-z]|\btar .*--null|\bln -[a-z]*r|\bbase64 -w' \
        "${scripts[@]}" || true
    grep -nE '\b(nproc|tac|sha256sum|setsid|realpath)\b|\bhead -n -|/proc/' "${scripts[@]}" || true)
[[ -z $hits ]] || complain "macOS does not have it:
$hits"
for file in "${scripts[@]}"; do
    ! grep -qE '\btimeout ' "$file" || grep -q 'command -v timeout' "$file" || complain "$file: macOS has no timeout(1)"
done
# There, an array without elements is not set, which -u refuses: ${name[@]+"${name[@]}"}.
awk 'FNR == 1 { split("", empty) }
    { line = $0
      while (match(line, /[A-Za-z_]+=\(\)/)) { empty[substr(line, RSTART, RLENGTH - 3)] = 1; line = substr(line, RSTART + RLENGTH) }
      line = $0
      while (match(line, /"\$\{[A-Za-z_]+\[@\]\}"/)) {
        name = substr(line, RSTART + 3, RLENGTH - 8)
        if (name in empty && substr(line, RSTART - 1, 1) != "+") {
            printf "lint: %s:%d: bash 3.2 refuses \"${%s[@]}\" when it is empty\n", FILENAME, FNR, name; bad = 1 }
        line = substr(line, RSTART + RLENGTH) } }
    END { exit bad }' "${scripts[@]}" >&2 || status=1

# Owners: an object that holds a descriptor is counted (Platform/Census.swift), so that tests notice one that
# is never closed. Each value has one owner, which the compiler knows.
awk 'function judge() { if (name != "" && holds && !counted) {
            printf "lint: %s: %s holds a descriptor and is not in the census: add `private let counted = Counted(…)`\n", file, name
            bad = 1 }
        name = ""; holds = 0; counted = 0 }
    FNR == 1 { judge(); file = FILENAME }
    match($0, /^ *((public|package|private|fileprivate|final|open) )*(class|actor|struct|enum|extension) [A-Za-z]/) {
        indent = match($0, /[^ ]/) - 1
        if (name == "" || indent <= depth) {
            judge()
            if ($0 ~ /(class|actor) [A-Z]/) {
                depth = indent; name = $0; sub(/^.*(class|actor) /, "", name); sub(/[^A-Za-z].*/, "", name) } } }
    / Counted\(\./ { counted = 1 }
    /^ *((private|fileprivate|package|public|private\(set\)) )*(let|var) [a-zA-Z]+: .*(FileDescriptor|NonBlockingStream|ListenSocket|StandardStreams|UpgradedSocket)[?>]* *$/ { holds = 1 }
    END { judge(); exit bad }' "${sources[@]}" >&2 || status=1

# Imports: the library and the programs use only the standard library, Dispatch and the C library; WebKit is
# used for a view in a window of its own, where the system has it.
allowed='^(public |package |internal |@preconcurrency )*import (Dispatch|Synchronization|Glibc|Musl|Darwin|WebKit|CMCPSystem|MCPCore|MCPHarness|MCPApps)$'
# MCPFoundation is the bridge to Foundation, which mcp-client uses on macOS only.
bridge='^(public )?import (Foundation|FoundationNetworking|Observation|Synchronization|MCPCore)$'
for file in "${sources[@]}"; do
    [[ $file != Sources/MCPFoundation/* ]] || rule=$bridge
    [[ $file == Sources/MCPFoundation/* ]] || rule=$allowed
    if [[ $file == Sources/MCPClientCLI/* ]] && grep -qx '#if os(macOS) && canImport(MCPFoundation)' "$file"; then
        rule=${rule/MCPApps)/MCPApps|MCPFoundation)}
    fi
    while IFS= read -r line; do
        [[ $line =~ $rule ]] || complain "$file: forbidden: $line"
    done < <(grep -E '^[a-z@ ]*\bimport [A-Za-z]' "$file" | sed 's/^ *//' | grep -vE '^//' || true)
done
[[ -z $(git ls-files '*.c' '*.m' '*.cc' ':!Benchmarks/peers' ':!Tests/Sanitize') ]] || complain "there is C code besides the header of CMCPSystem"
! grep -q '\.package(' Package.swift || complain "Package.swift has a dependency"

# Texts are searched by String+Search.swift. A file that does not import it links the engine of regular expressions.
for file in $(git ls-files 'Sources/*.swift' ':!Sources/MCPCore'); do
    grep -qE '^(public |package )?import MCPCore$' "$file" || ! grep -qE '\.firstRange\(of:|\.replacing\(|\.contains\("[^"]{2,}"\)' "$file" ||
        complain "$file searches texts without \`import MCPCore\`"
done

# Tests of public behaviour use what a program can use, and TestSupport; those of a parser or of a state look inside.
collect tests < <(git ls-files 'Tests/*.swift')
inside=$(grep -l '@testable' "${tests[@]}" | wc -l || true)
((inside * 2 <= ${#tests[@]})) || complain "$inside of ${#tests[@]} test files use @testable; half is the most: see TestSupport"

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

# Without MCPCore's functions for texts (Bytes/String+Search.swift), those of the library for regular expressions are
# chosen, which link an engine of 1.3 MB.
while IFS= read -r file; do
    [[ $file == Sources/MCPCore/* || $file == Sources/MCPFoundation/* ]] || grep -qE '^(package |public )?import MCPCore$' "$file" ||
        complain "$file: searches in a text: import MCPCore"
done < <(grep -lE '\.(firstRange\(of|ranges\(of|firstMatch\(|trimmingPrefix\(|replacing\()|\.(contains\(|split\(separator: )"[^"\]{2,}"' \
    "${sources[@]}" || true)

# Text that people read is idiomatic: "X is not a Y", "again", "Duplicate X header".
idioms=$(grep -nE '^[^/]*"[^"]*\b(anew|[Ww]hoever|stands twice|belong into|told of)\b[^"]*"' "${sources[@]}" || true
    grep -nE '^[^/]*"[^"]*\bis no [a-z]' "${sources[@]}" | grep -vE '[Tt]here is no |is no longer' || true)
[[ -z $idioms ]] || complain "a phrase that is not idiomatic in a text for users:
$idioms"

# Streams that are not read fast enough. A bound is given where the stream is created; a stream without a
# buffer is pulled: `AsyncStream { await … }`, whose closure has no continuation.
while IFS= read -r hit; do complain "a stream without a bound: $hit"; done < <(
    awk 'FNR == 1 { open = 0 }
        /Async(Throwing)?Stream(<[^>]*>)?(\.makeStream)?\(/ { if (open) print place; place = FILENAME ":" FNR; open = 3 }
        /Async(Throwing)?Stream(<[^>]*>)? *\{ *([a-z]+ in|\$0)|bufferingPolicy: \.unbounded/ { print FILENAME ":" FNR }
        open && /bufferingPolicy:/ { open = 0 }
        open && --open == 0 { print place }' "${sources[@]}")

forbid '"/bin/sh"|\bpopen\(|\bsystem\(' "a shell" "${sources[@]}"
collect core < <(git ls-files 'Sources/MCPCore/*.swift' 'Sources/MCPHarness/*.swift' 'Sources/MCPApps/*.swift')
forbid '\bRegex\b|/\.\*/' "a regular expression of the standard library" "${core[@]}"
forbid '^ *print\(' "prints" "${core[@]}"
collect pausing < <(printf '%s\n' "${core[@]}" | grep -v 'Platform/Pause.swift')
forbid 'Task\.sleep\(for:' "traps for the longest times; Task.pause(for:) does not" "${pausing[@]}"

# A closure in a Mutex is wrapped again by each look at it (Platform/Callback.swift), also under a name of its own.
collect closures < <(sed -nE 's/^.*typealias ([A-Za-z]+)(<.*>)? *=.*->.*$/\1/p' "${swift[@]}" | sort -u)
names=$(IFS='|' && echo "${closures[*]}")
collect others < <(git ls-files 'Sources/*.swift' 'Tests/*.swift' ':!Sources/MCPCore/Platform/Callback.swift')
forbid "Mutex<[^{]*->|Mutex<($names)\\??>" "a closure in a Mutex: use Callback, or a structure" "${others[@]}"

# Numbers from outside. Where bytes from peers are read, nothing may trap: `magnitude` instead of abs(), and
# `Int(exactly:)`, `clamping:` or `…ReportingOverflow` instead of a conversion, a minus or a product that can trap.
# Where the value is known to be small, a comment on the same line or the line above says so: `// Small: because …`.
# Masked bits, counts and products of literals need no comment; sums of offsets in a buffer and shifts never trap.
collect readers < <(git ls-files 'Sources/MCPCore/'{JSON,HTTP,JSONRPC,Schema,Protocol,Wire,Signing,Auth}'/*.swift')
awk '
    function argument(text,    i, depth) { # the text before the closing parenthesis
        depth = 1
        for (i = 1; i <= length(text); i++) {
            depth += (substr(text, i, 1) == "(") - (substr(text, i, 1) == ")")
            if (!depth) return substr(text, 1, i - 1)
        }
        return text
    }
    function traps(code,    inner) {
        if (code ~ /(^|[^A-Za-z0-9_.])abs\(/) return "abs()"
        if (code ~ /(^|return|case|in|[=(\[,:?{&|<>+*\/%-]) *-[A-Za-z_(]/ && code !~ /-Double\./) return "a minus"
        if (code ~ /[])A-Za-z0-9_] \*=? [A-Za-z_(]/ || code ~ /[])A-Za-z_][0-9]* \*=? [0-9]/) return "a product"
        while (match(code, /(^|[^A-Za-z0-9_.])(U?Int(8|16|32|64|128)?|I)\(/)) {
            code = substr(code, RSTART + RLENGTH)
            inner = argument(code)
            if (inner ~ /^(exactly|clamping|truncatingIfNeeded|bitPattern|ascii|littleEndian|bigEndian):/) continue
            if (inner ~ /^(0x)?[0-9A-Fa-f_]*$/ && inner != "" && inner ~ /^[0-9]/) continue
            if (inner ~ /& *(0x)?[0-9A-F]+$/ || inner ~ /^[A-Za-z0-9_.]+\.count$/) continue
            if (code ~ /^ *$/) { isOpen = 1; continue } # its argument begins on the next line
            if (inner == "") continue
            return "a conversion"
        }
        return ""
    }
    FNR == 1 { above = "" }
    {
        code = $0
        gsub(/"([^"\\]|\\.)*"/, "\"\"", code)
        sub(/\/\/.*/, "", code)
        gsub(/->/, "", code)
        # A label at the beginning of the line completes what the previous line began.
        if (isOpen && code !~ /^ *(exactly|clamping|truncatingIfNeeded|bitPattern|littleEndian|bigEndian):/) code = "Int(x)" code
        isOpen = 0
        why = $0 ~ /Small: / || above ~ /\/\/ Small: / ? "" : traps(code)
        if (why != "") { printf "lint: %s:%d: %s that can trap; see Numbers in Tools/lint.sh\n", FILENAME, FNR, why; bad = 1 }
        above = $0
    }
    END { exit bad }' "${readers[@]}" >&2 || status=1

# Code that holds a reference which does not keep its object alive says which object outlives the other.
awk '
    FNR == 1 { above = before = "" }
    { code = $0; sub(/\/\/.*/, "", code) }
    code ~ /(^|[^A-Za-z0-9_])unowned([^A-Za-z0-9_]|$)/ && ($0 above before) !~ /SAFETY: / {
        printf "lint: %s:%d: unowned without a SAFETY line\n", FILENAME, FNR; bad = 1 }
    { before = above; above = $0 }
    END { exit bad }' "${sources[@]}" >&2 || status=1

# An error of the system is never read as "empty" or "at the end": code that drops one gives the reason beside
# it.
collect system < <(git ls-files Sources/MCPCore/{Platform,Events,TLS,HTTPServer}/ Sources/MCPCore/Transport/{Streamable,Line}/ \
    Sources/MCPServerDaemon/ | grep '\.swift$')
awk 'FNR == 1 { comment = -9 }
    { text = $0 }
    /\/\// { comment = FNR }
    /try\?.*(Syscalls\.|Files\.|loop\.(register|modify)|openRoot|writeNonBlocking|\.list\(|(RootDirectory|DirectoryWatch|LogSink)\()/ ||
    /^ *_ = (unsafe )?(write|read|send|recv|fcntl|fsync|inotify_[a-z_]+|mcp_[a-z_]+|kevent64|ioctl|shutdown)\(/ {
        if (FNR - comment > 3) { printf "lint: %s:%d: drops an error of the system without a reason beside it\n", FILENAME, FNR; bad = 1 } }
    END { exit bad }' "${system[@]}" >&2 || status=1

# Unsafe state that other threads can see has a comment that says why it is safe.
for file in $(grep -lE '@unchecked Sendable|@exclusivity\(unchecked\)' "${sources[@]}" || true); do
    grep -qE '// SAFETY:' "$file" || complain "$file: unchecked Sendable or exclusivity without a SAFETY line"
done
((status == 0)) && echo "lint: ${#swift[@]} files, nothing to complain about"
exit "$status"
