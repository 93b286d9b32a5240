import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The program as a process of its own.
@Suite(.serialized) struct ProgramTests {
    private struct Outcome {
        var status: ProcessExit
        var output: String
        var errors: [String]
    }

    private func run(_ arguments: String..., input: String = "") async throws -> Outcome {
        let launch = ProcessLaunch(
            try WatchedProgram.path(), arguments, environment: WatchedProgram.environment)
        let result = try await Offload.run { try ProcessRunner.run(launch, input: Array(input.utf8)) }
        try #require(result.end == .exited)
        let errors = String(decoding: result.errors, as: UTF8.self).split(separator: "\n").map(String.init)
        return Outcome(
            status: result.status, output: String(decoding: result.output, as: UTF8.self), errors: errors)
    }

    @Test func mistakesAreTwoLinesAndExitCode2() async throws {
        let outcome = try await run("--lsten", "127.0.0.1:1")
        #expect(outcome.status == .exited(2))
        #expect(outcome.output == "")
        #expect(outcome.errors == ["mcp-server: unknown option --lsten", "hint: did you mean --listen?"])
    }

    /// A script that writes to a full disk must notice.
    @Test(arguments: ["schema", "version", "--help"]) func outputThatCannotBeWritten(_ word: String)
        async throws
    {
        let launch = ProcessLaunch(
            "sh", ["-c", "exec \"$0\" \(word) >/dev/full", try WatchedProgram.path()],
            environment: WatchedProgram.environment)
        let result = try await Offload.run { try ProcessRunner.run(launch) }
        #expect(result.end == .exited && result.status == .exited(1))
        #expect(
            String(decoding: result.errors, as: UTF8.self)
                == "mcp-server: cannot write to stdout: No space left on device\n")
    }

    /// Nothing else becomes standard input or output: no log is read, no answer goes to the log.
    @Test(arguments: ["<&-", ">&-", "<&- >&-"]) func streamsThatAreClosedAtTheStart(_ closed: String)
        async throws
    {
        let launch = ProcessLaunch(
            "sh", ["-c", "exec \"$0\" --demo --stdio \(closed)", try WatchedProgram.path()],
            environment: WatchedProgram.environment)
        let ping = Array((#"{"jsonrpc":"2.0","id":1,"method":"ping"}"# + "\n").utf8)
        let result = try await Offload.run { try ProcessRunner.run(launch, input: ping) }
        #expect(result.end == .exited && result.status == .exited(0))
        #expect(result.output.isEmpty)
        #expect(!String(decoding: result.errors, as: UTF8.self).contains("jsonrpc"))
    }

    /// Ignored signals are inherited, and with SIGCHLD among them the system keeps no status of children.
    @Test func aParentThatIgnoresItsChildren() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("mcp.jsonc", #"{ "tools": { "t": { "exec": ["echo", "good"] } } }"#)
        let launch = ProcessLaunch(
            "sh", ["-c", "trap '' CHLD; exec \"$0\" -c mcp.jsonc --stdio", try WatchedProgram.path()],
            environment: WatchedProgram.environment, directory: directory.path)
        let call =
            #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","#
            + #""capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"# + "\n"
            + #"{"jsonrpc":"2.0","method":"notifications/initialized"}"# + "\n"
            + #"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}"# + "\n"
        let result = try await Offload.run { try ProcessRunner.run(launch, input: Array(call.utf8)) }
        let output = String(decoding: result.output, as: UTF8.self)
        #expect(output.contains("good") && !output.contains("isError"), "\(output)")
    }

    @Test func withoutAConfigurationThereIsAHint() async throws {
        let outcome = try await run()
        #expect(outcome.status == .exited(2))
        #expect(outcome.errors.last == "hint: mcp-server -c FILE, or mcp-server --demo")
    }

    @Test func printsVersionHelpAndSchema() async throws {
        #expect(try await run("--version").output == "mcp-server \(DaemonVersion.current)\n")
        #expect(try await run("--help").output.hasPrefix("mcp-server exposes"))
        let schema = try JSONValue(parsing: try await run("schema").output)
        #expect(schema["properties"]?["tools"] != nil)
        _ = try CompiledSchema(schema)
    }

    @Test func checkReportsEverythingWithExitCode8() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("mcp.jsonc", "{\n  \"sever\": {},\n  \"limits\": { \"body\": 5 }\n}")
        let file = "\(directory.path)/mcp.jsonc"
        let outcome = try await run("check", file)
        #expect(outcome.status == .exited(8))
        #expect(
            outcome.output.split(separator: "\n").map(String.init) == [
                "\(file):2:3: error: unknown key \"sever\" (did you mean server?)",
                "\(file):3:23: error: limits.body must be a size like \"256KiB\" or \"4MiB\", not a number",
                "2 errors",
            ])
        try directory.write("mcp.jsonc", "{ \"tools\": { \"t\": { \"exec\": [\"true\"] } } }")
        let good = try await run("check", file)
        #expect(good.status == .exited(0))
        #expect(good.output == "\(file): ok (1 tool, 0 directories of files, 0 prompts)\n")
        #expect(try await run("-c", file, "--set", "tools.t.timeout=soon", "--stdio").status == .exited(2))
    }

    // JRPC over stdio: what was read is answered, then the end of input is the end.
    @Test func servesStandardInputUntilItEnds() async throws {
        let call =
            #"{"jsonrpc":"2.0","id":%,"method":"tools/call","params":{"name":"echo","#
            + #""arguments":{"text":"hi"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#
            + #""io.modelcontextprotocol/clientCapabilities":{}}}}"#
        let lines = (1 ... 3).map { id in call.split(separator: "%").joined(separator: "\(id)") + "\n" }
        let outcome = try await run("--demo", "--stdio", input: lines.joined())
        #expect(outcome.status == .exited(0))
        let answers = try outcome.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        #expect(answers.map { $0["id"] } == [1, 2, 3])
        #expect(answers.allSatisfy { $0["result"]?["content"]?[0]?["text"] == "hi" })
        #expect(
            outcome.errors.first
                == "mcp-server \(DaemonVersion.current) · demo 0.1.0 · 11 tools, 5 resources, 1 prompt")
        #expect(outcome.errors.last?.hasPrefix("serving    stdio     ready in ") == true)
    }

    // STDIO-03
    @Test func aPipeWithoutArgumentsIsAStdioServer() async throws {
        let outcome = try await run(input: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")
        #expect(outcome.status == .exited(0))
        #expect(outcome.output == "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n")
    }

    // A host starts `mcp-server --demo` as it is shown everywhere.
    @Test func theDemoServesAPipe() async throws {
        let outcome = try await run("--demo", input: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")
        #expect(outcome.status == .exited(0))
        #expect(outcome.output == "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n")
        #expect(outcome.errors.last?.hasPrefix("serving    stdio     ready in ") == true)
    }

    /// A server on pipes ends with the program that started it, although another one holds its input open.
    @Test func endsWithItsParent() async throws {
        let directory = try TemporaryDirectory()
        try directory.makeFIFO("input")
        // Held open for reading and writing, so that the input never ends.
        let held = unsafe open("\(directory.path)/input", O_RDWR | O_CLOEXEC)
        try #require(held >= 0)
        defer { close(held) }
        let script = "\"$0\" --demo --stdio < input 2> log & echo $! > pid.new; mv pid.new pid; read -r x"
        var launch = ProcessLaunch(
            "sh", ["-c", script, try WatchedProgram.path()], environment: WatchedProgram.environment,
            directory: directory.path)
        launch.output = .null
        let host = try ChildProcess(launch)
        func text(_ name: String) -> String {
            let bytes = (try? Files.read("\(directory.path)/\(name)", maxBytes: 4_096)) ?? []
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(await eventually { text("log").contains("serving    stdio") }, "\(text("log"))")
        let server = try #require(Int32(text("pid").dropLast()))
        host.signal(SIGKILL)
        _ = await host.wait()
        // Nobody may reap it but the first process of the system: gone, or a zombie.
        #expect(
            await eventually {
                let bytes = try? Files.read("/proc/\(server)/stat", maxBytes: 4_096)
                return bytes.map { String(decoding: $0, as: UTF8.self).contains(") Z ") } ?? true
            })
    }

    // Fault row 95, and the life of a listening server.
    @Test func listensOnceAndEndsOnSIGTERM() async throws {
        let directory = try TemporaryDirectory()
        let socket = "unix://\(directory.path)/s.sock"
        var launch = ProcessLaunch(
            try WatchedProgram.path(), ["--demo", "--listen", socket], environment: ["PATH": "/usr/bin"])
        launch.input = .null
        launch.output = .null
        let child = try ChildProcess(launch)
        guard let errors = child.takeErrors() else {
            Issue.record("no pipe to standard error")
            return
        }
        var banner = ""
        while !banner.contains("ready in") {
            var entry = pollfd(fd: errors.rawValue, events: Int16(POLLIN), revents: 0)
            try #require(uninterrupted { Int(unsafe poll(&entry, 1, 10_000)) } == 1, "no banner within 10 s")
            var buffer = [UInt8](repeating: 0, count: 1_024)
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe read(errors.rawValue, $0.baseAddress, $0.count)
            }
            try #require(count > 0, "it ended: \(banner)")
            banner += String(decoding: buffer[..<count], as: UTF8.self)
        }
        #expect(banner.contains("listening  \(socket)     ready in"))
        #expect(try Files.info("\(directory.path)/s.sock").permissions == 0o600)
        let second = try await run("--demo", "--listen", socket)
        #expect(second.status == .exited(3))
        #expect(second.errors.first?.hasSuffix("another server is using it") == true)
        child.signal(SIGTERM)
        #expect(await child.wait() == .exited(0))
    }
}
