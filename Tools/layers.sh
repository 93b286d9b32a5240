#!/usr/bin/env bash
# Type-checks each folder of MCPCore together with exactly the folders it may use. A folder that uses another one
# fails with "cannot find type": the compiler proves the layers, so they cannot rot.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# folder: what it may use directly
declare -A uses=(
    [Platform]="" [Bytes]="" [Collections]=""
    [JSON]="Bytes" [HTTP]="Bytes" [Crypto]="Bytes"
    [Events]="Platform Bytes" [TLS]="Platform Bytes"
    [JSONRPC]="JSON" [Schema]="JSON"
    [Protocol]="JSONRPC Schema Collections"
    [Wire]="Protocol Crypto" [Tools]="Protocol"
    [Server]="Wire Platform" [Client]="Wire Platform"
    [Auth]="HTTP Protocol Crypto"
    [HTTPServer]="HTTP Events JSON"
    [Transport]="Server Client Auth HTTPServer TLS"
    [ClientTools]="Tools Transport"
    [Harness]="Tools Transport"
    [Apps]="Harness"
)

closure() { # FOLDER: the folder and everything below it
    local seen=" " queue=("$1") folder
    while ((${#queue[@]})); do
        folder=${queue[0]}
        queue=("${queue[@]:1}")
        [[ $seen == *" $folder "* ]] && continue
        seen+="$folder "
        # shellcheck disable=SC2206
        queue+=(${uses[$folder]})
    done
    echo "$seen"
}

for folder in Sources/MCPCore/*/; do
    name=$(basename "$folder")
    if [[ ! -v uses[$name] ]]; then
        echo "layers: $name is not in the table of Tools/layers.sh" >&2
        exit 1
    fi
done

check() {
    local files=() folder
    for folder in $(closure "$1"); do
        while IFS= read -r file; do files+=("$file"); done < <(find "Sources/MCPCore/$folder" -name '*.swift')
    done
    swiftc -typecheck -swift-version 6 -strict-memory-safety -suppress-warnings \
        -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault \
        -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature NonisolatedNonsendingByDefault \
        -I Sources/CMCPSystem/include -package-name swift_mcp_core -module-name MCPCore -parse-as-library \
        "${files[@]}" || return 1
    echo "layers: $1 uses only$(closure "$1" | sed "s/ $1 / /")"
}

# Two at a time: a type-check uses one core.
status=0
running=0
for name in "${!uses[@]}"; do
    { check "$name" || { echo "layers: $name uses a folder that it may not" >&2; exit 1; }; } &
    if ((++running >= 2)); then
        wait -n || status=1
        running=$((running - 1))
    fi
done
while ((running > 0)); do
    wait -n || status=1
    running=$((running - 1))
done
exit "$status"
