import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// What a client does when its credentials are refused, and what becomes of errors, traces and caches.
@Suite(.timeLimit(.minutes(5))) struct AuthorizerRefusalTests {
    private typealias Answer = HTTPPeer.Answer
    private typealias Heard = HTTPPeer.Heard

    private static func peer(_ call: @escaping @Sendable (Heard) -> Answer) throws -> HTTPPeer {
        try HTTPPeer { $0.rpcMethod == "server/discover" ? .result($0, Script.discovered) : call($0) }
    }

    private static func options(_ authorizer: any RequestAuthorizer) -> ClientOptions {
        var options = ClientOptions()
        options.authorizer = authorizer
        return options
    }

    private static func error(
        _ fake: FakeAuthorizer, _ call: @escaping @Sendable (Heard) -> Answer
    ) async throws -> (ClientError?, [Heard]) {
        let peer = try peer(call)
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target, options: options(fake))
        let error = await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
        await client.close()
        return (error, peer.heard.filter { $0.rpcMethod == "tools/call" })
    }

    // MARK: Limits

    @Test func newTokenIsRefused() async throws {
        let fake = FakeAuthorizer(generation: 1)
        let (error, heard) = try await Self.error(fake) { _ in
            .status(401, headers: "WWW-Authenticate: Basic realm=\"a\"\r\n" + Answer.challenge)
        }
        #expect(heard.map(\.token) == ["Bearer t1", "Bearer t2"])
        #expect(fake.now.flows == 1)
        #expect(fake.now.refusals.count == 1)
        #expect(fake.now.refusals[0].challenges == [#"Basic realm="a""#, #"Bearer realm="x", scope="a""#])
        #expect(error?.kind == .authentication)
        #expect(error?.httpStatus == 401)
        #expect(error?.authorization == nil)
        #expect(error?.hint == nil)
        #expect(
            error?.details == [
                #"WWW-Authenticate: Basic realm="a""#, #"WWW-Authenticate: Bearer realm="x", scope="a""#,
            ])
    }

    @Test func twoStepUps() async throws {  // AUTH-32
        let fake = FakeAuthorizer(generation: 1)
        let (error, heard) = try await Self.error(fake) { _ in .forbidden }
        #expect(heard.map(\.token) == ["Bearer t1", "Bearer t2", "Bearer t3"])
        #expect(fake.now.refusals.map(\.status) == [403, 403])
        #expect(fake.now.refusals.allSatisfy { $0.request.method == "tools/call" && $0.request.name == "x" })
        #expect(error?.kind == .authentication)
        #expect(error?.httpStatus == 403)
    }

    @Test func loginAndThenStepUp() async throws {  // AUTH-31
        let fake = FakeAuthorizer()
        let (error, heard) = try await Self.error(fake) { heard in
            switch heard.token {
            case nil: .unauthorized
            case "Bearer t1": .forbidden
            default: .result(heard, Script.done)
            }
        }
        #expect(error == nil)
        #expect(heard.map(\.token) == [nil, "Bearer t1", "Bearer t2"])
        #expect(Set(heard.map { "\($0.body.map { "\($0)" } ?? "")" }).count == 1)
    }

    @Test func olderTokenIsNoFlow() async throws {
        let fake = FakeAuthorizer(generation: 1)
        let (error, heard) = try await Self.error(fake) { heard in
            guard heard.token == "Bearer t1" else { return .result(heard, Script.done) }
            // Somebody else has got a new one in the meantime.
            fake.change { $0.generation = 2 }
            return .unauthorized
        }
        #expect(error == nil)
        #expect(heard.map(\.token) == ["Bearer t1", "Bearer t2"])
        #expect(fake.now.flows == 0)
    }

    @Test func nonceIsNoFlow() async throws {  // AUTH-57
        let fake = FakeAuthorizer(generation: 1)
        let (error, heard) = try await Self.error(fake) { heard in
            heard.header("dpop") == "proof-n1"
                ? .result(heard, Script.done)
                : .status(
                    401, headers: "WWW-Authenticate: DPoP error=\"use_dpop_nonce\"\r\nDPoP-Nonce: n1\r\n")
        }
        #expect(error == nil)
        #expect(heard.map(\.token) == ["Bearer t1", "Bearer t1"])
        #expect(fake.now.refusals.map(\.dpopNonce) == ["n1"])
        #expect(fake.now.flows == 0)
    }

    @Test func endlessNonces() async throws {
        let fake = FakeAuthorizer(generation: 1)
        let (error, heard) = try await Self.error(fake) { _ in
            .status(401, headers: "WWW-Authenticate: DPoP error=\"use_dpop_nonce\"\r\nDPoP-Nonce: n\r\n")
        }
        #expect(error?.kind == .authentication)
        #expect(heard.count == 1 + HTTPCredentials.maxNonces)
        #expect(fake.now.flows == 0)
    }

    @Test func newerCredentialsOfOthers() {
        let request = AuthorizedRequest(httpMethod: "POST", url: "http://127.0.0.1/mcp")
        var credentials = HTTPCredentials(FakeAuthorizer(), request)
        let refusal = AuthorizationRefusal(request: request, status: 401, challenges: [], generation: 1)
        for _ in 0 ..< HTTPCredentials.maxRenewals {
            let isAdmitted = credentials.admits(refusal, newest: 2)
            #expect(isAdmitted)
        }
        let isAdmitted = credentials.admits(refusal, newest: 2)
        #expect(!isAdmitted)
        // The one flow is still possible.
        let isFlow = credentials.admits(refusal, newest: 1)
        #expect(isFlow)
    }

    @Test(arguments: [401, 403]) func noResponse(_ status: Int) async throws {
        let fake = FakeAuthorizer(generation: 1, responds: false)
        let (error, heard) = try await Self.error(fake) { _ in .status(status) }
        #expect(heard.count == 1)
        #expect(error?.kind == .authentication)
        #expect(error?.httpStatus == status)
    }

    // MARK: Errors

    private static let failure = AuthorizationError(
        .loginRequired, "wants a login", details: ["scopes: a"], hint: "mcp-client login")

    @Test func errorOfTheAuthorizer() async throws {
        let fake = FakeAuthorizer()
        fake.change { $0.generation = 1 }
        let (error, heard) = try await Self.error(fake) { _ in
            fake.change { $0.failure = Self.failure }
            return .unauthorized
        }
        #expect(heard.count == 1)
        #expect(error?.kind == .authentication)
        #expect(error?.authorization?.kind == .loginRequired)
        #expect(error?.message == "wants a login")
        #expect(error?.details == ["scopes: a"])
        #expect(error?.hint == "mcp-client login")
        #expect(error?.httpStatus == 401)
    }

    @Test func errorBeforeTheRequest() async throws {
        let peer = try Self.peer { .result($0, Script.done) }
        defer { peer.stop() }
        let fake = FakeAuthorizer()
        fake.change { $0.failure = Self.failure }
        let error = await clientError {
            _ = try await MCPClient.connect(peer.target, options: Self.options(fake))
        }
        #expect(error?.authorization?.kind == .loginRequired)
        #expect(error?.httpStatus == nil)
        #expect(peer.heard.isEmpty)
    }

    @Test(arguments: ["Authorization", "authorization"]) func twoSources(_ name: String) async throws {
        var options = Self.options(FakeAuthorizer(generation: 1))
        options.headers = [(name, "Bearer mine")]
        let error = await clientError { [options] in
            _ = try await MCPClient.connect(.http("http://127.0.0.1:1/mcp"), options: options)
        }
        #expect(error?.kind == .invalidRequest)
        #expect(error?.message == "the header Authorization cannot be combined with an authorizer")
    }

    @Test(arguments: [("Mcp-Session-Id", "s"), ("X", "a\r\nEvil: 1"), ("a b", "c"), ("content-length", "1")])
    func badFields(_ name: String, _ value: String) async throws {
        let fake = FakeAuthorizer(generation: 1)
        fake.change { $0.others = [(name, value)] }
        let peer = try Self.peer { .result($0, Script.done) }
        defer { peer.stop() }
        let error = await clientError {
            _ = try await MCPClient.connect(peer.target, options: Self.options(fake))
        }
        #expect(error?.kind == .invalidRequest)
        #expect(peer.heard.isEmpty)
    }

    @Test func sizeOfErrors() { #expect(MemoryLayout<ClientError>.size <= 112) }

    // MARK: Traces

    @Test func tracesMaskTheFields() async throws {  // AUTH-43
        let fake = FakeAuthorizer(generation: 1)
        fake.change {
            $0.nonce = "secret"
            $0.others = [("X-Key", "t1 secret")]
        }
        let peer = try Self.peer { .result($0, Script.done) }
        defer { peer.stop() }
        var options = Self.options(fake)
        let heads = Mutex<[String]>([])
        options.trace = { event in
            if case .httpRequest(let head) = event { heads.withLock { $0.append(head) } }
        }
        let client = try await MCPClient.connect(peer.target, options: options)
        await client.close()
        let head = try #require(heads.withLock { $0 }.first)
        #expect(heads.withLock { $0 }.count == 1)
        #expect(head.hasSuffix("Authorization: [redacted]\nX-Key: [redacted]\nDPoP: [redacted]"))
        #expect(!head.contains("secret") && !head.contains("t1"))
        #expect(head.hasPrefix("POST /mcp HTTP/1.1\n"))
    }

    // MARK: Identities

    @Test func identitiesAreKeptApart() throws {  // AUTH-46
        func key(_ change: (inout FakeAuthorizer.State) -> Void) throws -> ServerKey? {
            let fake = FakeAuthorizer(generation: 1)
            fake.change(change)
            let endpoint = try HTTPEndpoint(url: "http://127.0.0.1:1/mcp")
            return try HTTPClientTransport(endpoint, options: Self.options(fake)).serverKey
        }
        let alice = try key { _ in }
        #expect(try key { $0.generation = 7 } == alice)
        #expect(try key { $0.identity = "issuer bob" } != alice)
        #expect(try key { $0.identity = nil }?.principal == nil)
        #expect(alice?.principal?.contains("alice") == false)
    }

    @Test func cacheIsDropped() async throws {  // AUTH-46
        let peer = try Self.peer { heard in
            let name = heard.token == "Bearer t1" ? "alice" : "bob"
            return .result(
                heard,
                #"{"resultType":"complete","ttlMs":60000,"cacheScope":"private","#
                    + #""tools":[{"name":"\#(name)","inputSchema":{"type":"object"}}]}"#)
        }
        defer { peer.stop() }
        let fake = FakeAuthorizer(generation: 1)
        let client = try await MCPClient.connect(peer.target, options: Self.options(fake))
        #expect(try await client.listTools().map(\.name) == ["alice"])
        // A renewed token of the same identity keeps them.
        fake.change { $0.generation = 2 }
        #expect(try await client.listTools().map(\.name) == ["alice"])
        fake.change { $0.identity = "issuer bob" }
        #expect(try await client.listTools().map(\.name) == ["bob"])
        await client.close()
    }

    @Test func sessionIsDropped() async throws {  // AUTH-46
        let sessions = Mutex(0)
        let peer = try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "initialize":
                let number = sessions.withLock {
                    $0 += 1; return $0
                }
                return .result(heard, Script.initialized(), headers: "Mcp-Session-Id: s\(number)\r\n")
            case "tools/list":
                // The second login is another person's.
                if heard.token == "Bearer t1" { return .unauthorized }
                return .result(heard, #"{"tools":[]}"#)
            default: return .status(heard.method == "DELETE" ? 200 : 202)
            }
        }
        defer { peer.stop() }
        let fake = FakeAuthorizer(generation: 1)
        fake.change { $0.nextIdentity = "issuer bob" }
        var options = Self.options(fake)
        options.protocol = .exactly(.v2025_11_25)
        let client = try await MCPClient.connect(peer.target, options: options)
        _ = try await client.request("tools/list")
        await client.close()
        let lists = peer.heard.filter { $0.rpcMethod == "tools/list" }
        #expect(lists.map(\.token) == ["Bearer t1", "Bearer t2"])
        #expect(lists.map { $0.header("mcp-session-id") } == ["s1", "s2"])
        #expect(
            peer.heard.filter { $0.rpcMethod == "initialize" }.map(\.token) == ["Bearer t1", "Bearer t2"])
    }

    @Test(arguments: [0, 1]) func sessionIsKept(_ generation: Int) async throws {
        let peer = try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "initialize":
                .result(heard, Script.initialized(), headers: "Mcp-Session-Id: s\r\n")
            case "tools/list":
                heard.token == "Bearer t\(generation + 1)" ? .result(heard, #"{"tools":[]}"#) : .unauthorized
            default: .status(heard.method == "DELETE" ? 200 : 202)
            }
        }
        defer { peer.stop() }
        var options = Self.options(FakeAuthorizer(generation: generation))
        options.protocol = .exactly(.v2025_11_25)
        let client = try await MCPClient.connect(peer.target, options: options)
        _ = try await client.request("tools/list")
        await client.close()
        #expect(peer.heard.count { $0.rpcMethod == "initialize" } == 1)
        let lists = peer.heard.filter { $0.rpcMethod == "tools/list" }
        #expect(lists.map { $0.header("mcp-session-id") } == ["s", "s"])
    }
}
