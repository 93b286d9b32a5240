import Dispatch
import Foundation
import MCPCore

/// What a program printed and how it ended.
struct ProgramOutcome: Sendable {
    let code: Int32
    let stdout: String
    let stderr: String
    let stdoutBytes: [UInt8]
    let wasKilled: Bool
    let duration: Duration
}

/// Runs the built programs, which lie beside the test binary.
enum ProgramRunner {
    static let folder: String = {
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (path as NSString).deletingLastPathComponent
    }()

    static let client = folder + "/mcp-client"
    static let server = folder + "/mcp-server"

    static func client(
        _ words: String..., stdin: String? = nil, environment: [String: String] = [:],
        directory: String? = nil, limit: Int = 30, whileRunning: (@Sendable (Int32) -> Void)? = nil
    ) async throws -> ProgramOutcome {
        try await run(
            client, words, stdin: stdin, environment: environment, directory: directory, limit: limit,
            whileRunning: whileRunning)
    }

    /// Ends the program by force after `limit` seconds.
    static func run(
        _ program: String, _ words: [String], stdin: String? = nil, environment: [String: String] = [:],
        directory: String? = nil, limit: Int = 30, whileRunning: (@Sendable (Int32) -> Void)? = nil
    ) async throws -> ProgramOutcome {
        var launch = ProcessLaunch(
            program, words,
            environment: ["PATH": "/usr/bin:/bin", "NO_COLOR": "1"].merging(environment) { $1 },
            directory: directory)
        launch.group = .parent
        if stdin == nil { launch.input = .null }
        let start = ContinuousClock.now
        let child = try ChildProcess(launch, queue: DispatchQueue(label: "mcp.test.child"))
        let pid = child.pid
        let killer = DispatchWorkItem { [weak child] in child?.signal(SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(limit), execute: killer)
        defer { killer.cancel() }
        async let bytes = readAll(child.takeOutput())
        async let errorBytes = readAll(child.takeErrors())
        if let stdin, let input = child.takeInput() {
            try FileHandle(fileDescriptor: input.release(), closeOnDealloc: true)
                .write(contentsOf: Data(stdin.utf8))
        }
        whileRunning?(pid)
        let exit = await child.wait()
        let duration = ContinuousClock.now - start
        let (out, err) = await (bytes, errorBytes)
        let (code, wasKilled) =
            switch exit {
            case .exited(let code): (code, false)
            case .signaled(let number): (number, true)
            case .unknown: (-1, false)
            }
        return ProgramOutcome(
            code: code, stdout: String(decoding: out, as: UTF8.self),
            stderr: String(decoding: err, as: UTF8.self), stdoutBytes: out, wasKilled: wasKilled,
            duration: duration)
    }

    /// Interrupts the program when it has started another one, which it does when it can be interrupted.
    static func interruptWhenItHasAChild(_ pid: Int32, by number: Int32 = SIGINT) {
        // A thread of its own: those of the global queue may all wait for output.
        Thread.detachNewThread {
            let end = ContinuousClock.now + .seconds(20)
            while ContinuousClock.now < end {
                let threads = (try? Files.names(in: "/proc/\(pid)/task").names) ?? []
                let children = threads.map { thread in
                    (try? Files.read("/proc/\(pid)/task/\(thread)/children", maxBytes: 1 << 16)) ?? []
                }
                if children.contains(where: { !$0.isEmpty }) { break }
                usleep(10_000)
            }
            kill(pid, number)
        }
    }

    /// On a thread of its own: there are few in the global queue, and other tests need them.
    private static func readAll(_ descriptor: consuming FileDescriptor?) async -> [UInt8] {
        guard let number = descriptor?.release() else { return [] }
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let file = FileHandle(fileDescriptor: number, closeOnDealloc: true)
                let data = (try? file.readToEnd()) ?? nil
                continuation.resume(returning: Array(data ?? Data()))
            }
        }
    }
}

/// `mcp-server --demo` on a port and a unix socket, until `stop`.
final class DemoDaemon: Sendable {
    private let child: ChildProcess
    let socket: String
    let port: Int

    init() throws {
        socket = NSTemporaryDirectory() + "mcp-\(UUID().uuidString.prefix(8)).sock"
        var launch = ProcessLaunch(
            ProgramRunner.server, ["--demo", "--listen", "127.0.0.1:0", "--listen", "unix://\(socket)"])
        launch.input = .null
        launch.output = .null
        child = try ChildProcess(launch, queue: DispatchQueue(label: "mcp.test.child"))
        guard let number = child.takeErrors()?.release() else { throw CocoaError(.fileReadUnknown) }
        let errors = FileHandle(fileDescriptor: number, closeOnDealloc: true)
        var banner = ""
        while !banner.contains("ready in") {
            let data = errors.availableData
            if data.isEmpty { throw CocoaError(.fileReadUnknown, userInfo: ["banner": banner]) }
            banner += String(decoding: data, as: UTF8.self)
        }
        let digits = banner.firstRange(of: "http://127.0.0.1:").map { banner[$0.upperBound...] } ?? ""
        guard let port = Int(digits.prefix { $0.isNumber }) else { throw CocoaError(.fileReadUnknown) }
        self.port = port
        // Nobody needs the rest; a full pipe would stop the daemon.
        Thread.detachNewThread { _ = try? errors.readToEnd() }
    }

    func stop() {
        let ended = DispatchSemaphore(value: 0)
        child.onExit { _ in ended.signal() }
        child.signal(SIGTERM)
        ended.wait()
        try? FileManager.default.removeItem(atPath: socket)
    }
}
