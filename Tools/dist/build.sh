#!/usr/bin/env bash
# Builds the files of a release from programs that are built already:
#     build.sh FOLDER-OF-THE-PROGRAMS [OUT]      (OUT: .build/dist)
#     build.sh --check                           only says what is missing for that
# Everything is written with the time SOURCE_DATE_EPOCH, by default that of the last commit, so that two builds
# of one commit give the same bytes. Linux, a clone, python3 and strip; the Debian package
# needs debhelper, and is left out without it.
# The files are made in a new folder within OUT and moved when all are there: a build that fails changes nothing. They
# replace those of an earlier build, which its SHA256SUMS names. Other files in OUT stay.
set -euo pipefail
unset CDPATH
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$root/Tools/dist
[ $# -ge 1 ] || { echo "usage: build.sh FOLDER-OF-THE-PROGRAMS [OUT] | --check" >&2; exit 2; }
# Not of a repository in which this source is a folder.
[ -e "$root/.git" ] && git -C "$root" rev-parse --verify HEAD >/dev/null ||
    { echo "dist: needs a clone: the source of a release is a commit" >&2; exit 1; }
for program in python3 strip; do
    command -v "$program" >/dev/null || { echo "dist: $program is missing; nothing was built" >&2; exit 1; }
done
without=() # the programs of the Debian package that are missing
for program in dh dpkg-buildpackage; do command -v "$program" >/dev/null || without+=("$program"); done
# Said before anything is built, and below the list of the files, where it is read.
say_what_is_left_out() {
    [ ${#without[@]} = 0 ] || echo "dist: no Debian package, because these are missing: ${without[*]} (apt-get install debhelper)" >&2
}
if [ "$1" = --check ]; then
    say_what_is_left_out
    exit
fi
bin=$(cd -- "$1" && pwd -P)
out=${2:-$root/.build/dist}
[[ $out == /* ]] || out=$PWD/$out
cd "$root"
changed=$(git status --porcelain --untracked-files=normal)
if [ -n "$changed" ]; then
    echo "dist: not committed, so not in the tarball of the source, but possibly in other files of this release:" >&2
    printf '%s\n' "$changed" >&2
fi
version=$(Tools/dist/version.sh)
SOURCE_DATE_EPOCH=$(Tools/dist/date.sh)
export SOURCE_DATE_EPOCH
export LC_ALL=C TZ=UTC
# Settings of the user must not change the bytes, nor end this halfway: those of tar and gzip, all of dpkg and
# debhelper, and the one that programs of GNU follow.
unset TAR_OPTIONS GZIP POSIXLY_CORRECT "${!DPKG_@}" "${!DEB_@}" "${!DH_@}"
umask 022
earlier() { # the names of an earlier build
    if [ -e "$out/SHA256SUMS" ]; then sed 's/^[0-9a-f]*  //' "$out/SHA256SUMS"; fi
}
if [ -n "$(earlier | grep -vE '^swift-mcp-core[-_.][^/]*$')" ]; then
    echo "dist: $out/SHA256SUMS has the sums of other files, and would be replaced: name another folder" >&2
    exit 1
fi
mkdir -p "$out"
out=$(cd "$out" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
made=$(mktemp -d "$out/.new.XXXXXX")
trap 'rm -rf "$work" "$made"' EXIT
name=swift-mcp-core-$version

pack() { # FOLDER OPTION-OR-ENTRY…: a tar on standard output
    local folder=$1
    shift
    tar --create --directory "$folder" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
        --numeric-owner --mode=go-w,u+rw,a+rX --format=gnu "$@"
}

archive() { # FILE FOLDER ENTRY…
    local file=$1
    shift
    pack "$@" | gzip -9n >"$file"
}

# The folders of a container that its user writes to belong to that user: the number of USER in the Containerfile.
rootfs() { # FILE FOLDER
    local plain=$work/rootfs.tar own=(./run/mcp ./var/lib/mcp-server) user=65532
    pack "$2" --no-recursion --exclude=./tmp "${own[@]/#/--exclude=}" -T <(cd "$2" && find . | LC_ALL=C sort) >"$plain"
    # A proxy with another user connects to the sockets in /run/mcp, which have modes of their own.
    tar --append --file "$plain" --directory "$2" --mtime="@$SOURCE_DATE_EPOCH" --numeric-owner --format=gnu \
        --owner="$user" --group="$user" --mode=755 --no-recursion "${own[0]}"
    tar --append --file "$plain" --directory "$2" --mtime="@$SOURCE_DATE_EPOCH" --numeric-owner --format=gnu \
        --owner="$user" --group="$user" --mode=700 --no-recursion "${own[1]}"
    tar --append --file "$plain" --directory "$2" --mtime="@$SOURCE_DATE_EPOCH" --numeric-owner --format=gnu \
        --owner=0 --group=0 --mode=1777 --no-recursion ./tmp
    gzip -9n <"$plain" >"$1"
}

# The source, as committed.
GIT_ATTR_NOSYSTEM=1 git -c tar.umask=0002 -c core.autocrlf=false -c core.eol=lf -c core.attributesFile=/dev/null \
    archive --format=tar --prefix="$name/" HEAD | gzip -9n >"$made/$name.tar.gz"

# The programs for any Linux with glibc: unpack into /usr/local.
folder=$name-linux-$(uname -m)
PREFIX=/usr/local DESTDIR=$work/tar Tools/dist/install.sh install "$bin"
mv "$work/tar/usr/local" "$work/$folder"
archive "$made/$folder.tar.gz" "$work" "$folder"

debian() {
    local folder=$work/debian-build
    PREFIX=/usr DESTDIR=$work/stage Tools/dist/install.sh install "$bin"
    install -D -m 644 "$here/mcp.jsonc" "$work/stage/etc/mcp-server/mcp.jsonc"
    # Debian has the license in `copyright`, and `changelog` is that of the package: debhelper installs both.
    rm "$work/stage/usr/share/doc/swift-mcp-core/LICENSE"
    mv "$work/stage/usr/share/doc/swift-mcp-core/"{CHANGELOG,NEWS}.md
    sed -i 's|CHANGELOG\.md)|NEWS.md)|g' "$work/stage/usr/share/doc/swift-mcp-core/"{,docs/}*.md
    mkdir -p "$folder"
    cp -r "$here/debian" "$folder/debian"
    cat >"$folder/debian/changelog" <<END
swift-mcp-core ($version) unstable; urgency=medium

  * Release $version; see NEWS.md for the changes.

 -- The swift-mcp-core authors <swift-mcp-core@users.noreply.github.com>  $(date -R -d "@$SOURCE_DATE_EPOCH")
END
    # dpkg has settings in a file of the user, too.
    if ! (cd "$folder" && STAGE=$work/stage XDG_CONFIG_HOME=$work DEB_BUILD_OPTIONS="nocheck noautodbgsym" \
        dpkg-buildpackage -b -d -us -uc >"$work/deb.log" 2>&1); then
        cat "$work/deb.log" >&2
        return 1
    fi
    mv "$work"/swift-mcp-core_*.deb "$made/"
}
[ ${#without[@]} -gt 0 ] || debian

# The root of the container: the programs, the libraries that they load, and nothing that could be run besides.
Tools/dist/rootfs.sh "$bin" "$work/rootfs"
rootfs "$work/rootfs.tar.gz" "$work/rootfs"
mkdir "$work/container"
cp "$here/Containerfile" "$work/container/"
cp "$here/container.jsonc" "$work/container/mcp.jsonc"
mv "$work/rootfs.tar.gz" "$work/container/"
archive "$made/$name-container-$(uname -m).tar.gz" "$work/container" .

# For a tap of Homebrew, which builds from the source.
sum=$(sha256sum "$made/$name.tar.gz" | cut -d' ' -f1)
sed -e "s/@VERSION@/$version/g" -e "s/@SHA256@/$sum/" "$here/swift-mcp-core.rb" >"$made/swift-mcp-core.rb"

# -I: without the variables of Python.
python3 -I "$here/sbom.py" "$version" "$work/$folder" "$work/rootfs" >"$made/$name.spdx.json"
(cd "$made" && find . -type f -printf '%P\n' | sort | xargs sha256sum >"$work/sums")
mv "$work/sums" "$made/SHA256SUMS"

# The sums are replaced last: until then, those of the earlier build name what is to be replaced.
while IFS= read -r file; do
    if [ ! -e "$made/$file" ]; then rm -f "$out/$file"; fi
done < <(earlier)
for file in "$made"/*; do
    if [ "$file" != "$made/SHA256SUMS" ]; then mv -fT "$file" "$out/${file##*/}"; fi
done
mv -fT "$made/SHA256SUMS" "$out/SHA256SUMS"
cat "$out/SHA256SUMS"
say_what_is_left_out
