/// A single POST whose response is an event stream, to a server that need not support MCP.
///
/// Confined to a loop of the clients; the connection is closed when the stream ends or its reader
/// leaves. When a server sends faster than the reader reads, its stream is not read further until the
/// reader has caught up.
package final class HTTPEventPost: HTTPStreamListener {
    /// The maximum size of the events that wait for the reader; beyond it, the connection is not read.
    static let maxWaitingBytes = 1 << 20
    /// The memory that an event takes in addition to its data.
    private static let eventBytes = 64

    private let pool: HTTPClientPool
    private let silence: Duration
    private let events: BoundedQueue<SSEEvent>
    private var exchange: HTTPClientExchange?
    private var timer: LoopTimer?

    private init(_ pool: HTTPClientPool, silence: Duration, _ events: BoundedQueue<SSEEvent>) {
        self.pool = pool
        self.silence = silence
        self.events = events
    }

    /// Sends the body and returns the events as they arrive.
    ///
    /// - Parameters:
    ///   - options: name, header fields, limits and trust of the connection.
    ///   - silence: the time without any data after which the stream counts as failed.
    /// - Throws: immediately when the URL or a header field cannot be used; the stream throws `ClientError`.
    package static func send(
        _ body: ByteSlice, to url: String, options: ClientOptions, silence: Duration
    ) throws(ClientError) -> AsyncThrowingStream<SSEEvent, any Error> {
        try open(body, to: url, options: options, silence: silence).stream
    }

    /// Does the same as `send`, and also returns the queue of events that wait for the reader.
    static func open(
        _ body: ByteSlice, to url: String, options: ClientOptions, silence: Duration
    ) throws(ClientError) -> (
        stream: AsyncThrowingStream<SSEEvent, any Error>, waiting: BoundedQueue<SSEEvent>
    ) {
        let pool = try HTTPClientPool(try HTTPEndpoint(url: url), options: options.guarded(at: url))
        let loop = pool.loop
        let request = try request(body, by: pool)
        let events = BoundedQueue<SSEEvent>(limit: maxWaitingBytes) { $0.data.count + eventBytes }
        let post = LoopBound(HTTPEventPost(pool, silence: silence, events), loop: loop)
        loop.execute { post.value.start(request) }
        let stream = events.throwingStream(
            whenDropped: { loop.execute { post.value.stop() } },
            whenRoom: { loop.execute { post.value.goOn() } })
        return (stream, events)
    }

    static func request(
        _ body: ByteSlice, by pool: HTTPClientPool
    ) throws(ClientError) -> HTTPClientRequest {
        var buffer = ByteBuffer()
        do {
            try RequestWriter.writeHead(
                method: "POST", target: pool.endpoint.target, host: pool.endpoint.hostField,
                fields: try pool.fields.post(), contentLength: body.count, to: &buffer)
        } catch {
            throw ClientError(
                .invalidRequest, "the header \(error.name) cannot be sent: \(error.description)")
        }
        buffer.append(body)
        return HTTPClientRequest(
            method: "POST", bytes: buffer.freeze(), session: nil, connectTimeout: pool.options.connectTimeout,
            mustBeTaken: true)
    }

    private func start(_ request: HTTPClientRequest) {
        timer = pool.loop.makeTimer { [weak self, pool, silence] in
            self?.end(ClientError(.timeout, "\(pool.endpoint.name) sent nothing for \(silence)"))
        }
        timer?.arm(after: silence)
        exchange = pool.send(request, to: self)
    }

    private func stop() {
        timer?.cancel()
        timer = nil
        exchange = nil
        pool.close()
    }

    private func end(_ error: ClientError?) {
        events.finish(throwing: error)
        stop()
    }

    /// Resumes reading when the reader has made room.
    private func goOn() {
        guard let connection = exchange?.connection else { return }
        timer?.arm(after: silence)
        connection.resumeReading()
    }

    // MARK: HTTPStreamListener

    func awaitsCredentials(_ isWaiting: Bool) {
        if isWaiting { timer?.cancel() } else { timer?.arm(after: silence) }
    }

    func streamBegan() { timer?.arm(after: silence) }

    func receive(_ event: SSEEvent) {
        timer?.arm(after: silence)
        guard !event.data.isEmpty, !events.put(event), let connection = exchange?.connection else { return }
        // From now on, it is the reader that is silent.
        timer?.cancel()
        connection.pauseReading()
    }

    func reached(_ position: HTTPStreamPosition) {}

    func streamEnded(_ error: ClientError?) { end(error) }
}
