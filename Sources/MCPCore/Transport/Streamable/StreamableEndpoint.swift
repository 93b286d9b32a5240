/// The MCP endpoint of one server, without sockets: the requests that it accepts, and its responses
/// before JSON-RPC.
///
/// The listener and `MCPServer.respond(to:)` share it (transports/streamable-http). The order of the checks
/// is that of Table 2.
final class StreamableEndpoint: RequestHandler, @unchecked Sendable {
    // SAFETY: constant, and everything that it refers to can be used from any thread.
    let server: MCPServer
    let sessions: LegacySessions
    let streams: SessionStreams
    /// The router for requests with other paths; nil when such requests are not served.
    let router: EndpointRouter?
    private let path: String
    private let pathBytes: ByteSlice
    /// The principal that session ids are bound to: empty at the main endpoint, the path of
    /// any other endpoint.
    private let principal: String
    /// The check of access tokens; nil without authorization.
    let access: AccessGuard?
    /// The published metadata; nil without authorization, and without authorization servers.
    let metadata: ResourceMetadata?

    /// - Parameters:
    ///   - sessions: the sessions of another endpoint of the same server, for which this endpoint
    ///     is another way in.
    ///   - streams: like `sessions`.
    ///   - principal: see the property.
    ///   - authorization: the authorization of callers.
    ///   - access: like `sessions`.
    init(
        server: MCPServer, path: String = "/mcp", router: EndpointRouter? = nil,
        sessions: LegacySessions? = nil, streams: SessionStreams? = nil, principal: String = "",
        authorization: ServerAuthorization? = nil, access: AccessGuard? = nil
    ) {
        self.server = server
        self.path = path
        pathBytes = ByteSlice(path)
        self.router = router
        self.sessions = sessions ?? LegacySessions(keys: server.stateKeys)
        let shared = server.dispatcher.shared?.streams
        self.streams = streams ?? SessionStreams(clock: server.dispatcher.clock, shared: shared)
        self.principal = principal
        self.access = access ?? authorization.map { AccessGuard($0, clock: server.dispatcher.clock) }
        metadata = authorization.flatMap {
            ResourceMetadata(
                $0, path: path, isAlone: router?.hasServers != true,
                defaultName: server.identity.title ?? server.identity.name)
        }
    }

    /// Returns the endpoint of another server on the same listener.
    func beside(with server: MCPServer, at path: String) -> StreamableEndpoint {
        let streams = SessionStreams(
            clock: server.dispatcher.clock, store: streams.store, shared: server.dispatcher.shared?.streams)
        return StreamableEndpoint(
            server: server, path: path, streams: streams, principal: path, access: access)
    }

    var dispatcher: Dispatcher { server.dispatcher }

    // MARK: Head

    override func check(
        _ head: RequestHead, in bytes: ByteSlice, context: ConnectionContext, isFromOwnUser: () -> Bool,
        peer: () -> PeerUser?, memory: inout ConnectionMemory?
    ) -> Decision {
        do throws(EarlyResponse) {
            try head.checkMethod()
            if let answer = try preflight(head, in: bytes, context.policy) { return .refuse(answer) }
            if let access {
                return try checkAuthorized(
                    head, in: bytes, context: context, isFromOwnUser: isFromOwnUser, peer: peer, by: access,
                    &memory)
            }
            if head.path(in: bytes) == pathBytes {
                try context.policy.check(head, in: bytes)
                if context.users == .own { try checkUser(peer) }
                try checkPurpose(of: head, in: bytes)
                return .serve(self)
            }
            guard let router else { throw notFound }
            try context.policy.check(head, in: bytes) { router.admits($0, head, in: bytes) }
            if context.users == .own, !router.asksForToken(head, in: bytes) { try checkUser(peer) }
            let handler = try router.route(head, in: bytes, isFromOwnUser: isFromOwnUser, beside: self)
            guard let handler else { throw notFound }
            return .serve(handler)
        } catch {
            return .refuse(error)
        }
    }

    override func serve(
        _ head: RequestHead, _ bytes: ByteSlice, _ body: ByteSlice, on connection: HTTPConnection
    ) { serve(head, bytes, body, on: connection, as: nil) }

