import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// The credentials of a client's requests: AUTH-31, AUTH-37, AUTH-46, DUAL-18.
@Suite(.timeLimit(.minutes(5))) struct AuthorizerTests {
    private typealias Answer = HTTPPeer.Answer
    private typealias Heard = HTTPPeer.Heard

    /// Refuses what does not present the token, and leaves the rest to `script`.
    private static func guarding(
        _ script: @escaping @Sendable (Heard) -> Answer
    ) -> @Sendable (Heard) -> Answer {
        { heard in heard.token == "Bearer t1" ? script(heard) : .unauthorized }
    }

    private static let modern: @Sendable (Heard) -> Answer = { heard in
        heard.rpcMethod == "server/discover"
            ? .result(heard, Script.discovered) : .result(heard, #"{"resultType":"complete","tools":[]}"#)
    }

    private static func version(of heard: Heard) -> String {
        heard.body?["params"]?["protocolVersion"]?.string ?? ""
    }

    private static func legacy(_ heard: Heard) -> Answer {
        switch (heard.method, heard.rpcMethod) {
        case ("DELETE", _): .status(200)
        case ("GET", _): .events("", end: false, then: .hang)
        case (_, "server/discover"): .status(400)
        case (_, "initialize"):
            .result(
                heard, Script.initialized(version(of: heard)), headers: "Mcp-Session-Id: s\r\n")
        case (_, "tools/list"): .result(heard, #"{"tools":[]}"#)
        default: .status(202)
        }
    }

    private static func options(
        _ authorizer: any RequestAuthorizer, _ version: ProtocolVersion? = nil
    ) -> ClientOptions {
        var options = ClientOptions()
        options.authorizer = authorizer
        if let version { options.protocol = .exactly(version) }
        return options
    }

    // MARK: Kinds of requests

    @Test func everyModernRequest() async throws {  // DUAL-18
        let peer = try HTTPPeer(Self.guarding(Self.modern))
        defer { peer.stop() }
        let fake = FakeAuthorizer()
        let client = try await MCPClient.connect(peer.target, options: Self.options(fake))
        #expect(client.protocolVersion == .v2026_07_28)
        _ = try await client.request("tools/call", ["name": "add"])
        await client.close()
        #expect(peer.heard.map(\.rpcMethod) == ["server/discover", "server/discover", "tools/call"])
        #expect(peer.heard.map(\.token) == [nil, "Bearer t1", "Bearer t1"])
        // The same bytes but for the field.
        let (first, second) = (peer.heard[0], peer.heard[1])
        #expect(first.body?.bytes.array == second.body?.bytes.array)
        #expect(second.head == first.head + "\r\nAuthorization: Bearer t1")
        let url = "http://\(peer.endpoint)/mcp"
        let refusal = try #require(fake.now.refusals.first)
        #expect(refusal.challenges == [#"Bearer realm="x", scope="a""#])
        #expect(refusal.status == 401)
        #expect(refusal.generation == 0)
        #expect(refusal.request.url == url)
        #expect(refusal.request.server == url)
        #expect(refusal.request.method == "server/discover")
        #expect(refusal.request.httpMethod == "POST")
        #expect(fake.now.requests.last?.name == "add")
        #expect(fake.now.flows == 1)
    }

    @Test(arguments: [nil, ProtocolVersion.v2025_11_25, .v2025_06_18, .v2025_03_26])
    func everyLegacyRequest(_ version: ProtocolVersion?) async throws {
        let peer = try HTTPPeer(Self.guarding(Self.legacy))
        defer { peer.stop() }
        let fake = FakeAuthorizer()
        var options = Self.options(fake, version)
        options.onNotification = { _, _ in }
        let client = try await MCPClient.connect(peer.target, options: options)
        _ = try await client.request("tools/list")
        await waitUntil { peer.heard.contains { $0.method == "GET" } }
        await client.close()
        let refused = peer.heard.filter { $0.token == nil }
        #expect(refused.map(\.rpcMethod) == [version == nil ? "server/discover" : "initialize"])
        let methods = Set(
            peer.heard.filter { $0.token == "Bearer t1" }.map { "\($0.method) \($0.rpcMethod)" })
        #expect(
            methods.isSuperset(
                of: [
                    "POST initialize", "POST notifications/initialized", "POST tools/list", "GET ", "DELETE ",
                ]))
        let asked = fake.now.requests
        #expect(asked.contains { $0.httpMethod == "GET" && $0.method.isEmpty })
        #expect(asked.contains { $0.httpMethod == "DELETE" && $0.method.isEmpty })
    }

    /// The first requests pass; each other kind meets a token that is no longer good.
    @Test(arguments: ["notifications/initialized", "tools/list", "GET", "DELETE", "resume"])
    func anyKindMayBeRefused(_ kind: String) async throws {
        let peer = try HTTPPeer { heard in
            let isResumption = heard.header("last-event-id") != nil
            let isRefused =
                kind == "resume"
                ? isResumption : kind == (heard.rpcMethod.isEmpty ? heard.method : heard.rpcMethod)
            if isRefused, heard.token != "Bearer t2" { return .unauthorized }
            if kind == "resume", heard.rpcMethod == "tools/list" {
                return .events("retry: 1\nid: 7\ndata:\n\n")
            }
            if isResumption {
                return .events(#"data: {"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"# + "\n\n")
            }
            return Self.legacy(heard)
        }
        defer { peer.stop() }
        let fake = FakeAuthorizer(generation: 1)
        var options = Self.options(fake, .v2025_11_25)
        if kind == "GET" { options.onNotification = { _, _ in } }
        let client = try await MCPClient.connect(peer.target, options: options)
        _ = try await client.request("tools/list")
        if kind == "GET" { await waitUntil { peer.heard.count { $0.method == "GET" } == 2 } }
        await client.close()
        #expect(fake.now.flows == 1)
        #expect(fake.now.refusals.map(\.generation) == [1])
        let pair = peer.heard.filter {
            kind == "resume" ? $0.header("last-event-id") != nil : kind == $0.method || kind == $0.rpcMethod
        }
        #expect(pair.map(\.token) == ["Bearer t1", "Bearer t2"])
        #expect(Set(pair.map { "\($0.body.map { "\($0)" } ?? "")" }).count == 1)
    }

    @Test func unixSocket() async throws {
        let folder = TemporaryDirectory()
        let peer = try HTTPPeer(unixPath: folder.path + "/s", Self.guarding(Self.modern))
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target, options: Self.options(FakeAuthorizer()))
        await client.close()
        #expect(peer.heard.map(\.token) == [nil, "Bearer t1"])
    }

    // MARK: HTTP+SSE of 2024-11-05

    private final class Stream: Sendable {
        let peer = Mutex<HTTPPeer?>(nil)
        let connection = Mutex(0)

        func answer(_ heard: Heard, _ result: String) {
            let event = #"data: {"jsonrpc":"2.0","id":\#(heard.id),"result":\#(result)}"#
            peer.withLock { $0 }?.say(event + "\n\n", on: connection.withLock { $0 })
        }
    }

    private static func old(endpoint: String, refusing: @escaping @Sendable (Heard) -> Bool) throws
        -> HTTPPeer
    {
        let stream = Stream()
        let peer = try HTTPPeer { heard in
            if refusing(heard) { return .unauthorized }
            if heard.method == "GET" {
                stream.connection.withLock { $0 = heard.connection }
                return .raw(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
                    "event: endpoint\ndata: \(endpoint)\n\n", then: .hang)
            }
            guard heard.head.hasPrefix("POST /messages?s=1 ") else { return .status(405) }
            switch heard.rpcMethod {
            case "initialize": stream.answer(heard, Script.initialized("2024-11-05"))
            case "tools/list": stream.answer(heard, #"{"tools":[]}"#)
            default: break
            }
            return .status(202)
        }
        stream.peer.withLock { $0 = peer }
        return peer
    }

    @Test func oldTransport() async throws {
        let peer = try Self.old(endpoint: "/messages?s=1") { heard in
            // The token is refused once more on the place for messages.
            heard.token == nil || heard.rpcMethod == "tools/list" && heard.token != "Bearer t2"
        }
        defer { peer.stop() }
        let fake = FakeAuthorizer()
        let client = try await MCPClient.connect(peer.target, options: Self.options(fake))
        #expect(client.protocolVersion == .v2024_11_05)
        _ = try await client.request("tools/list")
        await client.close()
        #expect(
            peer.heard.map { $0.rpcMethod.isEmpty ? $0.method : $0.rpcMethod } == [
                "server/discover", "server/discover", "initialize", "GET", "initialize",
                "notifications/initialized", "tools/list", "tools/list",
            ])
        let url = "http://\(peer.endpoint)"
        let second = try #require(fake.now.refusals.last)
        #expect(second.request.url == url + "/messages?s=1")
        #expect(second.request.server == url + "/mcp")
    }

    @Test func oldTransportRefusesItsStream() async throws {
        let peer = try Self.old(endpoint: "/messages?s=1") { $0.method == "GET" && $0.token != "Bearer t1" }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target, options: Self.options(FakeAuthorizer()))
        await client.close()
        #expect(peer.heard.filter { $0.method == "GET" }.map(\.token) == [nil, "Bearer t1"])
    }

    @Test func tokensDoNotMove() async throws {
        let other = try HTTPPeer { _ in .status(202) }
        defer { other.stop() }
        let peer = try Self.old(endpoint: "http://\(other.endpoint)/messages?s=1") { _ in false }
        defer { peer.stop() }
        let fake = FakeAuthorizer(generation: 1)
        let error = await clientError {
            _ = try await MCPClient.connect(peer.target, options: Self.options(fake))
        }
        #expect(error?.kind == .protocolViolation)
        #expect(other.heard.isEmpty)
        #expect(fake.now.requests.allSatisfy { $0.url == "http://\(peer.endpoint)/mcp" })
    }

    @Test(arguments: [
        ("https://example.com/mcp", true), ("http://127.0.0.1:1/mcp", true), ("http://127.1.2.3/", true),
        ("http://LOCALHOST:8/mcp", true), ("http://[::1]:8/mcp", true), ("http://example.com/mcp", false),
        ("http://192.168.0.1/mcp", false), ("http://localhost.example.com/mcp", false),
        ("http://[fe80::1]/mcp", false), ("http://0.0.0.0/mcp", false),
    ])
    func placesForTokens(_ url: String, _ isConfidential: Bool) throws {
        #expect(try HTTPEndpoint(url: url).isConfidential == isConfidential)
    }

    @Test func noTokenInTheClear() throws {
        let options = Self.options(FakeAuthorizer(generation: 1))
        let pool = try HTTPClientPool(HTTPEndpoint(url: "http://192.0.2.1/mcp"), options: options)
        #expect(pool.authorizer == nil)
    }

    // MARK: Many at once

    @Test func hundredRefusals() async throws {
        let count = 100
        let refused = Mutex(0)
        let gate = Gate()
        let peer = try HTTPPeer { heard in
            if heard.rpcMethod == "server/discover" { return Self.modern(heard) }
            guard heard.token != nil else {
                if refused.withLock({
                    $0 += 1; return $0
                }) == count {
                    gate.open()
                }
                return .unauthorized
            }
            return Self.modern(heard)
        }
        defer { peer.stop() }
        // No flow ends before every request was refused.
        let fake = FakeAuthorizer(gate: gate)
        let client = try await MCPClient.connect(peer.target, options: Self.options(fake))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0 ..< count {
                group.addTask { _ = try await client.request("tools/call", ["name": "x"]) }
            }
            try await group.waitForAll()
        }
        await client.close()
        #expect(fake.now.flows == 1)
        let calls = peer.heard.filter { $0.rpcMethod == "tools/call" }
        #expect(calls.count == 2 * count)
        // Each of them twice: without and with the token.
        for (_, pair) in Dictionary(grouping: calls, by: \.id) {
            #expect(Set(pair.map(\.token)) == [nil, "Bearer t1"])
        }
    }

    // MARK: Waiting

    @Test(arguments: [false, true]) func cancelledWhileWaiting(_ isLegacy: Bool) async throws {
        let gate = Gate()
        let peer = try HTTPPeer { heard in
            heard.token == nil && heard.rpcMethod.hasPrefix("tools/")
                ? .unauthorized : isLegacy ? Self.legacy(heard) : Self.modern(heard)
        }
        defer { peer.stop() }
        let fake = FakeAuthorizer(gate: gate)
        let client = try await MCPClient.connect(peer.target, options: Self.options(fake))
        let abandoned = Task {
            await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
        }
        await waitUntil { fake.now.refusals.count == 1 }
        let other = Task { try await client.request("tools/list") }
        await waitUntil { fake.now.refusals.count == 2 }
        abandoned.cancel()
        #expect(await abandoned.value?.kind == .cancelled)
        await waitUntil { fake.now.cancelled == 1 }
        gate.open()
        _ = try await other.value
        await client.close()
        #expect(fake.now.flows == 1)
        #expect(peer.heard.count { $0.rpcMethod == "tools/call" } == 1)
        #expect(!peer.heard.contains { $0.rpcMethod == "notifications/cancelled" })
    }

    @Test func deadlineHoldsWhileWaiting() async throws {
        let gate = Gate()
        let peer = try HTTPPeer { $0.rpcMethod == "tools/list" ? .unauthorized : Self.modern($0) }
        defer { peer.stop() }
        let fake = FakeAuthorizer(gate: gate)
        let client = try await MCPClient.connect(peer.target, options: Self.options(fake))
        let error = await clientError {
            _ = try await client.request("tools/list", options: CallOptions(deadline: .seconds(1)))
        }
        #expect(error?.kind == .timeout)
        gate.open()
        await waitUntil { fake.now.generation == 1 }
        await client.close()
        #expect(peer.heard.count { $0.rpcMethod == "tools/list" } == 1)
    }

    @Test(arguments: [nil, ProtocolVersion.v2025_11_25])
    func loginsDoNotCount(_ version: ProtocolVersion?) async throws {
        let gate = Gate()
        let peer = try HTTPPeer(Self.guarding(version == nil ? Self.modern : Self.legacy))
        defer { peer.stop() }
        let fake = FakeAuthorizer(gate: gate)
        var options = Self.options(fake, version)
        options.connectTimeout = .seconds(2)
        options.timeout = .seconds(2)
        let client = Task { [options] in try await MCPClient.connect(peer.target, options: options) }
        await waitUntil { fake.now.refusals.count == 1 }
        let limit = ContinuousClock.now + .milliseconds(2_600)
        #expect(await comesTrue { ContinuousClock.now > limit })
        gate.open()
        try await client.value.close()
    }

    @Test func silentServerIsNotExcused() async throws {
        let peer = try HTTPPeer { heard in
            heard.token == nil ? .unauthorized : .raw(then: .hang)
        }
        defer { peer.stop() }
        var options = Self.options(FakeAuthorizer())
        options.connectTimeout = .milliseconds(200)
        let error = await clientError { [options] in
            _ = try await MCPClient.connect(peer.target, options: options)
        }
        #expect(error?.kind == .timeout)
    }

    @Test func closedWhileWaiting() async throws {
        let gate = Gate()
        let peer = try HTTPPeer { $0.rpcMethod == "tools/list" ? .unauthorized : Self.legacy($0) }
        defer { peer.stop() }
        let fake = FakeAuthorizer(gate: gate)
        let client = try await MCPClient.connect(peer.target, options: Self.options(fake))
        let call = Task { await clientError { _ = try await client.request("tools/list") } }
        await waitUntil { fake.now.refusals.count == 1 }
        await client.close()
        #expect(await call.value?.kind == .connectionClosed)
        gate.open()
    }
}
