/// The MCP endpoint of one server, without sockets: which requests it takes, and what it answers before
/// JSON-RPC.
///
/// The listener and `MCPServer.respond(to:)` share it (transports/streamable-http). The order of the checks
/// is that of Table 2.
final class StreamableEndpoint: RequestHandler, @unchecked Sendable {
    // SAFETY: constant, and what it refers to is for any thread.
    let server: MCPServer
    let sessions: LegacySessions
    let streams: SessionStreams
    /// Where requests of other paths go; nil: nowhere.
    let router: EndpointRouter?
    private let path: String
    private let pathBytes: ByteSlice
    /// What session ids are bound to: nothing at the main endpoint, the path of any other.
    private let principal: String

    /// - Parameters:
    ///   - sessions: those of another endpoint of the same server, which this one is another way to.
    ///   - streams: as `sessions`.
    ///   - principal: see there.
    init(
        server: MCPServer, path: String = "/mcp", router: EndpointRouter? = nil,
        sessions: LegacySessions? = nil, streams: SessionStreams? = nil, principal: String = ""
    ) {
        self.server = server
        self.path = path
        pathBytes = ByteSlice(path)
        self.router = router
        self.sessions = sessions ?? LegacySessions(key: server.stateKey)
        self.streams = streams ?? SessionStreams(clock: server.dispatcher.clock)
        self.principal = principal
    }

    /// The endpoint of another server on the same listener.
    func beside(with server: MCPServer, at path: String) -> StreamableEndpoint {
        let streams = SessionStreams(clock: server.dispatcher.clock, store: streams.store)
        return StreamableEndpoint(server: server, path: path, streams: streams, principal: path)
    }

    var dispatcher: Dispatcher { server.dispatcher }

    // MARK: Head

    override func check(
        _ head: RequestHead, in bytes: ByteSlice, context: ConnectionContext, isFromOwnUser: () -> Bool
    ) -> Decision {
        do throws(EarlyResponse) {
            try head.checkMethod()
            if head.path(in: bytes) == pathBytes {
                try context.policy.check(head, in: bytes)
                try checkPurpose(of: head, in: bytes)
                return .serve(self)
            }
            guard let router else { throw notFound }
            try context.policy.check(head, in: bytes)
            let handler = try router.route(head, in: bytes, isFromOwnUser: isFromOwnUser, beside: self)
            guard let handler else { throw notFound }
            return .serve(handler)
        } catch {
            return .refuse(error)
        }
    }

    override func serve(
        _ head: RequestHead, _ bytes: ByteSlice, _ body: ByteSlice, on connection: HTTPConnection
    ) {
        switch head.method {
        case .delete: serveEnd(head, bytes, on: connection)
        case .get: serveStream(head, bytes, on: connection)
        default: serveMessage(head, bytes, body, on: connection)
        }
    }

    private var notFound: EarlyResponse {
        EarlyResponse(status: 404, text: "Not found; the MCP endpoint is \(path)")
    }

    /// Refuses what a head asks of this endpoint and may not ask: it takes messages by POST, and of sessions
    /// the end by DELETE and streams by GET.
    func checkPurpose(of head: RequestHead, in bytes: ByteSlice) throws(EarlyResponse) {
        // Neither exists in 2026-07-28, which ignores session ids (HTTP-16, HTTP-17).
        let namesSession =
            head.range(.mcpSessionID) != nil
            && head.value(.mcpProtocolVersion, in: bytes)?.equals("2026-07-28") != true
        switch head.method {
        case .post: try checkTypes(head, in: bytes)
        case .delete where namesSession:
            if head.hasBody {
                throw EarlyResponse(status: 400, text: "DELETE has no body here", closes: true)
            }
        case .get where namesSession:
            guard head.range(.accept) != nil, AcceptedTypes(head, in: bytes).eventStream else {
                throw EarlyResponse(status: 406, text: "Accept must list text/event-stream")
            }
            if head.hasBody { throw EarlyResponse(status: 400, text: "GET has no body here", closes: true) }
        default: throw .notAllowed("Send messages with POST", allow: "GET, POST, DELETE")
        }
    }

    /// `application/json` is required: it also keeps out requests that web pages can send without asking
    /// (GHSA-89xv-2j6f-qhc8).
    private func checkTypes(_ head: RequestHead, in bytes: ByteSlice) throws(EarlyResponse) {
        guard !head.isRepeated(.contentType), let type = head.value(.contentType, in: bytes),
            MediaType.isJSON(type)
        else { throw EarlyResponse(status: 415, text: "Content-Type must be application/json") }
        guard head.range(.accept) != nil else { return }
        let accepted = AcceptedTypes(head, in: bytes)
        guard accepted.json, accepted.eventStream else {
            throw EarlyResponse(
                status: 406, text: "Accept must list application/json and text/event-stream")
        }
    }

    // MARK: The end

    /// What changed before the end is told before it; subscriptions end with their connections.
    override func serverStops() {
        for dispatcher in dispatchers { dispatcher.deliverChanges() }
        // `RunningServer` ends those of the main endpoint.
        for endpoint in router?.endpoints ?? [] { endpoint.dispatcher.tasks?.failAll(Self.isStopping) }
    }

