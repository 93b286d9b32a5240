import MCPCore
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A destination for bytes: a descriptor, or memory, as in tests.
protocol Sink: Sendable {
    /// Whether a person reads it directly.
    var isTerminal: Bool { get }
    /// The width of the terminal; nil if it is none, or does not tell.
    var columns: Int? { get }
    /// Writes all bytes. Failures are reported once, at the end, by `failure`.
    func write(_ bytes: [UInt8])
    /// The reason why not everything was written; nil when all is well, or when the reader simply went away.
    var failure: String? { get }
    /// Whether the reader went away, so that further output is lost.
    var isClosed: Bool { get }
    /// Puts everything written so far where it stays, whatever happens to the command.
    func save() throws(Failure)
}

extension Sink {
    var isClosed: Bool { false }
    var columns: Int? { nil }

    func save() throws(Failure) {}

    func write(_ text: String) { write(Array(text.utf8)) }
}

/// A sink that collects the output meant for stdout, for `-o FILE`.
final class BufferSink: Sink {
    typealias Writer = @Sendable ([UInt8]) throws(Failure) -> Void

    private let collected = Mutex<[UInt8]>([])
    private let file = Callback<Writer>()

    let isTerminal = false
    let failure: String? = nil

    func write(_ bytes: [UInt8]) { collected.withLock { $0 += bytes } }

    var bytes: [UInt8] { collected.withLock { $0 } }

    /// Sets what writes FILE.
    func saves(_ write: @escaping Writer) { file.set(write) }

    /// Writes FILE, the first time only.
    func save() throws(Failure) {
        try file.take()?(bytes)
    }
}

/// A sink that writes to stdout or stderr.
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

    var columns: Int? { isTerminal ? Terminal.columns(of: descriptor) : nil }

    var failure: String? { failed.withLock { $0.message } }

    var isClosed: Bool { failed.withLock { $0.isClosed } }

    func write(_ bytes: [UInt8]) {
        failed.withLock { state in
            if state.isClosed { return }
            guard let code = SystemFile.writeAll(descriptor, bytes) else { return }
            state.isClosed = true
            // A reader that has seen enough, such as `head`, is not a failure.
            if code != EPIPE { state.message = SystemFile.text(code) }
        }
    }
}
