#!/usr/bin/env bash
# Checks the files of `make dist` as a stranger would use them: check.sh FOLDER-OF-THE-PROGRAMS [FOLDER-OF-DIST]
# As root on Debian, the package is also installed into a minimal root, in which the commands of the README run.
# Programs that are missing (lintian, mmdebstrap, ruby, pyspdxtools) leave out their check, and are named.
# REBUILT=FOLDER names programs that were built from the same commit in another folder: they must be the same.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# For chroot, and what a package runs: a root of Debian may have the PATH of a user.
PATH=$PATH:/usr/sbin:/sbin
bin=$(cd "$1" && pwd -P)
dist=$(cd "${2:-.build/dist}" && pwd)
version=$(Tools/dist/version.sh)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=$(Tools/dist/date.sh)
export SOURCE_DATE_EPOCH
fail() { echo "dist-check: $1" >&2; exit 1; }
passed() { printf 'dist-check: %s\n' "$1"; }
has() { command -v "$1" >/dev/null || { echo "dist-check: left out, $1 is missing: $2" >&2; return 1; }; }
same() { # WANTED COMMAND…
    local wanted=$1 output
    shift
    output=$("$@" 2>&1) || fail "$* failed: $output"
    [[ $output == "$wanted" ]] || fail "$*: $output"
}

versions_and_sums() {
    Tools/dist/check-version.sh >/dev/null
    (cd "$dist" && sha256sum --quiet --check SHA256SUMS) || fail "a file does not match SHA256SUMS"
    same "mcp-server $version" "$bin/mcp-server" version
    same "mcp-client $version" "$bin/mcp-client" --version
    passed "one version, $version; $(wc -l <"$dist/SHA256SUMS") files as SHA256SUMS says"
}

# What Debian expects of a program, and what must not be in it.
programs() {
    local program file
    for program in mcp-server mcp-client; do
        cp "$bin/$program" "$work/$program"
        strip "$work/$program"
        file=$(readelf -hldW "$work/$program")
        for word in 'DYN (Position-Independent' GNU_RELRO BIND_NOW; do
            [[ $file == *"$word"* ]] || fail "$program has no $word"
        done
        # A library that lies beside the program must not be loaded in place of the system's.
        [[ ! $file =~ R(UN)?PATH ]] || fail "$program looks for libraries in folders of its own"
        [[ ! $file =~ GNU_STACK.*RWE ]] || fail "the stack of $program is executable"
        ! grep -qE 'lib(Foundation|_FoundationICU)' <<<"$file" || fail "$program needs Foundation"
        ! grep -qaF "$PWD/" "$work/$program" || fail "$program contains the path of its build"
        passed "$program: $(stat -c %s "$work/$program") bytes, PIE, RELRO, bind now, no RUNPATH"
    done
}

reproducible() {
    Tools/dist/build.sh "$bin" "$work/second" >/dev/null 2>&1
    cmp "$dist/SHA256SUMS" "$work/second/SHA256SUMS" || fail "two packagings differ"
    passed "two packagings of the same programs have the same bytes"
    [[ -n ${REBUILT:-} ]] || return 0
    for program in mcp-server mcp-client; do
        cp "$REBUILT/$program" "$work/rebuilt"
        strip "$work/rebuilt"
        cmp "$work/$program" "$work/rebuilt" || fail "two builds of $program differ"
    done
    passed "two builds in different folders have the same bytes"
}

