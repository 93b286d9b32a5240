#!/usr/bin/env bash
# Installs the programs and everything that belongs to them below DESTDIR/PREFIX, or removes it again:
#     install.sh install FOLDER-OF-THE-PROGRAMS    install.sh uninstall
# Reads PREFIX (/usr/local) and DESTDIR (empty). Installs nothing outside of PREFIX, and enables no service.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
PREFIX=${PREFIX:-/usr/local}
# It becomes a part of units and property lists.
[[ $PREFIX =~ ^/[A-Za-z0-9_./+@:-]*$ ]] || {
    echo "install: PREFIX is \"$PREFIX\"; it must be an absolute path of letters, digits and _./+@:-" >&2
    exit 2
}
to=${DESTDIR:-}$PREFIX
programs=(mcp-server mcp-client)
umask 022

put() { # MODE FILE TARGET
    install -d "$to/$(dirname "$3")"
    install -m "$1" "$2" "$to/$3"
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

completions() { # PROGRAM: those of the shells that it can complete for
    local shell path
    for shell in bash zsh fish; do
        case $shell in
        bash) path=share/bash-completion/completions/$1 ;;
        zsh) path=share/zsh/site-functions/_$1 ;;
        fish) path=share/fish/vendor_completions.d/$1.fish ;;
        esac
        if "$bin/$1" completion "$shell" </dev/null >"$work/completion" 2>/dev/null; then
            put 644 "$work/completion" "$path"
        fi
    done
}

install_all() {
    bin=$(cd "$1" && pwd -P)
    command -v strip >/dev/null || { echo "install: strip is missing (binutils); nothing was installed" >&2; exit 1; }
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cp "$here/mcp.jsonc" "$work/mcp.jsonc"
    local program page
    for program in "${programs[@]}"; do
        # BSD's install -s differs; both have strip. What it leaves when it is stopped is not in PREFIX.
        cp "$bin/$program" "$work/$program"
        strip "$work/$program"
        put 755 "$work/$program" "bin/$program"
        completions "$program"
    done
    for page in "$root"/build/man/*.[1-8]; do
        if [ -e "$page" ]; then put 644 "$page" "share/man/man${page##*.}/$(basename "$page")"; fi
    done
    put 644 "$here/mcp.jsonc" share/mcp-server/mcp.jsonc
    service --launchd >"$work/plist"
    put 644 "$work/plist" share/mcp-server/org.modelcontextprotocol.mcp-server.plist
    service --systemd >"$work/unit"
    put 644 "$work/unit" lib/systemd/system/mcp-server.service
    # With the pages that the README links to, their images, and the examples that they show.
    while IFS= read -r page; do
        if [ -f "$root/$page" ]; then put 644 "$root/$page" "share/doc/swift-mcp-core/$page"; fi
    done < <(cd "$root" && printf '%s\n' LICENSE NOTICE {README,CHANGELOG,SECURITY,CONTRIBUTING}.md docs/*.md docs/images/* \
        Examples/*.jsonc Examples/*/*)
}

# Removes what install_all writes, and the folders of its own.
uninstall_all() {
    local program
    for program in "${programs[@]}"; do
        rm -f "$to/bin/$program" "$to/share/bash-completion/completions/$program" \
            "$to/share/zsh/site-functions/_$program" "$to/share/fish/vendor_completions.d/$program.fish" \
            "$to/share/man/man"[1-8]"/$program"{,-*}.[1-8]
    done
    rm -f "$to/share/man/man5/mcp-server.jsonc.5" "$to/lib/systemd/system/mcp-server.service"
    rm -rf "$to/share/mcp-server" "$to/share/doc/swift-mcp-core"
}

case ${1:-}:$# in
install:2) install_all "$2" ;;
uninstall:1) uninstall_all ;;
*) echo "usage: install.sh install FOLDER | uninstall" >&2; exit 2 ;;
esac
