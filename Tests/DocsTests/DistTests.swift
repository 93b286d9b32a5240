#if os(Linux)
import MCPCore
import TestSupport
import Testing

/// `Tools/dist/build.sh` in a small repository, with programs that stand for ours.
@Suite(.enabled(if: ["git", "strip", "python3", "sha256sum"].allSatisfy { isWanted($0) }))
struct DistTests {
    @Test("a release replaces the files of an earlier one, and only when all of its own are there")
    func replacesItsOwn() throws {
        let clone = try Clone()
        let out = clone.folder.path + "/out"
        // One that was built before, what one that ended early has left, and a file of somebody else.
        clone.folder.makeDirectory("out")
        try clone.folder.write("out/swift-mcp-core-0.0.9.tar.gz", "earlier")
        try clone.folder.write("out/swift-mcp-core.rb", "left")
        try clone.folder.write("out/mine", "mine")
        try clone.folder.write("out/SHA256SUMS", "0a0b  swift-mcp-core-0.0.9.tar.gz\n")
        let before = try Script.shell(#"cd "$0" && ls -A && head -n 9 *"#, out)

        let failed = try clone.build(out: out, "FAIL=1")
        #expect(failed.code != 0 && !failed.errors.contains("not committed"))
        #expect(try Script.shell(#"cd "$0" && ls -A && head -n 9 *"#, out) == before)

        let built = try clone.build(out: out)
        #expect(built.code == 0, "\(built.errors)")
        let version = PackageVersion.current
        let machine = try Script.run(["uname", "-m"]).split(separator: "\n")[0]
        #expect(
            try Script.shell(#"cd "$0" && sha256sum --quiet --check SHA256SUMS && LC_ALL=C ls -A"#, out)
                == """
                SHA256SUMS
                mine
                swift-mcp-core-\(version)-container-\(machine).tar.gz
                swift-mcp-core-\(version)-linux-\(machine).tar.gz
                swift-mcp-core-\(version).spdx.json
                swift-mcp-core-\(version).tar.gz
                swift-mcp-core.rb
                swift-mcp-core_0_all.deb

                """)
    }

    @Test("settings of the user do not change the bytes")
    func settingsOfTheUser() throws {
        let clone = try Clone()
        try clone.folder.write("attributes", "*.md export-ignore\n")
        let settings = [
            ("tar.umask", "user"), ("core.autocrlf", "true"), ("core.eol", "crlf"),
            ("core.attributesFile", "\(clone.folder.path)/attributes"),
        ]
        var variables = [
            "TAR_OPTIONS=--exclude=*.md", "GZIP=--rsyncable", "DPKG_DEB_COMPRESSOR_LEVEL=1", "DH_COMPAT=9",
            "DEB_HOST_ARCH=other", "POSIXLY_CORRECT=1", "PYTHONIOENCODING=utf-16",
        ]
        variables.append("GIT_CONFIG_COUNT=\(settings.count)")
        for (index, (key, value)) in settings.enumerated() {
            variables += ["GIT_CONFIG_KEY_\(index)=\(key)", "GIT_CONFIG_VALUE_\(index)=\(value)"]
        }
        let sums = try [[], variables].map { variables in
            let built = try clone.build(out: "\(clone.folder.path)/out", variables)
            #expect(built.code == 0, "\(built.errors)")
            return built.output
        }
        #expect(!sums[0].isEmpty && sums[0] == sums[1])
    }

    @Test("what is not committed is named")
    func changes() throws {
        let clone = try Clone()
        try clone.folder.write("clone/docs/new.md", "new")
        try clone.folder.write("clone/NOTICE", "changed")
        let built = try clone.build(
            out: "\(clone.folder.path)/out", "FAIL=1", "GIT_CONFIG_COUNT=1",
            "GIT_CONFIG_KEY_0=status.showUntrackedFiles", "GIT_CONFIG_VALUE_0=no")
        #expect(
            built.errors.contains("not committed") && built.errors.contains("\n M NOTICE\n?? docs/new.md\n"))
    }