# Every link of a page that is installed leads to a file that is.
links() { # FOLDER
    local page target
    while IFS= read -r page; do
        while IFS= read -r target; do
            [[ $target == *://* || -e ${page%/*}/$target ]] || fail "${page#"$1/"} links to $target, which is not installed"
        done < <(grep -oE '\]\([^)#]+' "$page" | cut -c 3-)
    done < <(find "$1" -name '*.md')
}

tarballs() {
    tar -xzf "$dist/swift-mcp-core-$version-linux-$(uname -m).tar.gz" -C "$work"
    local at=$work/swift-mcp-core-$version-linux-$(uname -m)
    same '{"sum":42}' "$at/bin/mcp-client" call add a=2 b=40 -- "$at/bin/mcp-server" --demo
    grep -q "^ExecStart=/usr/local/bin/mcp-server -c /etc/mcp-server/mcp.jsonc$" \
        "$at/lib/systemd/system/mcp-server.service" || fail "the unit starts something else"
    ! grep -rqF -e "$PWD" -e "$work" "$at/lib" "$at/share" || fail "a file names the folder of its build"
    links "$at/share/doc"
    # Not grep -q in a pipe, which would end before tar has written everything.
    [[ $(tar -tzf "$dist/swift-mcp-core-$version.tar.gz") == *"/Package.swift"* ]] || fail "no source in its tarball"
    if has systemd-analyze "the unit"; then
        # A program that is there.
        sed "s|^ExecStart=[^ ]*|ExecStart=/bin/true|" "$at/lib/systemd/system/mcp-server.service" \
            >"$work/mcp-server.service"
        systemd-analyze verify --man=no "$work/mcp-server.service" || fail "systemd refuses the unit"
    fi
    passed "the tarball runs where it is unpacked"

    PREFIX=/opt/mcp DESTDIR=$work/dest Tools/dist/install.sh install "$bin"
    PREFIX=/opt/mcp DESTDIR=$work/dest Tools/dist/install.sh uninstall
    [[ -z $(find "$work/dest" ! -type d) ]] || fail "uninstall leaves $(find "$work/dest" ! -type d)"
    passed "uninstall removes what install wrote"
}

documents() {
    local bill=$dist/swift-mcp-core-$version.spdx.json name
    for name in swift-runtime 'libstdc++' libgcc; do
        [[ $(<"$bill") == *"\"name\": \"$name\""* ]] || readelf -dW "$work/mcp-server" | grep -F "[$name.so" >/dev/null ||
            fail "the bill of materials does not name $name, which is linked in"
    done
    passed "the bill of materials names what the linker takes from the toolchain"
    if has pyspdxtools "the bill of materials (pip install spdx-tools)"; then
        pyspdxtools -i "$bill" --version SPDX-2.3 >"$work/spdx" 2>&1 ||
            { cat "$work/spdx"; fail "the bill of materials is not valid"; }
        passed "the bill of materials is valid SPDX 2.3"
    fi
    if has ruby "the formula"; then
        ruby -c "$dist/swift-mcp-core.rb" >/dev/null || fail "the formula is not Ruby"
        passed "the formula is Ruby; Homebrew itself did not run"
    fi
}

# Runs a script inside a root, with /proc and a loopback interface of its own.
inside() { # ROOT SCRIPT
    unshare --mount --pid --net --fork bash -c '
        ip link set lo up 2>/dev/null || true
        mount -t proc proc "$1/proc" && exec chroot "$1" /bin/sh -euc "$2"' inside "$1" "$2"
}

debian() {
    local deb=$dist/swift-mcp-core_${version}_$(dpkg --print-architecture).deb root=$work/debian script
    [[ -e $deb ]] || fail "there is no Debian package"
    dpkg-deb --extract "$deb" "$work/unpacked"
    links "$work/unpacked/usr/share/doc"
    if has lintian "the style of the package"; then
        local tags=()
        [[ -e build/man/mcp-server.1 ]] || tags=(--suppress-tags no-manual-page)
        lintian --allow-root --fail-on error,warning "${tags[@]}" "$deb" || fail "lintian complains"
        passed "lintian has nothing to complain about"
    fi
    [[ $(id -u) == 0 ]] || { echo "dist-check: left out, not root: the minimal root" >&2; return 0; }
    has mmdebstrap "the package in a minimal root" || return 0
    mmdebstrap --quiet --variant=apt --include=adduser,ca-certificates,libssl3 "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root"
    mkdir -p "$root/.build/dist"
    cp "$deb" "$root/.build/dist/"
    # The commands of the README, as they are, in the folder where `make dist` ran.
    script=$(awk '/<!-- quick start -->/ { on = 1; next } on && /^```sh$/ { text = 1; next }
        on && /^```$/ { exit } on && text { print }' README.md)
    [[ $script == *"$(basename "$deb" "_${version}_$(dpkg --print-architecture).deb")"* ]] ||
        fail "the README has no commands for the package"
    local start=$SECONDS
    inside "$root" "export DEBIAN_FRONTEND=noninteractive; sudo() { \"\$@\"; }; cd /; set -x
$script" >"$work/quick-start" 2>&1 || { cat "$work/quick-start"; fail "the commands of the README failed"; }
    local seconds=$((SECONDS - start))
    [[ $seconds -lt 300 ]] || fail "the commands of the README took $seconds s; five minutes are promised"
    grep -q '^disk_space' "$work/quick-start" || { cat "$work/quick-start"; fail "no tool was served"; }
    grep -q '% /$' "$work/quick-start" || { cat "$work/quick-start"; fail "the tool was not called"; }
    # As after `systemctl enable`, and with what a service has written.
    # shellcheck disable=SC2016
    inside "$root" 'id mcp-server; dpkg --verify swift-mcp-core
        wants=/etc/systemd/system/multi-user.target.wants; mkdir -p $wants /var/lib/mcp-server /var/log/mcp-server
        ln -s /usr/lib/systemd/system/mcp-server.service $wants/; touch /var/log/mcp-server/audit.jsonl
        dpkg --install /.build/dist/swift-mcp-core_*.deb; test -e /var/log/mcp-server/audit.jsonl
        dpkg --remove swift-mcp-core; test -L $wants/mcp-server.service; test -e /etc/mcp-server/mcp.jsonc
        dpkg --purge swift-mcp-core; test ! -e /usr/bin/mcp-server; test ! -e /etc/mcp-server/mcp.jsonc
        test ! -L $wants/mcp-server.service; test ! -e /var/lib/mcp-server; test ! -e /var/log/mcp-server' \
        >"$work/purge" 2>&1 || { cat "$work/purge"; fail "the package cannot be removed"; }
    passed "in a minimal Debian, the commands of the README install the package and serve a tool, in $seconds s"
}

container() {
    [[ $(id -u) == 0 ]] || { echo "dist-check: left out, not root: the container" >&2; return 0; }
    mkdir -p "$work/container/root"
    tar -xzf "$dist/swift-mcp-core-$version-container-$(uname -m).tar.gz" -C "$work/container"
    tar -xzf "$work/container/rootfs.tar.gz" -C "$work/container/root"
    local root=$work/container/root health=()
    # A container engine mounts both. Its volumes take the owner from the image.
    mkdir -p "$root/proc" "$root/dev"
    # shellcheck disable=SC2016
    same '{"sum":42}' unshare --mount --pid --fork bash -c 'mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && exec chroot "$1" \
        /usr/bin/mcp-client call add a=2 b=40 -- /usr/bin/mcp-server --demo' call "$root"
    # The words of HEALTHCHECK.
    read -r -a health < <(sed -nE 's/^    CMD \[(.*)\]$/\1/p' "$work/container/Containerfile" | tr -d '",')
    [ "${#health[@]}" -ge 2 ] || fail "the Containerfile has no health check"
    # As in the Containerfile: the user, the command, the check of its health.
    unshare --mount --pid --net --fork --kill-child bash -c '
        mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev"
        in=(chroot --userspec=65532:65532 "$1" /usr/bin/mcp-server)
        export XDG_RUNTIME_DIR=/run/mcp HOME=/var/lib/mcp-server
        for folder in tmp var/lib/mcp-server; do
            setpriv --reuid=65532 --regid=65532 --clear-groups touch "$1/$folder/written"
        done
        "${in[@]}" -c /etc/mcp-server/mcp.jsonc & pid=$!
        health=("${in[@]:0:2}" "$1" "${@:2}")
        for _ in $(seq 100); do "${health[@]}" && break; sleep 0.1; done
        "${health[@]}" && kill -TERM "$pid" && wait "$pid" && ! "${health[@]}"' container "$root" "${health[@]}" \
        >"$work/health" 2>&1 || { cat "$work/health"; fail "the container's root does not serve"; }
    passed "the root of the container serves, is healthy, and stops on SIGTERM; no container engine ran"
}

versions_and_sums
programs
reproducible
tarballs
documents
if command -v dpkg >/dev/null; then debian; fi
container
