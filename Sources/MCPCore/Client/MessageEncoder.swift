/// Writes the messages of a client.
struct MessageEncoder: Sendable {
    let clientInfo: Implementation
    let capabilities: ClientCapabilities

    /// A request. In `_meta` stand the members the caller gives, then those of the protocol, which win.
    func request(
        _ id: Int64, _ method: String, _ params: JSONObject, meta extra: JSONObject, wantsProgress: Bool,
        logLevel: LoggingLevel?, _ speech: WireDialect
    ) throws(ClientError) -> ByteSlice {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("jsonrpc", "2.0")
        writer.member("id", Int(id))
        writer.member("method", method)
        var meta = params["_meta"]?.objectValue ?? [:]
        for member in extra { meta[member.key] = member.value }
        if wantsProgress { meta["progressToken"] = JSONValue.number(JSONNumber(Int(id))) }
        if case .modern(let revision) = speech { addClaims(to: &meta, revision, logLevel) }
        if !params.isEmpty || !meta.isEmpty {
            writer.key("params")
            writer.beginObject()
            for member in params where member.key != "_meta" {
                writer.key(member.key)
                writer.value(member.value)
            }
            if !meta.isEmpty { writer.member("_meta", meta) }
            writer.endObject()
        }
        writer.endObject()
        if let failure = writer.failure {
            throw ClientError(.invalidRequest, "the params of \(method) cannot be sent: \(failure)")
        }
        return writer.finish()
    }

    /// What every modern request says of itself (basic/index "Per-request protocol fields").
    private func addClaims(
        to meta: inout JSONObject, _ revision: Revision, _ logLevel: LoggingLevel?
    ) {
        meta["io.modelcontextprotocol/protocolVersion"] = .string(revision.version.text)
        meta["io.modelcontextprotocol/clientCapabilities"] = capabilities.json
        meta["io.modelcontextprotocol/clientInfo"] = clientInfo.json
        if let logLevel { meta["io.modelcontextprotocol/logLevel"] = .string(logLevel.rawValue) }
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

    /// The answer to a request of the server.
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

    /// What `Mcp-Name` repeats of the params (HDR-05).
    static func mirroredName(_ method: String, _ params: JSONObject) -> String? {
        if let entry = WireEra.modern.methods.entry(for: ByteSlice("\"\(method)\"")) {
            if entry.flags.contains(.mirrorsName) { return params["name"]?.stringValue }
            if entry.flags.contains(.mirrorsURI) { return params["uri"]?.stringValue }
            if entry.flags.contains(.mirrorsTask) { return params["taskId"]?.stringValue }
        }
        return nil
    }
}

/// How a message is worded: which revision it speaks, and whether it says so itself.
enum WireDialect: Sendable {
    /// `initialize`, which offers this revision.
    case opening(Revision)
    case legacy(Revision)
    case modern(Revision)

    var isModern: Bool { if case .modern = self { true } else { false } }

    /// What `MCP-Protocol-Version` says; nil for `initialize`.
    var headerRevision: Revision? {
        switch self {
        case .opening: nil
        case .legacy(let revision), .modern(let revision): revision
        }
    }
}
