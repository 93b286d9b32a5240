#!/usr/bin/env bash
# Makes the root of a container without a distribution: the programs, the C library, what they load at run time
# (OpenSSL for https), the certificates of this system, and one user:
#     rootfs.sh FOLDER-OF-THE-PROGRAMS ROOT
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$1 to=$2
umask 022
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
# Without a configuration of its own, the container serves the demo's counterpart of /etc: no command, no file.
printf '{\n  "server": { "name": "container", "version": "1.0.0" },\n  "admin": { "listen": "unix:///run/mcp/admin.sock" }\n}\n' \
    >"$to/etc/mcp-server/mcp.jsonc"
install -D -m 644 "$here/../../LICENSE" "$to/usr/share/doc/swift-mcp-core/LICENSE"
