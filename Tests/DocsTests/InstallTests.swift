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
        try Script.run(["mkdir", "-p", "\(odd)/bin"])
        for program in ["mcp-server", "mcp-client"] {
            // Not a symbolic link: the daemon prints where it really is.
            try Script.run(["cp", BuiltProgram.path(program), "\(odd)/bin/\(program)"])
        }
        let script = "\(RepositoryFile.root)/Tools/dist/install.sh"
        let variables = ["TMPDIR=\(odd)", "DESTDIR=\(to)", "PREFIX=/opt/mcp"]
        try Script.run(["env"] + variables + [script, "install", "\(odd)/bin"])
        defer { _ = try? Script.run(["rm", "-rf", odd]) }

        let unit = try Script.text("\(to)/opt/mcp/lib/systemd/system/mcp-server.service")
        let commands = unit.split(separator: "\n").filter { $0.hasPrefix("ExecStart=") }
        #expect(commands == ["ExecStart=/opt/mcp/bin/mcp-server -c /etc/mcp-server/mcp.jsonc"])
        #expect(!unit.contains(folder.path))
        let list = try Script.text("\(to)/opt/mcp/share/mcp-server/org.modelcontextprotocol.mcp-server.plist")
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

        try Script.run(["env"] + variables + [script, "uninstall"])
        #expect(try Script.run(["find", to, "-type", "f"]).isEmpty)
        // A prefix becomes a part of both, and is refused instead.
        #expect(throws: (any Error).self) {
            try Script.run(["env", "DESTDIR=\(to)", "PREFIX=/opt/a&b", script, "install", "\(odd)/bin"])
        }
    }

    @Test(
        "a slash at the end of the prefix is left out, and a destination may begin like an option",
        .enabled(if: isWanted("strip")), arguments: [("/opt/mcp//", "/opt/mcp"), ("/", "")])
    func spellings(prefix: String, written: String) throws {
        let folder = TemporaryDirectory()
        let programs = BuiltProgram.path("mcp-server").replacing("/mcp-server", with: "")
        func install(_ words: String...) throws {
            try Script.run(
                [
                    "sh", "-c", #"cd "$0" && exec env "$@""#, folder.path, "DESTDIR=-x", "PREFIX=\(prefix)",
                    "\(RepositoryFile.root)/Tools/dist/install.sh",
                ] + words)
        }
        try install("install", programs)
        let to = "\(folder.path)/-x\(written)"
        let unit = try Script.text("\(to)/lib/systemd/system/mcp-server.service")
        #expect(unit.contains("\nExecStart=\(written)/bin/mcp-server -c "))
        let list = try Script.text("\(to)/share/mcp-server/org.modelcontextprotocol.mcp-server.plist")
        #expect(list.contains("<string>\(written)/bin/mcp-server</string>"))
        try install("uninstall")
        #expect(try Script.files(folder.path).isEmpty)
    }

    @Test(
        "without a place for temporary files, nothing is installed and nothing is removed",
        .enabled(if: isWanted("strip")))
    func noTemporaryFolder() throws {
        let folder = TemporaryDirectory()
        try folder.write("mine", "kept")
        let script = "\(RepositoryFile.root)/Tools/dist/install.sh"
        let programs = BuiltProgram.path("mcp-server").replacing("/mcp-server", with: "")
        let error = #expect(throws: Script.Failure.self) {
            try Script.run([
                // Not every env has -C.
                "sh", "-c", #"cd "$0" && exec env "$@""#, folder.path, "TMPDIR=\(folder.path)/none",
                "DESTDIR=\(folder.path)/to",
                "PREFIX=/usr",
                script, "install", programs,
            ])
        }
        #expect(error?.output.contains("\(folder.path)/none") == true)
        #expect(try Script.text("\(folder.path)/mine") == "kept")
        #expect(try Script.run(["ls", folder.path]) == "mine\n")
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
        try Script.run(["mkdir", "-p", "\(to)/bin", "\(to)/share/man/man1", "\(to)/share/mcp-server", unit])
        try Script.run(["chmod", "700", "\(to)/bin"])
        let others = ["bin/mcp-server-git", "share/man/man1/mcp-server-git.1", "share/mcp-server/mine"]
        for name in others { try folder.write("usr/\(name)", "other") }
        try folder.write("usr/bin/mcp-server", "earlier")

        let error = #expect(throws: Script.Failure.self) {
            try Script.run(variables + ["install", programs])
        }
        #expect(error?.output.contains("\(unit) is a folder; nothing was installed") == true)
        #expect(try Script.text("\(to)/bin/mcp-server") == "earlier")
        #expect(try Script.files(to) == (others + ["bin/mcp-server"]).sorted())

        try Script.run(["rmdir", unit])
        try Script.run(variables + ["install", programs])
        #expect(try Script.run(["\(to)/bin/mcp-server", "version"]).hasPrefix("mcp-server "))
        #expect(try Script.run(["ls", "-ld", "\(to)/bin"]).hasPrefix("drwx------"))
        #expect(try Script.run(["ls", "-ld", "\(to)/share/doc"]).hasPrefix("drwxr-xr-x"))
        try Script.run(variables + ["uninstall"])
        #expect(try Script.files(to) == others)
        #expect(try Script.run(["find", "\(to)/share", "-name", "swift-mcp-core"]).isEmpty)
    }

    @Test(
        "make install builds nothing and writes nothing to the source, which may be another user's",
        .enabled(if: isWanted("strip") && isWanted("make")))
    func installsWhatIsBuilt() throws {
        let folder = TemporaryDirectory()
        try Script.shell(
            #"""
            mkdir -p "$1/source/Tools" "$1/source/Sources" "$1/source/build/man" "$1/source/programs"
            cp -R "$0/Tools/dist" "$1/source/Tools/"
            cp "$0/Makefile" "$0/Package.swift" "$0/LICENSE" "$1/source/"
            cp "$2" "$3" "$1/source/programs/"
            echo page >"$1/source/build/man/mcp-server.1"
            """#, RepositoryFile.root, folder.path, BuiltProgram.path("mcp-server"),
            BuiltProgram.path("mcp-client"))
        func make(_ target: String) throws {
            try Script.run([
                "make", "-s", "-C", "\(folder.path)/source", target, "SWIFT=false", "DESTDIR=\(folder.path)",
                "PREFIX=/usr",
            ])
        }
        func expectRefusal() {
            let error = #expect(throws: Script.Failure.self) { try make("install") }
            #expect(error?.output.contains(#"run "make release" first"#) == true)
            #expect(throws: (any Error).self) { try Script.run(["ls", "\(folder.path)/usr"]) }
        }
        expectRefusal()
        // What `make release` writes at its end.
        try folder.write("source/build/release", "programs\n")
        try folder.write("source/Sources/new.swift", "")
        try Script.run(["touch", "-t", "200001010000", "\(folder.path)/source/build/release"])
        expectRefusal()
        try Script.run(["rm", "\(folder.path)/source/Sources/new.swift"])
        try Script.run(["touch", "\(folder.path)/source/build/release"])
        let before = try Script.run(["ls", "-lR", "\(folder.path)/source"])
        try make("install")
        #expect(try Script.run(["\(folder.path)/usr/bin/mcp-server", "version"]).hasPrefix("mcp-server "))
        #expect(try Script.text("\(folder.path)/usr/share/man/man1/mcp-server.1") == "page\n")
        try make("uninstall")
        #expect(try Script.files("\(folder.path)/usr").isEmpty)
        #expect(try Script.run(["ls", "-lR", "\(folder.path)/source"]) == before)
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
            try Script.run(["install", "-m", "755", "\(folder.path)/\(name).text", "\(folder.path)/\(name)"])
        }
        let text = try RepositoryFile.text("Tools/dist/debian/\(script)")
        #expect(text.contains("mcp-server@*.socket") == hasSockets)
        try folder.write("script", text.replacing("/run/systemd/system", with: folder.path))
        let path = "PATH=\(folder.path):/usr/bin:/bin"
        try Script.run(["env", path, "sh", "\(folder.path)/script"] + arguments)
        let called = (try? Script.text("\(folder.path)/deb-systemd-invoke.called")) ?? ""
        #expect(called == (invoked.isEmpty ? "" : invoked + "\n"))
    }

    @Test(
        "a purge of the Debian package disables its own unit only, and does not fail at a mount point",
        arguments: [
            ("/usr/lib/systemd/system/mcp-server.service", true),
            ("/lib/systemd/system/mcp-server.service", true),
            ("/etc/systemd/system/mcp-server.service", false), (nil, false),
        ])
    func purge(target: String?, isRemoved: Bool) throws {
        let folder = TemporaryDirectory()
        let wants = "\(folder.path)/etc/systemd/system/multi-user.target.wants"
        try Script.run([
            "mkdir", "-p", wants, "\(folder.path)/var/lib/mcp-server", "\(folder.path)/var/log/mcp-server",
        ])
        try folder.write("var/log/mcp-server/audit.jsonl", "{}")
        if let target { try Script.run(["ln", "-s", target, "\(wants)/mcp-server.service"]) }
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
        try Script.run(["sh", "\(folder.path)/script", "remove"])
        #expect(try Script.files("\(folder.path)/var") == ["log/mcp-server/audit.jsonl"])
        try Script.run(["sh", "\(folder.path)/script", "purge"])
        #expect(
            try Script.run(["ls", "\(folder.path)/var/lib", "\(folder.path)/var/log"]).hasSuffix(
                "log:\nmcp-server\n"))
        #expect(try Script.files("\(folder.path)/var").isEmpty)
        #expect(try Script.run(["ls", wants]) == (target == nil || isRemoved ? "" : "mcp-server.service\n"))
    }

    #if os(Linux)
    @Test("the documented command for the tarball leaves modes and links of folders as they are")
    func tarball() throws {
        let folder = TemporaryDirectory()
        let page = try RepositoryFile.text("docs/install.md")
        let command = try #require(page.split(separator: "`").first { $0.hasPrefix("tar -C /usr/local ") })
        try Script.shell(
            #"""
            cd "$0"
            mkdir -p new/top/bin new/top/man/man1 usr/bin usr/pages
            echo program >new/top/bin/mcp-server
            echo page >new/top/man/man1/mcp-server.1
            tar -C new -czf new.tar.gz top
            chmod 700 usr/bin
            ln -s pages usr/man
            """#, folder.path)
        let words = command.replacing("/usr/local", with: "\(folder.path)/usr")
            .replacing("FILE", with: "\(folder.path)/new.tar.gz")
        try Script.run(["sh", "-euc", words])
        #expect(
            try Script.files("\(folder.path)/usr") == ["bin/mcp-server", "pages/man1/mcp-server.1"])
        #expect(try Script.run(["readlink", "\(folder.path)/usr/man"]) == "pages\n")
        #expect(try Script.run(["ls", "-ld", "\(folder.path)/usr/bin"]).hasPrefix("drwx------"))
    }
    #endif
}
