/// One POST whose answer is an event stream, to a server that need not speak MCP.
///
/// Confined to a loop of the clients; the connection is closed when the stream ends or its reader leaves.
final class HTTPEventPost: HTTPStreamListener {
    private let pool: HTTPClientPool
    private let silence: Duration
    private let events: AsyncThrowingStream<SSEEvent, any Error>.Continuation
    private var timer: LoopTimer?

    private init(
        _ pool: HTTPClientPool, silence: Duration,
        _ events: AsyncThrowingStream<SSEEvent, any Error>.Continuation
    ) {
        self.pool = pool
        self.silence = silence
        self.events = events
    }

    /// Sends the body and gives out the events as they come.
    ///
    /// - Parameters:
    ///   - options: name, header fields, limits and trust of the connection.
    ///   - silence: how long nothing may come before it counts as a failure.
    /// - Throws: at once when the URL or a header field cannot be used; the stream throws `ClientError`.
    static func send(
        _ body: ByteSlice, to url: String, options: ClientOptions, silence: Duration
    ) throws(ClientError) -> AsyncThrowingStream<SSEEvent, any Error> {
        let endpoint = try HTTPEndpoint(url: url)
        let tls = OpenSSLProvider.system
        if endpoint.isSecure { do { try tls.prepare() } catch { throw ClientError(error, endpoint.name) } }
        let fields = try HTTPClientFields(options)
        let request = try request(body, endpoint, fields, options)
        let loop: EventLoop
        do {
            loop = try ClientLoops.next()
        } catch {
            throw ClientError(.cannotConnect, "cannot make an event loop: \(error)")
        }
        SignalWatch.ignoreBrokenPipes()
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: SSEEvent.self)
        let pool = HTTPClientPool(
            endpoint, loop: loop, options: options, fields: fields, session: HTTPClientSession(),
            tls: tls)
        let post = LoopBound(HTTPEventPost(pool, silence: silence, continuation), loop: loop)
        loop.execute { post.value.start(request) }
        continuation.onTermination = { _ in loop.execute { post.value.stop() } }
        return stream
    }

    static func request(
        _ body: ByteSlice, _ endpoint: HTTPEndpoint, _ fields: HTTPClientFields, _ options: ClientOptions
    ) throws(ClientError) -> HTTPClientRequest {
        var buffer = ByteBuffer()
        do {
            try RequestWriter.writeHead(
                method: "POST", target: endpoint.target, host: endpoint.hostField,
                fields: try fields.post(), contentLength: body.count, to: &buffer)
        } catch {
            throw ClientError(
                .invalidRequest, "the header \(error.name) cannot be sent: \(error.description)")
        }
        buffer.append(body)
        return HTTPClientRequest(
            method: "POST", bytes: buffer.freeze(), session: nil, connectTimeout: options.connectTimeout,
            mustBeTaken: true)
    }

    private func start(_ request: HTTPClientRequest) {
        timer = pool.loop.makeTimer { [weak self] in
            guard let self else { return }
            end(ClientError(.timeout, "\(pool.endpoint.name) said nothing for \(silence)"))
        }
        timer?.arm(after: silence)
        pool.send(request, to: self)
    }

    private func stop() {
        timer?.cancel()
        timer = nil
        pool.close()
    }

    private func end(_ error: ClientError?) {
        if let error { events.finish(throwing: error) } else { events.finish() }
        stop()
    }

    // MARK: HTTPStreamListener

    func streamBegan() { timer?.arm(after: silence) }

    func take(_ event: SSEEvent) {
        timer?.arm(after: silence)
        if !event.data.isEmpty { events.yield(event) }
    }

    func reached(_ position: HTTPStreamPosition) {}

    func streamEnded(_ error: ClientError?) { end(error) }
}
