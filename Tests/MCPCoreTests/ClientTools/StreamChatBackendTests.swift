import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// Clients of Stream's endpoint that never listen here: their backend receives the calls.
@Suite(.timeLimit(.minutes(5))) struct StreamChatBackendTests {
    typealias F = HubFixture

    private static let greet = #"""
        {"channel_id":"messaging:general","tools":[{"name":"greet","description":"Greets"}]}
        """#

    private static func fixture(_ peer: HTTPPeer, timeout: Duration = .seconds(20)) throws -> F {
        let backend = try StreamChatBackend(url: "http://\(peer.endpoint)/hook", timeout: timeout) { "hook" }
        return F { $0.backend = backend }
    }

    private static func register(_ fixture: F, _ body: String = greet) async throws {
        try await fixture.hub.register(try StreamChatRegistration(ByteSlice(body), isJSON: true))
    }

    @Test func toolsStayAndCallsReachTheBackend() async throws {
        let peer = try HTTPPeer { _ in .json("{}") }
        defer { peer.stop() }
        let fixture = try Self.fixture(peer)
        try await Self.register(fixture)
        await fixture.advance(.seconds(24 * 3_600))
        let agent = try await fixture.agent("general")
        #expect(try await agent.listTools().map(\.name) == ["builtin", "greet"])
        let options = CallOptions(meta: [VendorKey.messageID: "m7"])
        let result = try await agent.said("greet", ["who": "Ann"], options: options)
        #expect(result == .text("Client tool \"greet\" invocation dispatched."))
        let events = try peer.heard.map { try JSONValue(parsing: $0.text) }
        #expect(events.map { $0["type"] } == ["ai_indicator.update", "custom_client_tool_invocation"])
        #expect(events[0]["ai_state"] == "AI_STATE_EXTERNAL_SOURCES")
        #expect(events.allSatisfy { $0["message_id"] == "m7" && $0["cid"] == "messaging:general" })
        #expect(events[1]["args"] == ["who": "Ann"])
        #expect(peer.heard.allSatisfy { $0.header("authorization") == "Bearer hook" })
        // Replaced by a registration, and cleared by an empty one.
        try await Self.register(fixture, #"{"channel_id":"general","tools":[]}"#)
        #expect(try await agent.listTools().map(\.name) == ["builtin"])
        #expect(await fixture.hub.counts.callsInFlight == 0)
    }

    @Test func aBackendMayReturnTheResult() async throws {
        let peer = try HTTPPeer { _ in .json(#"{"result":{"content":[{"type":"text","text":"Hello"}]}}"#) }
        defer { peer.stop() }
        let fixture = try Self.fixture(peer)
        try await Self.register(fixture)
        #expect(try await fixture.agent("general").said("greet") == .text("Hello"))
    }

    @Test func aBackendThatRefusesOrReturnsNonsense() async throws {
        for (answer, text) in [
            (HTTPPeer.Answer.status(503), "HTTP 503"), (.json(#"{"result":{"content":5}}"#), "malformed"),
            (.json(#"{"result":{"content":["#), "damaged"),
        ] {
            let peer = try HTTPPeer { _ in answer }
            defer { peer.stop() }
            let fixture = try Self.fixture(peer)
            try await Self.register(fixture)
            let result = try await fixture.agent("general").said("greet")
            #expect(result.isError && result.text.contains(text))
        }
    }

    @Test func aBackendThatIsGoneOrNeverAnswers() async throws {
        let peer = try HTTPPeer { _ in .raw("") }
        let fixture = try Self.fixture(peer, timeout: .seconds(2))
        try await Self.register(fixture)
        let agent = try await fixture.agent("general")
        let silent = try await agent.said("greet")
        #expect(silent.isError && silent.text.contains("not known whether the client received"))
        peer.stop()
        #expect(try await agent.said("greet").isError)
        #expect(await fixture.hub.counts.callsInFlight == 0)
    }

    // A client that listens receives its events there, and the backend none.
    @Test func aListenerTakesPrecedence() async throws {
        let peer = try HTTPPeer { _ in .json("{}") }
        defer { peer.stop() }
        let (fixture, ear) = (try Self.fixture(peer), StreamChatTests.Ear())
        try await Self.register(fixture)
        let number = await fixture.hub.listen(ear.listener(results: false), in: "general", after: nil)
        let agent = try await fixture.agent("general")
        _ = try await agent.said("greet")
        #expect(ear.all.count == 1 && peer.heard.isEmpty)
        await fixture.hub.stopListening(try #require(number), in: "general")
        await fixture.advance(.seconds(3_600))
        _ = try await agent.said("greet")
        #expect(ear.all.count == 1 && peer.heard.count == 2)
    }

    @Test func requestsAtTheSameTimeAreLimited() async throws {
        let release = Gate()
        let begun = Counter()
        let hook = try HTTPServer(on: [.tcp(port: 0)])
        try hook.start(SlowHook(begun: begun, release: release))
        let port = try #require(hook.addresses.first?.port)
        let backend = try StreamChatBackend(url: "http://127.0.0.1:\(port)/", timeout: .seconds(30))
        let event = ByteSlice("{}")
        let calls = (0 ..< StreamChatBackend.maxRequests).map { _ in
            Task { await backend.pass([event], ofCallTo: "t") }
        }
        #expect(await comesTrue { begun.value == StreamChatBackend.maxRequests })
        guard case .failed(let text) = await backend.pass([event], ofCallTo: "t") else {
            throw NothingThere()
        }
        #expect(text.contains("already working on 64 calls"))
        release.open()
        for call in calls {
            guard case .result = await call.value else { throw NothingThere() }
        }
        await hook.stop()
    }

    private struct SlowHook: HTTPRequestHandler {
        let begun: Counter
        let release: Gate

        func respond(to request: HTTPRequest) async -> HTTPResponse {
            begun.increment()
            _ = await release.wait()
            return .text("")
        }
    }

    @Test func aBackendOverANetworkIsReachedByHTTPSOnly() {
        #expect(throws: ClientError.self) { try StreamChatBackend(url: "http://hook.example/") }
        #expect(throws: Never.self) { try StreamChatBackend(url: "https://hook.example/") }
    }

    // Registrations live until they are replaced, but not without end: the oldest makes room.
    @Test func registrationsAreLimited() async throws {
        let backend = try StreamChatBackend(url: "http://127.0.0.1:1/")
        let fixture = F { $0.backend = backend }
        for number in 0 ..< ClientToolLimits.channels + 1 {
            try await Self.register(
                fixture, #"{"channel_id":"c\#(number)","tools":[{"name":"t","description":"d"}]}"#)
        }
        #expect(await fixture.hub.counts.clients == ClientToolLimits.channels)
        #expect(fixture.lines.all.contains("client tools: forgotten channel=c0 client="))
    }
}
