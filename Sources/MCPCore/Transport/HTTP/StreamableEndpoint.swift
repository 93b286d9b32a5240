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
    private let path: ByteSlice

    init(server: MCPServer, policy: AccessPolicy, options: HTTPServerOptions) {
        self.server = server
        self.policy = policy
        self.options = options
        sessions = LegacySessions(key: server.stateKey)
        streams = SessionStreams(clock: server.dispatcher.clock)
        path = ByteSlice(options.endpoint)
    }

    var dispatcher: Dispatcher { server.dispatcher }

    /// An answer that is complete without a message: most are refusals.
    struct Plain: Error {
        let status: Int
        var text: String?
        /// Methods that are allowed, for 405.
        var allow: String?
        var extra: HeaderFields? {
            allow.flatMap { try? HeaderFields(["Allow": $0]) }
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
            throw Plain(status: 404, text: "Not found; the MCP endpoint is \(options.endpoint)")
        }
        if let text = policy.refusal(of: head, in: bytes) { throw Plain(status: 403, text: text) }
        if hasToken(head, in: bytes) {
            throw Plain(status: 400, text: "A token does not belong into a URL; send an Authorization header")
        }
        switch head.method {
        case .post: break
        case .delete where head.range(.mcpSessionID) != nil: return .endSession
        case .get where head.range(.mcpSessionID) != nil:
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
            return try sessions.open(id, principal: "", now: wallSeconds)
        } catch {
            throw Plain(status: 404, text: "This session is not known or has ended; initialize again")
        }
    }

    /// The session that a GET names, when it may open one more stream.
    func openedSession(_ head: RequestHead, in bytes: ByteSlice) throws(Plain) -> LegacySessions.Session {
        guard let id = head.value(.mcpSessionID, in: bytes) else {
            throw Plain(status: 400, text: "GET needs Mcp-Session-Id")
        }
        let session = try session(id, head)
        guard session.settled.revision.has(.resumption) else {
            throw Plain(status: 405, text: "This revision has no stream here", allow: "POST, DELETE")
        }
        let open = dispatcher.subscriptions.sessions.streamCount(session.scope)
        guard open < SessionStreams.maximumServerStreams || head.range(.lastEventID) != nil else {
            throw Plain(
                status: 409, text: "A session opens at most \(SessionStreams.maximumServerStreams) streams")
        }
        return session
    }

    /// Ends the session that a DELETE names.
    func endSession(_ head: RequestHead, in bytes: ByteSlice) throws(Plain) {
        guard let id = head.value(.mcpSessionID, in: bytes) else {
            throw Plain(status: 400, text: "DELETE needs Mcp-Session-Id")
        }
        let session = try session(id, head)
        sessions.end(session, now: wallSeconds)
        dispatcher.cancelAll(in: session.scope)
        streams.forget(session.scope)
    }

    /// The header that an `initialize` answer carries.
    func sessionHeader(for session: LegacySession) -> HeaderFields? {
        let id = sessions.make(
            session, principal: "", now: wallSeconds, random: SystemRandom().bytes(16))
        return try? HeaderFields(["Mcp-Session-Id": id])
    }

    private var wallSeconds: Int64 { dispatcher.clock.wallTime.nanosecondsSinceEpoch / 1_000_000_000 }
}
