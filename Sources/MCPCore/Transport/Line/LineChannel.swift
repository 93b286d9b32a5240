#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The other end of a line-based connection.
protocol LinePeer: AnyObject, Sendable {
    /// Returns the descriptor that messages are written to. Each descriptor can be taken once.
    func takeInput() -> FileDescriptor?
    /// Returns the descriptor that messages are read from.
    func takeOutput() -> FileDescriptor?
    /// Returns the descriptor on which a program reports what went wrong; nil when there is none.
    func takeErrors() -> FileDescriptor?
    /// The exit status, or nil while it is not known.
    var status: ProcessExit? { get }
    /// Begins to end the peer, without waiting. On the loop.
    func hangUp()
}

extension ChildProcess: LinePeer {
    func hangUp() { startTermination() }
}

/// The pipes of a child, or a socket, on their loop.
final class LineChannel {
    private let counted = Counted(.lineChannel)

    /// The time that an error waits for the exit status after the end of the output.
    private static let statusGrace = Duration.seconds(1)
    private static let readBytes = 64 << 10
    /// The number of reads in one turn before others get their turn, such as the servers that share the loop;
    /// the poller reports what is left.
    private static let readsPerTurn = 4
    /// The number of reads of the output that an ended child left behind: a surviving process that holds the
    /// pipe must not keep us busy forever.
    private static let lastReads = 1_024

    private let child: any LinePeer
    private let name: String
    private let loop: EventLoop
    private let options: ClientOptions
    /// Weak: the client's side of the connection owns the transport, which owns this channel.
    private weak var inbox: (any ClientInbox)?

    private var input: ChildPipe?
    private var output: ChildPipe?
    private var errors: ChildPipe?
    private var framer: LineFramer
    /// Whether a line that is being dropped has not said what it responds to.
    private var isUndecided = false
    private var tail = StderrTail()
    private var outbox = ByteBuffer()
    /// The number of bytes that were written to the input.
    private var written = 0
    /// Whether the other side had read nothing at all when the input was closed.
    private var wasUnread = false
    private var isClosing = false
    /// The reason why the connection has ended, once it was reported.
    private(set) var end: ClientError?
    private var hasReported: Bool { end != nil }

    /// - Parameter rest: the part of the output that was read before.
    init(
        _ child: any LinePeer, name: String, loop: EventLoop, options: ClientOptions,
        rest: ByteSlice = ByteSlice()
    ) {
        self.child = child
        self.name = name
        self.loop = loop
        self.options = options
        framer = LineFramer(maxBytes: options.maxMessageBytes)
        framer.append(rest)
    }

    func start(_ inbox: any ClientInbox) {
        self.inbox = inbox
        input = ChildPipe(child.takeInput(), loop)
        output = ChildPipe(child.takeOutput(), loop)
        errors = ChildPipe(child.takeErrors(), loop)
        // A program that has already ended has no input; what it left behind is read, and its
        // end is reported.
        guard output != nil else { return report("cannot read the output of \(name)") }
        input?.onReady = { [weak self] in self?.flush() }
        output?.onReady = { [weak self] in self?.readOutput(Self.readsPerTurn, untilDry: false) }
        errors?.onReady = { [weak self] in self?.readErrors(Self.readsPerTurn) }
        do {
            try output?.watch(.readable)
            try errors?.watch(.readable)
        } catch {
            report("cannot watch the pipes of \(name): \(error)")
        }
        takeLines()
    }

    // MARK: Writing

    func write(_ bytes: ByteSlice) {
        guard input != nil, !hasReported else { return }
        outbox.append(bytes)
        outbox.append(0x0A)
        // All messages of one turn of the loop are sent in one write.
        input?.scheduleFlush()
    }

