import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

#if os(Linux)
#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Fault rows 77 and 78: logs that nothing takes. Calls, reloads and the end of the program go on.
@Suite(.serialized, .timeLimit(.minutes(5))) struct DeadLogTests {
    private static func tools(_ name: String, _ log: String) -> String {
        #"{ "observe": { "log": { "calls": "all"\#(log) } }, "tools": { "\#(name)": { "exec": ["echo", "good"] } } }"#
    }

    enum Reader: CaseIterable { case isAsleep, hasGone }

    /// Standard error is a pipe that is full, or one that nobody reads any more.
    @Test(arguments: Reader.allCases) func standardErrorThatIsNotRead(_ reader: Reader) async throws {
        let directory = try TemporaryDirectory()
        let socket = "\(directory.path)/s"
        try directory.write("mcp.jsonc", Self.tools("one", ""))
        var launch = ProcessLaunch(
            try WatchedProgram.path(), ["-c", "\(directory.path)/mcp.jsonc", "--listen", "unix://\(socket)"],
            environment: WatchedProgram.environment)
        launch.input = .null
        launch.output = .null
        let child = try ChildProcess(launch)
        defer { child.signal(SIGKILL) }
        guard let pipe = child.takeErrors() else { throw IOError(errno: EBADF, function: "pipe") }
        var open: FileDescriptor? = pipe
        // Its socket is there a moment before it takes connections.
        var options = ClientOptions()
        options.connectTimeout = .seconds(120)
        let end = ContinuousClock.now + .seconds(60)
        var connected: MCPClient?
        while connected == nil, ContinuousClock.now < end {
            connected = try? await MCPClient.connect(.unix(path: socket), options: options)
            await pause()
        }
        let client = try #require(connected)
        if reader == .hasGone { _ = open.take() }
        // A line has more than a hundred bytes, and a pipe holds 64 KiB.
        for _ in 0 ..< 600 { #expect(try await client.callTool("one").text == "good\n") }
        if reader == .isAsleep {
            var waiting: Int32 = 0
            #expect(unsafe ioctl(FileDescriptor.rawValue(of: open), UInt(FIONREAD), &waiting) == 0)
            #expect(waiting > 60_000, "\(waiting)")
        }
        try directory.write("mcp.jsonc", Self.tools("two", ""))
        child.signal(SIGHUP)
        var uncached = CallOptions()
        uncached.usesCache = false
        var names: [String?] = []
        for _ in 0 ..< 2_000 where names != ["two"] {
            await pause()
            names =
                try await client.request("tools/list", options: uncached)["tools"]?.elements?
                .map { $0["name"]?.string } ?? []
        }
        #expect(names == ["two"])
        await client.close()
        child.signal(SIGTERM)
        #expect(await child.wait() == .exited(0))
        _ = open.take()
    }

    /// What is lost is counted, and operators see it.
    @Test(arguments: [
        #""log": { "calls": "all", "file": "/dev/full" }"#, #""audit": { "file": "/dev/full" }"#,
    ])
    func aDiskThatIsFull(_ observe: String) async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "mcp.jsonc",
            """
            { "admin": { "listen": "unix://\(directory.path)/admin.sock" },
              "observe": { \(observe) },
              "tools": { "t": { "exec": ["echo", "good"] } } }
            """)
        let program = try await WatchedProgram(
            configuration: "\(directory.path)/mcp.jsonc", socket: "\(directory.path)/s")
        let client = try await MCPClient.connect(.unix(path: program.socket))
        for _ in 0 ..< 20 { #expect(try await client.callTool("t").text == "good\n") }
        await client.close()
        let admin = AdminClient(address: try ConfiguredAddress(unixPath: "\(directory.path)/admin.sock"))
        var (status, lost): (JSONValue, Int) = (.null, 0)
        for _ in 0 ..< 2_000 where lost < 20 {
            await pause()
            status = try JSONValue(parsing: try await admin.send("GET", "/status").body)
            lost = (status["audit"]?["lost"] ?? status["logLost"])?.intValue ?? 0
        }
        #expect(lost >= 20, "\(status)")
        if let audit = status["audit"] {
            #expect(audit["failure"]?.stringValue?.contains("No space left") == true)
        }
        #expect(status["state"] == "ready")
        // Where the log has no room either, standard error has.
        if observe.contains("log") {
            #expect(await program.logs(#""event":"log failing""#))
            let lines = ControlCommand.lines(status)
            #expect(lines.count > 2 && lines[2].hasPrefix("log lines lost: "), "\(lines)")
        }
        if observe.contains("audit") { #expect(await program.logs(#""event":"audit failing""#)) }
        program.signal(SIGTERM)
        #expect(await program.wait() == .exited(0))
    }

    /// Operators see that a log file cannot be opened again after its rotation, and that it can be.
    @Test func aLogFileThatCannotBeOpenedAgain() async throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/server.log"
        try directory.write(
            "mcp.jsonc",
            """
            { "admin": { "listen": "unix://\(directory.path)/admin.sock" },
              "observe": { "log": { "file": "\(path)" } }, "tools": { "t": { "exec": ["true"] } } }
            """)
        let program = try await WatchedProgram(
            configuration: "\(directory.path)/mcp.jsonc", socket: "\(directory.path)/s")
        let admin = AdminClient(address: try ConfiguredAddress(unixPath: "\(directory.path)/admin.sock"))
        func status() async throws -> JSONValue {
            try JSONValue(parsing: try await admin.send("GET", "/status").body)
        }
        #expect(try await status()["logFailure"] == nil)
        #expect(unsafe rename(path, path + ".1") == 0)
        try directory.link("server.log", to: "/dev/null")
        let failing = try await status()
        #expect(failing["logFailure"]?.stringValue?.contains("server.log") == true, "\(failing)")
        #expect(ControlCommand.lines(failing).contains { $0.hasPrefix("log lines lost: 0  failing: ") })
        let metrics = String(decoding: try await admin.send("GET", "/metrics").body, as: UTF8.self)
        #expect(metrics.contains("\nmcp_server_log_failing 1\n"))
        #expect(await program.logs(#""event":"log failing""#))
        program.signal(SIGHUP)
        #expect(await program.logs(#""event":"log failing""#, times: 2))
        #expect(unsafe unlink(path) == 0)
        #expect(try await status()["logFailure"] == nil)
        #expect(await program.logs(#""event":"log recovered""#))
        await program.stop()
    }

    /// A log file that was renamed is opened again by itself.
    @Test func aLogFileThatIsRotated() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("mcp.jsonc", Self.tools("t", #", "file": "\#(directory.path)/server.log""#))
        let program = try await WatchedProgram(
            configuration: "\(directory.path)/mcp.jsonc", socket: "\(directory.path)/s")
        let client = try await MCPClient.connect(.unix(path: program.socket))
        let path = "\(directory.path)/server.log"
        func lines() -> String {
            String(decoding: (try? Files.read(path, maxBytes: 1 << 20)) ?? [], as: UTF8.self)
        }
        _ = try await client.callTool("t")
        #expect(await eventually { lines().contains(#""event":"request""#) })
        #expect(unsafe rename(path, path + ".1") == 0)
        var isBack = false
        for _ in 0 ..< 500 where !isBack {
            _ = try await client.callTool("t")
            try await Task.sleep(for: .milliseconds(20))
            isBack = lines().contains(#""event":"request""#)
        }
        #expect(isBack)
        await client.close()
        await program.stop()
    }
}
#endif
