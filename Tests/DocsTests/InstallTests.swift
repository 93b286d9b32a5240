import MCPCore
import TestSupport
import Testing

/// `Tools/dist/install.sh`, with the programs of this build.
@Suite struct InstallTests {
    // Folders of a build may have any characters: those of sed, awk, units and property lists must not matter.
    @Test("nothing that is installed depends on the folder of the build", .enabled(if: isWanted("strip")))
    func oddFolders() throws {
        let folder = TemporaryDirectory()
        let odd = "\(folder.path)/a & | \\1 %i \" ' $x ü\nb"
        let to = odd + "/to"
        try run(["mkdir", "-p", "\(odd)/bin"])
        for program in ["mcp-server", "mcp-client"] {
            // Not a symbolic link: the daemon prints where it really is.
            try run(["cp", BuiltProgram.path(program), "\(odd)/bin/\(program)"])
        }
        let script = "\(RepositoryFile.root)/Tools/dist/install.sh"
        let variables = ["TMPDIR=\(odd)", "DESTDIR=\(to)", "PREFIX=/opt/mcp"]
        try run(["env"] + variables + [script, "install", "\(odd)/bin"])
        defer { _ = try? run(["rm", "-rf", odd]) }

        let unit = try text("\(to)/opt/mcp/lib/systemd/system/mcp-server.service")
        let commands = unit.split(separator: "\n").filter { $0.hasPrefix("ExecStart=") }
        #expect(commands == ["ExecStart=/opt/mcp/bin/mcp-server -c /etc/mcp-server/mcp.jsonc"])
        #expect(!unit.contains(folder.path))
        let list = try text("\(to)/opt/mcp/share/mcp-server/org.modelcontextprotocol.mcp-server.plist")
        #expect(
            list.contains(
                """
                    <array>
                        <string>/opt/mcp/bin/mcp-server</string>
                        <string>-c</string>
                        <string>/etc/mcp-server/mcp.jsonc</string>
                    </array>
                """))
        #expect(!list.contains(folder.path))

