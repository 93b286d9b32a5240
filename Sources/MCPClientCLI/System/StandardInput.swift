import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The standard input, read to its end, with a notice to the person when nothing arrives.
enum StandardInput {
    private static let patience: Int32 = 1000

    /// Reads one line from the terminal, without blocking the tasks of this process.
    ///
    /// - Returns: nil at the end of the input, and when the task is cancelled: the next line typed is for
    ///   another reader.
    @Sendable static func readLine() async -> String? {
        let isCancelled = Flag()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    while !isCancelled.isSet {
                        // A terminal is readable when a line is complete.
                        guard SystemFile.waitUntilReadable(0, milliseconds: 50) else { continue }
                        return continuation.resume(returning: Swift.readLine())
                    }
                    continuation.resume(returning: nil)
                }
            }
        } onCancel: {
            isCancelled.set()
        }
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }

    /// Discards what was typed and not read.
    @Sendable static func discard() { tcflush(0, TCIFLUSH) }

    static func readAll(notice: any Sink) throws(Failure) -> [UInt8] {
        if !SystemFile.waitUntilReadable(0, milliseconds: patience) {
            notice.write("reading arguments from stdin; use </dev/null or {} if there are none\n")
        }
        return try SystemFile.readAll(0, name: "stdin")
    }
}
