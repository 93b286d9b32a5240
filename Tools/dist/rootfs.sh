#!/usr/bin/env bash
# Makes the root of a container without a distribution: the programs, the C library, what they load at run time
# (OpenSSL for https), the certificates of this system, and one user:
#     rootfs.sh FOLDER-OF-THE-PROGRAMS ROOT
set -euo pipefail
unset CDPATH
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 2 ] || { echo "usage: rootfs.sh FOLDER-OF-THE-PROGRAMS ROOT" >&2; exit 2; }
bin=$1 to=$2
umask 022
# For ldconfig: /usr/sbin is not in the PATH of an ordinary user of Debian.
PATH=$PATH:/usr/sbin:/sbin
mkdir -p "$to"/{etc/mcp-server,tmp,run/mcp,usr/bin,var/lib/mcp-server}
chmod 1777 "$to/tmp"

for program in mcp-server mcp-client; do
    install -m 755 "$bin/$program" "$to/usr/bin/$program"
    strip "$to/usr/bin/$program"
done

libraries() { # FILE…: the files that the loader maps for them
    ldd "$@" | sed -nE 's/^\t(.* => )?(\/[^ ]+) \(0x.*/\2/p' | sort -u
}
ssl=$(ldconfig -p | sed -nE 's/.*libssl\.so\.3 .*=> (.*)/\1/p' | head -1)
for library in $(libraries "$to/usr/bin/mcp-server" "$to/usr/bin/mcp-client" ${ssl:+"$ssl"}) $ssl; do
    install -D -m 755 "$(readlink -f "$library")" "$to$library"
done

certificates=/etc/ssl/certs/ca-certificates.crt
if [ -e "$certificates" ]; then install -D -m 644 "$certificates" "$to$certificates"; fi
printf 'root:x:0:0::/:/sbin/nologin\nmcp:x:65532:65532::/var/lib/mcp-server:/sbin/nologin\n' >"$to/etc/passwd"
printf 'root:x:0:\nmcp:x:65532:\n' >"$to/etc/group"
printf 'hosts: files dns\n' >"$to/etc/nsswitch.conf"
install -m 644 "$here/container.jsonc" "$to/etc/mcp-server/mcp.jsonc"
for file in LICENSE NOTICE Tools/dist/debian/copyright; do
    install -D -m 644 "$here/../../$file" "$to/usr/share/doc/swift-mcp-core/$(basename "$file")"
done

# The licenses of what is not ours: those of the packages that the files come from, with the texts they refer to.
owner() { # FILE: the package of Debian that it belongs to
    local name
    # A file that its package makes when it is installed.
    if [[ $1 == */ca-certificates.crt ]]; then echo ca-certificates && return; fi
    for name in "$1" "/usr$1" "$(readlink -f "$1")" "$(readlink -f "$1" | sed 's|^/usr||')"; do
        dpkg-query -S "$name" 2>/dev/null | sed -n 's/^\([^:,]*\)[:,].*/\1/p' | head -1 | grep . && return
    done
    return 1
}
while IFS= read -r file; do
    package=$(owner "$file") || package=
    license=/usr/share/doc/$package/copyright
    if [ -z "$package" ] || [ ! -e "$license" ]; then
        echo "dist: the license of $file is not in the container: add it before you pass the image on" >&2
        continue
    fi
    install -D -m 644 "$license" "$to$license"
done < <(cd "$to" && find . \( -name '*.so*' -o -name ca-certificates.crt \) -type f | sed 's|^\.||' | sort)
while IFS= read -r file; do
    if [ -e "$file" ]; then install -D -m 644 "$file" "$to$file"; fi
done < <(find "$to/usr/share/doc" -name copyright -exec grep -oh '/usr/share/common-licenses/[A-Za-z0-9.+-]*[A-Za-z0-9]' {} + | sort -u)
