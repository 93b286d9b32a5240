/// The answer to one request that was handed on: JSON when it comes alone, an event stream once a
/// notification came first (HTTP-09, HTTP-18).
final class HTTPExchange: ExchangeSink, @unchecked Sendable {
    // SAFETY: all state is touched on the connection's loop only; `notify` and `finish` go there first.
    private weak var connection: HTTPConnection?
    private let loop: EventLoop
    private let version: HTTPVersion
    let isModern: Bool
    private var exchange: Exchange?
    private var isAttached = false
    private var isStreaming = false
    private var isOver = false
    /// What came before the connection was ready for it.
    private var early: [Event] = []

    private enum Event {
        case notification(ByteSlice)
        case end(Answer?)
    }

    init(connection: HTTPConnection, version: HTTPVersion, isModern: Bool) {
        self.connection = connection
        loop = connection.loop
        self.version = version
        self.isModern = isModern
    }

    var executor: (any TaskExecutor)? { loop }

    func notify(_ message: ByteSlice) { onLoop(.notification(message)) }

    func finish(_ answer: Answer?) { onLoop(.end(answer)) }

    private func onLoop(_ event: Event) {
        if loop.isOnLoop { take(event) } else { loop.execute { self.take(event) } }
    }

    // MARK: On the loop

    func attach(_ exchange: Exchange?) { self.exchange = exchange }

    /// The connection waits for this exchange now: sends what came in the meantime.
    func deliverEarly() {
        isAttached = true
        let events = early
        early = []
        for event in events { take(event) }
    }

    private func take(_ event: Event) {
        guard isAttached else { return early.append(event) }
        guard !isOver, let connection, connection.isWaiting(for: self) else { return }
        switch event {
        case .notification(let message): send(message, on: connection)
        case .end(let answer): end(answer, on: connection)
        }
        connection.scheduleFlush()
    }

    private func send(_ message: ByteSlice, on connection: HTTPConnection) {
        if !isStreaming {
            isStreaming = true
            if version == .http10 { connection.keepAlive = false }
            connection.output.out.beginEventStream(
                chunked: version == .http11, keepAlive: connection.keepAlive)
        }
        write(on: connection) { SSEEncoder.write(data: message, to: &$0) }
        connection.limitOutput()
    }

    private func end(_ answer: Answer?, on connection: HTTPConnection) {
        isOver = true
        exchange = nil
        if isStreaming {
            if let answer { write(on: connection) { SSEEncoder.write(data: answer.bytes, to: &$0) } }
            if version == .http11 { ChunkWriter.writeLast(to: &connection.output.out) }
        } else if let answer {
            ResponseWriter.writeHead(
                status: answer.status, contentType: "application/json", framing: .length(answer.bytes.count),
                keepAlive: connection.keepAlive, to: &connection.output.out)
            connection.output.out.append(answer.bytes)
        } else {
            // Cancelled: there is no answer, but HTTP needs a response to the POST.
            ResponseWriter.writeHead(
                status: 202, framing: .length(0), keepAlive: connection.keepAlive,
                to: &connection.output.out)
        }
        connection.becomeIdle()
    }

    private func write(on connection: HTTPConnection, _ body: (inout ByteBuffer) -> Void) {
        guard version == .http11 else { return body(&connection.output.out) }
        let start = ChunkWriter.begin(in: &connection.output.out)
        body(&connection.output.out)
        ChunkWriter.end(start, in: &connection.output.out)
    }

    /// A comment on a quiet stream: proxies keep it open, and a dead client is noticed (HTTP-22).
    func keepAlive() {
        guard isStreaming, !isOver, let connection else { return }
        write(on: connection) { SSEEncoder.writeKeepAlive(to: &$0) }
        connection.scheduleFlush()
    }

    /// Nobody reads the answer any more. A stateless request ends here; one of a session goes on, unseen.
    func clientVanished() {
        let exchange = exchange
        isOver = true
        self.exchange = nil
        if isModern { connection?.endpoint.dispatcher.cancel(exchange) }
    }
}

extension HTTPConnection {
    func isWaiting(for exchange: HTTPExchange) -> Bool {
        if case .serving(let current) = phase { current === exchange } else { false }
    }

    /// A client that lets notifications pile up beyond the limit is disconnected (fault 63).
    func limitOutput() {
        if hasRoom { return }
        flush()
        if !hasRoom, case .serving(let exchange) = phase {
            exchange.clientVanished()
            close()
        }
    }
}

extension ByteBuffer {
    mutating func beginEventStream(chunked: Bool, keepAlive: Bool) {
        append("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n")
        append("X-Accel-Buffering: no\r\n")
        if chunked { append("Transfer-Encoding: chunked\r\n") }
        append(keepAlive ? "\r\n" : "Connection: close\r\n\r\n")
    }
}
