import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A reader of the standard input that does not block the tasks of this process.
final class InputReader: Sendable {
    /// The longest line.
    static let maxLineBytes = 1 << 20

    private let buffer = Mutex<[UInt8]>([])

    /// Returns the bytes that arrive next; nil at the end of the input, and when the task is cancelled.
    func read() async -> [UInt8]? {
        let isCancelled = Cancellation()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    while !isCancelled.isSet {
                        guard SystemFile.waitUntilReadable(0, milliseconds: 50) else { continue }
                        let bytes = SystemFile.readSome(0) ?? []
                        return continuation.resume(returning: bytes.isEmpty ? nil : bytes)
                    }
                    continuation.resume(returning: nil)
                }
            }
        } onCancel: {
            isCancelled.set()
        }
    }

    private final class Cancellation: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }

    /// Returns the next line; nil at the end of the input.
    func line() async -> String? {
        while true {
            let line = buffer.withLock { buffer -> [UInt8]? in
                guard let end = buffer.firstIndex(of: UInt8(ascii: "\n")) else {
                    return buffer.count > Self.maxLineBytes ? buffer : nil
                }
                defer { buffer.removeSubrange(...end) }
                return Array(buffer[..<end])
            }
            if let line {
                if line.count > Self.maxLineBytes { buffer.withLock { $0 = [] } }
                return String(decoding: line, as: UTF8.self)
            }
            guard let bytes = await read() else {
                let rest = buffer.withLock { buffer -> [UInt8] in
                    defer { buffer = [] }
                    return buffer
                }
                return rest.isEmpty ? nil : String(decoding: rest, as: UTF8.self)
            }
            buffer.withLock { $0 += bytes }
        }
    }
}
