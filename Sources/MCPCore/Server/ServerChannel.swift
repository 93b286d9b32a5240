/// One client of a server, as its transport sees it: a connection of a pipe, a socket or in memory for its
/// whole life; over HTTP the session that a request names, or else the connection it came on.
///
/// Every transport serves and ends a client by the methods of `Dispatcher` below, so what holds of a client
/// holds everywhere:
///
/// - Ids: one request in flight for each; else -32600 (`InFlightTable`).
/// - Requests in flight: `ServerLimits.maxRequestsInFlight`; one more is refused with 503 (`InFlightTable`).
/// - Time of a request: `ServerLimits.requestDeadline`; then one error, and the handler is cancelled
///   (`DeadlineWatch`).
/// - Questions to the client: `ServerLimits.maxOpenQuestions`, for `.inputTimeout`; the handler gets an error
///   (`PendingRequest`).
/// - Resources that are watched: `SessionTable.maxURIs`; one more is -32602 (`SessionTable`).
/// - Streams for messages of the server: one; over HTTP `SessionStreams.maxServerStreams`, then 409
///   (`StreamableEndpoint`).
/// - Input that is read ahead: one line, or one body within `ServerLimits.maxMemoryBytes`; an error, or 503
///   (`LineServer`, `MemoryBudget`).
/// - Output that nobody reads: `ServerLimits.maxOutputBytes`, on a pipe `LineServer.backlogBytes`; the
///   connection or the subscription ends (`HTTPConnection`, `LineServer`).
///
/// A request is answered at most once, by the first of handler, deadline, cancellation and the end of the
/// channel (`PendingRequest`). After `end` nothing of the channel is in flight, watched or subscribed.
struct ServerChannel: Sendable {
    /// The number of the connection or session: ids of requests are unique within it.
    let id: UInt64
    /// What the HTTP headers say about the message; nil on other transports.
    var claims: HeaderClaims?
    /// What `initialize` settled; nil before it, and for clients of 2026-07-28.
    var session: NegotiatedSession?
    /// Takes messages of the server from the handshake on; nil where clients open streams themselves.
    var stream: ConnectionStream?

    init(
        id: UInt64, claims: HeaderClaims? = nil, session: NegotiatedSession? = nil,
        stream: ConnectionStream? = nil
    ) {
        self.id = id
        self.claims = claims
        self.session = session
        self.stream = stream
    }
}

extension Dispatcher {
    /// Serves one message of a channel: a request, a notification, a response, or a batch where the revision
    /// has batches. Messages of one channel come one after the other, in their order.
    ///
    /// - Parameter sink: makes what takes the answer of a request that has to wait.
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

    /// Sends messages of the server to this stream from now on.
    func attach(_ stream: any SessionStream, to channelID: UInt64) {
        subscriptions.sessions.attach(stream, to: channelID)
    }

    /// A stream may have lost its reader: others take its place.
    func streamLostReader(of channelID: UInt64) { subscriptions.sessions.lostReader(channelID) }

    /// How many streams are read.
    func streamCount(of channelID: UInt64) -> Int { subscriptions.sessions.streamCount(channelID) }

    // MARK: The end

    /// Cancels one request whose client is gone.
    func cancel(_ exchange: PendingRequest?) {
        if exchange?.cancel() == true { counters.count(.cancelled) }
    }

    /// Ends the subscriptions of a channel with an answer (SUB-09).
    func endSubscriptions(of channelID: UInt64, _ end: ListenSubscription.End = .served) {
        subscriptions.finish(in: channelID, end)
    }

    /// Tells of what has changed so far, before the server or a channel ends.
    func deliverChanges() { subscriptions.bus.deliverNow() }

    /// Answers everything in flight with an error (520) and stops it: of one channel, or of all when the
    /// server stops.
    func failAll(_ text: String, in channelID: UInt64? = nil) {
        for exchange in channelID.map({ inFlight.entries(in: $0) }) ?? inFlight.entries() {
            var writer = JSONWriter()
            let refusal = Refusal(.interrupted(text))
            ResultEnvelope.error(
                refusal.error, id: exchange.key.id.json.bytes, to: &writer, for: exchange.revision)
            exchange.fail(Answer(bytes: writer.finish(), status: refusal.status))
        }
    }

    /// A channel is over: what it has in flight is cancelled, what it asked for forgotten. Harmless when it
    /// has ended already.
    func end(_ channelID: UInt64) {
        for exchange in inFlight.entries(in: channelID) where exchange.cancel() { counters.count(.cancelled) }
        subscriptions.sessions.forget(channelID)
    }
}
