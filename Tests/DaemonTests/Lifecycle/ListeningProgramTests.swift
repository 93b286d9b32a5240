import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Where the program listens, and what it leaves alone there.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ListeningProgramTests {
    private func run(
        _ arguments: [String], environment: [String: String] = WatchedProgram.environment
    ) async throws -> (status: ProcessExit, output: String, errors: String) {
        let launch = ProcessLaunch(try WatchedProgram.path(), arguments, environment: environment)
        let limits = ProcessRunner.Limits(timeout: .seconds(20))
        let result = try await Offload.run { try ProcessRunner.run(launch, limits: limits) }
        return (
            result.status, String(decoding: result.output, as: UTF8.self),
            String(decoding: result.errors, as: UTF8.self)
        )
    }

    /// Whatever is not a socket that a dead server left stays as it is.
    @Test func aFileAtThePathOfTheSocketStays() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("data.db", "important")
        try directory.link("link", to: "data.db")
        for name in ["data.db", "link"] {
            let outcome = try await run(["--demo", "--listen", "unix://\(directory.path)/\(name)"])
            #expect(outcome.status == .exited(3))
            #expect(
                outcome.errors.contains("cannot listen on unix://\(directory.path)/\(name): it is a "),
                "\(outcome)")
            #expect(outcome.errors.contains("and was left alone"), "\(outcome)")
        }
        #expect(try Files.read("\(directory.path)/data.db", maxBytes: 100) == Array("important".utf8))
        #expect(try Files.names(in: directory.path).names.sorted() == ["data.db", "link"])
    }

    /// What is missing for a socket is named, with the remedy.
    @Test func whatIsMissingForASocketIsNamed() async throws {
        let directory = try TemporaryDirectory()
        let missing = try await run(["--demo", "--listen", "unix://\(directory.path)/none/s"])
        #expect(missing.status == .exited(3))
        #expect(missing.errors.contains("its directory does not exist; create it first"), "\(missing)")
    }

    #if os(Linux)
    /// Without any address: the socket of the user, and the port of the loopback interface.
    @Test func theDefaultAddresses() async throws {
        let directory = try TemporaryDirectory()
        let environment = WatchedProgram.environment.merging(["XDG_RUNTIME_DIR": directory.path]) { $1 }
        let socket = "\(directory.path)/mcp.sock"
        let line = "listening  unix://\(socket)   http://127.0.0.1:8808/mcp     ready in"
        // Something else on this machine may have the port: the refusal names it.
        if let other = BlockingSocket.connect(8_808, waitingAtMost: 1) {
            BlockingSocket.close(other)
            let outcome = try await run(["--demo"], environment: environment)
            #expect(outcome.status == .exited(3) && outcome.errors.contains("127.0.0.1:8808"), "\(outcome)")
            return
        }
        let program = try await WatchedProgram(["--demo"], socket: socket, environment: environment)
        #expect(program.output.contains(line), "\(program.output)")
        #expect(try Files.info(socket).permissions == 0o600)
        let client = try await MCPClient.connect(.unix(path: socket))
        #expect(try await client.callTool("echo", ["text": "hi"]).text == "hi")
        await client.close()
        await program.stop()
        #expect(throws: IOError.self) { try Files.info(socket) }
    }
    #endif

    /// A server over HTTP for a host that starts programs.
    @Test func exposeServesAServerOverHTTP() async throws {
        let far = try await WatchedProgram(["--demo", "--listen", "127.0.0.1:0"])
        let port = try #require(far.port)
        let client = try await MCPClient.connect(
            .command(
                try WatchedProgram.path(), ["expose", "--stdio", "http://127.0.0.1:\(port)/mcp"],
                environment: WatchedProgram.environment))
        #expect(try await client.callTool("echo", ["text": "through"]).text == "through")
        await client.close()
        await far.stop()
    }

    /// Every kind of file is printed for a configuration, and the property list is one.
    @Test(arguments: ["--systemd", "--systemd-socket", "--launchd", "--nginx", "--caddy", "--docker"])
    func filesForOthers(_ kind: String) async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "mcp.jsonc",
            #"{ "listen": ["unix://\#(directory.path)/s?mode=0660"], "tools": { "t": { "exec": ["true"] } } }"#
        )
        let outcome = try await run(["init", kind, "-c", "\(directory.path)/mcp.jsonc"])
        #expect(outcome.status == .exited(0), "\(outcome)")
        #expect(outcome.output.hasSuffix("\n") && !outcome.output.contains("Optional("))
        guard kind == "--launchd" else { return }
        let code =
            "import plistlib, sys; print(plistlib.loads(sys.stdin.buffer.read())['ProgramArguments'][-1])"
        let launch = ProcessLaunch("python3", ["-c", code], environment: WatchedProgram.environment)
        let read = try await Offload.run { try ProcessRunner.run(launch, input: Array(outcome.output.utf8)) }
        #expect(String(decoding: read.output, as: UTF8.self).hasSuffix("/mcp.jsonc\n"), "\(outcome.output)")
    }
}
