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

    fileprivate enum Target: ~Copyable {
        case stream(NonBlockingStream)
        case file(AppendingFile)
    }

    fileprivate struct State: ~Copyable {
        var target: Target
        var dropped = 0
        /// Whether the last line could not be written to a file.
        var isFailing = false
        /// Where errors go that a file does not take; nil for other targets.
        var fallback: NonBlockingStream? = nil
        /// The next time that the name of a file is looked at.
        var nextLook = MonotonicInstant(nanoseconds: 0)
    }

    /// The time between two looks at the name of a log file, which others may rename.
    static let lookInterval = Duration.seconds(1)

    package let format: LogFormat
    private let state: Mutex<State>
    private let clock: any TimeSource
    /// Receives errors in words, whether or not their lines could be written.
    let onError: (@Sendable (String) -> Void)?

    /// Creates a sink that writes to the process's standard error.
    ///
    /// - Parameter onError: receives the event and values of each error, on any thread; must not block.
    package convenience init(
        format: LogFormat = .text, onError: (@Sendable (String) -> Void)? = nil
    ) throws(IOError) {
        try self.init(
            FileDescriptor(owning: try Syscalls.duplicate(2, atLeast: 3)), format: format,
            clock: SystemClock(), onError: onError)
    }

    /// Creates a sink that appends to a file, which is created with mode 0600 if it is missing. It is opened
    /// again within a second after it was renamed or removed. While it takes no lines, because the disk is
    /// full, errors go to the process's standard error.
    package convenience init(
        path: String, format: LogFormat = .text, onError: (@Sendable (String) -> Void)? = nil
    ) throws(IOError) {
        var fallback: NonBlockingStream? = nil
        // A process without standard error still has its file.
        if let errors = try? Syscalls.duplicate(2, atLeast: 3) {
            fallback = try NonBlockingStream(FileDescriptor(owning: errors), for: .write)
        }
        try self.init(path: path, fallback: fallback, format: format, onError: onError)
    }

    init(
        path: String, fallback: consuming NonBlockingStream?, format: LogFormat,
        onError: (@Sendable (String) -> Void)? = nil
    ) throws(IOError) {
        self.format = format
        self.onError = onError
        clock = SystemClock()
        state = Mutex(State(target: .file(try AppendingFile(path)), fallback: fallback))
    }

    package convenience init(_ descriptor: consuming FileDescriptor, format: LogFormat) throws(IOError) {
        try self.init(descriptor, format: format, clock: SystemClock())
    }

    init(
        _ descriptor: consuming FileDescriptor, format: LogFormat, clock: any TimeSource,
        onError: (@Sendable (String) -> Void)? = nil
    ) throws(IOError) {
        self.format = format
        self.clock = clock
        self.onError = onError
        state = Mutex(State(target: .stream(try NonBlockingStream(descriptor, for: .write))))
    }

    /// The number of lines lost so far because they were not read or the disk was full.
    package var droppedLines: Int { state.withLock { $0.dropped } }

    func time() -> WallTime { clock.wallTime }

    /// Opens a log file again under its name, after a rotation; has no effect on other sinks.
    package func reopen() throws(IOError) {
        try state.withLock { state throws(IOError) in
            switch state.target {
            case .stream: break
            case .file(let file): try file.reopen()
            }
        }
    }

    /// - Parameter isError: whether the line goes to standard error if the file does not take it.
    func write(_ line: [UInt8], isError: Bool = false) {
        let failure = state.withLock { state -> IOError? in
            // A line that does not fit, or cannot be written at all, must not stop the service.
            do throws(IOError) { try state.write(line, at: clock.now) } catch {
                state.dropped += 1
                return state.failed(error, isError ? line : nil, format, clock.wallTime)
            }
            state.isFailing = false
            return nil
        }
        if let failure { onError?("log failing error=\(failure)") }
    }
}

extension LogSink.State {
    fileprivate mutating func write(_ line: [UInt8], at now: MonotonicInstant) throws(IOError) {
        switch target {
        case .stream(let stream):
            let written = unsafe line.withUnsafeBytes { bytes in
                // A line that cannot be written is counted.
                (unsafe try? stream.writeNonBlocking(bytes)) ?? nil
            }
            guard written != nil else { throw IOError(errno: EAGAIN, function: "write") }
        case .file(let file):
            do throws(IOError) {
                if now >= nextLook {
                    nextLook = now + LogSink.lookInterval
                    _ = try file.reopenIfMoved()
                }
            } catch {
                // Without the new file, the old one stays in use.
            }
            try file.append(line)
        }
    }

    /// Writes an error that a file did not take to standard error, and before the first one that it takes
    /// none. Returns the failure if it is news.
    fileprivate mutating func failed(
        _ failure: IOError, _ line: [UInt8]?, _ format: LogFormat, _ time: WallTime
    ) -> IOError? {
        switch target {
        case .stream: return nil
        case .file: break
        }
        let isNew = !isFailing
        isFailing = true
        if isNew {
            var note = LogLine(format: format, level: .error, event: "log failing", time: time)
            note.add("error", failure)
            note.add("text", "lines are lost; errors are written here")
            writeElsewhere(note.finish())
        }
        if let line { writeElsewhere(line) }
        return isNew ? failure : nil
    }

    private func writeElsewhere(_ line: [UInt8]) {
        switch fallback {
        case .none: break
        case .some(let stream):
            _ = unsafe line.withUnsafeBytes { bytes in
                // A failure here cannot be reported anywhere.
                unsafe try? stream.writeNonBlocking(bytes)
            }
        }
    }
}
