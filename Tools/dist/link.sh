#!/usr/bin/env bash
# Prints the flags of the release build for `swift build`: nothing but for Linux.
#
# - the folder of the build is not part of the program (-file-prefix-map), nor a hash of it
#   (-disable-incremental-llvm-codegen: the compiler hashes its code with the paths, to skip work in a later build);
# - functions that nothing uses are left out (-function-sections, which --gc-sections then sees), and equal ones
#   are merged where nobody compares their addresses (--icf=safe);
# - types are found by their own accessors, not by names that the runtime parses at each start
#   (-disable-concrete-type-metadata-mangled-name-accessors);
# - debug information stays in the object files (--strip-debug): it names the folders of the compiler's caches, and
#   the build ID is computed over it;
# - no symbol is exported: the toolchain would export all, for plug-ins;
# - relocations are packed (RELR; needs glibc 2.36) and applied before the start (bind now), so that all tables of
#   pointers are read-only;
# - libstdc++, of which the Swift runtime uses a little, is linked in: looking up its 1,600 symbols took most of the
#   start. libgcc_s stays shared: the C library loads it when a thread ends.
set -euo pipefail
unset CDPATH
[[ $(uname) == Linux ]] || exit 0
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
libraries=$root/.build/static-libraries
archive=$(${CC:-clang} -print-file-name=libstdc++.a 2>/dev/null || true)
flags=(
    -Xswiftc -file-prefix-map -Xswiftc "$root=."
    -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen -Xswiftc -Xfrontend -Xswiftc -function-sections
    -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors -Xswiftc -use-ld=lld
)
for flag in --strip-debug --no-export-dynamic --icf=safe -O2 -z now -z pack-relative-relocs; do
    flags+=(-Xlinker "$flag")
done
# A folder that has only the archive is searched before those of the system.
if [[ -e $archive ]]; then
    mkdir -p "$libraries"
    ln -sf "$archive" "$libraries/libstdc++.a"
    flags+=(-Xlinker "-L$libraries")
fi
# Quoted for any shell, as printf's %q is not: the folder may have a space, a quote or an umlaut in its name.
quote="'"
for flag in "${flags[@]}"; do printf "'%s' " "${flag//$quote/$quote\\$quote$quote}"; done
