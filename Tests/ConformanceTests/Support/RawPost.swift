import MCPCore
import TestSupport
import Testing

/// A request that a scenario writes by hand, header by header.
struct RawPost: Sendable {
    var method = "POST"
    /// `Host` is the server's own unless it is among them.
    var fields: [(name: String, value: String)] = []
    var body = ""

    static let meta: JSONObject = [
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": ["name": "conformance-client", "version": "1.0.0"],
        "io.modelcontextprotocol/clientCapabilities": [:],
    ]

    /// A message of 2026-07-28; what it needs in `_meta` stands there unless the params have one.
    static func message(_ method: String, _ params: JSONObject = [:], id: Int = 1) -> String {
        var params = params
        if params["_meta"] == nil { params["_meta"] = .object(meta) }
        return JSONValue.object([
            "jsonrpc": "2.0", "id": JSONValue(id), "method": .string(method), "params": .object(params),
        ]).serialized()
    }

    /// The standard header fields of 2026-07-28.
    static func standard(_ method: String, name: String? = nil, version: String = "2026-07-28") -> [(
        name: String, value: String
    )] {
        [("MCP-Protocol-Version", version), ("Mcp-Method", method)] + (name.map { [("Mcp-Name", $0)] } ?? [])
    }

    private func text(port: UInt16) -> String {
        var head = "\(method) /mcp HTTP/1.1\r\n"
        if !fields.contains(where: { $0.name == "Host" }) { head += "Host: localhost:\(port)\r\n" }
        if !fields.contains(where: { $0.name == "Accept" }) {
            head += "Accept: application/json, text/event-stream\r\n"
        }
        if !body.isEmpty { head += "Content-Type: application/json\r\n" }
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        return head + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// The whole response; its stream is read to the end. What the server says is checked against its schema.
    func send() async throws -> WireResponse {
        let port = try ServerFixture.port.get()
        let text = text(port: port)
        let version = fields.first { $0.name == "MCP-Protocol-Version" }?.value ?? "2025-11-25"
        let recorder = MessageRecorder([.server], version: version)
        recorder.saw(body, from: .client)
        let response = await onThread { () -> WireResponse? in
            guard let socket = try? WireSocket(port: port, isRecorded: false) else { return nil }
            socket.send(text)
            var reader = WireReader(socket)
            defer { socket.shutdown() }
            return reader.response()
        }
        let whole = try #require(response, "the server closed instead of answering")
        for message in whole.messages { recorder.saw(message.serialized(), from: .server) }
        return whole
    }
}

extension WireResponse {
    /// Every message of the response, whatever form it has.
    var messages: [JSONValue] {
        guard isEventStream else { return (try? JSONValue(parsing: body)).map { [$0] } ?? [] }
        return events.compactMap { try? JSONValue(parsing: $0) }
    }

    /// The answer.
    var answer: JSONValue? { messages.last { $0["method"] == nil } }
    var code: Int? { answer?["error"]?["code"]?.intValue }
    var isAccepted: Bool { status < 400 && answer?["error"] == nil }
}
