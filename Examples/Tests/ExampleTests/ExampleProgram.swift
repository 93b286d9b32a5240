import Dispatch
import Foundation
import Synchronization

/// An example, which lies beside the test binary.
final class ExampleProgram: @unchecked Sendable {
    // SAFETY: the process is set up in `init`; afterwards it is only signalled and waited for.
    private let process = Process()
    private let output = Pipe()
    private let errors = Pipe()
    private let input = Pipe()
    private let ended = DispatchSemaphore(value: 0)

    struct Outcome: Sendable {
        let code: Int32
        let output: String
        let errors: String
    }

    static func path(_ name: String) -> String {
        #if os(Linux)
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        #else
        // A test bundle lies beside the programs.
        let own = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath ?? ""
        #endif
        return (own as NSString).deletingLastPathComponent + "/" + name
    }

    private init(_ name: String, _ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: Self.path(name))
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        process.standardError = errors
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.run()
    }

    static func start(_ name: String, _ arguments: [String] = []) throws -> ExampleProgram {
        try ExampleProgram(name, arguments)
    }

    /// Feeds a program its input, waits for its end, and ends it by force after 30 seconds.
    static func run(_ name: String, _ arguments: [String] = [], input: String = "") async throws -> Outcome {
        let program = try ExampleProgram(name, arguments)
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try program.finish(input) }) }
        }
    }

    private func finish(_ text: String) throws -> Outcome {
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try input.fileHandleForWriting.close()
        let killer = DispatchWorkItem { [weak process] in
            process.map { _ = kill($0.processIdentifier, SIGKILL) }
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(30), execute: killer)
        let errorText = Mutex("")
        let errorsRead = DispatchSemaphore(value: 0)
        DispatchQueue.global().async { [errors] in
            let data = (try? errors.fileHandleForReading.readToEnd()) ?? nil
            errorText.withLock { $0 = String(decoding: data ?? Data(), as: UTF8.self) }
            errorsRead.signal()
        }
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        errorsRead.wait()
        ended.wait()
        killer.cancel()
        closePipes()
        return Outcome(
            code: process.terminationStatus, output: String(decoding: data, as: UTF8.self),
            errors: errorText.withLock { $0 })
    }

    /// The first line that the program prints; waits for 30 seconds at most.
    func firstLine() -> String {
        let killer = DispatchWorkItem { [weak process] in
            process.map { _ = kill($0.processIdentifier, SIGKILL) }
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(30), execute: killer)
        defer { killer.cancel() }
        var text = ""
        while !text.hasSuffix("\n") {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            text += String(decoding: data, as: UTF8.self)
        }
        return text.trimmingCharacters(in: .newlines)
    }

    func stop() {
        process.terminate()
        _ = ended.wait(timeout: .now() + .seconds(10))
        closePipes()
    }

    /// `Process` keeps them longer than needed.
    private func closePipes() {
        for handle in [input.fileHandleForWriting, output.fileHandleForReading, errors.fileHandleForReading] {
            try? handle.close()
        }
    }
}

extension ExampleProgram {
    struct NoConnection: Error {}

    /// Waits until somebody listens at a unix socket, for 30 s at most.
    static func listens(at path: String) async -> Bool {
        let end = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < end {
            if let descriptor = try? connect(to: path) {
                close(descriptor)
                return true
            }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    /// What comes back for a text, up to the end of the connection.
    static func exchange(_ text: String, at path: String) throws -> String {
        let handle = FileHandle(fileDescriptor: try connect(to: path), closeOnDealloc: true)
        try handle.write(contentsOf: Data(text.utf8))
        return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
    }

    private static func connect(to path: String) throws -> Int32 {
        #if canImport(Glibc)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                #if canImport(Glibc)
                unsafe Glibc.connect(descriptor, $0, size)
                #elseif canImport(Musl)
                unsafe Musl.connect(descriptor, $0, size)
                #else
                unsafe Darwin.connect(descriptor, $0, size)
                #endif
            }
        }
        guard result == 0 else {
            close(descriptor)
            throw NoConnection()
        }
        return descriptor
    }
}

/// Collects what comes on whatever thread.
final class Recorder<Value: Sendable>: Sendable {
    private let log = Mutex<[Value]>([])

    var values: [Value] { log.withLock { $0 } }
    func append(_ value: Value) { log.withLock { $0.append(value) } }
}