        try run(["env"] + variables + [script, "uninstall"])
        #expect(try run(["find", to, "-type", "f"]).isEmpty)
        // A prefix becomes a part of both, and is refused instead.
        #expect(throws: (any Error).self) {
            try run(["env", "DESTDIR=\(to)", "PREFIX=/opt/a&b", script, "install", "\(odd)/bin"])
        }
    }

    @Test(
        "without a place for temporary files, nothing is installed and nothing is removed",
        .enabled(if: isWanted("strip")))
    func noTemporaryFolder() throws {
        let folder = TemporaryDirectory()
        try folder.write("mine", "kept")
        let script = "\(RepositoryFile.root)/Tools/dist/install.sh"
        let programs = BuiltProgram.path("mcp-server").replacing("/mcp-server", with: "")
        let error = #expect(throws: Failure.self) {
            try run([
                // Not every env has -C.
                "sh", "-c", #"cd "$0" && exec env "$@""#, folder.path, "TMPDIR=\(folder.path)/none",
                "DESTDIR=\(folder.path)/to",
                "PREFIX=/usr",
                script, "install", programs,
            ])
        }
        #expect(error?.output.contains("\(folder.path)/none") == true)
        #expect(try text("\(folder.path)/mine") == "kept")
        #expect(try run(["ls", folder.path]) == "mine\n")
    }

    @Test(
        "an upgrade that fails leaves what is there, and what is not installed here is not removed",
        .enabled(if: isWanted("strip")))
    func filesOfOthers() throws {
        let folder = TemporaryDirectory()
        let to = folder.path + "/usr"
        let script = "\(RepositoryFile.root)/Tools/dist/install.sh"
        let variables = ["env", "DESTDIR=\(folder.path)", "PREFIX=/usr", "bash", script]
        let programs = BuiltProgram.path("mcp-server").replacing("/mcp-server", with: "")
        // Something that cannot be replaced, behind the programs.
        let unit = "\(to)/lib/systemd/system/mcp-server.service"
        try run(["mkdir", "-p", "\(to)/bin", "\(to)/share/man/man1", "\(to)/share/mcp-server", unit])
        try run(["chmod", "700", "\(to)/bin"])
        let others = ["bin/mcp-server-git", "share/man/man1/mcp-server-git.1", "share/mcp-server/mine"]
        for name in others { try folder.write("usr/\(name)", "other") }
        try folder.write("usr/bin/mcp-server", "earlier")

        let error = #expect(throws: Failure.self) { try run(variables + ["install", programs]) }
        #expect(error?.output.contains("\(unit) is a folder; nothing was installed") == true)
        #expect(try text("\(to)/bin/mcp-server") == "earlier")
        #expect(try files(to) == (others + ["bin/mcp-server"]).sorted())

        try run(["rmdir", unit])
        try run(variables + ["install", programs])
        #expect(try run(["\(to)/bin/mcp-server", "version"]).hasPrefix("mcp-server "))
        #expect(try run(["ls", "-ld", "\(to)/bin"]).hasPrefix("drwx------"))
        #expect(try run(["ls", "-ld", "\(to)/share/doc"]).hasPrefix("drwxr-xr-x"))
        try run(variables + ["uninstall"])
        #expect(try files(to) == others)
        #expect(try run(["find", "\(to)/share", "-name", "swift-mcp-core"]).isEmpty)
    }

    @Test(
        "make install builds nothing and writes nothing to the source, which may be another user's",
        .enabled(if: isWanted("strip") && isWanted("make")))
    func installsWhatIsBuilt() throws {
        let folder = TemporaryDirectory()
        try run(
            [
                "sh", "-euc",
                #"""
                mkdir -p "$1/source/Tools" "$1/source/Sources" "$1/source/build/man" "$1/source/programs"
                cp -R "$0/Tools/dist" "$1/source/Tools/"
                cp "$0/Makefile" "$0/Package.swift" "$0/LICENSE" "$1/source/"
                cp "$2" "$3" "$1/source/programs/"
                echo page >"$1/source/build/man/mcp-server.1"
                """#, RepositoryFile.root, folder.path, BuiltProgram.path("mcp-server"),
                BuiltProgram.path("mcp-client"),
            ])
        func make(_ target: String) throws {
            try run([
                "make", "-s", "-C", "\(folder.path)/source", target, "SWIFT=false", "DESTDIR=\(folder.path)",
                "PREFIX=/usr",
            ])
        }
        func expectRefusal() {
            let error = #expect(throws: Failure.self) { try make("install") }
            #expect(error?.output.contains(#"run "make release" first"#) == true)
            #expect(throws: (any Error).self) { try run(["ls", "\(folder.path)/usr"]) }
        }
        expectRefusal()
        // What `make release` writes at its end.
        try folder.write("source/build/release", "programs\n")
        try folder.write("source/Sources/new.swift", "")
        try run(["touch", "-t", "200001010000", "\(folder.path)/source/build/release"])
        expectRefusal()
        try run(["rm", "\(folder.path)/source/Sources/new.swift"])
        try run(["touch", "\(folder.path)/source/build/release"])
        let before = try run(["ls", "-lR", "\(folder.path)/source"])
        try make("install")
        #expect(try run(["\(folder.path)/usr/bin/mcp-server", "version"]).hasPrefix("mcp-server "))
        #expect(try text("\(folder.path)/usr/share/man/man1/mcp-server.1") == "page\n")
        try make("uninstall")
        #expect(try files("\(folder.path)/usr").isEmpty)
        #expect(try run(["ls", "-lR", "\(folder.path)/source"]) == before)
    }

    @Test(
        "the Debian package restarts what runs, and stops it with its sockets",
        arguments: [
            (
                "postinst", ["configure", "0.1"],
                "try-restart mcp-server.service mcp-server@a\\x2db.service", false
            ),
            (
                "prerm", ["remove"],
                "stop mcp-server.service mcp-server@a\\x2db.service mcp-server.socket", true
            ),
            ("postinst", ["configure", ""], "", false), ("prerm", ["upgrade", "0.2"], "", true),
        ])
    func unitsOfThePackage(script: String, arguments: [String], invoked: String, hasSockets: Bool) throws {
        let folder = TemporaryDirectory()
        for (name, lines) in [
            // Answers for the patterns that it was given.
            (
                "systemctl",
                #"""
                case " $* " in *" list-units "*) ;; *) exit 0 ;; esac
                for pattern do
                    case $pattern in
                    mcp-server.service) echo "mcp-server.service loaded active running MCP server" ;;
                    mcp-server@\*.service) printf '%s\n' 'mcp-server@a\x2db.service loaded active running MCP server' ;;
                    mcp-server.socket) sockets="mcp-server.socket loaded active listening Sockets" ;;
                    esac
                done
                [ -z "$sockets" ] || echo "$sockets"
                """#
            ),
            ("deb-systemd-invoke", #"printf '%s\n' "$*" >>"$0.called""#), ("adduser", ":"),
        ] {
            // Not executed itself: a child of another test may still hold it open for writing.
            try folder.write("\(name).text", "#!/bin/sh\n\(lines)\n")
            try run(["install", "-m", "755", "\(folder.path)/\(name).text", "\(folder.path)/\(name)"])
        }
        let text = try RepositoryFile.text("Tools/dist/debian/\(script)")
        #expect(text.contains("mcp-server@*.socket") == hasSockets)
        try folder.write("script", text.replacing("/run/systemd/system", with: folder.path))
        let path = "PATH=\(folder.path):/usr/bin:/bin"
        try run(["env", path, "sh", "\(folder.path)/script"] + arguments)
        let called = (try? self.text("\(folder.path)/deb-systemd-invoke.called")) ?? ""
        #expect(called == (invoked.isEmpty ? "" : invoked + "\n"))
    }

    @Test(
        "a purge of the Debian package disables its own unit only, and does not fail at a mount point",
        arguments: [
            ("/usr/lib/systemd/system/mcp-server.service", true), ("/lib/systemd/system/mcp-server.service", true),
            ("/etc/systemd/system/mcp-server.service", false), (nil, false),
        ])
    func purge(target: String?, isRemoved: Bool) throws {
        let folder = TemporaryDirectory()
        let wants = "\(folder.path)/etc/systemd/system/multi-user.target.wants"
        try run(["mkdir", "-p", wants, "\(folder.path)/var/lib/mcp-server", "\(folder.path)/var/log/mcp-server"])
        try folder.write("var/log/mcp-server/audit.jsonl", "{}")
        if let target { try run(["ln", "-s", target, "\(wants)/mcp-server.service"]) }
        // As of a mount point: it is emptied, and the folder stays.
        try folder.write(
            "rm",
            """
            [ "$2" != "\(folder.path)/var/log/mcp-server" ] || { command rm -rf "$2"/*; exit 1; }
            command rm "$@"
            """)
        let text = try RepositoryFile.text("Tools/dist/debian/postrm")
            .replacing("/etc/systemd", with: "\(folder.path)/etc/systemd")
            .replacing("/var/", with: "\(folder.path)/var/")
            .replacing("/run/systemd/system", with: "\(folder.path)/none")
        // A function, since a program that was just written may still be open in a child of another test.
        try folder.write("script", "rm() (. '\(folder.path)/rm')\n\(text)")
        try run(["sh", "\(folder.path)/script", "remove"])
        #expect(try files("\(folder.path)/var") == ["log/mcp-server/audit.jsonl"])
        try run(["sh", "\(folder.path)/script", "purge"])
        #expect(try run(["ls", "\(folder.path)/var/lib", "\(folder.path)/var/log"]).hasSuffix("log:\nmcp-server\n"))
        #expect(try files("\(folder.path)/var").isEmpty)
        #expect(try run(["ls", wants]) == (target == nil || isRemoved ? "" : "mcp-server.service\n"))
    }

    @Test("a source without git has the date of its commit, or of its newest release")
    func sourceDates() throws {
        let folder = TemporaryDirectory()
        let to = folder.path + "/Tools/dist/date.sh"
        try run(["mkdir", "-p", "\(folder.path)/Tools/dist"])
        try run(["cp", "\(RepositoryFile.root)/Tools/dist/date.sh", to])
        func date(_ variables: String...) throws -> String {
            // Not executed itself: a child of another test may still hold it open for writing.
            try run(["env", "-u", "SOURCE_DATE_EPOCH"] + variables + ["bash", to])
        }
        try folder.write("CHANGELOG.md", "# Changes\n\n## 0.1.0 (unreleased)\n")
        #expect(try date() == "")
        try folder.write(
            "CHANGELOG.md", "## 0.3.0 (unreleased)\n\n## 0.2.0 (2024-02-29)\n\n## 0.1.0 (2023-01-01)\n")
        #expect(try date() == "1709164800\n")
        #expect(try date("SOURCE_DATE_EPOCH=7") == "7\n")
        for wrong in ["abc", "-1", "7 8", "123456789012345678901"] {
            let error = #expect(throws: Failure.self) { try date("SOURCE_DATE_EPOCH=\(wrong)") }
            #expect(error?.output.contains("SOURCE_DATE_EPOCH=\(wrong) is not a number of seconds") == true)
        }
        // As in a tarball of `git archive`.
        let text = try RepositoryFile.text("Tools/dist/date.sh")
        #expect(text.contains("archived='$Format:%ct$'"))
        #expect(try RepositoryFile.text(".gitattributes").contains("Tools/dist/date.sh export-subst\n"))
        try folder.write("Tools/dist/date.sh", text.replacing("$Format:%ct$", with: "1785230400"))
        #expect(try date() == "1785230400\n")
    }

    @Test(
        "a tag needs the version and the date of the change log", .enabled(if: isWanted("git")),
        arguments: [
            ("(2026-11-27)", nil), ("(2026-01-01)", nil), ("(unreleased)", "has no date"),
            ("(some-time-soon)", "has no date"), ("(27-11-2026)", "has no date"),
            ("(2026-13-01)", "has no date"),
            ("(2026-11-27) again", "has no date"), ("", "has no date"),
        ])
    func tag(date: String, error: String?) throws {
        let folder = TemporaryDirectory()
        try run([
            "sh", "-euc",
            #"""
            mkdir -p "$1/Tools" "$1/Sources/MCPCore/Protocol"
            cp -R "$0/Tools/dist" "$1/Tools/"
            cp "$0/Sources/MCPCore/Protocol/PackageVersion.swift" "$1/Sources/MCPCore/Protocol/"
            cd "$1"
            git init -q .
            git add -A
            git -c user.name=test -c user.email=test@localhost -c commit.gpgsign=false commit -q -m first
            """#, RepositoryFile.root, folder.path,
        ])
        let version = PackageVersion.current
        try folder.write("CHANGELOG.md", "# Changes\n\n## \(version) \(date)\n")
        func check(_ tag: String) throws -> String {
            try run(["bash", "\(folder.path)/Tools/dist/check-version.sh", tag])
        }
        if let error {
            let failure = #expect(throws: Failure.self) { try check("v\(version)") }
            #expect(failure?.output.contains(error) == true)
        } else {
            #expect(try check("v\(version)") == "version: \(version)\n")
            #expect(throws: Failure.self) { try check("v9.9.9") }
        }
    }

    @Test("what git says of a clone that it does not read is shown", .enabled(if: isWanted("git")))
    func unreadableClone() throws {
        let folder = TemporaryDirectory()
        try run([
            "sh", "-euc",
            #"""
            mkdir -p "$1/Tools" "$1/Tests" "$1/Sources/MCPCore/Protocol" "$1/.git"
            cd "$0"
            cp -R Tools/dist Tools/lint.sh "$1/Tools/"
            cp Tests/demo.sh "$1/Tests/"
            cp CHANGELOG.md "$1/"
            cp Sources/MCPCore/Protocol/PackageVersion.swift "$1/Sources/MCPCore/Protocol/"
            """#, RepositoryFile.root, folder.path,
        ])
        func errors(_ script: String, _ argument: String = "") throws -> (code: ProcessExit, text: String) {
            let launch = ProcessLaunch(
                // As of a clone of another user, it fails with a reason.
                "env",
                ["-u", "SOURCE_DATE_EPOCH", "GIT_DIR=\(folder.path)/none", "bash", "\(folder.path)/\(script)"]
                    + (argument.isEmpty ? [] : [argument]))
            let result = try ProcessRunner.run(launch)
            return (result.status, String(decoding: result.errors, as: UTF8.self))
        }
        let reason = "fatal: not a git repository: '\(folder.path)/none'\n"
        for (script, argument) in [
            ("Tools/dist/check-version.sh", ""), ("Tools/dist/build.sh", folder.path), ("Tools/lint.sh", ""),
            ("Tests/demo.sh", ""),
        ] {
            let (code, text) = try errors(script, argument)
            #expect(code == .exited(1) && text.hasPrefix(reason) && text.contains("needs a clone"), "\(script)")
        }
        // The change log may have a date, and a page without one is still a page.
        let (code, text) = try errors("Tools/dist/date.sh")
        #expect(code == .exited(0) && text.hasPrefix(reason) && text.contains("SOURCE_DATE_EPOCH"))
    }

    #if os(Linux)
    @Test("the documented command for the tarball leaves modes and links of folders as they are")
    func tarball() throws {
        let folder = TemporaryDirectory()
        let page = try RepositoryFile.text("docs/install.md")
        let command = try #require(page.split(separator: "`").first { $0.hasPrefix("tar -C /usr/local ") })
        try run(
            [
                "sh", "-euc",
                #"""
                cd "$0"
                mkdir -p new/top/bin new/top/man/man1 usr/bin usr/pages
                echo program >new/top/bin/mcp-server
                echo page >new/top/man/man1/mcp-server.1
                tar -C new -czf new.tar.gz top
                chmod 700 usr/bin
                ln -s pages usr/man
                """#, folder.path,
            ])
        let words = command.replacing("/usr/local", with: "\(folder.path)/usr")
            .replacing("FILE", with: "\(folder.path)/new.tar.gz")
        try run(["sh", "-euc", words])
        #expect(
            try files("\(folder.path)/usr") == ["bin/mcp-server", "pages/man1/mcp-server.1"])
        #expect(try run(["readlink", "\(folder.path)/usr/man"]) == "pages\n")
        #expect(try run(["ls", "-ld", "\(folder.path)/usr/bin"]).hasPrefix("drwx------"))
    }
    #endif

    private struct Failure: Error { let output: String }

    /// Returns the standard output of a command that succeeds.
    @discardableResult
    private func run(_ command: [String]) throws -> String {
        let limits = ProcessRunner.Limits(timeout: .seconds(120), maxOutputBytes: 1 << 20)
        let result = try ProcessRunner.run(
            ProcessLaunch(command[0], Array(command.dropFirst())), limits: limits)
        guard case .exited(0) = result.status else {
            throw Failure(output: String(decoding: result.errors, as: UTF8.self))
        }
        return String(decoding: result.output, as: UTF8.self)
    }

    /// The files below a folder, relative to it, sorted.
    private func files(_ folder: String) throws -> [String] {
        try run(["find", folder, "-type", "f"]).split(separator: "\n")
            .map { String($0.dropFirst(folder.utf8.count + 1)) }.sorted()
    }

    private func text(_ path: String) throws -> String {
        String(decoding: try Files.read(path, maxBytes: 1 << 20), as: UTF8.self)
    }
}
