import Dispatch
import Foundation

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
        _ words: String..., stdin: String? = nil, environment: [String: String] = [:], limit: Int = 30,
        whileRunning: (@Sendable (Int32) -> Void)? = nil
    ) async throws -> ProgramOutcome {
        try await run(
            client, words, stdin: stdin, environment: environment, limit: limit, whileRunning: whileRunning)
    }

    /// Ends the program by force after `limit` seconds.
    static func run(
        _ program: String, _ words: [String], stdin: String? = nil, environment: [String: String] = [:],
        limit: Int = 30, whileRunning: (@Sendable (Int32) -> Void)? = nil
    ) async throws -> ProgramOutcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = words
        process.environment = ["PATH": "/usr/bin:/bin", "NO_COLOR": "1"].merging(environment) { $1 }
        let (output, errors, input) = (Pipe(), Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = stdin == nil ? FileHandle.nullDevice : input
        let start = ContinuousClock.now
        let ended = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in ended.continuation.finish() }
        try process.run()
        let pid = process.processIdentifier
        if let stdin {
            try input.fileHandleForWriting.write(contentsOf: Data(stdin.utf8))
            try input.fileHandleForWriting.close()
        }
        let killer = DispatchWorkItem { kill(pid, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(limit), execute: killer)
        async let bytes = read(output)
        async let errorBytes = read(errors)
        whileRunning?(pid)
        for await _ in ended.stream {}
        killer.cancel()
        let duration = ContinuousClock.now - start
        let (out, err) = await (bytes, errorBytes)
        return ProgramOutcome(
            code: process.terminationStatus, stdout: String(decoding: out, as: UTF8.self),
            stderr: String(decoding: err, as: UTF8.self), stdoutBytes: out,
            wasKilled: process.terminationReason == .uncaughtSignal, duration: duration)
    }

    private static func read(_ pipe: Pipe) async -> [UInt8] {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let data = (try? pipe.fileHandleForReading.readToEnd()) ?? nil
                continuation.resume(returning: Array(data ?? Data()))
            }
        }
    }
}

/// `mcp-server --demo` on a port and a unix socket, until `stop`.
final class DemoDaemon: @unchecked Sendable {
    // SAFETY: the process is set once in `init`; `stop` only signals and waits.
    private let process = Process()
    let socket: String
    let port: Int

    init() throws {
        socket = NSTemporaryDirectory() + "mcp-\(UUID().uuidString.prefix(8)).sock"
        process.executableURL = URL(fileURLWithPath: ProgramRunner.server)
        process.arguments = ["--demo", "--listen", "127.0.0.1:0", "--listen", "unix://\(socket)"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        var banner = ""
        while !banner.contains("ready in") {
            let data = errors.fileHandleForReading.availableData
            if data.isEmpty { throw CocoaError(.fileReadUnknown, userInfo: ["banner": banner]) }
            banner += String(decoding: data, as: UTF8.self)
        }
        let digits = banner.firstRange(of: "http://127.0.0.1:").map { banner[$0.upperBound...] } ?? ""
        guard let port = Int(digits.prefix { $0.isNumber }) else { throw CocoaError(.fileReadUnknown) }
        self.port = port
        // Nobody reads on; a full pipe would stop the daemon.
        errors.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(atPath: socket)
    }
}
