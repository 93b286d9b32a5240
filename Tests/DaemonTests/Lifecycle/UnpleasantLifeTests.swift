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

/// Starts that are interrupted, pauses, and ends that nobody has planned.
@Suite(.serialized, .timeLimit(.minutes(5))) struct UnpleasantLifeTests {
    private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    private static func start(_ arguments: [String]) throws -> ChildProcess {
        var launch = ProcessLaunch(
            try WatchedProgram.path(), arguments, environment: WatchedProgram.environment)
        launch.input = .null
        launch.output = .null
        launch.errors = .null
        return try ChildProcess(launch)
    }

    /// Fault row 86: callers whose calls outlast the drain are told why they have no result.
    @Test func callersAreToldThatTheServerStops() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "mcp.jsonc",
            #"""
            { "tools": { "t": { "exec": ["sh", "-c", "echo > begun; exec sleep 600"], "timeout": "20m" } },
              "limits": { "drain": "300ms" } }
            """#)
        let program = try await WatchedProgram(
            configuration: "\(directory.path)/mcp.jsonc", socket: "\(directory.path)/s")
        let client = try await MCPClient.connect(.unix(path: program.socket))
        let call = Task { () -> String in
            do { return "\(try await client.callTool("t"))" } catch { return "\(error)" }
        }
        #expect(await eventually { Self.exists("\(directory.path)/begun") })
        program.signal(SIGTERM)
        let text = await call.value
        #expect(text.contains("The server is stopping"), "\(text)")
        #expect(await program.wait() == .exited(0))
        await client.close()
    }

    /// Fault row 86: a signal during the start ends it, with the program that the start waits for.
    @Test func aSignalDuringTheStart() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "mcp.jsonc",
            #"""
            { "mcpServers": { "s": { "command": "sh", "args": ["-c", "echo $$ > pid.new; mv pid.new pid; exec sleep 600"],
                "cwd": "${configDir}", "required": true } } }
            """#)
        let child = try Self.start([
            "-c", "\(directory.path)/mcp.jsonc", "--listen", "unix://\(directory.path)/s",
        ])
        #expect(await eventually { Self.exists("\(directory.path)/pid") })
        let pid = try #require(Int32(try ConfigFile.text(at: "\(directory.path)/pid", shownAs: "pid")))
        child.signal(SIGTERM)
        let status = await child.wait()
        let ends: [ProcessExit] = [.signaled(SIGTERM), .exited(0), .exited(128 + SIGTERM)]
        #expect(ends.contains(status), "\(status)")
        #expect(await eventually { [nil, "Z", "X"].contains(ProcFS.state(of: pid)) })
        #expect(!Self.exists("\(directory.path)/s"))
    }

    /// Fault row 88: whenever a server is killed, the next one starts at the same address.
    @Test func killedAtAnyTime() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "mcp.jsonc",
            #"{ "observe": { "audit": { "file": "a.jsonl", "chain": true } }, "tools": { "t": { "exec": ["echo", "good"] } } }"#
        )
        let (file, socket) = ("\(directory.path)/mcp.jsonc", "\(directory.path)/s")
        for round in 0 ..< 12 {
            let child = try Self.start(["-c", file, "--listen", "unix://\(socket)"])
            // From its very first moment to the time when it serves.
            if round < 8 {
                try await Task.sleep(for: .milliseconds(4 * round))
            } else {
                var isServed = false
                for _ in 0 ..< 1_000 where !isServed {
                    if let client = try? await MCPClient.connect(.unix(path: socket)) {
                        isServed = try await client.callTool("t").text == "good\n"
                        await client.close()
                    } else {
                        await pause()
                    }
                }
                #expect(isServed)
            }
            child.signal(SIGKILL)
            #expect(await child.wait() == .signaled(SIGKILL))
        }
        let program = try await WatchedProgram(configuration: file, socket: socket)
        let client = try await MCPClient.connect(.unix(path: socket))
        #expect(try await client.callTool("t").text == "good\n")
        await client.close()
        program.signal(SIGTERM)
        #expect(await program.wait() == .exited(0))
        // Nothing stays but what is to be kept.
        #expect(try Files.names(in: directory.path).names.sorted() == ["a.jsonl", "mcp.jsonc"])
    }

    /// Fault row 89: after a pause that was longer than a time-out, this has passed once, and others are
    /// served.
    @Test func aPauseOfTheProcess() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "mcp.jsonc",
            #"""
            { "tools": { "slow": { "exec": ["sh", "-c", "echo > begun; exec sleep 600"], "timeout": "1s" },
                         "free": { "exec": ["echo", "good"] } } }
            """#)
        let program = try await WatchedProgram(
            configuration: "\(directory.path)/mcp.jsonc", socket: "\(directory.path)/s")
        let client = try await MCPClient.connect(.unix(path: program.socket))
        #expect(try await client.callTool("free").text == "good\n")
        let slow = Task { try await client.callTool("slow") }
        #expect(await eventually { Self.exists("\(directory.path)/begun") })
        program.signal(SIGSTOP)
        #expect(await eventually { ProcFS.state(of: program.pid) == "T" })
        let waiting = (0 ..< 20).map { _ in Task { try await client.callTool("free").text } }
        try await Task.sleep(for: .milliseconds(1_500))
        program.signal(SIGCONT)
        #expect(try await slow.value.text == "stopped after its timeout of 1 s")
        for call in waiting { #expect(try await call.value == "good\n") }
        #expect(try await client.callTool("free").text == "good\n")
        await client.close()
        program.signal(SIGTERM)
        #expect(await program.wait() == .exited(0))
    }

    /// Fault rows 73 and 78: a host that no longer reads ends a server on pipes, although its input is open.
    @Test func theReaderOfTheOutputGoesAway() async throws {
        var launch = ProcessLaunch(
            try WatchedProgram.path(), ["--demo", "--stdio"], environment: WatchedProgram.environment)
        launch.errors = .null
        let child = try ChildProcess(launch)
        defer { child.signal(SIGKILL) }
        guard let input = child.takeInput(), let output = child.takeOutput() else {
            throw IOError(errno: EBADF, function: "pipe")
        }
        let fd = input.rawValue
        let ping = Array((#"{"jsonrpc":"2.0","id":1,"method":"ping"}"# + "\n").utf8)
        @Sendable func send() {
            _ = unsafe ping.withUnsafeBytes { unsafe write(fd, $0.baseAddress, $0.count) }
        }
        SignalWatch.ignoreBrokenPipes()
        send()
        var entry = pollfd(fd: output.rawValue, events: Int16(POLLIN), revents: 0)
        try #require(uninterrupted { Int(unsafe poll(&entry, 1, 20_000)) } == 1)
        _ = consume output
        // A process that another test starts at this moment has the other end, too, for an instant.
        let asking = Task {
            while !Task.isCancelled {
                send()
                await pause()
            }
        }
        #expect(await child.wait() == .exited(0))
        asking.cancel()
        await asking.value
        _ = consume input
    }

    /// With few descriptors, fewer commands run at a time, and none fails for want of one.
    @Test func commandsWithFewDescriptors() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("mcp.jsonc", #"{ "tools": { "t": { "exec": ["sleep", "0.05"] } } }"#)
        let socket = "\(directory.path)/s"
        let program = try await WatchedProgram(
            ["-c", "\(directory.path)/mcp.jsonc", "--listen", "unix://\(socket)"], socket: socket,
            through: ["sh", "-c", "ulimit -n 256; exec \"$@\"", "sh"])
        let client = try await MCPClient.connect(.unix(path: socket))
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0 ..< 48 { group.addTask { try await client.callTool("t").text } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(texts == [""])
        await client.close()
        await program.stop()
    }
}
#endif
