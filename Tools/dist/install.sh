#!/usr/bin/env bash
# Installs the programs and everything that belongs to them below DESTDIR/PREFIX, or removes it again:
#     install.sh install FOLDER-OF-THE-PROGRAMS    install.sh uninstall
# Reads PREFIX (/usr/local) and DESTDIR (empty). Installs nothing outside of PREFIX, and enables no service.
set -euo pipefail
unset CDPATH
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
PREFIX=${PREFIX:-/usr/local}
# It becomes a part of units and property lists.
[[ $PREFIX =~ ^/[A-Za-z0-9_./+@:-]*$ ]] || {
    echo "install: PREFIX is \"$PREFIX\"; it must be an absolute path of letters, digits and _./+@:-" >&2
    exit 2
}
# It stands before `/bin`. `/` is empty then.
while [[ $PREFIX == */ ]]; do PREFIX=${PREFIX%/}; done
to=${DESTDIR:-}
[[ -z $to || $to == /* ]] || to=$PWD/$to
to+=$PREFIX
programs=(mcp-server mcp-client)
umask 022

# The places of what is installed, below PREFIX.
own=share/mcp-server
unit=lib/systemd/system/mcp-server.service
plist=$own/org.modelcontextprotocol.mcp-server.plist
shells=(bash zsh fish)
completion() { # SHELL PROGRAM
    case $1 in
    bash) echo "share/bash-completion/completions/$2" ;;
    zsh) echo "share/zsh/site-functions/_$2" ;;
    fish) echo "share/fish/vendor_completions.d/$2.fish" ;;
    esac
}
man() { echo "share/man/man1/$1.1"; } # PROGRAM
documents=share/doc/swift-mcp-core
# With the pages that the README links to, their images, and the examples that they show.
pages() {
    local page
    (cd "$root" && printf '%s\n' LICENSE NOTICE {README,CHANGELOG,SECURITY,CONTRIBUTING}.md docs/*.md docs/images/* \
        Examples/*.jsonc Examples/*/*) | while IFS= read -r page; do
        if [ -f "$root/$page" ]; then printf '%s\n' "$page"; fi
    done
}

put() { # MODE FILE PLACE: what is to be installed, in a folder of its own
    mkdir -p "$work/all/$(dirname "$3")"
    cp "$2" "$work/all/$3"
    chmod "$1" "$work/all/$3"
}

# Copies everything beside what it replaces, and renames it when all is there: an upgrade that fails or is stopped leaves
# programs that can be run. Folders that are there keep their modes.
move_all() {
    local place new
    while IFS= read -r place; do
        place=${place#./}
        mkdir -p "$(dirname "$to/$place")"
        if [ -d "$to/$place" ]; then
            echo "install: $to/$place is a folder; nothing was installed" >&2
            exit 1
        fi
        new=$to/$place.$$
        copies+=("$new") # before it is there: it goes when this is stopped
        places+=("$to/$place")
        cp -p "$work/all/$place" "$new"
    done < <(cd "$work/all" && find . -type f | sort)
    for new in "${!places[@]}"; do mv -f "${copies[new]}" "${places[new]}"; done
}

# The unit and the property list are the daemon's own (`mcp-server init`), with the command of the installation. What
# stands there before names the folders of the build, which may have any characters, so that it is replaced as a whole.
service() { # FLAG
    local command=("$PREFIX/bin/mcp-server" -c /etc/mcp-server/mcp.jsonc)
    (cd "$work" && env -u XDG_CONFIG_HOME HOME=/nonexistent "$bin/mcp-server" init "$1" -c mcp.jsonc 2>/dev/null) |
        awk -v words="${command[*]}" '
            /^# \/etc\/systemd/ { next }
            /^ExecStart=/ { print "ExecStart=" words; next }
            /^ *<array>$/ { print; inside = 1; count = split(words, word, " ")
                for (i = 1; i <= count; i++) print "        <string>" word[i] "</string>" }
            /^ *<\/array>$/ { inside = 0 }
            !inside { print }'
}

install_all() {
    bin=$(cd -- "$1" && pwd -P)
    command -v strip >/dev/null || { echo "install: strip is missing (binutils); nothing was installed" >&2; exit 1; }
    work=$(mktemp -d)
    copies=() places=()
    trap 'rm -rf "$work" ${copies[@]+"${copies[@]}"}' EXIT
    trap 'exit 143' HUP INT TERM # behind the command that runs, which might still write
    cp "$here/mcp.jsonc" "$work/mcp.jsonc"
    local program shell page
    for program in "${programs[@]}"; do
        # BSD's install -s differs; both have strip.
        cp "$bin/$program" "$work/$program"
        strip "$work/$program"
        put 755 "$work/$program" "bin/$program"
        for shell in "${shells[@]}"; do # not every program can complete for every shell
            if "$bin/$program" completion "$shell" </dev/null >"$work/completion" 2>/dev/null; then
                put 644 "$work/completion" "$(completion "$shell" "$program")"
            fi
        done
        page=$root/build/man/$program.1
        if [ -e "$page" ]; then put 644 "$page" "$(man "$program")"; fi
    done
    put 644 "$here/mcp.jsonc" "$own/mcp.jsonc"
    service --launchd >"$work/plist"
    put 644 "$work/plist" "$plist"
    service --systemd >"$work/unit"
    put 644 "$work/unit" "$unit"
    while IFS= read -r page; do put 644 "$root/$page" "$documents/$page"; done < <(pages)
    move_all
}

# Removes what install_all writes, and the folders of its own when they are empty.
uninstall_all() {
    local program shell page folder
    for program in "${programs[@]}"; do
        rm -f "$to/bin/$program" "$to/$(man "$program")"
        for shell in "${shells[@]}"; do rm -f "$to/$(completion "$shell" "$program")"; done
    done
    rm -f "$to/$unit" "$to/$plist" "$to/$own/mcp.jsonc"
    while IFS= read -r page; do rm -f "$to/$documents/$page"; done < <(pages)
    for folder in "$to/$own" "$to/$documents"; do
        [ -d "$folder" ] || continue
        find "$folder" -depth -type d -exec rmdir {} + 2>/dev/null || true
        if [ -d "$folder" ]; then echo "uninstall: $folder stays: it has files that this source does not install" >&2; fi
    done
}

case ${1:-}:$# in
install:2) install_all "$2" ;;
uninstall:1) uninstall_all ;;
*) echo "usage: install.sh install FOLDER | uninstall" >&2; exit 2 ;;
esac
