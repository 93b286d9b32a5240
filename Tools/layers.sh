#!/usr/bin/env bash
# Type-checks each folder of the libraries and of the two programs together with exactly the folders it may use.
# A folder that uses any other fails with "cannot find type": the compiler proves the layers, so they cannot
# erode. Files in no folder, such as main.swift, are above all of them.
set -euo pipefail
unset CDPATH
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 403)); then
    echo "layers: needs bash 4.3 or newer, and this is $BASH_VERSION; on macOS: brew install bash" >&2
    exit 2
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# folder: the folders that it may use directly
declare -A MCPCore=(
    [Platform]="" [Bytes]="" [Collections]=""
    [JSON]="Bytes" [HTTP]="Bytes" [Crypto]="Bytes"
    [Events]="Platform Bytes" [TLS]="Platform Bytes"
    [JSONRPC]="JSON" [Schema]="JSON" [ConfigSyntax]="JSON Platform"
    [Protocol]="JSONRPC Schema Collections"
    [Wire]="Protocol Crypto Platform" [Tools]="Protocol"
    [Server]="Wire Platform" [Client]="Wire Platform"
    [Signing]="Platform Bytes Crypto TLS"
    [Auth]="HTTP Wire Signing"
    [HTTPServer]="HTTP Events JSON Collections"
    [Redis]="Server Events TLS"
    [Transport]="Server Client Auth HTTPServer TLS"
    [OAuth]="Transport"
    [ClientTools]="Tools Transport" [Upstreams]="Tools Transport"
)
declare -A MCPHarness=([Models]="" [Policies]="")
declare -A MCPApps=(
    [Types]=""
    [Policy]="Types" [Server]="Types"
    [Bridge]="Policy"
    [Embedding]="Bridge"
    [Host]="Bridge"
)
declare -A MCPClientCLI=(
    [Text]="" [Failures]="Text" [System]="Failures"
    [Grammar]="System"
    [Arguments]="Grammar"
    [Output]="Arguments"
    [Interaction]="Output"
    [Cache]="System" [Recording]="System" [Config]="Interaction Recording" [Session]="Config Cache"
    [Guard]="Session" [Commands]="Guard" [Agent]="Guard"
    [Host]="Agent"
    [Completion]="Session" [Shell]="Completion Commands"
    [CommandLine]="Commands Host Shell"
)
declare -A MCPServerDaemon=(
    [System]="" [Service]="ConfigSyntax" [Setup]="Configuration"
    [ConfigSyntax]="System"
    [Sandbox]="ConfigSyntax" [Tools]="Sandbox" [Files]="ConfigSyntax" [Prompts]="ConfigSyntax"
    [ClientTools]="ConfigSyntax" [Access]="ClientTools"
    [Upstreams]="Sandbox" [State]="ConfigSyntax"
    [Observe]="Tools" [Admin]="Observe Service"
    [Configuration]="Tools Files Prompts ClientTools Access Upstreams State Admin"
    [CommandLine]="Configuration Setup" [Server]="Configuration"
    [Demo]="Server" [Watch]="Server"
    [Lifecycle]="CommandLine Demo Watch Service"
)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
common=(
    -swift-version 6 -strict-memory-safety -suppress-warnings
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature NonisolatedNonsendingByDefault
    -I Sources/CMCPSystem/include -I "$scratch" -package-name swift_mcp_core -parse-as-library
)
[[ $(uname) != Darwin ]] || common+=(-sdk "$(xcrun --show-sdk-path)")

closure() { # MODULE FOLDER: the folder and everything below it
    local -n uses=$1
    local seen=" " queue=("$2") folder
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

files() { # MODULE FOLDER
    find "Sources/$1/$2" -name '*.swift'
    # The source that SwiftPM generates from the resources: their names are enough here.
    if [[ $1/$2 == MCPClientCLI/Host ]]; then echo "$scratch/PackageResources.swift"; fi
}

resources() {
    local file name
    echo "enum PackageResources {"
    for file in Sources/MCPClientCLI/Host/Assets/*; do
        name=$(basename "$file")
        echo "    static let ${name//[^A-Za-z0-9]/_}: [UInt8] = []"
    done
    echo "}"
}

# Only the bodies of the folder itself are checked: those of the others are checked in their own turn.
check() { # MODULE FOLDER
    local arguments=() folder below
    below=$(closure "$1" "$2")
    for folder in $below; do
        while IFS= read -r file; do
            [[ $folder != "$2" ]] || arguments+=(-primary-file)
            arguments+=("$file")
        done < <(files "$1" "$folder")
    done
    swiftc -frontend -typecheck "${common[@]}" -module-name "$1" "${arguments[@]}" || return 1
    echo "layers: $1/$2 uses only${below/ $2 / }"
}

# Two at a time: a type-check uses one core.
status=0
running=0
start() { # COMMAND…
    "$@" &
    if ((++running >= 2)); then
        wait -n || status=1
        running=$((running - 1))
    fi
}
finish() {
    while ((running > 0)); do
        wait -n || status=1
        running=$((running - 1))
    done
}
checked() { # MODULE FOLDER
    check "$1" "$2" || { echo "layers: $1/$2 uses a folder that it must not use" >&2; exit 1; }
}

# Modules that others import come first, each below the next.
libraries=(MCPCore MCPHarness MCPApps)
modules=("${libraries[@]}" MCPClientCLI MCPServerDaemon)
for module in "${modules[@]}"; do
    declare -n table=$module
    for folder in "Sources/$module"/*/; do
        name=$(basename "$folder")
        if [[ ! -v table[$name] ]]; then
            echo "layers: $module/$name is not in the table of Tools/layers.sh" >&2
            exit 1
        fi
    done
done

# The modules that others import: their declarations are enough.
for module in "${libraries[@]}"; do
    mapfile -t sources < <(find "Sources/$module" -name '*.swift')
    swiftc -frontend -emit-module "${common[@]}" -module-name "$module" \
        -experimental-skip-all-function-bodies -o "$scratch/$module.swiftmodule" "${sources[@]}"
done
resources >"$scratch/PackageResources.swift"
for module in "${modules[@]}"; do
    declare -n table=$module
    for folder in "${!table[@]}"; do start checked "$module" "$folder"; done
done
finish
exit "$status"