    /// Serves a request; `caller` is nil without authorization.
    func serve(
        _ head: RequestHead, _ bytes: ByteSlice, _ body: ByteSlice, on connection: HTTPConnection,
        as caller: Caller?
    ) {
        if let shared = dispatcher.shared, let session = namedSession(head, in: bytes, caller) {
            return consult(shared, on: session, head, bytes, body, on: connection, as: caller)
        }
        serveNow(head, bytes, body, on: connection, as: caller)
    }

    /// Serves a request whose session is known to continue.
    ///
    /// - Parameter elsewhere: the stream of another instance that the request resumes.
    func serveNow(
        _ head: RequestHead, _ bytes: ByteSlice, _ body: ByteSlice, on connection: HTTPConnection,
        as caller: Caller?, elsewhere: SharedStreams.Found? = nil
    ) {
        switch head.method {
        case .delete: serveEnd(head, bytes, on: connection, as: caller)
        case .get: serveStream(head, bytes, on: connection, as: caller, elsewhere: elsewhere)
        default: serveMessage(head, bytes, body, on: connection, as: caller)
        }
    }

    override func page(of head: RequestHead, in bytes: ByteSlice, _ policy: AccessPolicy) -> HeaderFields? {
        policy.page(of: head, in: bytes)
    }

    /// Returns the response to a browser that asks for a listed page whether it may send a request; nil for
    /// other requests, and for paths that a handler serves. It asks without the page's token, and so is not
    /// told which of the paths of other servers exist.
    private func preflight(
        _ head: RequestHead, in bytes: ByteSlice, _ policy: AccessPolicy
    ) throws(EarlyResponse) -> EarlyResponse? {
        guard let answer = policy.preflight(head, in: bytes) else { return nil }
        let path = head.path(in: bytes)
        guard path != pathBytes else {
            try policy.check(head, in: bytes)
            return answer
        }
        if try router?.handler(of: head, in: bytes) != nil { return nil }
        try policy.check(head, in: bytes)
        guard
            metadata?.isAt(path) == true
                || router?.hasServers == true && !ResourceMetadata.isWellKnown(path)
        else { throw notFound }
        return answer
    }

    /// Refuses a process of another user.
    private func checkUser(_ peer: () -> PeerUser?) throws(EarlyResponse) {
        let peer = peer()
        guard peer?.isOwn != true else { return }
        var response = EarlyResponse(
            status: 403,
            text: "This address serves only processes of the user that the server runs as. Its operator can "
                + "allow other users, or require a token, with \"auth\"")
        response.reason = .user
        response.detail = peer.map { "user id \($0.user)" } ?? "unknown user"
        throw response
    }

    /// Whether a request is for this endpoint's own path.
    func isHere(_ head: RequestHead, in bytes: ByteSlice) -> Bool { head.path(in: bytes) == pathBytes }

    var notFound: EarlyResponse {
        EarlyResponse(status: 404, text: "Not found; the MCP endpoint is \(path)")
    }

    /// Refuses a head that requests anything other than what this endpoint allows: messages by POST and, for
    /// sessions, the end by DELETE and streams by GET.
    func checkPurpose(of head: RequestHead, in bytes: ByteSlice) throws(EarlyResponse) {
        // Neither exists in 2026-07-28, which ignores session ids (HTTP-16, HTTP-17).
        let namesSession =
            head.range(.mcpSessionID) != nil
            && head.value(.mcpProtocolVersion, in: bytes)?.equals("2026-07-28") != true
        switch head.method {
        case .post: try checkTypes(head, in: bytes)
        case .delete where namesSession:
            if head.hasBody {
                throw EarlyResponse(status: 400, text: "DELETE must not have a body here", closes: true)
            }
        case .get where namesSession:
            guard head.range(.accept) != nil, AcceptedTypes(head, in: bytes).eventStream else {
                throw EarlyResponse(status: 406, text: "Accept must list text/event-stream")
            }
            if head.hasBody {
                throw EarlyResponse(status: 400, text: "GET must not have a body here", closes: true)
            }
        default: throw .notAllowed("Send messages with POST", allow: "GET, POST, DELETE")
        }
    }

