import Synchronization
import Testing

@testable package import MCPCore

/// What came back for one message.
package struct RawReply: Sendable {
    /// The HTTP status; nil on other legs, and when the connection ended before one came.
    package var status: Int?
    /// The fields of the HTTP head, with names in lower case.
    package var headers: [String: String] = [:]
    /// The JSON-RPC answer; nil when there was none.
    package var answer: RawJSON?

    package init(status: Int? = nil, headers: [String: String] = [:], answer: RawJSON? = nil) {
        self.status = status
        self.headers = headers
        self.answer = answer
    }

    package var result: RawJSON? { answer?["result"] }
    package var errorCode: Int? { answer?["error"]?["code"]?.int }
    package var errorMessage: String? { answer?["error"]?["message"]?.string }
    /// The text blocks of a tool's result.
    package var text: String {
        (result?["content"]?.elements ?? []).compactMap { $0["text"]?.string }.joined(separator: "\n")
    }
}

/// A message as it is sent.
package struct RawMessage: Sendable {
    package var text: String
    package var id: RequestID?
    /// Only for HTTP.
    package var headers: [(name: String, value: String)] = []
}

/// Carries messages of one client.
package protocol RawLink: Sendable {
    /// Everything that came, in order.
    var heard: [RawJSON] { get }
    /// Who is told of every message that comes.
    func listen(_ listener: @escaping @Sendable (RawJSON) -> Void)
    /// Sends a message; returns when its answer is there, when none can come, or after 20 seconds.
    func exchange(_ message: RawMessage) async -> RawReply
    /// Stops waiting for the answer of a request, and tells the server so where that is what the leg does.
    func disconnect(_ id: RequestID)
    func close() async
}

/// A client that writes its messages by hand, so that the server is tested without our own client.
package final class RawClient: Sendable {
    package let setting: Setting
    /// What the client says it can do.
    package let capabilities: JSONObject
    private let link: any RawLink
    private let recorder: MessageRecorder
    private let lastID = Atomic<Int>(0)
    private let session = Mutex<String?>(nil)
    private let isOpen = Atomic<Bool>(false)

    package init(
        _ setting: Setting, _ link: any RawLink, _ recorder: MessageRecorder, capabilities: JSONObject = [:]
    ) {
        self.setting = setting
        self.link = link
        self.recorder = recorder
        self.capabilities = capabilities
    }

    package func close() async {
        await link.close()
        recorder.report()
    }

    /// Calls `listener` with every message that comes.
    package func listen(_ listener: @escaping @Sendable (RawJSON) -> Void) { link.listen(listener) }

    /// Everything that came, in order.
    package var heard: [RawJSON] { link.heard }
    /// The answers to one id.
    package func answers(to id: JSONValue) -> [RawJSON] {
        heard.filter { $0["id"]?.value == id && $0["method"] == nil }
    }
    package var sessionID: String? { session.withLock { $0 } }

    // LIFE-01, LIFE-05
    package func open() async throws {
        guard !setting.isModern else { return isOpen.store(true, ordering: .releasing) }
        let params: JSONObject = [
            "protocolVersion": .string(setting.version), "capabilities": .object(capabilities),
            "clientInfo": ["name": "raw", "version": "1"],
        ]
        let reply = await request("initialize", params, id: "init")
        #expect(reply.result?["protocolVersion"]?.string == setting.version)
        session.withLock { $0 = reply.headers["mcp-session-id"] }
        isOpen.store(true, ordering: .releasing)
        let accepted = await notify("notifications/initialized")
        #expect(accepted.answer == nil)
        if setting.leg == .http { #expect(accepted.status == 202) }
    }

    package func nextID() -> JSONValue {
        .number(JSONNumber(lastID.add(1, ordering: .relaxed).newValue))
    }

    @discardableResult
    package func request(
        _ method: String, _ params: JSONObject = [:], id: JSONValue? = nil, progressToken: JSONValue? = nil
    ) async -> RawReply {
        await send(method, params, id: id ?? nextID(), progressToken: progressToken)
    }

    @discardableResult
    package func notify(_ method: String, _ params: JSONObject = [:]) async -> RawReply {
        await send(method, params, id: nil, progressToken: nil)
    }

    package func call(
        _ tool: String, _ arguments: JSONObject = [:], id: JSONValue? = nil, progressToken: JSONValue? = nil
    )
        async -> RawReply
    {
        await request(
            "tools/call", ["name": .string(tool), "arguments": .object(arguments)], id: id,
            progressToken: progressToken)
    }

    /// Gives a request up as this revision and leg do it (CANC-01, LEG-09).
    package func cancel(_ id: JSONValue) async throws {
        let requestID = try #require(RequestID(RawJSON(id)))
        if setting.leg == .http, setting.isModern { return link.disconnect(requestID) }
        await notify("notifications/cancelled", ["requestId": id, "reason": "test"])
        link.disconnect(requestID)
    }

    /// Closes the connection of a request and says nothing.
    package func hangUp(_ id: JSONValue) async throws {
        link.disconnect(try #require(RequestID(RawJSON(id))))
    }

    /// Sends a text as it is.
    package func send(text: String, id: JSONValue? = nil, headers: [(name: String, value: String)] = []) async
        -> RawReply
    {
        var message = RawMessage(text: text, id: id.flatMap { RequestID(RawJSON($0)) })
        message.headers = headers + sessionHeaders()
        return await exchange(message)
    }

    private func exchange(_ message: RawMessage) async -> RawReply {
        recorder.saw(message.text, from: .client)
        defer { recorder.report() }
        return await link.exchange(message)
    }

    private func send(
        _ method: String, _ params: JSONObject, id: JSONValue?, progressToken: JSONValue?
    ) async -> RawReply {
        var params = params
        var meta = params["_meta"]?.objectValue ?? JSONObject()
        if let progressToken { meta["progressToken"] = progressToken }
        if setting.isModern {
            // META-05, META-06
            meta["io.modelcontextprotocol/protocolVersion"] = .string(setting.version)
            if meta["io.modelcontextprotocol/clientCapabilities"] == nil {
                meta["io.modelcontextprotocol/clientCapabilities"] = .object(capabilities)
            }
        }
        if !meta.isEmpty { params["_meta"] = .object(meta) }
        var message: JSONObject = ["jsonrpc": "2.0"]
        if let id { message["id"] = id }
        message["method"] = .string(method)
        if !params.isEmpty { message["params"] = .object(params) }
        let text = JSONValue.object(message).serialized()
        var raw = RawMessage(text: text, id: id.flatMap { RequestID(RawJSON($0)) })
        raw.headers = headers(method, params)
        return await exchange(raw)
    }

    /// HDR-01, HDR-02, HDR-04, HDR-05
    private func headers(_ method: String, _ params: JSONObject) -> [(name: String, value: String)] {
        guard setting.isModern else { return sessionHeaders() }
        var headers = [("MCP-Protocol-Version", setting.version), ("Mcp-Method", method)]
        let name: JSONValue? =
            switch method {
            case "tools/call", "prompts/get": params["name"]
            case "resources/read": params["uri"]
            case "tasks/get", "tasks/update", "tasks/cancel": params["taskId"]
            default: nil
            }
        if let name = name?.stringValue { headers.append(("Mcp-Name", MCPHeaderValue.encode(name))) }
        return headers
    }

    private func sessionHeaders() -> [(name: String, value: String)] {
        guard isOpen.load(ordering: .acquiring), let id = sessionID else { return [] }
        var headers = [("Mcp-Session-Id", id)]
        if setting.version >= "2025-06-18" { headers.append(("MCP-Protocol-Version", setting.version)) }
        return headers
    }
}
