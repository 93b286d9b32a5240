import MCPCore
import TestSupport
import Testing

/// How the suite runs a server scenario: its revisions, its client, and what it answers when it is asked.
enum SuiteRun {
    static let stateful = Setting(leg: .http, version: "2025-11-25")
    static let stateless = Setting(leg: .http, version: "2026-07-28")
    static let both = [stateful, stateless]

    /// What the suite's client declares unless a scenario says otherwise.
    static func capabilities(_ setting: Setting) -> JSONObject {
        var capabilities: JSONObject = ["sampling": [:], "elicitation": [:]]
        if setting.isModern { capabilities["roots"] = ["listChanged": true] }
        return capabilities
    }

    static let tasks: JSONObject = [
        "elicitation": [:], "sampling": [:], "extensions": ["io.modelcontextprotocol/tasks": [:]],
    ]
}

/// A client of the suite that is connected to the server fixture. Each message of the server is checked
/// against the schema of its revision, as the suite does in `wire-schema-valid`.
func withSuiteClient(
    _ setting: Setting, capabilities: JSONObject? = nil,
    answering: @escaping @Sendable (AskedClient.Asked) async -> TestAnswer = { _ in .decline },
    _ body: (AskedClient) async throws -> Void
) async throws {
    let recorder = MessageRecorder([.server], version: setting.version)
    let link = HTTPLink(port: try ServerFixture.port.get(), recorder)
    let raw = RawClient(
        setting, link, recorder, capabilities: capabilities ?? SuiteRun.capabilities(setting))
    try await raw.open()
    let client = AskedClient(raw, answering)
    do {
        try await body(client)
    } catch {
        await raw.close()
        throw error
    }
    await raw.close()
}

extension RawClient {
    /// The result of a request that has to succeed.
    func result(
        _ method: String, _ params: JSONObject = [:], progressToken: JSONValue? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) async throws -> JSONValue {
        let reply = await request(method, params, progressToken: progressToken)
        #expect(reply.status == 200, sourceLocation: location)
        #expect(reply.errorCode == nil, "\(reply.errorMessage ?? "")", sourceLocation: location)
        return try #require(reply.result?.value, sourceLocation: location)
    }

    /// The result of a tool that has to succeed.
    func tool(
        _ name: String, _ arguments: JSONObject? = [:], progressToken: JSONValue? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) async throws -> JSONValue {
        var params: JSONObject = ["name": .string(name)]
        if let arguments { params["arguments"] = .object(arguments) }
        return try await result("tools/call", params, progressToken: progressToken, location)
    }

    /// The notifications of one kind that have come so far.
    func notifications(_ method: String) -> [JSONValue] {
        heard.filter { $0["method"]?.string == method && $0["id"] == nil }.map(\.value)
    }
}

extension JSONValue {
    /// The first block of content of one type.
    func block(_ type: String) -> JSONValue? {
        self["content"]?.arrayValue?.first { $0["type"]?.stringValue == type }
    }

    /// Whether the text that is there is more than nothing.
    var isFilled: Bool { stringValue?.isEmpty == false }
    var isObject: Bool { objectValue != nil }
}
