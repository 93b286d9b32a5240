/// HTTP+SSE of 2024-11-05: one event stream, opened by GET, on which all messages of the server arrive,
/// and a target that its first event announces, to which all messages are posted (LEG-30, LEG-31).
/// Confined to the loop.
///
/// The exchange of the GET owns the channel. The stream is the session: when the stream ends, the session
/// has ended, and it cannot be resumed. A new one has a channel of its own.
final class HTTPSSEChannel: HTTPStreamListener {
    private enum Phase {
        /// The `endpoint` event has not come yet.
        case opening((Result<Bool, ClientError>) -> Void)
        case open
        case ended
    }

    private let pool: HTTPClientPool
    /// Whether a server without such a stream is a failure.
    private let isRequired: Bool
    private var limit = Duration.zero
    private var phase: Phase
    private var timer: LoopTimer?
    private weak var exchange: HTTPClientExchange?

    /// Creates a channel. `opened` is called once, with whether the server has such a stream, or why
    /// it cannot be used.
    init(
        _ pool: HTTPClientPool, isRequired: Bool, opened: @escaping (Result<Bool, ClientError>) -> Void
    ) {
        self.pool = pool
        self.isRequired = isRequired
        phase = .opening(opened)
    }

    func open(within timeout: Duration) {
        do {
            let request = try pool.streamRequest(session: nil, lastEventID: "", connectTimeout: timeout)
            limit = timeout
            startLimit()
            exchange = pool.send(request, to: self)
        } catch {
            conclude(.failure(ClientError(.invalidRequest, "\(error.description)")))
        }
    }

    private func startLimit() {
        timer = pool.loop.schedule(after: limit) { [self] in
            conclude(nothing(nil))
            exchange?.drop()
        }
    }

    func awaitsCredentials(_ isWaiting: Bool) {
        guard case .opening = phase else { return }
        timer?.cancel()
        timer = nil
        if !isWaiting { startLimit() }
    }

    private func conclude(_ outcome: Result<Bool, ClientError>) {
        timer?.cancel()
        timer = nil
        guard case .opening(let opened) = phase else { return }
        phase = if case .success(true) = outcome { .open } else { .ended }
        opened(outcome)
    }

    // MARK: Receiving

    func streamBegan() {}

    func reached(_ position: HTTPStreamPosition) {}

    func receive(_ event: SSEEvent) {
        switch (phase, event.type) {
        case (.opening, "endpoint"): announced(String(event.data))
        case (.open, "message") where !event.data.isEmpty:
            pool.inbox?.receive(event.data, exchange: nil, status: nil)
        default: break
        }
    }

    private func announced(_ reference: String) {
        do {
            pool.session.announce(try pool.endpoint.target(of: reference))
            pool.inbox?.serverStreamBegan()
            conclude(.success(true))
        } catch {
            conclude(.failure(error))
            exchange?.finish()
        }
    }

    func streamEnded(_ error: ClientError?) {
        if case .open = phase {
            phase = .ended
            let details = error.map { [$0.message] + $0.details } ?? []
            pool.inbox?.connectionClosed(
                ClientError(
                    .connectionClosed,
                    "\(pool.endpoint.name) ended its event stream, and the session with it",
                    details: details, hint: "connect again"))
        } else {
            // A server without such a stream; the response to the POST explains more.
            if let error, error.kind == .authentication {
                conclude(.failure(error))
            } else {
                conclude(nothing(error))
            }
        }
    }

    /// Returns the outcome when there is no such stream.
    private func nothing(_ error: ClientError?) -> Result<Bool, ClientError> {
        guard isRequired else { return .success(false) }
        return .failure(
            error ?? ClientError(.timeout, "\(pool.endpoint.name) did not open an event stream in time"))
    }
}
