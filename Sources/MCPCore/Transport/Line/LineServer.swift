import Synchronization

/// A server for one client over a pair of byte streams, one message per line (basic/transports/stdio).
///
/// Confined to its loop. Every event schedules a flush, and every flush ends in `settle()`, which takes
/// the lines that have arrived and decides whether to read. Output that the client has not read yet is
/// kept, up to a limit; beyond it, no line is taken and nothing is read until the client has caught up. A
/// client that writes more than that before it reads waits for itself; its requests in flight still end by
/// their deadlines.
final class LineServer: EventHandler, @unchecked Sendable {
    private let counted = Counted(.lineServer)

    // SAFETY: accessed on its loop only; other threads reach it through `loop.execute`. Properties that are
    // not checked for overlapping accesses at run time are accessed in single steps only, as in
    // `HTTPConnection`.
    private let server: MCPServer
    let loop: EventLoop
    private let streams: StandardStreams
    private let identifier = ConnectionNumber.next()
    @safe @exclusivity(unchecked) private var framer: LineFramer
    private var output = JSONWriter()
    /// The messages of exchanges that arrive while a message is being served, because its response is being
    /// written into `output`.
    @safe @exclusivity(unchecked) private var held: [ByteSlice] = []
    @safe @exclusivity(unchecked) private var isServing = false
    @safe @exclusivity(unchecked) private var channel: ServerChannel
    private var inputRegistration: Registration?
    private var outputHandler: OutputHandler?
    private var outputRegistration: Registration?
    /// The size of the messages other than responses since the client last read everything, in bytes.
    @safe @exclusivity(unchecked) private var toldBytes = 0
    @safe @exclusivity(unchecked) private var pending = 0
    /// Whether no more input comes, although some lines may not have been taken yet.
    @safe @exclusivity(unchecked) private var inputEnded = false
    /// Whether the last line of the input, without a newline, has not been taken yet.
    @safe @exclusivity(unchecked) private var hasLastLine = false
    private var isOver = false
    private let ended = OneTimeEvent()
    private let onEnd: @Sendable () -> Void
    private var drainTimer: LoopTimer?
    /// Whether the end of the input is that of the server.
    private var isStopping = false

    private static let readBytes = 64 * 1024
    /// The size of the responses that a client may leave unread before its next messages have to wait.
    static let backlogBytes = 64 * 1024 * 1024
    private let backlogLimit: Int
    /// The size of the messages other than responses that a client may leave unread before further
    /// ones are dropped.
    static let toldLimit = 16 * 1024 * 1024
    /// The time that requests in flight may take after the input has ended.
    private let drainTimeout: Duration

    /// - Parameters:
    ///   - drainTimeout: the time that requests in flight may take after the input has ended.
    ///   - backlogLimit: the size of the responses that the client may leave unread.
    ///   - onEnd: called on the loop when the input has ended and everything is answered.
    init(
        _ server: MCPServer, streams: consuming StandardStreams, loop: EventLoop,
        drainTimeout: Duration = .seconds(10), backlogLimit: Int = LineServer.backlogBytes,
        onEnd: @escaping @Sendable () -> Void = {}
    ) {
        self.drainTimeout = drainTimeout
        self.backlogLimit = backlogLimit
        self.server = server
        self.streams = streams
        self.loop = loop
        self.onEnd = onEnd
        channel = ServerChannel(id: identifier)
        channel.peer = .init("stdio")
        framer = LineFramer(maxBytes: server.options.limits.maxLineBytes)
    }

    /// Starts to serve. On the loop.
    func start() {
        // Server messages go to the same pipe.
        channel.stream = ConnectionStream { [weak self] message in
            guard let self else { return }
            loop.execute { [weak self] in self?.tell(message) }
        }
        watchInput()
    }

    private func watchInput() {
        do {
            inputRegistration = try loop.register(streams.input.rawValue, .readable, self)
        } catch {
            server.dispatcher.log("cannot read standard input: \(error)")
            finish()
        }
    }

    /// Returns when the input has ended and everything that was read is answered.
    func waitUntilEnded() async { await ended.wait() }

    /// Accepts no more input, and lets the requests in flight finish.
    func stop() {
        loop.execute {
            guard !self.isOver, !self.isStopping else { return }
            self.isStopping = true
            self.server.dispatcher.beginStop()
            self.endInput()
        }
    }

    // MARK: Reading

    override func ready(_ events: Readiness) {
        guard !inputEnded else { return }
        loop.scheduleFlush(self)
        do {
            var count: Int?
            _ = unsafe try framer.fill(reserving: Self.readBytes) { (room) throws(IOError) in
                count = unsafe try streams.input.readNonBlocking(into: UnsafeMutableRawBufferPointer(room))
                return count ?? 0
            }
            guard let count else { return }
            if count == 0 { endOfStream() }
        } catch {
            server.dispatcher.log("reading standard input failed: \(error)")
            endOfStream()
        }
        takeLines()
    }

    /// Takes the lines that have arrived, and decides whether to read; this is the only place that does.
    /// While the client has to catch up, the input is not watched at all, because the end of a pipe is
    /// reported whatever it is watched for.
    private func settle() {
        guard !isOver else { return }
        takeLines()
        let mayRead = !inputEnded && !isBacklogged
        if mayRead, inputRegistration == nil {
            watchInput()
        } else if !mayRead, let inputRegistration {
            loop.deregister(inputRegistration)
            self.inputRegistration = nil
        }
    }

    private var isBacklogged: Bool { output.out.count > backlogLimit }

    override func loopStopped() { finish() }

