import MCPCore
import Synchronization
import TestSupport
import Testing

/// The server that the suite puts before a client: it answers from a table and remembers what it heard.
final class MockServer: Sendable {
    typealias Heard = HTTPPeer.Heard
    typealias Answer = HTTPPeer.Answer
    /// The answer to a request that the table does not decide; nil leaves it to the table.
    typealias Script = @Sendable (_ heard: Heard, _ server: MockServer) -> Answer?

    private struct State {
        var peer: HTTPPeer?
        /// What the mock asks the client, so that the answers can be checked.
        var asked: [String] = []
    }

    private let state = Mutex(State())
    private let version: String
    private let handshake: String
    private let capabilities: JSONValue
    private let results: [String: JSONValue]
    private let script: Script
    private let recorder: MessageRecorder

    /// - Parameters:
    ///   - version: the revision of the run.
    ///   - handshake: what `initialize` is answered with, where that is another one.
    ///   - capabilities: what the mock says it can do; some say nothing and can do it all the same.
    ///   - results: by method; what is not there gets an empty result.
    init(
        _ version: String, handshake: String? = nil,
        capabilities: JSONValue = ["tools": [:], "resources": [:], "prompts": [:]],
        _ results: [String: JSONValue] = [:],
        script: @escaping Script = { _, _ in nil }
    ) throws {
        self.version = version
        self.handshake = handshake ?? version
        self.capabilities = capabilities
        self.results = results
        self.script = script
        recorder = MessageRecorder([.client], version: version)
        let peer = try HTTPPeer { [weak self] heard in self?.answer(heard) ?? .status(503) }
        state.withLock { $0.peer = peer }
    }

    deinit { peer?.stop() }

    private var peer: HTTPPeer? { state.withLock { $0.peer } }

    /// Without a path, as the suite's raw mocks are addressed.
    var bareURL: String { "http://localhost:\(peer?.endpoint.split(separator: ":").last ?? "")" }
    var url: String { bareURL + "/mcp" }

    /// Every request, in order.
    var heard: [Heard] { peer?.heard ?? [] }
    /// Everything that came by POST.
    var posts: [Heard] { heard.filter { $0.method == "POST" } }
    func posts(_ method: String) -> [Heard] { posts.filter { $0.rpcMethod == method } }
    func calls(_ tool: String) -> [Heard] {
        posts("tools/call").filter { $0.params["name"]?.stringValue == tool }
    }

    /// Adds events to the stream of a request that is still open, and ends it.
    func finish(_ events: String, on connection: Int) {
        peer?.say("\(String(events.utf8.count, radix: 16))\r\n\(events)\r\n0\r\n\r\n", on: connection)
    }

    /// An event with a message of the server, which the checks of the answers have to know.
    func event(_ message: JSONValue) -> String {
        state.withLock { $0.asked.append(message.serialized()) }
        return "event: message\ndata: \(message.serialized())\n\n"
    }

    /// Runs a scenario of the client against this server and checks each of its messages against the schema
    /// of the revision, as the suite does in `wire-schema-valid`.
    func run(
        _ scenario: String, at url: String? = nil, context: JSONValue? = nil, code: Int32 = 0,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let outcome = try await ClientFixture.run(scenario, version, at: url ?? self.url, context: context)
        #expect(outcome.code == code, "\(outcome.errors)", sourceLocation: location)
        for message in state.withLock({ $0.asked }) { recorder.saw(message, from: .server) }
        for heard in posts {
            // The registration of a client is no message.
            guard let body = heard.body, body["redirect_uris"] == nil else { continue }
            recorder.saw(body.value.serialized(), from: .client)
            guard heard.rpcMethod == "initialize" else { continue }
            let answer: JSONValue = [
                "jsonrpc": "2.0", "id": body["id"]?.value ?? .null, "result": result("initialize"),
            ]
            recorder.saw(answer.serialized(), from: .server)
        }
        recorder.report()
    }

    private func answer(_ heard: Heard) -> Answer {
        if let answer = script(heard, self) { return answer }
        switch heard.method {
        case "GET": return .events("data: \n\n", end: false, then: .hang)
        case "POST": break
        default: return .status(200)
        }
        guard heard.body?["id"] != nil, heard.body?["method"] != nil else { return .status(202) }
        // Some mocks of 2026-07-28 send the field of a session as well.
        return .result(heard, result(heard.rpcMethod).serialized(), headers: "mcp-session-id: mock-1\r\n")
    }

    private func result(_ method: String) -> JSONValue {
        if method == "initialize" {
            return [
                "protocolVersion": .string(handshake), "capabilities": capabilities,
                "serverInfo": ["name": "mock", "version": "1.0.0"],
            ]
        }
        var result = results[method]?.objectValue ?? [:]
        if method == "server/discover", result.isEmpty {
            // Some mocks name themselves in the body.
            result = [
                "supportedVersions": [.string(version)], "capabilities": capabilities,
                "serverInfo": ["name": "mock", "version": "1.0.0"],
            ]
        }
        guard version >= "2026-07-28" else { return .object(result) }
        if result["resultType"] == nil { result["resultType"] = "complete" }
        if method.hasSuffix("/list") || method == "resources/read" || method == "server/discover" {
            result["ttlMs"] = 0
            result["cacheScope"] = "private"
        }
        return .object(result)
    }

    static func tools(_ tools: JSONValue...) -> JSONValue { ["tools": .array(tools)] }

    static func tool(_ name: String, _ properties: JSONValue = [:], required: JSONValue = []) -> JSONValue {
        [
            "name": .string(name), "description": "A tool of the mock",
            "inputSchema": ["type": "object", "properties": properties, "required": required],
        ]
    }

    static func text(_ text: String) -> JSONValue { ["content": [["type": "text", "text": .string(text)]]] }
}

extension HTTPPeer.Heard {
    /// The params of the message.
    var params: JSONValue { body?["params"]?.value ?? [:] }
    var meta: JSONValue { params["_meta"] ?? [:] }
    func header(mirroring name: String) -> String? { header("mcp-param-" + name.lowercased()) }
}