    override func endInFlight() { for dispatcher in dispatchers { dispatcher.failAll(Self.isStopping) } }

    private static let isStopping = "The server is stopping"

    /// Those of all endpoints.
    private var dispatchers: [Dispatcher] { [dispatcher] + (router?.endpoints ?? []).map(\.dispatcher) }

    // MARK: Channel of a message

    /// Where a message comes from: its header claims, and its legacy session if it names one.
    func channel(
        of head: RequestHead, in bytes: ByteSlice, connection: UInt64
    ) throws(EarlyResponse) -> ServerChannel {
        var claims = HeaderClaims(bytes: bytes)
        claims.version = head.range(.mcpProtocolVersion)
        claims.method = head.range(.mcpMethod)
        claims.name = head.range(.mcpName)
        claims.isRepeated =
            head.isRepeated(.mcpProtocolVersion) || head.isRepeated(.mcpMethod) || head.isRepeated(.mcpName)
        // A modern request ignores a session id (HTTP-17).
        guard let id = head.value(.mcpSessionID, in: bytes), !namesModernVersion(claims) else {
            return ServerChannel(id: connection, claims: claims)
        }
        let session = try session(id, head)
        return ServerChannel(id: session.channelID, claims: claims, session: session.negotiated)
    }

    private func namesModernVersion(_ claims: HeaderClaims) -> Bool {
        guard let version = claims.version else { return false }
        return claims.equals(version, "2026-07-28")
    }

    private func session(
        _ id: ByteSlice, _ head: RequestHead
    ) throws(EarlyResponse) -> LegacySessions.Session {
        guard !head.isRepeated(.mcpSessionID) else {
            throw EarlyResponse(status: 400, text: "Duplicate Mcp-Session-Id header")
        }
        do {
            return try sessions.open(id, principal: principal, now: wallSeconds)
        } catch {
            throw EarlyResponse(status: 404, text: "Unknown or expired session; send initialize again")
        }
    }

    /// The session that a GET names.
    func openedSession(_ head: RequestHead, in bytes: ByteSlice) throws(EarlyResponse)
        -> LegacySessions.Session
    {
        guard let id = head.value(.mcpSessionID, in: bytes) else {
            throw EarlyResponse(status: 400, text: "GET needs Mcp-Session-Id")
        }
        try checkVersion(head, in: bytes)
        let session = try session(id, head)
        guard session.negotiated.revision.has(.resumption) else {
            throw EarlyResponse.notAllowed(
                "Streams are not available in this protocol revision", allow: "POST, DELETE")
        }
        guard !head.isRepeated(.lastEventID) else {
            throw EarlyResponse(status: 400, text: "Duplicate Last-Event-ID header")
        }
        return session
    }

    /// Refuses one more stream for messages of the server than a session may have; nil is a new one.
    func checkRoom(in session: LegacySessions.Session, for stream: ResumableStream?) throws(EarlyResponse) {
        // Whoever takes up a stream that is read takes its place.
        if let stream, !stream.isOfServer || stream.isLive { return }
        guard
            dispatcher.streamCount(of: session.channelID) < SessionStreams.maxServerStreams
        else {
            throw EarlyResponse(
                status: 409, text: "A session opens at most \(SessionStreams.maxServerStreams) streams")
        }
    }

    static let eventsAreGone = EarlyResponse(
        status: 400, text: "These events are no longer available; reconnect without Last-Event-ID")

    /// Without a message the header alone says the revision; it must be one that exists (HDR-03).
    private func checkVersion(_ head: RequestHead, in bytes: ByteSlice) throws(EarlyResponse) {
        guard let version = head.value(.mcpProtocolVersion, in: bytes) else { return }
        guard !head.isRepeated(.mcpProtocolVersion), Revision.named(version) != nil else {
            throw EarlyResponse(
                status: 400, text: "Unsupported MCP-Protocol-Version")
        }
    }

    /// Ends the session that a DELETE names.
    func endSession(_ head: RequestHead, in bytes: ByteSlice) throws(EarlyResponse) {
        guard let id = head.value(.mcpSessionID, in: bytes) else {
            throw EarlyResponse(status: 400, text: "DELETE needs Mcp-Session-Id")
        }
        try checkVersion(head, in: bytes)
        let session = try session(id, head)
        if let seconds = sessions.end(session, now: wallSeconds) {
            dispatcher.log(
                "a session was not ended: \(LegacySessions.maxEnded) ended ones are remembered already")
            throw EarlyResponse(
                status: 503,
                text: "This session has not ended: too many ended sessions are remembered. Try again later",
                fields: try? HeaderFields(["Retry-After": "\(seconds)"]))
        }
        dispatcher.end(session.channelID)
        streams.forget(session.channelID)
    }

    /// The header that an `initialize` answer carries.
    func sessionHeader(for session: NegotiatedSession) -> HeaderFields? {
        let id = sessions.make(
            session, principal: principal, now: wallSeconds, random: SystemRandom().bytes(16))
        return try? HeaderFields(["Mcp-Session-Id": id])
    }

    private var wallSeconds: Int64 { dispatcher.clock.wallTime.nanosecondsSinceEpoch / 1_000_000_000 }
}
