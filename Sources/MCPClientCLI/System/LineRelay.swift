import Dispatch
import MCPCore
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Lines of descriptors, read on threads of their own: whatever takes a line delays the one who wrote it.
enum LineRelay {
    /// The longest line; a longer one ends the reading.
    static let maxLineBytes = 64 << 20

    private final class Stop: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }

    /// Answers the lines of standard input on standard output, until it ends or the task is cancelled.
    static func serve(_ answer: @escaping @Sendable ([UInt8]) -> [UInt8]?) async {
        await read(0) { line in
            guard let bytes = answer(line) else { return true }
            return SystemFile.writeAll(1, bytes + [UInt8(ascii: "\n")]) == nil
        }
    }

    /// Calls `take` for each line, without its end, until it returns false, the input ends or the task is
    /// cancelled. Returns whether the input was read to its end.
    @discardableResult
    static func read(
        _ descriptor: Int32, atMost limit: Int = maxLineBytes,
        _ take: @escaping @Sendable ([UInt8]) -> Bool
    ) async -> Bool {
        let stop = Stop()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // A thread of its own, because it waits for as long as the conversation lasts.
                let queue = DispatchQueue(label: "mcp-client.lines", qos: .userInitiated)
                queue.async { continuation.resume(returning: loop(descriptor, limit, stop, take)) }
            }
        } onCancel: {
            stop.set()
        }
    }

    private static func loop(
        _ descriptor: Int32, _ limit: Int, _ stop: Stop, _ take: ([UInt8]) -> Bool
    ) -> Bool {
        var rest: [UInt8] = []
        var searched = 0
        while !stop.isSet {
            guard SystemFile.waitUntilReadable(descriptor, milliseconds: 100) else { continue }
            guard TerminalMode.waitForForeground(descriptor, unless: { stop.isSet }) || !stop.isSet,
                let bytes = SystemFile.readSome(descriptor)
            else { return false }
            if bytes.isEmpty {
                if !rest.isEmpty { _ = take(rest) }
                return true
            }
            rest += bytes
            var start = 0
            while let end = rest[max(start, searched)...].firstIndex(of: UInt8(ascii: "\n")) {
                guard take(Array(rest[start ..< end])) else { return false }
                start = end + 1
                searched = start
            }
            rest.removeFirst(start)
            searched = rest.count
            if rest.count > limit { return false }
        }
        return false
    }
}