    private func flush() {
        while !outbox.isEmpty, let pipe = input {
            do {
                let count = unsafe try outbox.withBytes { (bytes) throws(IOError) in
                    unsafe try Syscalls.write(pipe.fd, UnsafeRawBufferPointer(bytes))
                }
                guard let count else { return try pipe.watch(.writable) }
                outbox.consume(count)
                written += count
            } catch {
                closeInput()
                guard error.errno == EPIPE || error.errno == ECONNRESET else {
                    return report("cannot write to \(name): \(error.reason)")
                }
                // What the server wrote earlier is still read: its end explains more than a broken pipe.
                return awaitStatus()
            }
        }
        outbox.removeAll(keeping: Self.readBytes)
        // Watching nothing cannot fail.
        try? input?.watch([])
    }

    /// Whether something was written, and the other side has read all of it; true where that is unknown.
    var hasBeenRead: Bool {
        guard let input else { return !wasUnread }
        return written > 0 && outbox.isEmpty && Syscalls.unreadBytes(input.fd) ?? 0 == 0
    }

    private func closeInput() {
        if let input { wasUnread = isUnread(input) }
        input?.close()
        input = nil
    }

    /// Whether the other side has read nothing at all.
    private func isUnread(_ input: ChildPipe) -> Bool {
        guard let unread = Syscalls.unreadBytes(input.fd) else { return false }
        return unread >= written
    }

    // MARK: Reading

    /// - Parameter untilDry: whether to read until nothing is left; otherwise a read that does not fill the
    ///   room is the last one, and the poller reports what comes later.
    private func readOutput(_ reads: Int, untilDry: Bool) {
        for _ in 0 ..< reads {
            guard let pipe = output else { return }
            var isDry = false
            let count: Int
            do {
                count = unsafe try framer.fill(reserving: Self.readBytes) { (room) throws(IOError) in
                    let read = unsafe try Syscalls.read(pipe.fd, into: UnsafeMutableRawBufferPointer(room))
                    isDry = read.map { $0 > 0 && $0 < room.count && !untilDry } ?? true
                    return read ?? 0
                }
            } catch {
                if error.errno == ECONNRESET { return outputEnded() }
                return report("cannot read the output of \(name): \(error.reason)")
            }
            takeLines()
            if isDry { return }
            if count == 0 { return outputEnded() }
        }
    }

    private func takeLines() {
        while true {
            switch framer.next() {
            case .line(let line): take(line)
            case .tooLong(let head): refuse(LongMessage(head))
            case .dropped(let tail): if isUndecided { refuse(LongMessage(tail: tail), isLast: true) }
            case .needMore: return framer.shrink(keeping: Self.readBytes)
            }
        }
    }

    /// Fails the call to which a message that is too long responds; all calls if even its end does not say.
    private func refuse(_ message: LongMessage, isLast: Bool = false) {
        let error = ClientError(
            .protocolViolation, "\(name) sent a line of more than \(options.maxMessageBytes) bytes")
        isUndecided = message == .unknown && !isLast
        switch message {
        case .response(let id): inbox?.fail(id, error)
        case .other: break
        case .unknown: if isLast { inbox?.failAll(error) }
        }
    }

    private func take(_ line: ByteSlice) {
        if !line.isEmpty { inbox?.receive(line, exchange: nil, status: nil) }
    }

    private func outputEnded() {
        if let rest = framer.rest() { take(rest) }
        output?.close()
        output = nil
        awaitStatus()
    }

    private func readErrors(_ reads: Int) {
        for _ in 0 ..< reads {
            guard let pipe = errors else { return }
            guard let bytes = pipe.readSome() else { return }
            // Output on stderr only explains: a failure to read it ends this stream and nothing else.
            guard !bytes.isEmpty else {
                errors?.close()
                errors = nil
                return
            }
            for line in unsafe bytes.withBytes({ unsafe tail.take($0) }) {
                options.onServerStderr?(line)
                options.trace?(.stderr(line))
            }
        }
    }

    // MARK: Ending

