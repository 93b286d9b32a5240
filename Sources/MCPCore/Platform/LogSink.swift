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
        /// Why the last line could not be written to a file; nil if it could be.
        var unwritten: IOError?
        /// Why a file could not be opened again under its name; nil if it could be, or need not be.
        var unopened: IOError?
        /// Whether the failure was written to standard error.
        var isTold = false
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
    /// again within a second after it was renamed or removed. While that is not possible, or the file takes
    /// no lines because the disk is full, errors go to the process's standard error.
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

    /// Opens a log file again under its name, after a rotation; has no effect on other sinks. A failure is
    /// told each time.
    package func reopen() {
        let failure = state.withLock { state -> IOError? in
            state.open(isTold: true)
            if state.unopened != nil { state.isTold = false }
            return state.tell(nil, format, clock.wallTime)
        }
        if let failure { onError?("log failing error=\(failure)") }
    }

    /// Looks at the name of a log file, and returns why lines are lost, or why the file could not be opened
    /// again; nil while all is well.
    package func look() -> IOError? {
        let (failure, news) = state.withLock { state -> (IOError?, IOError?) in
            state.open()
            let news = state.tell(nil, format, clock.wallTime)
            return (state.failure, news)
        }
        if let news { onError?("log failing error=\(news)") }
        return failure
    }

    /// - Parameter isError: whether the line goes to standard error if the file does not take it.
    func write(_ line: [UInt8], isError: Bool = false) {
        let failure = state.withLock { state -> IOError? in
            // A line that does not fit, or cannot be written at all, must not stop the service.
            do throws(IOError) {
                try state.write(line, at: clock.now)
                state.unwritten = nil
            } catch {
                state.dropped += 1
                state.unwritten = error
            }
            return state.tell(isError ? line : nil, format, clock.wallTime)
        }
        if let failure { onError?("log failing error=\(failure)") }
    }
}

extension LogSink.State {
    fileprivate mutating func write(_ line: [UInt8], at now: MonotonicInstant) throws(IOError) {
        if let file {
            if now >= nextLook {
                nextLook = now + LogSink.lookInterval
                open()
            }
            if let unopened, file.isRemoved { throw unopened }
            return try file.append(line)
        }
        switch target {
        case .file: break
        case .stream(let stream):
            let written = unsafe line.withUnsafeBytes { bytes in
                // A line that cannot be written is counted.
                (unsafe try? stream.writeNonBlocking(bytes)) ?? nil
            }
            guard written != nil else { throw IOError(errno: EAGAIN, function: "write") }
        }
    }

    /// The reason why lines are lost, or go where nobody looks for them.
    fileprivate var failure: IOError? { unopened ?? unwritten }

    private var file: AppendingFile? {
        switch target {
        case .stream: nil
        case .file(let file): file
        }
    }

    /// Opens a file under its name. Without the new file, the old one stays in use.
    ///
    /// - Parameter isTold: whether to open it also if its name seems to lead to it.
    fileprivate mutating func open(isTold: Bool = false) {
        guard let file else { return }
        do throws(IOError) {
            if isTold { try file.reopen() } else { _ = try file.reopenIfMoved() }
            // The next line shows whether the new file takes lines.
            if unopened != nil { unwritten = nil }
            unopened = nil
        } catch { unopened = error }
    }

    /// Writes the first failure of a file to standard error, and an error that the file did not take or that
    /// nobody looks for in it; also that the failure is over. Returns a failure that is news.
    fileprivate mutating func tell(_ line: [UInt8]?, _ format: LogFormat, _ time: WallTime) -> IOError? {
        guard let file else { return nil }
        guard let failure else {
            if isTold {
                isTold = false
                let note = LogLine(format: format, level: .info, event: "log recovered", time: time).finish()
                writeElsewhere(note)
                // The next line shows whether the file takes lines.
                try? file.append(note)
            }
            return nil
        }
        let isNew = !isTold
        isTold = true
        if isNew {
            var note = LogLine(format: format, level: .error, event: "log failing", time: time)
            note.add("error", failure)
            note.add(
                "text",
                unwritten != nil
                    ? "lines are lost; errors are written here"
                    : "lines go to the file that was open before; errors are written here, too")
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