    // Compiling takes minutes.
    @Test("what is missing is said before anything is compiled", .enabled(if: isWanted("make")))
    func needs() throws {
        let clone = try Clone()
        try Script.shell(
            #"""
            cp "$0/Makefile" "$1/clone/"
            mkdir "$1/few"
            for program in bash dirname env git make sh uname; do ln -s "$(command -v "$program")" "$1/few/"; done
            """#, RepositoryFile.root, clone.folder.path)
        func make(_ path: String) throws -> (code: Int32, output: String, errors: String) {
            try Script.outcome([
                "env", "PATH=\(path)", "make", "-s", "-C", "\(clone.folder.path)/clone", "dist",
                "SWIFT=echo compiled;false",
            ])
        }
        let few = try make("\(clone.folder.path)/few")
        #expect(few.code != 0 && few.errors.contains("dist: python3 is missing;"), "\(few)")
        #expect(!few.output.contains("compiled"), "\(few)")
        let all = try make("/usr/local/bin:/usr/bin:/bin")
        #expect(all.code != 0 && all.output.contains("compiled"), "\(all)")
        // A tarball of the source, in the folder of another repository.
        try Script.shell(#"mv "$0/clone/.git" "$0/.git""#, clone.folder.path)
        let tarball = try make("/usr/local/bin:/usr/bin:/bin")
        #expect(tarball.code != 0 && tarball.errors.contains("dist: needs a clone"), "\(tarball)")
        #expect(!tarball.output.contains("compiled"), "\(tarball)")
    }

    @Test("a folder with the sums of other files is left alone")
    func sumsOfOthers() throws {
        let clone = try Clone()
        let out = clone.folder.path + "/downloads"
        clone.folder.makeDirectory("downloads")
        try clone.folder.write("downloads/other.iso", "other")
        try clone.folder.write(
            "downloads/SHA256SUMS", "0a0b  swift-mcp-core-0.0.9.tar.gz\n0c0d  other.iso\n")
        let built = try clone.build(out: out)
        #expect(built.code == 1 && built.errors.contains("\(out)/SHA256SUMS has the sums of other files"))
        #expect(
            try Script.shell(#"cd "$0" && cat *"#, out) == """
                0a0b  swift-mcp-core-0.0.9.tar.gz
                0c0d  other.iso
                other
                """)
    }
}

/// A repository with the scripts of a release and little else.
private struct Clone {
    let folder = TemporaryDirectory()

    init() throws {
        try Script.shell(
            #"""
            mkdir -p "$1/clone/Tools" "$1/clone/Sources/MCPCore/Protocol" "$1/clone/docs" "$1/programs" "$1/path"
            cd "$0"
            cp -R Tools/dist "$1/clone/Tools/"
            cp CHANGELOG.md LICENSE NOTICE .gitattributes "$1/clone/"
            cp docs/install.md "$1/clone/docs/"
            cp Sources/MCPCore/Protocol/PackageVersion.swift "$1/clone/Sources/MCPCore/Protocol/"
            cd "$1"
            for program in mcp-server mcp-client; do cp /bin/true "programs/$program"; done
            # The Debian package is not what is tried here.
            printf '#!/bin/sh\n' >path/dh
            cat >path/dpkg-buildpackage <<'END'
            #!/bin/sh
            [ -z "$FAIL" ] && env | grep -E '^(DPKG|DEB|DH)_|^POSIXLY' >../swift-mcp-core_0_all.deb
            END
            chmod +x path/*
            cd clone
            git init -q .
            git add -A
            git -c user.name=test -c user.email=test@localhost -c commit.gpgsign=false commit -q -m first
            """#, RepositoryFile.root, folder.path)
    }

    /// With the PATH of an ordinary user of Debian, without `/usr/sbin`.
    func build(out: String, _ variables: String...) throws -> (code: Int32, output: String, errors: String) {
        try build(out: out, variables)
    }

    func build(out: String, _ variables: [String]) throws -> (code: Int32, output: String, errors: String) {
        try Script.outcome(
            ["env", "-u", "SOURCE_DATE_EPOCH", "PATH=\(folder.path)/path:/usr/local/bin:/usr/bin:/bin"]
                + variables
                + ["bash", "\(folder.path)/clone/Tools/dist/build.sh", "\(folder.path)/programs", out])
    }
}
#endif
