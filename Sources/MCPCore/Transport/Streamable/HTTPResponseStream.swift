/// The response of a connection to one request that was passed on: JSON when the JSON-RPC response comes
/// alone, an event stream once a message came before it (HTTP-09, HTTP-18); or a stream that a session
/// has opened by GET.
final class HTTPResponseStream: PendingResponse, ResponseSink, @unchecked Sendable {
    private let counted = Counted(.httpExchange)

    // SAFETY: all state is accessed on the connection's loop only; `notify`, `finish` and the messages that a
    // stream sends are moved there first.
    private let endpoint: StreamableEndpoint
    /// The session that the request belongs to; nil for a stateless request.
    private let session: (channelID: UInt64, revision: Revision)?
    /// Nil without authorization.
    private let caller: Caller?
    private var exchange: PendingRequest?
    /// What the caller is known by, to check it again while a stream is open.
    private let credential: AccessGuard.Credential?
    /// Ends a stream when the caller's token is no longer valid.
    private var watch: StreamWatch.Entry?
    private var stream: ResumableStream?
    private var isAttached = false
    private var isOpenedByGet = false
    /// Whether the caller may wait for this response, too.
    let hasRoom: Bool
    /// What counts the response.
    private let counter: WaitingResponses?
    /// The events that arrived before the connection was ready for them.
    private var early: [Event] = []

    private enum Event: Sendable {
        case message(ByteSlice)
        case end(Answer?)
        case release(Duration)
    }

    init(
        connection: HTTPConnection, endpoint: StreamableEndpoint, version: HTTPVersion,
        session: (channelID: UInt64, revision: Revision)?, caller: Caller? = nil,
        credential: AccessGuard.Credential? = nil
    ) {
        self.endpoint = endpoint
        self.session = session
        self.caller = caller
        self.credential = credential
        counter = caller?.waiting
        hasRoom = connection.context.counter.hasRoom(for: counter)
        counter?.enter()
        super.init(connection: connection, version: version)
    }

    deinit { counter?.leave() }

    var isModern: Bool { session == nil }

    /// Whether the exchange ends with the input: not while a request of a session is served (LEG-09).
    override var endsWithInput: Bool { isModern || isOpenedByGet }

    var executor: (any TaskExecutor)? { loop }

    func notify(_ message: ByteSlice) { onLoop(.message(message)) }

    func finish(_ answer: Answer?) { onLoop(.end(answer)) }

    func release(retryAfter: Duration) { onLoop(.release(retryAfter)) }

    private func onLoop(_ event: Event) {
        if loop.isOnLoop { take(event) } else { loop.execute { self.take(event) } }
    }

    // MARK: On the loop

    func attach(_ exchange: PendingRequest?) { self.exchange = exchange }

    /// Sends the events that arrived before the connection waited for this exchange.
    func deliverEarly() {
        isAttached = true
        let events = early
        early = []
        for event in events { take(event) }
    }

    private func take(_ event: Event) {
        guard isAttached else { return early.append(event) }
        switch event {
        case .message(let message): send(message)
        case .end(let answer): end(answer)
        case .release(let retry): letGo(retry)
        }
        connection?.scheduleFlush()
    }

    private func send(_ message: ByteSlice) {
        beginStreaming()
        guard let stream else {
            if let connection = waiting { write(nil, message, on: connection) }
            return
        }
        // By now the writer may be another connection, or there may be none at all (LEG-09).
        stream.append(message)
    }

    private func end(_ answer: Answer?) {
        exchange = nil
        if let stream {
            guard let answer else { return stream.end() }
            return stream.append(answer.bytes, isLast: true)
        }
        guard let connection = waiting else { return isOver = true }
        isOver = true
        if isStreaming {
            if let answer { write(nil, answer.bytes, on: connection) }
            endResponse(on: connection)
        } else if let answer {
            let extra: HeaderFields? =
                switch answer.status {
                case 403: caller.flatMap { endpoint.access?.challengeFields(for: $0) }
                case 503: .retryAfter
                default: nil
                }
            ResponseWriter.writeHead(
                status: answer.status, contentType: "application/json", framing: .length(answer.bytes.count),
                keepAlive: connection.keepAlive, extra: connection.fields(extra), to: &connection.output.out)
            connection.output.out.append(answer.bytes)
            connection.becomeIdle()
        } else {
            // Cancelled: there is no JSON-RPC response, but HTTP requires a response to the POST.
            ResponseWriter.writeHead(
                status: 202, framing: .length(0), keepAlive: connection.keepAlive, extra: connection.page,
                to: &connection.output.out)
            connection.becomeIdle()
        }
    }

    // MARK: Streams

    /// A call that takes long becomes a stream, as if a message had come: proxies give up on a response that
    /// does not begin.
    override func wasSilent() {
        if isAttached, exchange != nil { beginStreaming() }
    }

    /// Turns the response into an event stream; in a session, into one that can be resumed.
    private func beginStreaming() {
        guard !isStreaming else { return }
        isStreaming = true
        watchToken()
        // A stream whose beginning no client saw cannot be requested again.
        guard let connection = waiting else { return }
        if let session, session.revision.has(.resumption) {
            let stream = endpoint.streams.make(session.channelID, isOfServer: isOpenedByGet)
            stream.attach(self)
            self.stream = stream
        }
        writeStreamHead(on: connection, more: connection.page)
        if let session, session.revision.has(.ssePriming), let stream { writePriming(stream, on: connection) }
    }

