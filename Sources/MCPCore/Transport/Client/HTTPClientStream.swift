/// An event stream of a legacy session that outlives its connections: the session's own stream (LEG-12), or
/// the rest of a response whose stream ended too early (LEG-08, LEG-19). Confined to the loop.
///
/// It is opened by GET and, when it ends, opened again after the time that the server requested; without
/// progress, the waits become longer.
final class HTTPClientStream: HTTPStreamListener {
    /// The wait before the next attempt when the server requests no time.
    static let defaultRetry = Duration.seconds(1)
    /// The minimum wait, even when the server requests less: a stream that ends immediately must not
    /// cause a busy loop.
    static let leastRetry = Duration.milliseconds(100)
    /// The time up to which the waits become longer.
    static let maxDelay = Duration.seconds(30)
    /// The maximum number of consecutive attempts, without any event, to receive the rest of a response.
    static let maxAttempts = 5

    /// The request whose response is to come; nil for the session's own stream.
    let id: Int64?
    /// The session that the stream belongs to; nil when the server keeps none.
    let session: String?
    /// The number of the session: the next one may have the same id.
    let number: Int
    private let method: String
    private let connectTimeout: Duration
    private let pool: HTTPClientPool
    private var position: HTTPStreamPosition
    private var backoff: Backoff
    private var timer: LoopTimer?
    private weak var exchange: HTTPClientExchange?
    private var beganAt: MonotonicInstant?
    private(set) var isOver = false
    /// Whether messages may have been lost since the stream was last received: no event id says after which
    /// one it goes on.
    private var mayLackMessages = false
    /// The time at which that is reported also if the server is silent.
    private var reportTimer: LoopTimer?
    /// Those who wait until there is a stream, or will be none.
    private var waiting: [() -> Void] = []
    /// The number of attempts since then that brought no stream.
    private var failures = 0
    /// The reason why the session has no stream of its own.
    private(set) var refusal: ClientError?

    /// Creates the session's own stream.
    init(session: String, pool: HTTPClientPool) {
        id = nil
        self.session = session
        number = pool.session.number
        method = "the server's event stream"
        connectTimeout = pool.options.connectTimeout
        self.pool = pool
        position = HTTPStreamPosition()
        backoff = Backoff(maximum: Self.maxDelay)
    }

    /// Creates the stream for the rest of the response to `request`, after `position`.
    init(
        _ request: HTTPClientRequest, _ id: Int64, session: String?, behind position: HTTPStreamPosition,
        pool: HTTPClientPool
    ) {
        self.id = id
        self.session = session
        number = pool.session.number
        method = request.method
        connectTimeout = request.connectTimeout
        self.pool = pool
        self.position = position
        backoff = Backoff(maximum: Self.maxDelay, maxAttempts: Self.maxAttempts)
    }