    /// Requires `application/json`, which also keeps out requests that web pages can send without asking for
    /// permission (GHSA-89xv-2j6f-qhc8).
    private func checkTypes(_ head: RequestHead, in bytes: ByteSlice) throws(EarlyResponse) {
        guard !head.isRepeated(.contentType), let type = head.value(.contentType, in: bytes),
            MediaType.isJSON(type)
        else { throw EarlyResponse(status: 415, text: "Content-Type must be application/json") }
        // RFC 9110, section 8.4
        if let coding = head.value(.contentEncoding, in: bytes) {
            guard !head.isRepeated(.contentEncoding), EarlyResponse.isPlain(coding) else { throw .coded }
        }
        guard head.range(.accept) != nil else { return }
        let accepted = AcceptedTypes(head, in: bytes)
        guard accepted.json, accepted.eventStream else {
            throw EarlyResponse(
                status: 406, text: "Accept must list application/json and text/event-stream")
        }
    }

    // MARK: Stopping

    /// Reports the changes before the end; subscriptions end with their connections.
    override func serverStops() {
        for dispatcher in dispatchers {
            dispatcher.deliverChanges()
            dispatcher.beginStop()
        }
        // `RunningServer` ends the tasks of the main endpoint.
        for endpoint in router?.endpoints ?? [] { endpoint.dispatcher.tasks?.failAll(Self.isStopping) }
    }

    override func endInFlight() { for dispatcher in dispatchers { dispatcher.failAll(Self.isStopping) } }

    /// Other instances have the results of the last calls.
    override func settle() async {
        for dispatcher in dispatchers {
            await dispatcher.shared?.streams.settle()
            dispatcher.endStop()
        }
    }

    private static let isStopping = "The server is stopping"

    /// The dispatchers of all endpoints.
    private var dispatchers: [Dispatcher] { [dispatcher] + (router?.endpoints ?? []).map(\.dispatcher) }

    // MARK: Channel of a message

    /// Returns the origin of a message: its header claims, and its legacy session if it names one.
    func channel(
        of head: RequestHead, in bytes: ByteSlice, connection: UInt64, caller: Caller?
    ) throws(EarlyResponse) -> ServerChannel {
        var claims = HeaderClaims(bytes: bytes)
        claims.version = head.range(.mcpProtocolVersion)
        claims.method = head.range(.mcpMethod)
        claims.name = head.range(.mcpName)
        claims.trace = head.isRepeated(.traceparent) ? nil : head.range(.traceparent)
        claims.isRepeated =
            head.isRepeated(.mcpProtocolVersion) || head.isRepeated(.mcpMethod) || head.isRepeated(.mcpName)
        // A modern request ignores a session id (HTTP-17).
        guard let id = head.value(.mcpSessionID, in: bytes), !namesModernVersion(claims) else {
            return ServerChannel(id: connection, claims: claims, caller: caller)
        }
        let session = try session(id, head, caller)
        return ServerChannel(
            id: session.channelID, claims: claims, session: session.negotiated, caller: caller)
    }

    private func namesModernVersion(_ claims: HeaderClaims) -> Bool {
        guard let version = claims.version else { return false }
        return claims.equals(version, "2026-07-28")
    }

    /// The principal of the sessions of a caller: its key, and the endpoint's part.
    private func principal(of caller: Caller?) -> String {
        caller.map { $0.identity.key + principal } ?? principal
    }

    private func session(
        _ id: ByteSlice, _ head: RequestHead, _ caller: Caller?
    ) throws(EarlyResponse) -> LegacySessions.Session {
        guard !head.isRepeated(.mcpSessionID) else {
            throw EarlyResponse(status: 400, text: "Duplicate Mcp-Session-Id header")
        }
        do {
            return try sessions.open(
                id, principal: principal(of: caller), now: wallSeconds, uptime: uptime)
        } catch {
            throw Self.unknownSession
        }
    }

    static let unknownSession = EarlyResponse(
        status: 404, text: "Unknown or expired session; send initialize again")

    /// Returns the session that a request names, if its id is valid here; whoever serves the request reports
    /// what is wrong with another one.
    func namedSession(
        _ head: RequestHead, in bytes: ByteSlice, _ caller: Caller?
    ) -> LegacySessions.Session? {
        guard let id = head.value(.mcpSessionID, in: bytes), !head.isRepeated(.mcpSessionID),
            head.method != .post || head.value(.mcpProtocolVersion, in: bytes)?.equals("2026-07-28") != true
        else { return nil }
        return try? sessions.open(
            id, principal: principal(of: caller), now: wallSeconds, uptime: uptime)
    }