    private func takeLines() {
        while !isBacklogged {
            switch framer.next() {
            case .needMore: return takeLastLine()
            case .line(let line): take(line)
            case .dropped: break
            case .tooLong:
                let text = "A line is longer than \(framer.maxBytes) bytes and was skipped"
                let refusal = Refusal(.invalidRequest(text))
                _ = server.dispatcher.refuse(refusal, id: nil, session: channel.session, &output)
                output.out.append(UInt8(ascii: "\n"))
            }
        }
    }

    private func take(_ line: ByteSlice) {
        // Empty lines are ignored (fault 3).
        guard line.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else { return }
        isServing = true
        let disposition = server.dispatcher.receive(line, from: &channel, into: &output) {
            LineResponseSink(self)
        }
        isServing = false
        switch disposition {
        case .answered: output.out.append(UInt8(ascii: "\n"))
        case .deferred: pending += 1
        case .accepted, .dropped: break
        }
        guard !held.isEmpty else { return }
        for message in held { send(message) }
        held = []
    }

    /// Sends a message other than a response. A client that does not read such messages for a long time loses
    /// further ones, and its subscriptions end (fault 63): the messages that already wait for it make it
    /// check again anyway.
    func tell(_ message: ByteSlice) {
        guard toldBytes <= Self.toldLimit else {
            return server.dispatcher.endSubscriptions(of: identifier, .tooSlow)
        }
        toldBytes += message.count
        send(message)
    }

    private func endOfStream() {
        hasLastLine = true
        takeLines()
        endInput()
    }

    /// Takes a last message without its newline, which is still a message.
    private func takeLastLine() {
        guard hasLastLine else { return }
        hasLastLine = false
        if let rest = framer.rest() { take(rest) }
    }

    private func endInput() {
        guard !inputEnded else { return }
        inputEnded = true
        // Changes before the end are reported before it.
        server.dispatcher.deliverChanges()
        server.dispatcher.endSubscriptions(of: identifier)
        for exchange in server.dispatcher.inFlight.entries(in: identifier) { exchange.endAsking() }
        drainTimer = loop.schedule(after: drainTimeout) { [weak self] in
            guard let self else { return }
            server.dispatcher.failAll("The server is stopping", in: identifier)
            // Writes what the pipe accepts now; there is no more waiting.
            flush()
            finish()
        }
        loop.scheduleFlush(self)
    }

    // MARK: Writing

    /// Sends a message of an exchange, on the loop.
    func send(_ bytes: ByteSlice) {
        guard !isOver else { return }
        if isServing { return held.append(bytes) }
        output.out.append(bytes)
        output.out.append(UInt8(ascii: "\n"))
        loop.scheduleFlush(self)
    }

    func exchangeEnded() {
        pending -= 1
        loop.scheduleFlush(self)
    }

    override func flush() {
        guard !isOver else { return }
        do {
            while !output.out.isEmpty {
                let written = unsafe try output.out.withBytes { (bytes) throws(IOError) in
                    unsafe try streams.output.writeNonBlocking(UnsafeRawBufferPointer(bytes))
                }
                guard let written else {
                    try watchOutput()
                    return settle()
                }
                output.out.consume(written)
            }
        } catch {
            // The output is not read any more (fault 73): there is nothing left to do for this client.
            return finish()
        }
        output.out.removeAll(keeping: 256 * 1024)
        toldBytes = 0
        framer.shrink(keeping: 256 * 1024)
        // If this fails, the handler is called unnecessarily.
        if let outputRegistration { try? loop.modify(outputRegistration, []) }
        settle()
        if !output.out.isEmpty { return loop.scheduleFlush(self) }
        if inputEnded, pending == 0 { finish() }
    }

    /// Continues to write when the pipe has room.
    private func watchOutput() throws(IOError) {
        if let outputRegistration { return try loop.modify(outputRegistration, .writable) }
        let handler = OutputHandler(self)
        outputHandler = handler
        outputRegistration = try loop.register(streams.output.rawValue, .writable, handler)
    }

    private func finish() {
        guard !isOver else { return }
        isOver = true
        drainTimer?.cancel()
        if isStopping { server.dispatcher.endStop() }
        server.dispatcher.end(identifier)
        if let inputRegistration { loop.deregister(inputRegistration) }
        if let outputRegistration { loop.deregister(outputRegistration) }
        inputRegistration = nil
        outputRegistration = nil
        ended.happen()
        onEnd()
    }

    /// The handler of the output's readiness; the server itself is the handler of the input.
    private final class OutputHandler: EventHandler {
        private weak var server: LineServer?
        init(_ server: LineServer) { self.server = server }
        override func ready(_ events: Readiness) { server?.flush() }
        // The input may not be watched.
        override func loopStopped() { server?.finish() }
    }
}

/// One exchange over a shared pipe: its messages are interleaved with those of other exchanges.
final class LineResponseSink: ResponseSink, @unchecked Sendable {
    // SAFETY: `isOver` is accessed on the owner's loop only.
    private let owner: LineServer
    private var isOver = false

    init(_ owner: LineServer) { self.owner = owner }

    var executor: (any TaskExecutor)? { owner.loop }

    func notify(_ message: ByteSlice) {
        // A handler on another thread may report while the response is on its way (JRPC-30).
        let send: @Sendable () -> Void = { [self] in if !isOver { owner.tell(message) } }
        if owner.loop.isOnLoop { send() } else { owner.loop.execute(send) }
    }

    func finish(_ answer: Answer?) {
        let end: @Sendable () -> Void = { [self] in
            isOver = true
            if let answer { owner.send(answer.bytes) }
            owner.exchangeEnded()
        }
        if owner.loop.isOnLoop { end() } else { owner.loop.execute(end) }
    }
}
