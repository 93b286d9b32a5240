import Foundation
import MCPCore

/// `mcp-client host` as a process of its own.
final class HostProgram: @unchecked Sendable {
    // SAFETY: the process is set once in `init`; `stop` only signals and waits.
    private let process = Process()
    /// The line that it prints.
    let address: String
    private let output: Log
    private let errors: Log
    /// Where it keeps things for later runs.
    private let home = NSTemporaryDirectory() + "mcp-home-\(UInt64.random(in: 0 ... .max))"

    static let folder: String = {
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (path as NSString).deletingLastPathComponent
    }()

    static let server = folder + "/mcp-server"

    init(_ words: [String]) async throws {
        let (out, err) = (Pipe(), Pipe())
        output = Log(out)
        errors = Log(err)
        process.executableURL = URL(fileURLWithPath: Self.folder + "/mcp-client")
        process.arguments = ["host", "-v"] + words
        process.environment = ["PATH": "/usr/bin:/bin", "NO_COLOR": "1", "HOME": home]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = out
        process.standardError = err
        try process.run()
        let deadline = ContinuousClock.now + .seconds(20)
        while !output.text.contains("\n") {
            guard ContinuousClock.now < deadline, process.isRunning else {
                throw Browser.Timeout(description: "host: \(errors.text)")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        address = output.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    var pid: Int32 { process.processIdentifier }
    var origin: String { String(address.prefix { $0 != "#" }.dropLast()) }
    var port: UInt16 { UInt16(origin.split(separator: ":").last ?? "") ?? 0 }
    var token: String { String(address.drop { $0 != "#" }.dropFirst()) }
    var isRunning: Bool { process.isRunning }
    /// What it wrote to stderr.
    var errorText: String { errors.text }

    func stop() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(atPath: home)
    }

    private final class Log: @unchecked Sendable {
        // SAFETY: under the lock.
        private let lock = NSLock()
        private var collected = ""

        init(_ pipe: Pipe) {
            pipe.fileHandleForReading.readabilityHandler = { [weak self] handle in
                let data = handle.availableData
                if data.isEmpty { handle.readabilityHandler = nil }
                self?.lock.withLock { self?.collected += String(decoding: data, as: UTF8.self) }
            }
        }

        var text: String { lock.withLock { collected } }
    }
}
