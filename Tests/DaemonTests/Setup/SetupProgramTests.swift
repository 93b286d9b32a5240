import MCPCore
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// `init` and `check --online` as a user types them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SetupProgramTests {
    private func run(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) async throws -> (status: ProcessExit, output: String, errors: String) {
        let launch = ProcessLaunch(
            try WatchedProgram.path(), arguments,
            environment: WatchedProgram.environment.merging(environment) { $1 })
        let result = try await Offload.run { try ProcessRunner.run(launch, input: []) }
        return (
            result.status, String(decoding: result.output, as: UTF8.self),
            String(decoding: result.errors, as: UTF8.self)
        )
    }

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
        let unit = try await run(["init", "--systemd", "-c", file], environment)
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
        let socket = try await run(["init", "--systemd-socket", "-c", file], environment)
        #expect(socket.output.hasPrefix("# /etc/systemd/system/mcp-server@.socket\n"))
        #expect(socket.output.contains("\nListenStream=/run/mcp-x/%i.sock\n"), "\(socket)")
    }

    /// A unit of systemd has one mode for all of its sockets.
    @Test func socketsOfDifferentModes() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "mcp.jsonc", #"{ "listen": ["unix:///run/a.sock?mode=0660", "unix:///run/b.sock?mode=0600"] }"#)
        let outcome = try await run(["init", "--systemd-socket", "-c", "\(directory.path)/mcp.jsonc"])
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
            try directory.write("mcp.jsonc", "{ \"state\": { \"key\": \"${file:\(folder)/key}\" } }")
            let outcome = try await run(["init", "--docker", "-c", "\(directory.path)/mcp.jsonc"])
            #expect(
                outcome.output.contains("#   -v \(directory.path)/\(mount):/etc/mcp-server/\(mount):ro\n"),
                "\(outcome)")
        }
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
        let bad = try await run(["check", "--online", file])
        #expect(bad.status == .exited(8))
        let lines = bad.output.split(separator: "\n")
        #expect(lines.count == 3 && lines[0] == "mcpServers.good: ok (connected)", "\(bad)")
        #expect(lines[1].hasPrefix("mcpServers.url: error: "), "\(bad)")
        #expect(lines[2].hasPrefix("mcpServers.ends: error: "), "\(bad)")
        // Without --online, nothing is started.
        #expect(try await run(["check", file]).status == .exited(0))
        try directory.write("mcp.jsonc", "{ \"mcpServers\": { \(good) } }")
        let checked = try await run(["check", "--online", file])
        #expect(checked.status == .exited(0), "\(checked)")
        #expect(checked.output.hasSuffix("1 server)\n"))
    }
}
