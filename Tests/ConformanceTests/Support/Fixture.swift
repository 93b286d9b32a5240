import MCPCore
import Synchronization
import TestSupport

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// `conformance-server` on a free port of 127.0.0.1: one process for all tests, which ends with them.
final class ServerFixture: Sendable {
    static let port: Result<UInt16, any Error> = Result {
        let fixture = try ServerFixture()
        running.withLock { $0 = fixture }
        atexit { ServerFixture.running.withLock { _ = $0?.child.signal(SIGKILL) } }
        return fixture.port
    }

    private static let running = Mutex<ServerFixture?>(nil)

    private let child: ChildProcess
    private let port: UInt16

    private init() throws {
        var launch = ProcessLaunch(
            BuiltProgram.path("conformance-server"), ["--listen", "127.0.0.1:0"])
        launch.input = .null
        launch.errors = .inherit
        child = try ChildProcess(launch)
        ChildProcess.keepOne()
        let output = try unwrap(child.takeOutput())
        var line = ""
        while !line.hasSuffix("\n") {
            guard let bytes = try readWhenReady(output.rawValue), !bytes.isEmpty else { throw NothingThere() }
            line += text(bytes)
        }
        // listening on http://127.0.0.1:PORT/mcp
        let digits = line.split(separator: ":").last?.prefix { $0.isNumber } ?? ""
        guard let port = UInt16(digits) else { throw NothingThere() }
        self.port = port
    }
}

/// How a run of `conformance-client` ended.
struct ClientOutcome: Sendable {
    /// Nil when a signal ended it, as the time limit does.
    let code: Int32?
    /// What it wrote to standard error.
    let errors: String
}

enum ClientFixture {
    /// Runs one scenario as the suite does: everything in the environment, the URL as last argument. A run of
    /// more than 30 seconds is killed.
    static func run(
        _ scenario: String, _ version: String, at url: String, context: JSONValue? = nil
    ) async throws -> ClientOutcome {
        var environment = [
            "PATH": "/usr/bin:/bin", "MCP_CONFORMANCE_SCENARIO": scenario,
            "MCP_CONFORMANCE_PROTOCOL_VERSION": version,
        ]
        if var members = context?.objectValue {
            members["name"] = .string(scenario)
            environment["MCP_CONFORMANCE_CONTEXT"] = JSONValue.object(members).serialized()
        }
        var launch = ProcessLaunch(
            BuiltProgram.path("conformance-client"), [url], environment: environment)
        launch.input = .null
        launch.output = .null
        let child = try ChildProcess(launch)
        let killer = Task {
            try await Task.sleep(for: .seconds(30))
            child.signal(SIGKILL)
        }
        let errors = try unwrap(child.takeErrors()).release()
        async let complaints = onThread {
            let pipe = FileDescriptor(owning: errors)
            var bytes: [UInt8] = []
            while let piece = try? readWhenReady(pipe.rawValue), !piece.isEmpty { bytes += piece }
            return text(bytes)
        }
        let status = await child.wait()
        killer.cancel()
        guard case .exited(let code) = status else {
            return ClientOutcome(code: nil, errors: await complaints)
        }
        return ClientOutcome(code: code, errors: await complaints)
    }
}

/// Reads what comes next; empty at the end, nil when nothing comes for 30 seconds.
private func readWhenReady(_ descriptor: Int32) throws -> [UInt8]? {
    while true {
        var entries = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        guard try Syscalls.poll(&entries, timeoutMilliseconds: 30_000) > 0 else { return nil }
        if let bytes = try readOnce(descriptor) { return bytes }
    }
}
