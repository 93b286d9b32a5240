/// The MCP endpoint of one server, without sockets: which requests it takes, and what it answers before
/// JSON-RPC.
///
/// The listener and `MCPServer.respond(to:)` share it (transports/streamable-http). The order of the checks
/// is that of Table 2.
final class StreamableEndpoint: Sendable {
    let server: MCPServer
    let policy: AccessPolicy
    let options: HTTPServerOptions
    let sessions: LegacySessions
    let streams: SessionStreams
    /// Where requests of other paths go; nil: nowhere.
    let beside: SideEndpoints?
    /// Nil: no path is that of the endpoint.
    private let path: ByteSlice?
    /// What session ids are bound to: nothing at the main endpoint, the path of any other.
    private let principal: String

    /// - Parameters:
    ///   - sessions: those of another endpoint of the same server, which this one is another way to.
    ///   - streams: as `sessions`.
    ///   - beside: as `sessions`.
    ///   - principal: see there.
    init(
        server: MCPServer, policy: AccessPolicy, options: HTTPServerOptions,
        sessions: LegacySessions? = nil, streams: SessionStreams? = nil, beside: SideEndpoints? = nil,
        principal: String = ""
    ) {
        self.server = server
        self.policy = policy
        self.options = options
        self.sessions = sessions ?? LegacySessions(key: server.stateKey)
        self.streams = streams ?? SessionStreams(clock: server.dispatcher.clock)
        self.beside = beside ?? options.sideDoor.map(SideEndpoints.init)
        self.principal = principal
        path = options.endpoint.map { ByteSlice($0) }
    }

    /// The same endpoint with another policy.
    func with(policy: AccessPolicy) -> StreamableEndpoint {
        StreamableEndpoint(
            server: server, policy: policy, options: options, sessions: sessions, streams: streams,
            beside: beside, principal: principal)
    }

    /// The endpoint of another server on the same listener. Whoever routes to it has checked the access, so
    /// one serves all policies.
    func beside(with server: MCPServer, at path: String) -> StreamableEndpoint {
        var options = options
        options.endpoint = path
        options.sideDoor = nil
        let streams = SessionStreams(clock: server.dispatcher.clock, store: streams.store)
        return StreamableEndpoint(
            server: server, policy: policy, options: options, streams: streams, principal: path)
    }

    var dispatcher: Dispatcher { server.dispatcher }

    /// An answer that is complete without a message: most are refusals.
    struct Plain: Error {
        let status: Int
        var text: String?
        /// The text is a JSON-RPC message.
        var isMessage = false
        /// Methods that are allowed, for 405.
        var allow: String?
        /// The path is not that of the endpoint: nothing else was looked at.
        var isElsewhere = false
        /// Any other fields.
        var fields: HeaderFields?
        var extra: HeaderFields? {
            allow.flatMap { try? HeaderFields(["Allow": $0]) } ?? fields
        }

        /// The same answer to a message that was read: a JSON-RPC error without id (HTTP-08).
        var aboutMessage: Plain {
            var out = JSONWriter()
            ResultEnvelope.error(.invalidRequest(text ?? ""), id: nil, to: &out, for: .newest)
            var plain = self
            plain.text = String(out.finish())
            plain.isMessage = true
            return plain
        }
    }

    /// What a head asks for, once it passed the checks.
    enum Purpose {
        case message
        case endSession
        /// A GET of a session: a stream for messages of the server, or the rest of an earlier one.
        case openStream
    }

    // MARK: Head

    /// Judges a head before its body is read. Throws the answer when it is refused.
    func check(_ head: RequestHead, in bytes: ByteSlice) throws(Plain) -> Purpose {
        switch head.method {
        case .trace, .connect, .other:
            throw Plain(status: 501, text: "This method is not known here")
        default: break
        }
        guard head.path(in: bytes) == path else {
            let hint = options.endpoint.map { "; the MCP endpoint is \($0)" } ?? ""
            throw Plain(status: 404, text: "Not found\(hint)", isElsewhere: true)
        }
        try checkAccess(head, in: bytes)
        return try purpose(of: head, in: bytes)
    }

    /// Who may send anything at all, to whatever path.
    func checkAccess(_ head: RequestHead, in bytes: ByteSlice) throws(Plain) {
        if let text = policy.refusal(of: head, in: bytes) { throw Plain(status: 403, text: text) }
        if hasToken(head, in: bytes) {
            throw Plain(status: 400, text: "A token does not belong into a URL; send an Authorization header")
        }
    }

    /// What a head asks of this endpoint, when it may ask.
    func purpose(of head: RequestHead, in bytes: ByteSlice) throws(Plain) -> Purpose {
        // Neither exists in 2026-07-28, which ignores session ids (HTTP-16, HTTP-17).
        let namesSession =
            head.range(.mcpSessionID) != nil
            && head.value(.mcpProtocolVersion, in: bytes)?.equals("2026-07-28") != true
        switch head.method {
        case .post: break
        case .delete where namesSession: return .endSession
        case .get where namesSession:
            guard head.range(.accept) != nil, AcceptedTypes(head, in: bytes).eventStream else {
                throw Plain(status: 406, text: "Accept must list text/event-stream")
            }
            return .openStream
        default:
            throw Plain(status: 405, text: "Send messages with POST", allow: "GET, POST, DELETE")
        }
        try checkTypes(head, in: bytes)
        return .message
    }

