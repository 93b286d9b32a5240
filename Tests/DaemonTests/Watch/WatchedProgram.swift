import MCPCore
import Synchronization
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// `mcp-server` as a process of its own that listens on a unix socket, with what it logs.
final class WatchedProgram: Sendable {
    let socket: String
    private let child: ChildProcess
    private let log = LogText()

    /// The executable that the build has put beside the tests.
    static func path() throws -> String {
        let path = BuiltProgram.path("mcp-server")
        try #require(unsafe access(path, X_OK) == 0, "\(path) is not built")
        return path
    }

    /// Nothing can be made in the home, by root neither.
    static let environment = ["HOME": "/dev/null", "PATH": "/usr/bin:/bin"]

    convenience init(configuration: String, socket: String) async throws {
        try await self.init(["-c", configuration, "--listen", "unix://\(socket)"], socket: socket)
    }

    /// - Parameters:
    ///   - socket: one that the arguments name.
    ///   - directory: the working directory; nil is that of the tests.
    ///   - words: another program that becomes this one, with its arguments.
    ///   - line: what it logs before it is used.
    init(
        _ arguments: [String], socket: String = "", environment: [String: String] = environment,
        directory: String? = nil, through words: [String] = [], awaiting line: String = "ready in"
    ) async throws {
        self.socket = socket
        let all = words + [try Self.path()] + arguments
        var launch = ProcessLaunch(
            all[0], Array(all.dropFirst()), environment: environment, directory: directory)
        launch.input = .null
        launch.output = .null
        child = try ChildProcess(launch)
        guard let pipe = child.takeErrors() else { throw IOError(errno: EBADF, function: "pipe") }
        let errors = pipe.release()
        TestThread.run { [log] in
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = unsafe buffer.withUnsafeMutableBytes {
                    unsafe read(errors, $0.baseAddress, $0.count)
                }
                guard count > 0 else { break }
                let text = String(decoding: buffer[..<count], as: UTF8.self)
                log.add(text)
            }
            close(errors)
        }
        try #require(await logs(line), "\(output)")
    }

    var output: String { log.text }

    /// The port of the first TCP address that it has named.
    var port: UInt16? {
        let text = output
        guard let place = text.firstRange(of: "http://127.0.0.1:") else { return nil }
        return UInt16(text[place.upperBound...].prefix { $0.isNumber })
    }

    /// Whether it logs this, within 10 seconds.
    func logs(_ text: String, times: Int = 1) async -> Bool {
        await eventually { self.output.ranges(of: text).count >= times }
    }

    var pid: Int32 { child.pid }

    /// Signals the process alone: a program that it is starting may not have left its group yet.
    func signal(_ number: Int32) { _ = kill(child.pid, number) }

    func wait() async -> ProcessExit { await child.wait() }

    func stop() async {
        child.signal(SIGTERM)
        _ = await child.wait()
    }

    deinit { child.signal(SIGKILL) }
}

private final class LogText: Sendable {
    private let all = Mutex("")
    var text: String { all.withLock { $0 } }
    func add(_ text: String) { all.withLock { $0 += text } }
}

/// Looks again and again, for 30 seconds at most.
func eventually(milliseconds: Int = 30_000, _ fits: () -> Bool) async -> Bool {
    let clock = ContinuousClock()
    let limit = clock.now.advanced(by: .milliseconds(milliseconds))
    while clock.now < limit {
        if fits() { return true }
        try? await Task.sleep(for: .milliseconds(2))
    }
    return fits()
}
