import MCPCore
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

#if os(Linux)
/// The start of a daemon that waits for a server behind it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RequiredUpstreamTests {
    /// A daemon whose required server is ready once there is a file, which waits for it and serves operators.
    private static func start(_ directory: TemporaryDirectory) async throws -> WatchedProgram {
        try directory.write("s.py", UpstreamProgramTests.script)
        let command = "while [ ! -e ${configDir}/go ]; do sleep 0.1; done; exec python3 ${configDir}/s.py"
        try directory.write(
            "mcp.jsonc",
            #"{ "admin": { "listen": "unix://\#(directory.path)/admin" }, "mcpServers": { "s": "#
                + #"{ "command": "sh", "args": ["-c", "\#(command)"], "required": true } } }"#)
        return try await WatchedProgram(
            ["-c", "\(directory.path)/mcp.jsonc", "--listen", "unix://\(directory.path)/s"],
            socket: "\(directory.path)/s", awaiting: #""event":"operators""#)
    }

    @Test(arguments: [SIGTERM, SIGINT]) func itIsToldToEnd(_ number: Int32) async throws {
        let directory = try TemporaryDirectory()
        let program = try await Self.start(directory)
        program.signal(number)
        #expect(await program.wait() == .exited(0))
        #expect(program.output.contains(#""event":"stopping""#), "\(program.output)")
        #expect(!program.output.contains("not started"), "\(program.output)")
    }

    /// The configuration is read again once the server has started.
    @Test func itIsToldToReadItsConfiguration() async throws {
        let directory = try TemporaryDirectory()
        let program = try await Self.start(directory)
        program.signal(SIGHUP)
        let launch = ProcessLaunch(
            try WatchedProgram.path(), ["status", "--admin", "unix://\(directory.path)/admin"],
            environment: WatchedProgram.environment)
        let status = try await Offload.run { try ProcessRunner.run(launch) }
        let text = String(decoding: status.output, as: UTF8.self)
        #expect(text.contains("  starting  "), "\(text)")
        #expect(!program.output.contains(#""event":"reloaded""#), "\(program.output)")
        try directory.write("go", "")
        #expect(await program.logs("ready in"), "\(program.output)")
        #expect(await program.logs(#""reason":"SIGHUP""#), "\(program.output)")
        let client = try await MCPClient.connect(.unix(path: program.socket))
        #expect(try await client.callTool("pid").isError == false)
        await client.close()
        await program.stop()
    }

    /// A reload that an operator asks for has its answer when the server has started, or has not.
    @Test(arguments: [false, true]) func anOperatorReloads(_ isStopped: Bool) async throws {
        let directory = try TemporaryDirectory()
        let program = try await Self.start(directory)
        let launch = ProcessLaunch(
            try WatchedProgram.path(), ["reload", "--admin", "unix://\(directory.path)/admin"],
            environment: WatchedProgram.environment)
        async let reload = Offload.run { try ProcessRunner.run(launch) }
        if isStopped {
            program.signal(SIGTERM)
            #expect(await program.wait() == .exited(0))
            _ = try await reload
        } else {
            try directory.write("go", "")
            let outcome = try await reload
            let text = String(decoding: outcome.output, as: UTF8.self)
            #expect(text.contains("reloaded"), "\(text) \(program.output)")
            #expect(await program.logs("ready in"), "\(program.output)")
            await program.stop()
        }
        // Not while the server that it needs was connecting.
        let output = program.output
        let ready = output.firstRange(of: #""event":"upstream ready""#)
        if let reloaded = output.firstRange(of: #""event":"reloaded""#) {
            #expect(ready.map { $0.lowerBound < reloaded.lowerBound } == true, "\(output)")
        }
    }

    /// One who does not wait for the start hears what it waits for.
    @Test func anOperatorGivesUp() async throws {
        let directory = try TemporaryDirectory()
        let program = try await Self.start(directory)
        let launch = ProcessLaunch(
            try WatchedProgram.path(),
            ["reload", "--timeout", "100ms", "--admin", "unix://\(directory.path)/admin"],
            environment: WatchedProgram.environment)
        let outcome = try await Offload.run { try ProcessRunner.run(launch) }
        let text = String(decoding: outcome.errors, as: UTF8.self)
        #expect(outcome.status == .exited(1))
        #expect(
            text.hasPrefix(
                "mcp-server: not reloaded within 100 ms: the server is starting, and is not connected to: s\n"
            ),
            "\(text)")
        // It is reloaded nevertheless.
        try directory.write("go", "")
        #expect(await program.logs(#""reason":"mcp-server reload""#), "\(program.output)")
        await program.stop()
    }

    @Test(arguments: [
        (#"{ "state": "draining", "upstreams": [] }"#, "the server is stopping"),
        (#"{ "state": "starting" }"#, "the server is starting"),
        (
            #"{ "state": "starting", "upstreams": [{ "name": "a", "state": "ready" }, { "name": "b", "state": "failed" }] }"#,
            "the server is starting, and is not connected to: b"
        ),
        (#"{ "state": "ready", "reloading": true }"#, "the configuration is being read"),
        (#"{ "state": "ready" }"#, "the reload has not begun"),
    ])
    func whatAReloadWaitsFor(_ status: String, _ text: String) throws {
        #expect(ReloadRequest.work(try JSONValue(parsing: status)) == text)
    }
}
#endif