    /// `application/json` is required: it also keeps out requests that web pages can send without asking
    /// (GHSA-89xv-2j6f-qhc8).
    private func checkTypes(_ head: RequestHead, in bytes: ByteSlice) throws(Plain) {
        guard !head.isRepeated(.contentType), let type = head.value(.contentType, in: bytes),
            MediaType.isJSON(type)
        else { throw Plain(status: 415, text: "Content-Type must be application/json") }
        guard head.range(.accept) != nil else { return }
        let accepted = AcceptedTypes(head, in: bytes)
        guard accepted.json, accepted.eventStream else {
            throw Plain(status: 406, text: "Accept must list application/json and text/event-stream")
        }
    }

    /// Tokens in the query string end up in logs (fault 104).
    private func hasToken(_ head: RequestHead, in bytes: ByteSlice) -> Bool {
        guard let query = head.query(in: bytes) else { return false }
        return String(query).split(separator: "&").contains { $0.hasPrefix("access_token=") }
    }

    // MARK: Origin of a message

    /// Where a message comes from: its header claims, and its legacy session if it names one.
    func origin(
        of head: RequestHead, in bytes: ByteSlice, connection: UInt64
    ) throws(Plain) -> Origin {
        var claims = HeaderClaims(bytes: bytes)
        claims.version = head.range(.mcpProtocolVersion)
        claims.method = head.range(.mcpMethod)
        claims.name = head.range(.mcpName)
        claims.isRepeated =
            head.isRepeated(.mcpProtocolVersion) || head.isRepeated(.mcpMethod) || head.isRepeated(.mcpName)
        var origin = Origin(scope: connection, claims: claims)
        // A modern request ignores a session id (HTTP-17).
        if let id = head.value(.mcpSessionID, in: bytes), !namesModernVersion(claims) {
            let session = try session(id, head)
            origin.slot = .negotiated(session.settled)
            origin.scope = session.scope
        }
        return origin
    }

    private func namesModernVersion(_ claims: HeaderClaims) -> Bool {
        guard let version = claims.version else { return false }
        return claims.equals(version, "2026-07-28")
    }

    private func session(
        _ id: ByteSlice, _ head: RequestHead
    ) throws(Plain) -> LegacySessions.Session {
        guard !head.isRepeated(.mcpSessionID) else {
            throw Plain(status: 400, text: "Mcp-Session-Id stands twice")
        }
        do {
            return try sessions.open(id, principal: principal, now: wallSeconds)
        } catch {
            throw Plain(status: 404, text: "This session is not known or has ended; initialize again")
        }
    }

    /// The session that a GET names.
    func openedSession(_ head: RequestHead, in bytes: ByteSlice) throws(Plain) -> LegacySessions.Session {
        guard let id = head.value(.mcpSessionID, in: bytes) else {
            throw Plain(status: 400, text: "GET needs Mcp-Session-Id")
        }
        try checkVersion(head, in: bytes)
        let session = try session(id, head)
        guard session.settled.revision.has(.resumption) else {
            throw Plain(status: 405, text: "This revision has no stream here", allow: "POST, DELETE")
        }
        guard !head.isRepeated(.lastEventID) else {
            throw Plain(status: 400, text: "Last-Event-ID stands twice")
        }
        return session
    }

    /// Refuses one more stream for messages of the server than a session may have; nil is a new one.
    func checkRoom(in session: LegacySessions.Session, for stream: ResumableStream?) throws(Plain) {
        // Whoever takes up a stream that is read takes its place.
        if let stream, !stream.isOfServer || stream.isLive { return }
        guard
            dispatcher.subscriptions.sessions.streamCount(session.scope) < SessionStreams.maximumServerStreams
        else {
            throw Plain(
                status: 409, text: "A session opens at most \(SessionStreams.maximumServerStreams) streams")
        }
    }

    static let eventsAreGone = Plain(
        status: 400, text: "These events are not kept, or not any more; open a stream without Last-Event-ID")

    /// Without a message the header alone says the revision; it must be one that exists (HDR-03).
    private func checkVersion(_ head: RequestHead, in bytes: ByteSlice) throws(Plain) {
        guard let version = head.value(.mcpProtocolVersion, in: bytes) else { return }
        guard !head.isRepeated(.mcpProtocolVersion), Revision.named(version) != nil else {
            throw Plain(status: 400, text: "MCP-Protocol-Version names no revision that is served here")
        }
    }

    /// Ends the session that a DELETE names.
    func endSession(_ head: RequestHead, in bytes: ByteSlice) throws(Plain) {
        guard let id = head.value(.mcpSessionID, in: bytes) else {
            throw Plain(status: 400, text: "DELETE needs Mcp-Session-Id")
        }
        try checkVersion(head, in: bytes)
        let session = try session(id, head)
        if let seconds = sessions.end(session, now: wallSeconds) {
            dispatcher.log(
                "a session was not ended: \(LegacySessions.maxEnded) ended ones are remembered already")
            throw Plain(
                status: 503,
                text: "This session has not ended: too many ended sessions are remembered. Try again later",
                fields: try? HeaderFields(["Retry-After": "\(seconds)"]))
        }
        dispatcher.cancelAll(in: session.scope)
        streams.forget(session.scope)
    }

    /// The header that an `initialize` answer carries.
    func sessionHeader(for session: LegacySession) -> HeaderFields? {
        let id = sessions.make(
            session, principal: principal, now: wallSeconds, random: SystemRandom().bytes(16))
        return try? HeaderFields(["Mcp-Session-Id": id])
    }

    private var wallSeconds: Int64 { dispatcher.clock.wallTime.nanosecondsSinceEpoch / 1_000_000_000 }
}