    /// Returns the session that a GET names.
    func openedSession(
        _ head: RequestHead, in bytes: ByteSlice, _ caller: Caller?
    ) throws(EarlyResponse) -> LegacySessions.Session {
        guard let id = head.value(.mcpSessionID, in: bytes) else {
            throw EarlyResponse(status: 400, text: "GET needs Mcp-Session-Id")
        }
        try checkVersion(head, in: bytes)
        let session = try session(id, head, caller)
        guard session.negotiated.revision.has(.resumption) else {
            throw EarlyResponse.notAllowed(
                "Streams are not available in this protocol revision", allow: "POST, DELETE")
        }
        guard !head.isRepeated(.lastEventID) else {
            throw EarlyResponse(status: 400, text: "Duplicate Last-Event-ID header")
        }
        return session
    }

    /// Refuses another stream for server messages when the session has as many as it may have; nil
    /// is a new stream.
    func checkRoom(in session: LegacySessions.Session, for stream: ResumableStream?) throws(EarlyResponse) {
        // A connection that resumes a stream that is being read replaces its reader.
        if let stream, !stream.isOfServer || stream.isLive { return }
        guard
            dispatcher.streamCount(of: session.channelID) < SessionStreams.maxServerStreams
        else {
            throw EarlyResponse(
                status: 409, text: "A session may open at most \(SessionStreams.maxServerStreams) streams")
        }
    }

    static let eventsAreGone = EarlyResponse(
        status: 400, text: "These events are no longer available; reconnect without Last-Event-ID")

    /// The store was asked for the events of another instance.
    static let eventsAreUnknown = EarlyResponse(
        status: 503, text: "Whether these events are available cannot be determined now; try again later",
        fields: try? HeaderFields(["Retry-After": "1"]))

    /// Checks the revision in the header: without a message, only the header specifies it; it must be one
    /// that exists (HDR-03).
    private func checkVersion(_ head: RequestHead, in bytes: ByteSlice) throws(EarlyResponse) {
        guard let version = head.value(.mcpProtocolVersion, in: bytes) else { return }
        guard !head.isRepeated(.mcpProtocolVersion), Revision.named(version) != nil else {
            throw EarlyResponse(
                status: 400, text: "Unsupported MCP-Protocol-Version")
        }
    }

    /// Ends the session that a DELETE names.
    func endSession(
        _ head: RequestHead, in bytes: ByteSlice, _ caller: Caller?
    ) throws(EarlyResponse) {
        guard let id = head.value(.mcpSessionID, in: bytes) else {
            throw EarlyResponse(status: 400, text: "DELETE needs Mcp-Session-Id")
        }
        try checkVersion(head, in: bytes)
        let session = try session(id, head, caller)
        // With a store, this is only for the time in which it cannot be reached.
        if let seconds = sessions.end(session, uptime: uptime), dispatcher.shared == nil {
            dispatcher.log(
                "a session was not ended: \(LegacySessions.maxEnded) ended ones are remembered already")
            throw EarlyResponse(
                status: 503,
                text: "This session was not ended: too many ended sessions are remembered. Try again later",
                fields: try? HeaderFields(["Retry-After": "\(seconds)"]))
        }
        dispatcher.end(session.channelID)
        streams.forget(session.channelID)
    }

    /// Returns the header that the response to `initialize` carries.
    func sessionHeader(for session: NegotiatedSession, _ caller: Caller?) -> HeaderFields? {
        let id = sessions.make(
            session, principal: principal(of: caller), now: wallSeconds, uptime: uptime,
            random: SystemRandom().bytes(16))
        return try? HeaderFields(["Mcp-Session-Id": id])
    }

    /// The number of seconds on the monotonic clock.
    var uptime: Int64 { dispatcher.clock.now.nanoseconds / 1_000_000_000 }
    var wallSeconds: Int64 { dispatcher.clock.wallTime.nanosecondsSinceEpoch / 1_000_000_000 }
}
