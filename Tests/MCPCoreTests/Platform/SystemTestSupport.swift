import Dispatch
import Synchronization

@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A directory that is removed with everything in it.
final class TemporaryDirectory: Sendable {
    let path: String

    init() {
        let name = SystemRandom().bytes(8).map { String($0, radix: 16) }.joined()
        path = "/tmp/mcp-test-\(name)"
        precondition(unsafe mkdir(path, 0o700) == 0)
    }

    deinit { _ = try? ProcessRunner.run(ProcessLaunch("rm", ["-rf", path])) }

    func write(_ name: String, _ text: String) throws(IOError) {
        try Files.replace("\(path)/\(name)", with: Array(text.utf8))
    }

    func makeDirectory(_ name: String) { precondition(unsafe mkdir("\(path)/\(name)", 0o700) == 0) }

    func link(_ name: String, to target: String) {
        precondition(unsafe symlink(target, "\(path)/\(name)") == 0)
    }
}

/// Something that happens once on another thread and is waited for, for 10 seconds at most.
final class Promise<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let arrived = DispatchSemaphore(value: 0)

    func fulfil(_ newValue: Value) {
        value.withLock { $0 = newValue }
        arrived.signal()
    }

    /// Nil when nothing came in time.
    func wait(seconds: Int = 10) -> Value? {
        guard arrived.wait(timeout: .now() + .seconds(seconds)) == .success else { return nil }
        return value.withLock { $0 }
    }
}

func readOnce(_ fd: Int32, _ count: Int = 4_096) throws(IOError) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: count)
    let got = try unsafe buffer.withUnsafeMutableBufferPointer { buffer throws(IOError) -> Int? in
        unsafe try Syscalls.read(fd, into: UnsafeMutableRawBufferPointer(buffer))
    }
    return got.map { Array(buffer.prefix($0)) }
}

/// Reads a blocking descriptor to its end.
func readAll(_ fd: Int32) throws(IOError) -> String {
    var bytes: [UInt8] = []
    while let piece = try readOnce(fd), !piece.isEmpty { bytes += piece }
    return String(decoding: bytes, as: UTF8.self)
}

func writeText(_ fd: Int32, _ text: String) throws(IOError) {
    try unsafe Array(text.utf8).withUnsafeBufferPointer { bytes throws(IOError) in
        unsafe try Syscalls.writeAll(fd, UnsafeRawBufferPointer(bytes))
    }
}

struct NothingThere: Error {}

/// `#require` for what cannot be copied.
func unwrap(_ descriptor: consuming FileDescriptor?) throws -> FileDescriptor {
    guard let descriptor else { throw NothingThere() }
    return descriptor
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

#if os(Linux)
/// What the kernel tells about processes.
enum ProcFS {
    /// The numbers of the open descriptors of this process.
    /// What is open, but for what Dispatch opens for itself when it first needs it: `7 → pipe:[81]`.
    static var openDescriptors: [String] {
        (Int32(0) ..< 4_096).compactMap { number in
            guard fcntl(number, F_GETFD) >= 0 else { return nil }
            var buffer = [CChar](repeating: 0, count: 256)
            let count = unsafe readlink("/proc/self/fd/\(number)", &buffer, buffer.count - 1)
            let target = String(
                decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let ofDispatch = ["anon_inode:[eventpoll]", "anon_inode:[eventfd]", "anon_inode:[timerfd]"]
            return ofDispatch.contains(target) ? nil : "\(number) → \(target)"
        }
    }

    static func state(of pid: Int32) -> Character? {
        guard let stat = try? Files.read("/proc/\(pid)/stat", maxBytes: 4_096) else { return nil }
        let text = text(stat)
        guard let bracket = text.lastIndex(of: ")") else { return nil }
        return text[bracket...].dropFirst(2).first
    }
}
#endif

/// Whether a process that was killed is gone, or a zombie that waits for init; it may take a moment to die.
func isGone(_ pid: Int32) -> Bool {
    for _ in 0 ..< 1_000 {
        #if os(Linux)
        if ProcFS.state(of: pid).map({ $0 == "Z" || $0 == "X" }) ?? true { return true }
        #else
        if kill(pid, 0) != 0 { return true }
        #endif
        var none: [pollfd] = []
        _ = try? Syscalls.poll(&none, timeoutMilliseconds: 5)
    }
    return false
}

/// Counts from several threads.
final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    @discardableResult
    func increment() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
