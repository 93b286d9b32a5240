/// An event stream of a legacy session that outlives its connections: the session's own one (LEG-12), or the
/// rest of an answer whose stream ended too early (LEG-08, LEG-19). Confined to the loop.
///
/// It is opened by GET and, when it ends, opened again after the time that the server asked for; without
/// progress the waits grow.
final class HTTPClientStream: HTTPStreamListener {
    /// How long a server that says nothing about it is left alone.
    static let defaultRetry = Duration.seconds(1)
    /// A server that asks for less is still left alone so long: a stream that ends at once must not spin.
    static let leastRetry = Duration.milliseconds(100)
    /// Waits grow up to this time.
    static let maxDelay = Duration.seconds(30)
    /// Attempts in a row, without any event, to get the rest of an answer.
    static let maxAttempts = 5

    /// The request whose answer is to come; nil for the session's own stream.
    let id: Int64?
    /// The session it belongs to; nil when the server keeps none.
    let session: String?
    private let method: String
    private let connectTimeout: Duration
    private let pool: HTTPClientPool
    private var position: HTTPStreamPosition
    private var backoff: Backoff
    private var timer: LoopTimer?
    private weak var exchange: HTTPClientExchange?
    private var beganAt: MonotonicInstant?
    private var isOver = false
    /// The server has sent the stream, if only for a moment.
    private var hasBegun = false
    /// Why the session has no stream of its own.
    private(set) var refusal: ClientError?

    /// The session's own stream.
    init(session: String, pool: HTTPClientPool) {
        id = nil
        self.session = session
        method = "the server's event stream"
        connectTimeout = pool.options.connectTimeout
        self.pool = pool
        position = HTTPStreamPosition()
        backoff = Backoff(maximum: Self.maxDelay)
    }

    /// The rest of the answer to `request`, behind `position`.
    init(
        _ request: HTTPClientRequest, _ id: Int64, session: String?, behind position: HTTPStreamPosition,
        pool: HTTPClientPool
    ) {
        self.id = id
        self.session = session
        method = request.method
        connectTimeout = request.connectTimeout
        self.pool = pool
        self.position = position
        backoff = Backoff(maximum: Self.maxDelay, maxAttempts: Self.maxAttempts)
    }

    /// Somebody waits for something that is still to come.
    private var isWanted: Bool {
        guard let id else { return pool.session.current.id == session }
        return pool.inbox?.isWaiting(id) == true
    }

    // MARK: Opening

    func open() {
        timer = nil
        guard !isOver else { return }
        guard isWanted else { return stop() }
        do {
            let request = try pool.streamRequest(
                session: session, lastEventID: position.lastEventID, connectTimeout: connectTimeout)
            exchange = pool.send(request, to: self, behind: position)
        } catch {
            giveUp(ClientError(.connectionClosed, "the event stream cannot be taken up again: \(error)"))
        }
    }

    /// Waits as the server asked, then opens the stream again; `reason` is why it has to be.
    func openLater(_ reason: ClientError?) {
        let pause = max(position.retry ?? Self.defaultRetry, Self.leastRetry)
        guard let delay = backoff.next(pause) else {
            return giveUp(
                ClientError(
                    .connectionClosed, "the event stream ended without the answer to \(method)",
                    details: ["\(Self.maxAttempts) attempts to take it up again brought nothing"]
                        + (reason.map { [$0.message] } ?? [])))
        }
        timer = pool.loop.schedule(after: delay) { [self] in open() }
    }

    // MARK: What comes

    func streamBegan() {
        beganAt = pool.loop.now
        hasBegun = true
    }

    func receive(_ event: SSEEvent) {
        backoff.reset()
        guard event.type == "message", !event.data.isEmpty else { return }
        pool.inbox?.receive(event.data, exchange: id, status: nil)
        if !isWanted { finish() }
    }

    func reached(_ position: HTTPStreamPosition) {
        if position.lastEventID != self.position.lastEventID { backoff.reset() }
        self.position = position
    }

    func streamEnded(_ error: ClientError?) {
        if let beganAt, pool.loop.now - beganAt >= Self.maxDelay { backoff.reset() }
        beganAt = nil
        guard !isOver else { return }
        guard isWanted else { return stop() }
        if let error, !error.isTransient { return refused(error) }
        openLater(error)
    }

    private func refused(_ error: ClientError) {
        if error.kind == .authentication { return giveUp(error) }
        if id == nil {
            // Many servers answer 400 where the specification has 404 (LEG-24).
            if hasBegun, [400, 404].contains(error.httpStatus) {
                stop()
                return pool.inbox?.sessionLost() ?? ()
            }
            return giveUp(
                ClientError(
                    .httpStatus, "\(pool.endpoint.name) offers no server-to-client stream",
                    details: [error.message] + error.details, httpStatus: error.httpStatus))
        }
        // Also when the session is gone: the request may have been carried out, so that repeating it is up to
        // the caller.
        let status = error.httpStatus.map { " (HTTP \($0))" } ?? ""
        giveUp(
            ClientError(
                .connectionClosed,
                "the event stream ended without the answer to \(method), and cannot be had again\(status)",
                details: [error.message] + error.details, httpStatus: error.httpStatus))
    }

    // MARK: The end

    /// A session without a stream of its own is nothing to complain about (LEG-13).
    private func giveUp(_ error: ClientError) {
        stop()
        if let id { return pool.inbox?.fail(id, error) ?? () }
        refusal = error
        pool.inbox?.serverStreamRefused(error)
    }

    /// The answer has come; the connection may be used again.
    private func finish() {
        guard !isOver else { return }
        end()
        exchange?.finish()
    }

    /// Ends it without telling anybody.
    func stop() {
        guard !isOver else { return }
        end()
        exchange?.drop()
    }

    private func end() {
        isOver = true
        timer?.cancel()
        timer = nil
        if let id { pool.streamEnded(id) }
    }
}
