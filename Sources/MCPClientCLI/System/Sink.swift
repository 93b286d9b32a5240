import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A place for bytes: a descriptor, or memory in tests.
protocol Sink: Sendable {
    /// Whether a person reads it directly.
    var isTerminal: Bool { get }
    /// Writes all bytes. Failures are told once, at the end, by `failure`.
    func write(_ bytes: [UInt8])
    /// Why not everything was written; nil when all is well, or when the reader simply went away.
    var failure: String? { get }
    /// The reader went away: what is written goes nowhere.
    var isClosed: Bool { get }
}

extension Sink {
    var isClosed: Bool { false }

    func write(_ text: String) { write(Array(text.utf8)) }
}

/// Collects what stdout would get, for `-o FILE`.
final class BufferSink: Sink {
    private let collected = Mutex<[UInt8]>([])

    let isTerminal = false
    let failure: String? = nil

    func write(_ bytes: [UInt8]) { collected.withLock { $0 += bytes } }

    var bytes: [UInt8] { collected.withLock { $0 } }
}

/// stdout or stderr.
final class DescriptorSink: Sink {
    private let descriptor: Int32
    let isTerminal: Bool
    private let failed = Mutex<Failed>(Failed())

    private struct Failed {
        var isClosed = false
        var message: String?
    }

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
    }

    var failure: String? { failed.withLock { $0.message } }

    var isClosed: Bool { failed.withLock { $0.isClosed } }

    func write(_ bytes: [UInt8]) {
        failed.withLock { state in
            if state.isClosed { return }
            guard let code = SystemFile.writeAll(descriptor, bytes) else { return }
            state.isClosed = true
            // A reader that has seen enough, such as `head`, is no failure.
            if code != EPIPE { state.message = SystemFile.text(code) }
        }
    }
}
