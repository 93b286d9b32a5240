/// The encoder of a client's messages.
struct MessageEncoder: Sendable {
    /// The memory that the text of a small request takes, so that it is allocated once.
    private static let smallRequestBytes = 480

    let clientInfo: Implementation
    let capabilities: ClientCapabilities
    /// The members that every request of the newest revision has in its `_meta`, as they are sent.
    private let claims: Claims

    /// The members of the protocol in `_meta`: those before the capabilities, these, and those behind them.
    private struct Claims {
        var revision: ByteSlice
        var capabilities: ByteSlice
        var client: ByteSlice
    }

    init(clientInfo: Implementation, capabilities: ClientCapabilities) {
        self.clientInfo = clientInfo
        self.capabilities = capabilities
        var meta = JSONObject()
        Self.addClaims(to: &meta, .newest, clientInfo, capabilities)
        claims = Claims(
            revision: Self.text(of: meta, 0), capabilities: Self.text(of: meta, 1),
            client: Self.text(of: meta, 2))
    }

    /// Returns a member as it is sent.
    private static func text(of object: JSONObject, _ place: Int) -> ByteSlice {
        var writer = JSONWriter()
        writer.object(JSONObject(unique: [object.members[place]]))
        let text = writer.finish()
        return text[1 ..< text.count - 1]
    }

    /// Encodes a request. Its `_meta` contains the members that the caller passes and those of the protocol,
    /// which take precedence.
    func request(
        _ id: Int64, _ method: String, _ params: JSONObject, meta extra: JSONObject, wantsProgress: Bool,
        logLevel: LoggingLevel?, capabilities own: ClientCapabilities? = nil, _ speech: WireDialect
    ) throws(ClientError) -> ByteSlice {
        var writer = JSONWriter(buffer: ByteBuffer(capacity: Self.smallRequestBytes))
        writer.beginObject()
        writer.member("jsonrpc", "2.0")
        writer.member("id", Int(id))
        writer.member("method", method)
        if case .modern(let revision) = speech, revision == .newest, logLevel == nil, params["_meta"] == nil,
            !extra.contains(where: { Self.isClaim($0.key) })
        {
            writer.key("params")
            writer.beginObject()
            writer.members(of: params)
            writer.key("_meta")
            writer.beginObject()
            writer.members(of: extra)
            if wantsProgress { writer.member("progressToken", Int(id)) }
            writer.rawMembers(claims.revision)
            if let own {
                writer.key(Self.capabilitiesKey)
                writer.value(own.json)
            } else {
                writer.rawMembers(claims.capabilities)
            }
            writer.rawMembers(claims.client)
            writer.endObject()
            writer.endObject()
        } else {
            writeParams(id, params, extra, wantsProgress, logLevel, own, speech, to: &writer)
        }
        writer.endObject()
        if let failure = writer.failure {
            throw ClientError(.invalidRequest, "the params of \(method) cannot be sent: \(failure)")
        }
        return writer.finish()
    }

    private func writeParams(
        _ id: Int64, _ params: JSONObject, _ extra: JSONObject, _ wantsProgress: Bool,
        _ logLevel: LoggingLevel?, _ own: ClientCapabilities?, _ speech: WireDialect,
        to writer: inout JSONWriter
    ) {
        var meta = params["_meta"]?.objectValue ?? [:]
        for member in extra { meta[member.key] = member.value }
        if wantsProgress { meta["progressToken"] = JSONValue.number(JSONNumber(Int(id))) }
        if case .modern(let revision) = speech {
            Self.addClaims(to: &meta, revision, clientInfo, own ?? capabilities)
            if let logLevel { meta["io.modelcontextprotocol/logLevel"] = .string(logLevel.rawValue) }
        }
        guard !params.isEmpty || !meta.isEmpty else { return }
        writer.key("params")
        writer.beginObject()
        for member in params where member.key != "_meta" {
            writer.key(member.key)
            writer.value(member.value)
        }
        if !meta.isEmpty { writer.member("_meta", meta) }
        writer.endObject()
    }

    private static let capabilitiesKey = "io.modelcontextprotocol/clientCapabilities"

    /// Whether a member of `_meta` may be one of the protocol.
    private static func isClaim(_ key: String) -> Bool {
        key == "progressToken" || key.hasPrefix("io.modelcontextprotocol/")
    }

    /// Adds the fields that every modern request carries (basic/index "Per-request protocol fields").
    private static func addClaims(
        to meta: inout JSONObject, _ revision: Revision, _ clientInfo: Implementation,
        _ capabilities: ClientCapabilities
    ) {
        meta["io.modelcontextprotocol/protocolVersion"] = .string(revision.version.text)
        meta[capabilitiesKey] = capabilities.json
        meta["io.modelcontextprotocol/clientInfo"] = clientInfo.json
    }

    func initialize(_ revision: Revision) -> JSONObject {
        var writer = JSONWriter()
        clientInfo.write(to: &writer, for: revision)
        return [
            "protocolVersion": .string(revision.version.text),
            "capabilities": capabilities.json(for: revision),
            "clientInfo": RawJSON(unchecked: writer.finish()).value,
        ]
    }

    static func notification(_ method: String, _ params: JSONObject = [:]) -> ByteSlice {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("jsonrpc", "2.0")
        writer.member("method", method)
        if !params.isEmpty { writer.member("params", params) }
        writer.endObject()
        return writer.finish()
    }

    /// Encodes the response to a request from the server.
    static func answer(_ id: RequestID, _ outcome: Result<JSONValue, MCPError>) -> ByteSlice {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("jsonrpc", "2.0")
        writer.member("id", id.json)
        switch outcome {
        case .success(let result): writer.member("result", result)
        case .failure(let error):
            writer.key("error")
            writer.beginObject()
            writer.member("code", error.code)
            writer.member("message", error.message)
            if let data = error.data { writer.member("data", data) }
            writer.endObject()
        }
        writer.endObject()
        return writer.finish()
    }

    /// Returns the value of the params that `Mcp-Name` repeats (HDR-05).
    static func mirroredName(_ method: String, _ params: JSONObject) -> String? {
        // The method of nearly all requests needs no look-up.
        if method == "tools/call" { return params["name"]?.stringValue }
        if let entry = WireEra.modern.methods.entry(for: ByteSlice("\"\(method)\"")) {
            if entry.flags.contains(.mirrorsName) { return params["name"]?.stringValue }
            if entry.flags.contains(.mirrorsURI) { return params["uri"]?.stringValue }
            if entry.flags.contains(.mirrorsTask) { return params["taskId"]?.stringValue }
        }
        return nil
    }
}

/// The form of a message: its revision, and whether the message itself names it.
enum WireDialect: Sendable {
    /// `initialize`, which offers this revision.
    case opening(Revision)
    case legacy(Revision)
    case modern(Revision)

    var isModern: Bool { if case .modern = self { true } else { false } }

    /// The value of `MCP-Protocol-Version`; nil for `initialize`.
    var headerRevision: Revision? {
        switch self {
        case .opening: nil
        case .legacy(let revision), .modern(let revision): revision
        }
    }
}
