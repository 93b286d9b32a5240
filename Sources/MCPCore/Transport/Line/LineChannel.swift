#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Who is at the other end of a line of messages.
protocol LinePeer: AnyObject, Sendable {
    /// Where messages are written to. Each descriptor can be taken once.
    func takeInput() -> FileDescriptor?
    /// Where messages are read from.
    func takeOutput() -> FileDescriptor?
    /// Where a program says what went wrong; nil when there is no such place.
    func takeErrors() -> FileDescriptor?
    /// How it ended, or nil while that is not known.
    var status: ProcessExit? { get }
    /// Begins to end it, without waiting. On the loop.
    func hangUp()
}

extension ChildProcess: LinePeer {
    func hangUp() { startTermination() }
}

/// The pipes of a child, or a socket, on their loop.
final class LineChannel {
    private let counted = Counted(.lineChannel)

    /// How long an error waits for the exit status after the end of the output.
    private static let statusGrace = Duration.seconds(1)
    private static let readBytes = 64 << 10
    /// Reads in one turn before others get theirs; the poller reports what is left.
    private static let readsPerTurn = 16
    /// Reads of what an ended child left behind: a survivor that holds the pipe must not keep us for ever.
    private static let lastReads = 1_024

    private let child: any LinePeer
    private let name: String
    private let loop: EventLoop
    private let options: ClientOptions
    /// Weak: the conversation owns the transport, which owns this channel.
    private weak var inbox: (any ClientInbox)?

    private var input: ChildPipe?
    private var output: ChildPipe?
    private var errors: ChildPipe?
    private var framer: LineFramer
    private var tail = StderrTail()
    private var outbox = ByteBuffer()
    private var isClosing = false
    /// Why the conversation is over, once that was told.
    private(set) var end: ClientError?
    private var hasReported: Bool { end != nil }

    /// - Parameter rest: what was read of the output before.
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
        // A program that has ended already has no input; what it left behind is read, and its end is told.
        guard output != nil else { return report("cannot read what \(name) says") }
        input?.onReady = { [weak self] in self?.flush() }
        output?.onReady = { [weak self] in self?.readOutput(Self.readsPerTurn) }
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
        flush()
    }

    private func flush() {
        while !outbox.isEmpty, let pipe = input {
            do {
                let written = unsafe try outbox.withBytes { (bytes) throws(IOError) in
                    unsafe try Syscalls.write(pipe.fd, UnsafeRawBufferPointer(bytes))
                }
                guard let written else { return try pipe.watch(.writable) }
                outbox.consume(written)
            } catch {
                input?.close()
                input = nil
                guard error.errno == EPIPE || error.errno == ECONNRESET else {
                    return report("cannot write to \(name): \(error.reason)")
                }
                // What the server has written before is still read: its end tells more than a broken pipe.
                return awaitStatus()
            }
        }
        outbox.removeAll(keeping: Self.readBytes)
        // Watching nothing cannot fail.
        try? input?.watch([])
    }

    // MARK: Reading

    private func readOutput(_ reads: Int) {
        for _ in 0 ..< reads {
            guard let pipe = output else { return }
            var isDry = false
            let count: Int
            do {
                count = unsafe try framer.fill(reserving: Self.readBytes) { (room) throws(IOError) in
                    let read = unsafe try Syscalls.read(pipe.fd, into: UnsafeMutableRawBufferPointer(room))
                    isDry = read == nil
                    return read ?? 0
                }
            } catch {
                if error.errno == ECONNRESET { return outputEnded() }
                return report("cannot read what \(name) says: \(error.reason)")
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
            case .tooLong:
                inbox?.failAll(
                    ClientError(
                        .protocolViolation,
                        "\(name) sent a line of more than \(options.maxMessageBytes) bytes"))
            case .needMore: return framer.shrink(keeping: Self.readBytes)
            }
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
            var buffer = ByteBuffer(capacity: 16 << 10)
            var isDry = false
            // What a program says here only explains: a failure to read it is its end, and no other.
            let count = try? unsafe buffer.fill { (room) throws(IOError) in
                let read = unsafe try Syscalls.read(pipe.fd, into: UnsafeMutableRawBufferPointer(room))
                isDry = read == nil
                return read ?? 0
            }
            if isDry { return }
            guard let count, count > 0 else {
                errors?.close()
                errors = nil
                return
            }
            for line in unsafe buffer.withBytes({ unsafe tail.take($0) }) {
                options.onServerStderr?(line)
                options.trace?(.stderr(line))
            }
        }
    }

    // MARK: The end

    /// The conversation is over; the exit status, which follows mostly, makes the better error.
    private func awaitStatus() {
        if let status = child.status { return ended(status) }
        if isClosing || hasReported { return }
        loop.schedule(after: Self.statusGrace) { [weak self] in self?.conclude(nil) }
    }

    /// The other side has ended: reads what it left behind, and lets go of everything.
    func ended(_ status: ProcessExit) {
        readOutput(Self.lastReads)
        conclude(status)
        letGo()
    }

    /// Closes what is left of the pipes; nothing more is read, and nobody is told.
    func letGo() {
        for pipe in [input, output, errors] { pipe?.close() }
        (input, output, errors) = (nil, nil, nil)
        inbox = nil
    }

    private func conclude(_ status: ProcessExit?) {
        readErrors(Self.lastReads)
        switch status {
        case .exited(let code): report("\(name) exited with status \(code)")
        case .signaled(let signal): report("\(name) was killed by signal \(signal)")
        case .unknown: report("\(name) ended")
        case nil: report("\(name) closed its connection")
        }
    }

    /// Tells those who wait, once, and lets the child end.
    private func report(_ message: String) {
        guard !hasReported else { return }
        let details = tail.last.map { "stderr: \($0)" }
        let error = ClientError(
            .connectionClosed, message, details: details,
            hint: isClosing || !details.isEmpty ? nil : "run the program by hand to see what it does")
        end = error
        inbox?.connectionClosed(error)
        // A conversation that starts anew has another channel: what comes late is not for it.
        inbox = nil
        close()
        child.hangUp()
    }

    /// Closes the child's input, by which it is asked to end. Its output is read on until it has ended.
    func close() {
        isClosing = true
        flush()
        input?.close()
        input = nil
    }
}

/// One end of a pipe to a child, and its place on the loop.
final class ChildPipe: EventHandler {
    private let counted = Counted(.childPipe)
    var onReady: (() -> Void)?
    private let loop: EventLoop
    private var descriptor: FileDescriptor?
    private var registration: Registration?

    /// Nil when the pipe was taken already, or cannot be read without waiting.
    init?(_ pipe: consuming FileDescriptor?, _ loop: EventLoop) {
        guard let descriptor = pipe.take() else { return nil }
        self.loop = loop
        // Our end has a description of its own, so the flag reaches nobody else.
        guard (try? Syscalls.setNonBlocking(descriptor.rawValue)) != nil else { return nil }
        self.descriptor = consume descriptor
    }

    var fd: Int32 { descriptor?.rawValue ?? -1 }

    /// Watches for `interest`; nothing at all when it is empty, for a pipe without a reader reports without
    /// end.
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

    override func ready(_ events: Readiness) { onReady?() }

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
