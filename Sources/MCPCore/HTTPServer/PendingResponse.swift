/// The response to a request that was handed on, while its connection waits for it.
///
/// A class instead of a protocol for the same reason as `EventHandler`.
class PendingResponse: @unchecked Sendable {
    // SAFETY: accessed only on the connection's loop.
    private(set) final weak var connection: HTTPConnection?
    final let loop: EventLoop
    final let version: HTTPVersion
    /// Whether an event stream has begun.
    final var isStreaming = false
    /// Whether the response has ended and nothing more is written.
    final var isOver = false
    /// The memory of the request's body, which is kept by the code that responds.
    private final var body: MemoryShare?

    init(connection: HTTPConnection, version: HTTPVersion) {
        self.connection = connection
        loop = connection.loop
        self.version = version
    }

    /// Whether a client that has stopped writing counts as gone.
    var endsWithInput: Bool { false }

    /// Called when the server stops: a response that does not end on its own has nothing to wait for.
    func serverStops() {}

    /// Called when the client is gone and the response will not be read.
    func clientVanished() {}

    /// The connection, as long as it waits for this response.
    final var waiting: HTTPConnection? {
        guard !isOver, let connection, connection.isWaiting(for: self) else { return nil }
        return connection
    }

    /// Counts a body's memory until the request has ended, which may be after its connection.
    final func keep(_ bytes: ByteSlice, of budget: MemoryBudget) {
        if bytes.count > HTTPConnection.ownBytes { body = MemoryShare(of: budget, bytes: bytes.count) }
    }

    // MARK: Event streams

    /// - Parameter more: fields in addition to those of every event stream.
    final func writeStreamHead(on connection: HTTPConnection, more: HeaderFields? = nil) {
        isStreaming = true
        if version == .http10 { connection.keepAlive = false }
        connection.output.out.beginEventStream(
            chunked: version == .http11, keepAlive: connection.keepAlive, more: more)
    }

    final func chunk(on connection: HTTPConnection, _ body: (inout ByteBuffer) -> Void) {
        guard version == .http11 else { return body(&connection.output.out) }
        let start = ChunkWriter.begin(in: &connection.output.out)
        body(&connection.output.out)
        ChunkWriter.end(start, in: &connection.output.out)
    }

    final func write(_ id: String?, _ data: ByteSlice, on connection: HTTPConnection) {
        chunk(on: connection) { SSEEncoder.write(data: data, id: id, to: &$0) }
        connection.limitOutput()
    }

    final func write(_ event: SSEEvent, on connection: HTTPConnection) {
        chunk(on: connection) { SSEEncoder.write(event, to: &$0) }
        connection.limitOutput()
    }

    /// Ends a response that came in chunks.
    final func endResponse(on connection: HTTPConnection) {
        if version == .http11 { ChunkWriter.writeLast(to: &connection.output.out) }
        connection.becomeIdle()
    }

    /// Called when nothing has been sent for the keep-alive interval: a response that may become an event
    /// stream begins one, so that comments can be sent.
    func wasSilent() {}

    /// Sends a comment on a quiet stream, so that proxies keep it open and a dead client is noticed
    /// (HTTP-22).
    final func keepAlive() {
        if !isStreaming { wasSilent() }
        guard isStreaming, let connection = waiting else { return }
        chunk(on: connection) { SSEEncoder.writeKeepAlive(to: &$0) }
        connection.scheduleFlush()
    }
}

extension HTTPConnection {
    func isWaiting(for response: PendingResponse) -> Bool {
        if case .response(let current) = work { current === response } else { false }
    }

    /// Disconnects a client that lets unread messages accumulate beyond the limit (fault 63).
    func limitOutput() {
        if hasRoom { return }
        flush()
        if !hasRoom, phase.state == .serving { vanish() }
    }
}

extension ByteBuffer {
    mutating func beginEventStream(chunked: Bool, keepAlive: Bool, more: HeaderFields? = nil) {
        append("HTTP/1.1 200 OK\r\n")
        RequestWriter.write(HTTPResponse.eventStreamHeaders, to: &self)
        if let more { RequestWriter.write(more, to: &self) }
        if chunked { append("Transfer-Encoding: chunked\r\n") }
        append(keepAlive ? "\r\n" : "Connection: close\r\n\r\n")
    }
}