    /// Ends a stream when its caller's token is no longer valid; the client comes back with a newer one. A
    /// running call is not cut off by the expiry of its token, but by its revocation.
    private func watchToken() {
        watch = endpoint.access?.streams.watch(caller, credential) { [weak self] end in
            guard let self else { return }
            loop.execute { self.tokenEnds(end) }
        }
    }

    private func tokenEnds(_ end: StreamWatch.End) {
        if let exchange {
            endpoint.dispatcher.end(exchange, because: end)
        } else if end == .refused || stream?.isOfServer == true {
            endStream()
        }
    }

    /// Writes an event id, before anything can be lost (LEG-06).
    private func writePriming(_ stream: ResumableStream, on connection: HTTPConnection) {
        if stream.deferPriming() { return }
        chunk(on: connection) { SSEEncoder.write(data: ByteSlice(), id: stream.id(of: 0), to: &$0) }
    }

    /// Lets the client poll, as the handler requested: the response ends, the call continues (LEG-07).
    private func letGo(_ retry: Duration) {
        guard let session, session.revision.has(.ssePriming) else { return }
        beginStreaming()
        stream?.release(retryAfter: retry)
    }

    /// Ends the response after an event that specifies when to reconnect, and for which stream. From any
    /// thread, like `write`.
    func endStream(after id: String, retryAfter retry: Duration) {
        let milliseconds = Int(clamping: retry.milliseconds)
        loop.execute { [self] in
            guard let connection = waiting else { return }
            chunk(on: connection) {
                SSEEncoder.write(data: ByteSlice(), id: id, retryMilliseconds: milliseconds, to: &$0)
            }
            isOver = true
            endResponse(on: connection)
            connection.scheduleFlush()
        }
    }

    /// Opens a stream for server messages (LEG-12).
    func openServerStream() {
        guard let connection, let session else { return }
        isAttached = true
        isOpenedByGet = true
        beginStreaming()
        receive(session.channelID)
        if !session.revision.has(.ssePriming) { keepAlive() }
        connection.scheduleFlush()
    }

    /// Resumes a stream that another connection began (LEG-19, LEG-20).
    func takeUp(_ stream: ResumableStream, after number: Int) -> Bool {
        guard let connection, let (events, isEnded) = stream.takeUp(after: number, by: self) else {
            return false
        }
        isAttached = true
        isOpenedByGet = true
        watchToken()
        self.stream = stream
        writeStreamHead(on: connection, more: connection.page)
        if stream.isOfServer, let session { receive(session.channelID) }
        for event in events {
            // The connection may be cut off between two events when the client does not read.
            if waiting != nil { write(stream.id(of: event.number), event.data, on: connection) }
        }
        if isEnded { endStream() }
        connection.scheduleFlush()
        return true
    }

    /// Sends the events that another instance has stored of a stream. If it is for the server's messages, it
    /// is continued as a new stream of this instance; for the rest of a call, the client comes again.
    func replay(_ rest: SharedStreams.Rest) {
        guard let connection, let session else { return }
        isAttached = true
        isOpenedByGet = true
        isStreaming = true
        watchToken()
        writeStreamHead(on: connection, more: connection.page)
        for event in rest.events where waiting != nil { write(event.id, event.data, on: connection) }
        let canPrime = session.revision.has(.ssePriming)
        if rest.record.continuesHere {
            let stream = endpoint.streams.make(session.channelID, isOfServer: true)
            stream.attach(self)
            self.stream = stream
            if canPrime, waiting != nil { writePriming(stream, on: connection) }
            receive(session.channelID)
            if !canPrime { keepAlive() }
        } else if rest.record.isEnded || !canPrime {
            if rest.events.isEmpty { keepAlive() }
            endStream()
        } else {
            endStream(after: rest.lastID, retryAfter: SharedStreams.pause)
        }
        connection.scheduleFlush()
    }

    /// Sends the server's unsolicited messages to this stream from now on.
    private func receive(_ channelID: UInt64) {
        if let stream { endpoint.dispatcher.attach(stream, to: channelID) }
    }

    /// Detaches this connection, which no longer reads the stream.
    private func detach() {
        guard let stream else { return }
        stream.detach(self)
        if stream.isOfServer, let session {
            endpoint.dispatcher.streamLostReader(of: session.channelID)
        }
    }

    /// Writes an event of a stream that this connection carries. From any thread; never synchronously, so
    /// that a caller that holds the lock of the stream may call it.
    func write(_ id: String, _ data: ByteSlice) {
        loop.execute { [self] in
            guard let connection = waiting else { return }
            write(id, data, on: connection)
            connection.scheduleFlush()
        }
    }

    /// Ends the response of a stream in an orderly way, after everything that was written. From any
    /// thread, like `write`.
    func endStream() {
        loop.execute { [self] in
            guard let connection = waiting else { return }
            isOver = true
            detach()
            endResponse(on: connection)
            connection.scheduleFlush()
        }
    }

    override func serverStops() {
        if let exchange {
            // The client's answers are requests of their own.
            exchange.endAsking()
            // A subscription, if it is one (SUB-09).
            endpoint.dispatcher.endSubscriptions(of: exchange.key.channelID)
        } else if stream?.isOfServer == true {
            endStream()
        }
    }

    /// Handles a client that is gone: a stateless request ends here, a request of a session
    /// continues unobserved.
    override func clientVanished() {
        let exchange = exchange
        isOver = true
        self.exchange = nil
        detach()
        if isModern { endpoint.dispatcher.cancel(exchange) }
    }
}
