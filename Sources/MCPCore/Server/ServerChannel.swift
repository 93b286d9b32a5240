import Synchronization

/// One client of a server, as its transport sees it: for a pipe, a socket or an in-memory transport, a
/// connection for its whole life; over HTTP, the session that a request names, or else the connection that
/// the request arrived on.
///
/// Every transport serves and ends a client through the `Dispatcher` methods below, so the same rules apply
/// to every client:
///
/// - Ids: one request in flight for each id; a second one is refused with -32600 (`InFlightTable`).
/// - Requests in flight: `ServerLimits.maxRequestsInFlight`; another one is refused with 503
///   (`InFlightTable`).
/// - Time of a request: `ServerLimits.requestDeadline`; then one error is sent, and the handler is cancelled
///   (`DeadlineWatch`).
/// - Questions to the client: `ServerLimits.maxOpenQuestions`, for `.inputTimeout`; then the handler receives
///   an error (`PendingRequest`).
/// - Watched resources: `SessionTable.maxURIs`; another one is refused with -32602 (`SessionTable`).
/// - Streams for server messages: one; over HTTP `SessionStreams.maxServerStreams`, then 409
///   (`StreamableEndpoint`).
/// - Input that is read ahead: one line, or one body within `ServerLimits.maxMemoryBytes`; then an error, or
///   503 (`LineServer`, `MemoryBudget`).
/// - Unread output: `ServerLimits.maxOutputBytes`, on a pipe `LineServer.backlogBytes`; then the connection
///   or the subscription ends (`HTTPConnection`, `LineServer`).
///
/// A request is answered at most once, by whichever comes first: the handler, the deadline, a
/// cancellation, or the end of the channel (`PendingRequest`). After `end`, nothing of the channel is in
/// flight, watched or subscribed.
struct ServerChannel: Sendable {
    /// The number of the connection or session; request ids are unique within it.
    let id: UInt64
    /// The claims of the HTTP headers about the message; nil on other transports.
    var claims: HeaderClaims?
    /// The outcome of `initialize`; nil before it, and for clients of 2026-07-28.
    var session: NegotiatedSession?
    /// The stream that receives server messages from the handshake on; nil where clients open
    /// streams themselves.
    var stream: ConnectionStream?
    /// The authenticated caller of the message; nil without authorization.
    var caller: Caller?
    /// The other end of the connection; nil in the same process, and over HTTP without middleware.
    var peer: ConnectionPeer?

    init(
        id: UInt64, claims: HeaderClaims? = nil, session: NegotiatedSession? = nil,
        stream: ConnectionStream? = nil, caller: Caller? = nil
    ) {
        self.id = id
        self.claims = claims
        self.session = session
        self.stream = stream
        self.caller = caller
    }
}

extension Dispatcher {
    /// Serves one message of a channel: a request, a notification, a response, or a batch if the revision
    /// supports batches. Messages of one channel are served one after another, in order.
    ///
    /// - Parameter sink: creates the sink that receives the response to a request that has to wait.
    func receive(
        _ bytes: ByteSlice, from channel: inout ServerChannel, into writer: inout JSONWriter, sink: SinkMaker
    ) -> Disposition {
        do {
            let message = try MessageScanner.scan(bytes, limits: jsonLimits)
            guard message.head.kind == .batch, let session = channel.session,
                session.revision.has(.batches)
            else { return serve(message, from: &channel, into: &writer, sink: sink) }
            return serveBatch(message, from: &channel, into: &writer, sink: sink)
        } catch {
            return refuseUnreadable(error, channel, &writer)
        }
    }

    // MARK: Streams

    /// Sends server messages to this stream from now on.
    func attach(_ stream: any SessionStream, to channelID: UInt64) {
        subscriptions.sessions.attach(stream, to: channelID)
    }

    /// Handles a stream that may have lost its reader: other streams take its place.
    func streamLostReader(of channelID: UInt64) { subscriptions.sessions.lostReader(channelID) }

    /// Returns the number of streams that are being read.
    func streamCount(of channelID: UInt64) -> Int { subscriptions.sessions.streamCount(channelID) }

    // MARK: Ending

    /// Cancels one request whose client is gone.
    func cancel(_ exchange: PendingRequest?) {
        if exchange?.cancel() == true { counters.count(.cancelled) }
    }

    /// Ends the subscriptions of a channel with a response (SUB-09).
    func endSubscriptions(of channelID: UInt64, _ end: ListenSubscription.End = .served) {
        subscriptions.finish(in: channelID, end)
    }

    /// Reports the changes collected so far, before the server or a channel ends.
    func deliverChanges() { subscriptions.bus.deliverNow() }

    /// Answers every request in flight with an error (520) and stops it: for one channel, or for all channels
    /// when the server stops.
    func failAll(_ text: String, in channelID: UInt64? = nil) {
        for exchange in channelID.map({ inFlight.entries(in: $0) }) ?? inFlight.entries() {
            exchange.fail(answer(to: exchange, .interrupted(text)))
        }
    }

    private func answer(to exchange: PendingRequest, _ error: MCPError) -> Answer {
        var writer = JSONWriter()
        let refusal = Refusal(error)
        ResultEnvelope.error(
            refusal.error, id: exchange.key.id.json.bytes, to: &writer, for: exchange.revision)
        return Answer(bytes: writer.finish(), status: refusal.status)
    }

    /// Refuses (503) the requests whose work has not begun, as they wait for another server, and those that
    /// begin to wait before `endStop`: the drain is for what has begun.
    func beginStop() {
        stops.withLock { $0 += 1 }
        for exchange in inFlight.entries() { refuseIfWaiting(exchange) }
    }

    /// Called when a stop is over: another transport may serve the same server.
    func endStop() { stops.withLock { $0 = max(0, $0 - 1) } }

    private func refuseIfWaiting(_ exchange: PendingRequest) {
        exchange.fail(answer(to: exchange, .stopping), ifWaiting: true)
    }

    /// Waits for what a request needs before its work begins.
    ///
    /// - Throws: `CancellationError` when the request has ended meanwhile, also because the server stops.
    func beforeWork<Value>(
        of exchange: PendingRequest, _ wait: () async throws -> Value
    ) async throws -> Value {
        _ = exchange.setWaiting(true)
        if stops.withLock({ $0 > 0 }) { refuseIfWaiting(exchange) }
        do {
            let value = try await wait()
            guard exchange.setWaiting(false) else { throw CancellationError() }
            return value
        } catch {
            _ = exchange.setWaiting(false)
            throw error
        }
    }

    /// Ends a channel: cancels what it has in flight and forgets what it requested. Has no effect when the
    /// channel has already ended.
    func end(_ channelID: UInt64) {
        for exchange in inFlight.entries(in: channelID) where exchange.cancel() { counters.count(.cancelled) }
        subscriptions.sessions.forget(channelID)
    }
}
