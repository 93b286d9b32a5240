import MCPCore
import Synchronization
import TestSupport

/// A verifier whose tokens the test decides about.
final class TestVerifier: TokenVerifier {
    typealias Outcome = Result<Principal, TokenRefusal>

    private let outcomes: Mutex<[String: Outcome]>
    private let seen = Mutex<[String]>([])
    private let changes = Atomic<UInt64>(0)
    /// Nil when verifications return at once.
    private let gate: Gate?

    init(_ outcomes: [String: Outcome] = [:], gate: Gate? = nil) {
        self.outcomes = Mutex(outcomes)
        self.gate = gate
    }

    /// The tokens that were verified, in order.
    var verified: [String] { seen.withLock { $0 } }

    func set(_ token: String, _ outcome: Outcome) { outcomes.withLock { $0[token] = outcome } }
    func changeGeneration() { changes.add(1, ordering: .relaxed) }

    var generation: UInt64 { changes.load(ordering: .relaxed) }

    func verify(_ token: PresentedToken) async throws(TokenRefusal) -> Principal {
        seen.withLock { $0.append(token.value) }
        await gate?.wait()
        return try (outcomes.withLock { $0[token.value] } ?? .failure(.invalid(.unknown))).get()
    }

    /// A principal of an authorization server.
    static func user(
        _ subject: String, scopes: Set<String> = ["mcp:use"], expiresAt: Int64? = nil
    ) -> Outcome {
        .success(
            Principal(
                kind: .oauth, issuer: "https://id.example.com", subject: subject, clientID: "app",
                scopes: scopes, expiresAt: expiresAt))
    }

    /// Two principals, of whom one has two tokens, and tokens with one fault each.
    static var people: [String: Outcome] {
        [
            "alice": user("alice"), "alice-new": user("alice"), "bob": user("bob"),
            "weak": user("weak", scopes: ["other"]),
            "expired": .failure(.invalid(.expired)), "early": .failure(.invalid(.early)),
            "foreign": .failure(.invalid(.audience)), "down": .failure(.unavailable),
        ]
    }
}

enum Protected {
    static let resource = "https://mcp.example.com/mcp"
    static let document = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"

    static func authorization(
        _ verifier: any TokenVerifier, issuers: [String] = ["https://id.example.com"],
        required: [String] = ["mcp:use"], implied: [String: [String]] = [:]
    ) throws -> ServerAuthorization {
        try ServerAuthorization(
            resource: resource, authorizationServers: issuers, verifier: verifier, requiredScopes: required,
            supportedScopes: ["files:write"], impliedScopes: implied)
    }

    /// Serves on a free port while `body` runs, and has stopped when this returns.
    static func serve(
        _ server: MCPServer, _ authorization: ServerAuthorization, servers: (any MCPServerRouter)? = nil,
        handler: (any HTTPRequestHandler)? = nil, connections: Int? = nil,
        _ body: (UInt16) async throws -> Void
    ) async throws {
        var options = HTTPServerOptions()
        options.loops = 1
        options.drainTimeout = .seconds(2)
        if let connections { options.maxConnections = connections }
        let running = try server.start([
            .http(
                .tcp(port: 0), servers: servers, handler: handler, options: options,
                authorization: authorization)
        ])
        do {
            try await body(try running.port())
        } catch {
            await running.stop()
            throw error
        }
        await running.stop()
    }

    static func bearer(_ token: String) -> String { "Authorization: Bearer \(token)\r\n" }

    /// A request of 2026-07-28 with a token.
    static func post(
        _ method: String, _ members: String = "", name: String? = nil, token: String? = "alice",
        more: String = "", path: String = "/mcp"
    ) -> String {
        HTTPServerTests.post(
            HTTPServerTests.body(method, members), method: method,
            more: (token.map(bearer) ?? "") + (name.map { "Mcp-Name: \($0)\r\n" } ?? "") + more, path: path)
    }

    static func call(
        _ tool: String, _ arguments: String = "{}", token: String? = "alice", more: String = ""
    ) -> String {
        post(
            "tools/call", #""name":"\#(tool)","arguments":\#(arguments)"#, name: tool, token: token,
            more: more)
    }

    /// The answer to one request on a connection of its own.
    static func answer(_ port: UInt16, _ request: String) async throws -> WireResponse {
        guard let answer = try await RequestHandlerTests.answers(port, [request])[0] else {
            throw NothingThere()
        }
        return answer
    }

    /// The head of the answer to a HEAD request, after which nothing may come.
    static func head(_ port: UInt16, _ request: String) async throws -> WireResponse {
        let text = try await onThread {
            let socket = try WireSocket(port: port, isRecorded: false)
            socket.send(request)
            socket.finishWriting()
            var bytes: [UInt8] = []
            while let piece = socket.receive() { bytes += piece }
            return String(decoding: bytes, as: UTF8.self)
        }
        guard text.hasSuffix("\r\n\r\n") else { throw NothingThere() }
        let lines = text.split(separator: "\r\n")
        var response = WireResponse(status: Int(lines[0].split(separator: " ")[1]) ?? 0)
        for line in lines.dropFirst() {
            let pair = line.split(separator: ":", maxSplits: 1)
            response.headers[pair[0].lowercased()] = String(pair[1].drop { $0 == " " })
        }
        return response
    }

    /// The same request for `MCPEndpoint`.
    static func request(_ text: String) throws -> HTTPRequest {
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        let lines = parts[0].split(separator: "\r\n")
        let words = lines[0].split(separator: " ")
        var headers = HeaderFields()
        for line in lines.dropFirst() {
            let pair = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            try headers.append(String(pair[0]), String(pair[1].drop { $0 == " " }))
        }
        return HTTPRequest(
            method: String(words[0]), target: String(words[1]), headers: headers,
            body: Array(parts[1].utf8))
    }
}
