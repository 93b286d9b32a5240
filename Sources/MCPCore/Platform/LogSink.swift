import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The destination of log lines.
package final class LogSink: Sendable {
    private let counted = Counted(.logSink)

    private struct State: ~Copyable {
        var stream: NonBlockingStream
        var dropped = 0
    }

    package let format: LogFormat
    private let state: Mutex<State>
    private let clock: any TimeSource

    /// Creates a sink that writes to the process's standard error.
    package convenience init(format: LogFormat = .text) throws(IOError) {
        try self.init(FileDescriptor(owning: try Syscalls.duplicate(2, atLeast: 3)), format: format)
    }

    /// Creates a sink that appends to a file, which is created with mode 0600 if it is missing.
    package convenience init(path: String, format: LogFormat = .text) throws(IOError) {
        do {
            try self.init(
                try Syscalls.open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, mode: 0o600),
                format: format)
        } catch { throw error.applied(to: path) }
    }

    package convenience init(_ descriptor: consuming FileDescriptor, format: LogFormat) throws(IOError) {
        try self.init(descriptor, format: format, clock: SystemClock())
    }

    init(
        _ descriptor: consuming FileDescriptor, format: LogFormat, clock: any TimeSource
    ) throws(IOError) {
        self.format = format
        self.clock = clock
        state = Mutex(State(stream: try NonBlockingStream(descriptor, for: .write)))
    }

    /// The number of lines lost so far because they were not read or the disk was full.
    package var droppedLines: Int { state.withLock { $0.dropped } }

    func time() -> WallTime { clock.wallTime }

    func write(_ line: [UInt8]) {
        state.withLock { state in
            // A line that does not fit, or cannot be written at all, must not stop the service.
            let written = unsafe line.withUnsafeBytes { bytes in
                (unsafe try? state.stream.writeNonBlocking(bytes)) ?? nil
            }
            if written == nil { state.dropped += 1 }
        }
    }
}
