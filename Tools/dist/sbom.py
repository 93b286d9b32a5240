#!/usr/bin/env python3
"""Prints the bill of materials of a release as SPDX 2.3 JSON: sbom.py VERSION FOLDER ROOT.

FOLDER holds the installed files, ROOT the root of the container with the libraries of this system."""
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse


def run(*command):
    """The output of a command; empty if it fails or is missing."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def digest(path, kind):
    return hashlib.new(kind, path.read_bytes()).hexdigest()


def files(folder, prefix):
    """The regular files of a folder, with their digests, in order of their names."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            name = path.relative_to(folder).as_posix()
            yield {
                "SPDXID": "SPDXRef-File-" + re.sub(r"[^A-Za-z0-9.]", "-", prefix + name),
                "fileName": "./" + name,
                "checksums": [{"algorithm": kind, "checksumValue": digest(path, kind.lower())}
                              for kind in ("SHA1", "SHA256")],
                "licenseConcluded": "NOASSERTION",
                "licenseInfoInFiles": ["NOASSERTION"],
                "copyrightText": "NOASSERTION",
            }


def package(name, version, **more):
    return {
        "SPDXID": "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.]", "-", name), "name": name,
        "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION", "supplier": "NOASSERTION", **more,
    }


def verification(entries):
    """SPDX 2.3, 7.9: the digest of the sorted digests of the files."""
    sums = sorted(entry["checksums"][0]["checksumValue"] for entry in entries)
    return {"packageVerificationCodeValue": hashlib.sha1("".join(sums).encode()).hexdigest()}


def quoted(part):
    """A part of a package URL."""
    return urllib.parse.quote(part, safe=":~")


def debian(*paths):
    """The name and the version of the Debian package that has the first of these files, and its address."""
    for path in paths:
        owner = run("dpkg-query", "--search", path).split("\n")[0]
        if owner:
            name = owner.split(":")[0]
            version = run("dpkg-query", "--showformat=${Version}", "--show", name).split("\n")[0]
            return name, version or "NOASSERTION", [{
                "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                "referenceLocator": f"pkg:deb/debian/{quoted(name)}@{quoted(version)}"}]
    return None


def system_packages(root):
    """The Debian packages of the libraries in the root of the container."""
    found = {}
    places = ["/" + path.relative_to(root).as_posix() for path in sorted(root.rglob("*.so*"))]
    if (root / "etc/ssl/certs/ca-certificates.crt").exists():
        # Its package makes the other file when it is installed.
        places.append("/usr/sbin/update-ca-certificates")
    for place in places:
        # Debian's database has the files where they were before /lib became a link.
        real = os.path.realpath(place)
        owner = debian(place, real, real.removeprefix("/usr"))
        if owner:
            found[owner[0]] = owner
    for name, version, references in (found[name] for name in sorted(found)):
        yield package(name, version, externalRefs=references)


GCC = {"licenseDeclared": "GPL-3.0-or-later WITH GCC-exception-3.1",
       "copyrightText": "Copyright Free Software Foundation, Inc."}


def linked_packages(programs):
    """What the linker takes from the C and C++ compilers of this system, besides the runtime of Swift."""
    needed = run("readelf", "--dynamic", *map(str, programs))
    for name, file, more in [
        ("libstdc++", "libstdc++.a", {**GCC, "comment": "The C++ library, of which the runtime of Swift uses parts."}),
        ("libgcc", "libgcc.a", {**GCC, "comment": "Arithmetic that the processor lacks, crtbeginS.o, crtendS.o."}),
        ("glibc-start-files", "Scrt1.o", {
            "licenseDeclared": "LGPL-2.1-or-later WITH GCC-exception-2.0-note",
            "copyrightText": "Copyright Free Software Foundation, Inc.",
            "comment": "Scrt1.o, crti.o, crtn.o and libc_nonshared.a; the C library itself is loaded."}),
    ]:
        # As in link.sh: where the archive is missing, the shared library is loaded.
        path = run(os.environ.get("CC", "clang"), "-print-file-name=" + file)
        if f"[{name}.so" in needed or not os.path.isabs(path):
            continue
        real = os.path.realpath(path)
        _, version, references = debian(real, real.removeprefix("/usr")) or (None, "NOASSERTION", [])
        yield package(name, version, externalRefs=references, **more)


def main():
    version, folder, root = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    time = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    compiler = re.search(r"Swift version (\S+)", run(os.environ.get("SWIFT", "swift"), "--version"))
    if not compiler:
        print("dist: `swift --version` names no version, so that the list of components (SPDX) has none", file=sys.stderr)
    entries = list(files(folder, ""))
    main_package = package(
        "swift-mcp-core", version, filesAnalyzed=True, licenseConcluded="MIT", licenseDeclared="MIT",
        copyrightText="Copyright (c) 2026 The swift-mcp-core authors",
        licenseInfoFromFiles=["NOASSERTION"],
        packageVerificationCode=verification(entries), primaryPackagePurpose="APPLICATION",
        externalRefs=[{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                       "referenceLocator": f"pkg:generic/swift-mcp-core@{version}"}])
    runtime = package(
        "swift-runtime", compiler.group(1) if compiler else "NOASSERTION",
        downloadLocation="https://www.swift.org/install/",
        licenseDeclared="Apache-2.0 WITH Swift-exception",
        copyrightText="Copyright (c) 2014 - 2026 Apple Inc. and the Swift project authors",
        comment="Runtime, standard library, concurrency, Dispatch and blocks, linked into the programs.")
    llvm = package(
        "llvm-support", runtime["versionInfo"], downloadLocation="https://github.com/swiftlang/llvm-project",
        licenseDeclared="Apache-2.0 WITH LLVM-exception",
        comment="Containers and texts of LLVM that the runtime of Swift has copies of.")
    linked = [runtime, llvm, *linked_packages([folder / "bin/mcp-server", folder / "bin/mcp-client"])]
    schemas = package(
        "json-schema-meta-schemas", "2020-12", downloadLocation="https://json-schema.org",
        licenseDeclared="BSD-3-Clause OR AFL-3.0", comment="Texts of the meta-schemas; see NOTICE.")
    system = list(system_packages(root))
    this = main_package["SPDXID"]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", this), (this, "CONTAINS", schemas["SPDXID"])]
    relations += [(this, "STATIC_LINK", item["SPDXID"]) for item in linked]
    relations += [(this, "CONTAINS", entry["SPDXID"]) for entry in entries]
    relations += [(item["SPDXID"], "RUNTIME_DEPENDENCY_OF", this) for item in system]
    content = hashlib.sha256("".join(e["checksums"][1]["checksumValue"] for e in entries).encode())
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"swift-mcp-core-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/swift-mcp-core-{version}-{content.hexdigest()[:32]}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: swift-mcp-core-sbom"]},
        "packages": [main_package, *linked, schemas, *system], "files": entries,
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                          for a, kind, b in relations],
    }
    json.dump(document, sys.stdout, indent=2, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