    /// Whether a caller waits for something that is still to come.
    private var isWanted: Bool {
        guard let id else { return pool.session.current.id == session && pool.session.number == number }
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
            giveUp(ClientError(.connectionClosed, "the event stream cannot be resumed: \(error)"))
        }
    }

    /// Waits as the server requested, then opens the stream again; `reason` explains why this is necessary.
    func openLater(_ reason: ClientError?) {
        if position.lastEventID.isEmpty {
            // Without an id the session's stream would be opened, and not that of the response.
            guard id == nil else { return giveUp(cannotResume(reason)) }
            mayLackMessages = true
        }
        let pause = max(position.retry ?? Self.defaultRetry, Self.leastRetry)
        guard let delay = backoff.next(pause) else {
            return giveUp(
                ClientError(
                    .connectionClosed, "the event stream ended without the response to \(method)",
                    details: ["\(Self.maxAttempts) attempts to resume it brought nothing"]
                        + (reason.map { [$0.message] } ?? [])))
        }
        timer = pool.loop.schedule(after: delay) { [self] in open() }
    }

    // MARK: Those who wait for it

    /// Calls `then` once the server sends the stream, will not send it, or has failed to often enough.
    func whenSettled(_ then: @escaping () -> Void) {
        let isDown = failures >= ClientOptions.outageAttempts
        if isOver || beganAt != nil || isDown { then() } else { waiting.append(then) }
    }

    /// Reports that messages may have been lost before this stream of a new session began: once it has begun,
    /// and after `limit` also if the server does not respond, as some do until they have a message.
    func reportLoss(within limit: Duration) {
        guard !isOver, beganAt == nil else { return pool.inbox?.messagesMayBeLost() ?? () }
        mayLackMessages = true
        reportTimer?.cancel()
        reportTimer = pool.loop.schedule(after: limit) { [weak self] in
            guard let self, !isOver, beganAt == nil else { return }
            pool.inbox?.messagesMayBeLost()
        }
    }

    private func settle() {
        reportTimer?.cancel()
        reportTimer = nil
        let waiting = waiting
        self.waiting = []
        for then in waiting { then() }
    }

    // MARK: Receiving

    func streamBegan() {
        beganAt = pool.loop.now
        if id == nil {
            pool.serverStreams.begin()
            pool.inbox?.serverStreamBegan()
        }
        failures = 0
        defer { settle() }
        guard mayLackMessages else { return }
        mayLackMessages = false
        pool.inbox?.messagesMayBeLost()
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
        let hasFailed = beganAt == nil
        beganAt = nil
        // A server that responds is not silent.
        reportTimer?.cancel()
        reportTimer = nil
        guard !isOver else { return }
        guard isWanted else { return stop() }
        if let error, !error.isTransient { return refused(error) }
        if let error, hasFailed, id == nil {
            failures += 1
            pool.inbox?.serverStreamFailed(error, attempts: failures)
            if failures == ClientOptions.outageAttempts { settle() }
        }
        openLater(error)
    }

    private func refused(_ error: ClientError) {
        if id == nil {
            if error.kind == .authentication { return giveUp(error) }
            guard pool.serverStreams.hasBegun else {
                return giveUp(refusal("offers no server-to-client stream", error))
            }
            // Many servers respond with 400 where the specification requires 404 (LEG-24).
            return [400, 404].contains(error.httpStatus) ? sessionIsGone(error) : giveUp(loss(error))
        }
        // Even when the session is gone, or the token: the request may have been carried out, so repeating it
        // is up to the caller.
        giveUp(cannotResume(error))
    }

    /// Has the session replaced, at once the first time. A server may refuse the stream of each new session,
    /// too.
    private func sessionIsGone(_ error: ClientError) {
        guard let pause = pool.serverStreams.lose() else { return giveUp(loss(error)) }
        let failures = pool.serverStreams.failures
        // The first session that is gone is replaced at once.
        if failures > 0 { pool.inbox?.serverStreamFailed(error, attempts: failures) }
        guard pause > .zero else { return replaceSession() }
        timer = pool.loop.schedule(after: pause) { [self] in replaceSession() }
    }

    private func replaceSession() {
        guard !isOver else { return }
        // A call may have found out before.
        let isWanted = isWanted
        stop()
        if isWanted { pool.inbox?.sessionLost() }
    }

    /// Returns the error for a stream that the server has sent before.
    private func loss(_ error: ClientError) -> ClientError {
        var loss = refusal("has ended its server-to-client stream, and does not send it again", error)
        loss.hint = "changes were reported until now; start again to try once more"
        return loss
    }

    private func refusal(_ text: String, _ error: ClientError) -> ClientError {
        ClientError(
            .httpStatus, "\(pool.endpoint.name) \(text)", details: [error.message] + error.details,
            httpStatus: error.httpStatus)
    }

    /// Returns the error for a response whose rest cannot be received.
    private func cannotResume(_ error: ClientError?) -> ClientError {
        let status = error?.httpStatus.map { " (HTTP \($0))" } ?? ""
        return ClientError(
            .connectionClosed,
            "the event stream ended without the response to \(method) and cannot be resumed\(status)",
            details: error.map { [$0.message] + $0.details } ?? [], httpStatus: error?.httpStatus)
    }

    // MARK: Ending

    /// Gives up. A session without a stream of its own is not an error (LEG-13).
    private func giveUp(_ error: ClientError) {
        if let id {
            stop()
            pool.inbox?.fail(id, error)
            pool.inbox?.messagesMayBeLost()
            return
        }
        refusal = error
        // First, so that those who wait for the stream find out.
        pool.inbox?.serverStreamRefused(error)
        stop()
        // Those who do without the stream do not learn what it would have brought.
        if mayLackMessages || pool.serverStreams.hasBegun { pool.inbox?.messagesMayBeLost() }
    }

    /// Ends the stream after the response has arrived; the connection may be reused.
    private func finish() {
        guard !isOver else { return }
        end()
        exchange?.finish()
    }

    /// Ends the stream without notifying anyone.
    func stop() {
        guard !isOver else { return }
        end()
        exchange?.drop()
    }

    private func end() {
        isOver = true
        timer?.cancel()
        timer = nil
        settle()
        if let id { pool.streamEnded(id) }
    }
}