    /// Handles the end of the connection; the exit status, which usually follows, makes the better error.
    private func awaitStatus() {
        if let status = child.status { return ended(status) }
        if isClosing || hasReported { return }
        loop.schedule(after: Self.statusGrace) { [weak self] in self?.conclude(nil) }
    }

    /// Handles the end of the other side: reads what it left behind, and releases everything.
    func ended(_ status: ProcessExit) {
        readOutput(Self.lastReads, untilDry: true)
        conclude(status)
        letGo()
    }

    /// Closes what is left of the pipes; nothing more is read, and no caller is notified.
    func letGo() {
        for pipe in [input, output, errors] { pipe?.close() }
        (input, output, errors) = (nil, nil, nil)
        inbox = nil
    }

    private func conclude(_ status: ProcessExit?) {
        readErrors(Self.lastReads)
        report(status.map { "\(name) \($0)" } ?? "\(name) closed its connection")
    }

    /// Notifies the callers that wait, once, and lets the child end.
    private func report(_ message: String) {
        guard !hasReported else { return }
        let details = tail.last.map { "stderr: \($0)" }
        var error = ClientError(
            .connectionClosed, message, details: details,
            hint: isClosing || !details.isEmpty ? nil : "run the program by hand to see what it does")
        // Nothing of what was sent was read, so nothing can have been executed.
        error.isUnsent = written == 0 || input.map { isUnread($0) } ?? wasUnread
        end = error
        inbox?.connectionClosed(error)
        // A connection that starts again has another channel: late messages are not meant for it.
        inbox = nil
        close()
        child.hangUp()
    }

    /// Closes the child's input, which requests that the child end. Its output is still read
    /// until it has ended.
    func close() {
        isClosing = true
        flush()
        closeInput()
    }
}

/// One end of a pipe to a child, and its place on the loop.
final class ChildPipe: EventHandler {
    private let counted = Counted(.childPipe)
    var onReady: (() -> Void)?
    private let loop: EventLoop
    private var descriptor: FileDescriptor?
    private var registration: Registration?

    /// Creates the pipe's end; nil when the pipe was already taken, or cannot be read without waiting.
    init?(_ pipe: consuming FileDescriptor?, _ loop: EventLoop) {
        guard let descriptor = pipe.take() else { return nil }
        self.loop = loop
        // Our end has a file description of its own, so the flag affects no one else.
        guard (try? Syscalls.setNonBlocking(descriptor.rawValue)) != nil else { return nil }
        self.descriptor = consume descriptor
    }

    var fd: Int32 { descriptor?.rawValue ?? -1 }

    /// Watches for `interest`; watches nothing at all when it is empty, because a pipe without a reader
    /// reports endlessly.
    func watch(_ interest: Readiness) throws(IOError) {
        if interest.isEmpty {
            if let registration { loop.deregister(registration) }
            registration = nil
        } else if let registration {
            try loop.modify(registration, interest)
        } else {
            registration = try loop.register(fd, interest, self)
        }
    }

    /// Reads what has arrived, at most 16 KiB. Returns nil when nothing has, and no bytes at the end or after
    /// a failure.
    func readSome() -> ByteBuffer? {
        var buffer = ByteBuffer(capacity: 16 << 10)
        var isDry = false
        _ = try? unsafe buffer.fill { (room) throws(IOError) in
            let read = unsafe try Syscalls.read(fd, into: UnsafeMutableRawBufferPointer(room))
            isDry = read == nil
            return read ?? 0
        }
        if isDry { return nil }
        return buffer
    }

    override func ready(_ events: Readiness) { onReady?() }

    /// Calls `onReady` once at the end of this turn.
    func scheduleFlush() { loop.scheduleFlush(self) }

    override func flush() { onReady?() }

    override func loopStopped() {
        registration = nil
        close()
    }

    func close() {
        if let registration { loop.deregister(registration) }
        registration = nil
        onReady = nil
        descriptor = nil
    }
}
