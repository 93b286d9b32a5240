import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

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
