import MCPCore
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// `init` and `check --online` as a user types them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SetupProgramTests {
    /// One unit for all instances, whatever the shell is called; and a word about what it cannot do.
    @Test(arguments: [[:], ["INSTANCE": "a"]] as [[String: String]])
    func theUnitOfInstances(_ environment: [String: String]) async throws {
        let directory = try TemporaryDirectory()
        let file = "\(directory.path)/mcp.jsonc"
        try directory.write(
            "mcp.jsonc",
            #"""
            { "listen": ["unix:///run/mcp-x/${env:INSTANCE}.sock"], "observe": { "log": { "file": "/var/log/x" } },
              "tools": { "t": { "exec": ["true"], "cwd": "/home" } } }
            """#)
        let unit = try await SetupProgram.run(["init", "--systemd", "-c", file], environment)
        #expect(unit.status == .exited(0) && unit.output.contains("\nRuntimeDirectory=mcp-server mcp-x\n"))
        #expect(unit.output.contains("\nEnvironment=INSTANCE=%i\n"), "\(unit)")
        #expect(
            unit.errors == """
                warning: the service does not see \(file) (ProtectHome=, PrivateTmp=): put it elsewhere
                warning: the service does not see /home (ProtectHome=, PrivateTmp=): put it elsewhere
                warning: the user mcp-server cannot create files in /var/log itself: use a directory in it, such \
                as /var/log/mcp-server
                warning: instances cannot share /var/log/x: use ${env:INSTANCE} in its name

                """)
        let socket = try await SetupProgram.run(["init", "--systemd-socket", "-c", file], environment)
        #expect(socket.output.hasPrefix("# /etc/systemd/system/mcp-server@.socket\n"))
        #expect(socket.output.contains("\nListenStream=/run/mcp-x/%i.sock\n"), "\(socket)")
    }

    /// A unit of systemd has one mode for all of its sockets.
    @Test func socketsOfDifferentModes() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "mcp.jsonc", #"{ "listen": ["unix:///run/a.sock?mode=0660", "unix:///run/b.sock?mode=0600"] }"#)
        let outcome = try await SetupProgram.run([
            "init", "--systemd-socket", "-c", "\(directory.path)/mcp.jsonc",
        ])
        #expect(outcome.status == .exited(1) && outcome.output.isEmpty)
        #expect(outcome.errors.contains("have different modes or groups"), "\(outcome)")
    }

    /// Only a folder that holds nothing but secrets is mounted as a whole.
    @Test func foldersOfSecrets() async throws {
        let directory = try TemporaryDirectory()
        for folder in ["own", "other"] {
            try directory.makeDirectory(folder)
            try directory.write("\(folder)/key", String(repeating: "k", count: 48))
            #expect(unsafe chmod("\(directory.path)/\(folder)/key", 0o600) == 0)
        }
        try directory.write("own/key.lock", "")
        try directory.write("other/notes", "x")
        for (folder, mount) in [("own", "own"), ("other", "other/key")] {
            // What is written with its whole path is looked for there, in the image, too.
            let whole = "\(directory.path)/\(folder)"
            for (written, place) in [(folder, "/etc/mcp-server"), (whole, directory.path)] {
                try directory.write("mcp.jsonc", "{ \"state\": { \"key\": \"${file:\(written)/key}\" } }")
                let outcome = try await SetupProgram.run([
                    "init", "--docker", "-c", "\(directory.path)/mcp.jsonc",
                ])
                #expect(
                    outcome.output.contains("#   -v \(directory.path)/\(mount):\(place)/\(mount):ro\n"),
                    "\(outcome)")
            }
        }
    }

    /// What is above the folder of the configuration would be /etc in the image.
    @Test func foldersAboveTheConfiguration() async throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("conf")
        try directory.makeDirectory("docs")
        let file = "\(directory.path)/conf/mcp.jsonc"
        for (root, shown) in [
            ("..", "conf/.."), ("${configDir}/../docs/..", "conf/../docs/.."), (directory.path, nil),
            ("../docs", nil),
        ] {
            try directory.write("conf/mcp.jsonc", "{ \"files\": { \"f\": { \"root\": \"\(root)\" } } }")
            let outcome = try await SetupProgram.run(["init", "--docker", "-c", file])
            let warning = shown.map {
                "warning: \(directory.path)/\($0) is above the folder of the configuration, and in the image "
                    + "it is /etc with all its files: put the configuration into it, or write its whole path\n"
            }
            #expect(outcome.status == .exited(0) && outcome.errors == warning ?? "", "\(outcome)")
        }
    }

    /// Each kind of path is in the image where the copied configuration names it.
    @Test func placesInTheImage() async throws {
        let directory = try TemporaryDirectory()
        for folder in ["docs", "texts", "conf.d", "bin", "data"] { try directory.makeDirectory(folder) }
        try directory.write("texts/about.md", "about")
        try directory.write("conf.d/a.jsonc", "{}")
        try directory.write("bin/tool", "#!/bin/sh\n")
        #expect(unsafe chmod("\(directory.path)/bin/tool", 0o755) == 0)
        try directory.write(
            "mcp.jsonc",
            #"""
            { "include": ["conf.d/*.jsonc"], "server": { "instructions": { "file": "texts/about.md" } },
              "files": { "docs": { "root": "docs" }, "more": { "root": "\#(directory.path)/docs" } },
              "observe": { "audit": { "file": "log/audit.jsonl" } }, "listen": ["unix://${configDir}/run/s"],
              "tools": { "t": { "exec": ["bin/tool"], "cwd": "${configDir}/docs",
                                "sandbox": { "fs": { "write": ["${configDir}/data"] }, "onUnsupported": "warn" } } } }
            """#)
        let outcome = try await SetupProgram.run(["init", "--docker", "-c", "\(directory.path)/mcp.jsonc"])
        #expect(outcome.status == .exited(0), "\(outcome)")
        for line in [
            "COPY bin/tool /etc/mcp-server/bin/tool", "COPY conf.d/*.jsonc /etc/mcp-server/conf.d/",
            "COPY docs /etc/mcp-server/docs", "COPY docs \(directory.path)/docs",
            "COPY texts/about.md /etc/mcp-server/texts/about.md",
        ] { #expect(outcome.output.contains("\n\(line)\n"), "\(line)\n\(outcome.output)") }
        let made = " /etc/mcp-server/run /etc/mcp-server/log /etc/mcp-server/data"
        let lines = outcome.output.split(separator: "\n")
        // What the server writes to is made, and outlives the container.
        #expect(lines.count { $0.hasSuffix(made) } == 2, "\(outcome.output)")
        #expect(!outcome.output.contains("/../") && !outcome.output.contains("at these places"))
    }

    /// The servers behind this one are tried like everything else that others run.
    @Test func serversThatCannotBeConnected() async throws {
        let directory = try TemporaryDirectory()
        let file = "\(directory.path)/mcp.jsonc"
        let own = try WatchedProgram.path()
        let good = #""good": { "command": "\#(own)", "args": ["--demo", "--stdio"] }"#
        try directory.write(
            "mcp.jsonc",
            #"""
            { "mcpServers": { \#(good), "url": { "url": "http://127.0.0.1:1/mcp" }, "ends": { "command": "false" } } }
            """#)
        let bad = try await SetupProgram.run(["check", "--online", file])
        #expect(bad.status == .exited(8))
        let lines = bad.output.split(separator: "\n")
        #expect(lines.count == 3 && lines[0] == "mcpServers.good: ok (connected)", "\(bad)")
        #expect(lines[1].hasPrefix("mcpServers.url: error: "), "\(bad)")
        #expect(lines[2].hasPrefix("mcpServers.ends: error: "), "\(bad)")
        // Without --online, nothing is started.
        #expect(try await SetupProgram.run(["check", file]).status == .exited(0))
        try directory.write("mcp.jsonc", "{ \"mcpServers\": { \(good) } }")
        let checked = try await SetupProgram.run(["check", "--online", file])
        #expect(checked.status == .exited(0), "\(checked)")
        #expect(checked.output.hasSuffix("1 server)\n"))
    }
}
