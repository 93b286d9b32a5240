/// One HTTP request of a client, ready to be written.
struct HTTPClientRequest: Sendable {
    /// The JSON-RPC id, for a request; nil for a notification, a response or DELETE.
    var id: Int64?
    /// The JSON-RPC method, for messages.
    let method: String
    /// The id of the call that the message belongs to, also where its response comes on another stream.
    var callID: Int64?
    /// What the message names, for credentials; see `AuthorizedRequest.name`.
    var name: String?
    /// The head and the body, without the fields of an authorizer.
    let bytes: ByteSlice
    /// The session that the request names, so that 404 means that the session is gone (LEG-24).
    let session: String?
    let connectTimeout: Duration
    /// Whether the response's event stream may be resumed when it breaks: in legacy revisions
    /// (LEG-19, HTTPC-07).
    var isResumable = false
    /// Whether carrying it out twice does no harm, so that it may be sent again although the server
    /// may have read it.
    var isRepeatable = false
    /// Whether a refusal is a failure even without an id.
    var mustBeTaken = false
    /// The time limit of the whole request, and the error after that. For a request with an id, the caller
    /// enforces the time limit.
    var limit: (duration: Duration, error: ClientError)?
    /// Takes the whole response, whatever its status, in place of the inbox; called before `completion`.
    var response: (@Sendable (HTTPFetch.Response) -> Void)?
    /// Takes an event stream that answers the request, in place of `response`.
    var stream: HTTPRelayStream?
    /// Called once at the end of a request without an id, with nil when the server accepted the request.
    var completion: (@Sendable (ClientError?) -> Void)?

    /// What is sent, in words: a response has no method.
    var subject: String { method.isEmpty ? "the message" : method }
}

/// The header fields of a client's requests.
struct HTTPClientFields: Sendable {
    /// The fields that this client writes itself; any other value would break the message or the protocol.
    private static let reserved = [
        "host", "content-length", "transfer-encoding", "connection", "content-type", "accept",
        "accept-encoding",
        "expect", "upgrade", "te", "trailer", "mcp-protocol-version", "mcp-method", "mcp-name",
        "mcp-session-id", "last-event-id",
    ]

    static func isReserved(_ name: String) -> Bool {
        reserved.contains(name) || name.hasPrefix("mcp-param-")
    }

    private let user: HeaderFields
    /// The lines of `user`, as they are sent.
    private let userLines: ByteSlice
    private let authorizer: (any RequestAuthorizer)?

    init(_ options: ClientOptions) throws(ClientError) {
        var fields = HeaderFields()
        fields.append(sanitizing: "User-Agent", "\(options.name)/\(options.version)")
        authorizer = options.authorizer
        for (name, value) in options.headers {
            if authorizer != nil, ASCII.equalsIgnoringCase(name.utf8, "authorization".utf8) {
                throw ClientError(
                    .invalidRequest, "the header Authorization cannot be combined with an authorizer",
                    hint: "leave out one of them")
            }
            if Self.isReserved(name.lowercased()) {
                throw ClientError(.invalidRequest, "the header \(name) is set by the client itself")
            }
            do {
                if ASCII.equalsIgnoringCase(name.utf8, "user-agent".utf8) {
                    try fields.set(name, to: value)
                } else {
                    try fields.append(name, value)
                }
            } catch {
                throw ClientError(.invalidRequest, "the header \(name) cannot be sent: \(error.description)")
            }
        }
        user = fields
        var buffer = ByteBuffer()
        RequestWriter.write(fields, to: &buffer)
        userLines = buffer.freeze()
    }

    /// Returns the part of a head that is the same for all messages to `target`.
    static func messageStart(
        target: String, host: String
    ) throws(HeaderFields.InvalidField) -> ByteSlice {
        var buffer = ByteBuffer()
        try RequestWriter.writeStart(method: "POST", target: target, host: host, to: &buffer)
        buffer.append("Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n")
        return buffer.freeze()
    }

    /// Writes the head of a message, which begins with `start`
    /// (transports/streamable-http "Sending Messages").
    func writeHead(
        of message: OutboundMessage, session: String?, behind start: ByteSlice, to buffer: inout ByteBuffer
    ) throws(HeaderFields.InvalidField) {
        buffer.append(start)
        if let revision = message.revision, revision.has(.versionHeader) {
            try RequestWriter.write("MCP-Protocol-Version", revision.version.text, to: &buffer)
            if revision.isModern {
                try RequestWriter.write("Mcp-Method", message.method, to: &buffer)
                if let name = message.mirroredName {
                    try RequestWriter.write("Mcp-Name", MCPHeaderValue.encode(name), to: &buffer)
                }
                if !message.mirroredArguments.isEmpty {
                    var fields = HeaderFields()
                    for field in message.mirroredArguments { try fields.append(field.name, field.value) }
                    RequestWriter.write(fields, to: &buffer)
                }
            }
        }
        if let session { try RequestWriter.write("Mcp-Session-Id", session, to: &buffer) }
        buffer.append(userLines)
        RequestWriter.writeEnd(contentLength: message.bytes.count, to: &buffer)
    }

    /// Returns the fields of a POST to a server that need not support MCP.
    func post() throws(HeaderFields.InvalidField) -> HeaderFields {
        var fields = HeaderFields()
        try fields.append("Content-Type", "application/json")
        try fields.append("Accept", "text/event-stream")
        return try adding(to: fields)
    }

    /// Returns the fields of the DELETE that ends a session.
    func deletion(_ session: String, _ revision: Revision?) throws(HeaderFields.InvalidField) -> HeaderFields
    {
        try adding(to: try naming(session, revision, HeaderFields()))
    }

    /// Returns the fields of a GET that opens or resumes an event stream (LEG-12, LEG-19).
    func stream(
        _ session: String?, _ revision: Revision?, lastEventID: String
    ) throws(HeaderFields.InvalidField) -> HeaderFields {
        var fields = HeaderFields()
        try fields.append("Accept", "text/event-stream")
        if !lastEventID.isEmpty { try fields.append("Last-Event-ID", lastEventID) }
        return try adding(to: try naming(session, revision, fields))
    }

    private func naming(
        _ session: String?, _ revision: Revision?, _ given: HeaderFields
    ) throws(HeaderFields.InvalidField) -> HeaderFields {
        var fields = given
        if let session { try fields.append("Mcp-Session-Id", session) }
        if let revision, revision.has(.versionHeader) {
            try fields.append("MCP-Protocol-Version", revision.version.text)
        }
        return fields
    }

    private func adding(to fields: HeaderFields) throws(HeaderFields.InvalidField) -> HeaderFields {
        var fields = fields
        for field in user { try fields.append(field.name, field.value) }
        return fields
    }

    /// A digest that distinguishes clients with different header fields; too short to recover the fields. Nil
    /// when there are no such fields. With an authorizer also for whom its credentials stand, which stays the
    /// same when a token is renewed.
    var principal: String? {
        let own = user.filter { !ASCII.equalsIgnoringCase($0.name.utf8, "user-agent".utf8) }
        let identity = authorizer?.identity
        if own.isEmpty, identity == nil { return nil }
        let text =
            own.map { "\($0.name.lowercased()): \($0.value)\n" }.joined()
            + (identity.map { "\nidentity: \($0)" } ?? "")
        return Hex.encode(SHA256.hash(text.utf8).bytes.prefix(4))
    }

    /// Returns the head as a trace may show it: fields that the user or an authorizer added, sessions and
    /// cookies are masked.
    func masked(_ head: ByteSlice, and others: [String] = []) -> String {
        let secret = Set((user.map(\.name) + others).map { $0.lowercased() }).subtracting(["user-agent"])
        return Self.masked(head, secret)
    }

    static func masked(_ head: ByteSlice, _ names: Set<String> = []) -> String {
        let secret = names.union([
            "authorization", "proxy-authorization", "dpop", "cookie", "set-cookie", "mcp-session-id",
        ])
        let lines = head.split(separator: 0x0A).map { line -> String in
            let text = String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
            guard let colon = text.firstIndex(of: ":"), !text[..<colon].contains(" ") else {
                return SecretMask.requestLine(text)
            }
            let name = text[..<colon].lowercased()
            if name == "location" { return SecretMask.url(text) }
            return secret.contains(name) ? "\(text[..<colon]): [redacted]" : text
        }
        return lines.filter { !$0.isEmpty }.joined(separator: "\n")
    }
}
