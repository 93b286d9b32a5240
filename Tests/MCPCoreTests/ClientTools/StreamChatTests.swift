import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// Clients of Stream's endpoint: what they hear, what they answer, and what agents get.
@Suite struct StreamChatTests {
    typealias F = HubFixture

    /// A listener that keeps what it hears.
    final class Ear: Sendable {
        let events = Mutex<[(id: String, json: JSONValue)]>([])
        /// The events that precede calls of tools with outside sources.
        let indicators = Mutex<[JSONValue]>([])
        let heard = Gate()

        func listener(results: Bool) -> EventFeed.Listener {
            EventFeed.Listener(
                wantsResults: results,
                send: { [self] id, data in
                    let event = (try? JSONValue(parsing: data)) ?? .null
                    if event["type"] == "ai_indicator.update" {
                        indicators.withLock { $0.append(event) }
                        return true
                    }
                    events.withLock { $0.append((id, event)) }
                    heard.open()
                    return true
                }, end: {})
        }

        var all: [JSONValue] { events.withLock { $0.map(\.json) } }
    }

    private func register(_ fixture: F, _ body: String) async throws {
        try await fixture.hub.register(try StreamChatRegistration(ByteSlice(body), isJSON: true))
    }

    private static let greet = #"""
        {"channel_id":"messaging:general","tools":[{"name":"greet","description":"Greets",
         "instructions":"Use it.","parameters":{"type":"object","properties":{"who":{"type":"string"}}}}]}
        """#

    // C29
    @Test func aClientThatOnlyListensGetsStreamsEvent() async throws {
        let (fixture, ear) = (F(), Ear())
        try await register(fixture, Self.greet)
        _ = await fixture.hub.listen(ear.listener(results: false), in: "general", after: nil)
        let agent = try await fixture.agent("general")
        let options = CallOptions(meta: [VendorKey.messageID: "m7"])
        let result = try await agent.said("greet", ["who": "Ann"], options: options)
        #expect(result == .text("Client tool \"greet\" invocation dispatched."))
        #expect(
            ear.indicators.withLock { $0 } == [
                [
                    "type": "ai_indicator.update", "ai_state": "AI_STATE_EXTERNAL_SOURCES",
                    "cid": "messaging:general", "message_id": "m7", "channel_id": "general",
                    "channel_type": "messaging",
                ]
            ])
        let event = try #require(ear.all.first)
        let id = try #require(event["invocation_id"]?.stringValue)
        #expect(id.count == 32)
        #expect(
            event == [
                "type": "custom_client_tool_invocation", "cid": "messaging:general", "message_id": "m7",
                "channel_id": "general", "channel_type": "messaging",
                "tool": [
                    "name": "greet", "description": "Greets", "instructions": "Use it.",
                    "parameters": ["type": "object", "properties": ["who": ["type": "string"]]],
                ],
                "args": ["who": "Ann"], "invocation_id": .string(id),
            ])
        #expect(await fixture.hub.complete(id, with: .text("late")) == false)
        #expect(await fixture.hub.counts.lateResults == 1)
    }

    // C29
    @Test func aChannelWithoutATypeAndAToolWithoutParameters() async throws {
        let (fixture, ear) = (F(), Ear())
        try await register(fixture, #"{"channel_id":"plain","tools":[{"name":"t","description":"d"}]}"#)
        _ = await fixture.hub.listen(ear.listener(results: false), in: "plain", after: nil)
        _ = try await fixture.agent("plain").said("t")
        let event = try #require(ear.all.first)
        #expect(event["cid"] == "messaging:plain" && event["channel_type"] == "messaging")
        #expect(event["tool"] == ["name": "t", "description": "d", "parameters": nil])
        #expect(event["args"] == [:])
        #expect(event["message_id"] == event["invocation_id"])
    }

    // C04
    @Test func theIndicatorIsShownUnlessItIsSwitchedOff() async throws {
        let fixture = F()
        try await register(
            fixture,
            #"""
            {"channel_id":"a","tools":[{"name":"open","description":"x"},
             {"name":"closed","description":"x","showExternalSourcesIndicator":false}]}
            """#)
        let tools = try await fixture.agent().listTools()
        let (open, closed) = (tools.first { $0.name == "open" }, tools.first { $0.name == "closed" })
        #expect(open?.annotations?.openWorldHint == true)
        #expect(open?.meta?[VendorKey.externalSources] == true)
        #expect(closed?.annotations?.openWorldHint == nil && closed?.meta?[VendorKey.externalSources] == nil)
    }

    // C27
    @Test func aListenerThatAnswersIsWaitedFor() async throws {
        let (fixture, ear) = (F(), Ear())
        try await register(fixture, Self.greet)
        _ = await fixture.hub.listen(ear.listener(results: true), in: "general", after: nil)
        let agent = try await fixture.agent("general")
        async let answer = agent.said("greet")
        #expect(await ear.heard.wait())
        let id = try #require(ear.all.first?["invocation_id"]?.stringValue)
        #expect(await fixture.hub.complete("unknown", with: .text("x")) == false)
        #expect(await fixture.hub.complete(id, with: .text("Hello")))
        #expect(try await answer == .text("Hello"))
        #expect(await fixture.hub.complete(id, with: .text("again")) == false)
    }

    // C27
    @Test func callsWhoseListenersHaveGoneFailAfterTheGraceTime() async throws {
        let (fixture, ear) = (F(), Ear())
        try await register(fixture, Self.greet)
        let number = await fixture.hub.listen(ear.listener(results: true), in: "general", after: nil)
        let agent = try await fixture.agent("general")
        async let answer = agent.said("greet")
        #expect(await ear.heard.wait())
        await fixture.hub.stopListening(try #require(number), in: "general")
        await fixture.advance(.seconds(4))
        #expect(await fixture.hub.counts.callsInFlight == 1)
        await fixture.advance(.seconds(1))
        #expect(try await answer.isError)
    }

    // C29
    @Test func aCallThatNobodyHearsFails() async throws {
        let fixture = F()
        try await register(fixture, Self.greet)
        let result = try await fixture.agent("general").said("greet")
        #expect(result == .error("No client is listening in this channel. Nothing was done."))
    }

    // MARK: Clients that go

    private static func names(_ agent: MCPClient) async throws -> [String] {
        try await agent.listTools().map(\.name)
    }

    // C29
    @Test func aClientThatNeverListensIsNotListedForLong() async throws {
        let (fixture, ear) = (F(), Ear())
        let agent = try await fixture.agent("general")
        try await register(fixture, Self.greet)
        await fixture.advance(.milliseconds(4_999))
        #expect(try await Self.names(agent) == ["builtin", "greet"])
        await fixture.advance(.milliseconds(1))
        #expect(try await Self.names(agent) == ["builtin"])
        await #expect(throws: MCPError.self) { try await agent.said("greet") }
        // It registers when it starts, and may listen much later: what it said is still known.
        await fixture.advance(.seconds(3_600))
        _ = await fixture.hub.listen(ear.listener(results: false), in: "general", after: nil)
        #expect(try await Self.names(agent) == ["builtin", "greet"])
        #expect(try await agent.said("greet").isError == false)
        #expect(ear.all.count == 1)
    }

    // C29
    @Test(arguments: [false, true])
    func whoeverListensStaysListed(_ wantsResults: Bool) async throws {
        let (fixture, ear) = (F(), Ear())
        let agent = try await fixture.agent("general")
        try await register(fixture, Self.greet)
        await fixture.advance(.milliseconds(4_999))
        let number = try #require(
            await fixture.hub.listen(ear.listener(results: wantsResults), in: "general", after: nil))
        await fixture.advance(.seconds(3_600))
        #expect(try await Self.names(agent) == ["builtin", "greet"])
        // A second registration while it listens.
        try await register(fixture, Self.greet)
        await fixture.advance(.seconds(3_600))
        #expect(try await Self.names(agent) == ["builtin", "greet"])
        // It loses its stream, and comes back in time; then it does not.
        await fixture.hub.stopListening(number, in: "general")
        await fixture.advance(.milliseconds(4_999))
        let second = try #require(
            await fixture.hub.listen(ear.listener(results: wantsResults), in: "general", after: nil))
        await fixture.advance(.seconds(10))
        #expect(try await Self.names(agent) == ["builtin", "greet"])
        await fixture.hub.stopListening(second, in: "general")
        await fixture.advance(.seconds(5))
        #expect(try await Self.names(agent) == ["builtin"])
    }

    // C29
    @Test func aClientThatDoesNotReadItsEventsIsGone() async throws {
        let fixture = F()
        let ended = Gate()
        let agent = try await fixture.agent("general")
        try await register(fixture, Self.greet)
        let deaf = EventFeed.Listener(wantsResults: false, send: { _, _ in false }, end: { ended.open() })
        _ = await fixture.hub.listen(deaf, in: "general", after: nil)
        #expect(try await agent.said("greet").isError)
        #expect(await ended.wait())
        await fixture.advance(.seconds(5))
        #expect(try await Self.names(agent) == ["builtin"])
    }

    // C27: what nobody listens for is kept, but not without end.
    @Test func registrationsThatWereLeftAloneAreLimited() async throws {
        let fixture = F()
        for number in 0 ..< 1_010 {
            try await register(
                fixture, #"{"channel_id":"c\#(number)","tools":[{"name":"t","description":"d"}]}"#)
            if number == 0 { await fixture.advance(.seconds(10)) }
            if number == 999 { await fixture.advance(.seconds(5)) }
        }
        #expect(await fixture.hub.counts.clients == 1_000)
        #expect(fixture.lines.all.contains("client tools: forgotten channel=c0 client="))
    }

    // C21
    @Test func aRegistrationReplacesTheOneBefore() async throws {
        let fixture = F()
        let agent = try await fixture.agent("general")
        try await register(fixture, Self.greet)
        try await register(
            fixture,
            #"{"channel_id":"general","tools":[{"name":"x","description":"1"},{"name":"x","description":"2"}]}"#
        )
        #expect(try await agent.listTools().map(\.name) == ["builtin", "x"])
        #expect(try await agent.listTools().last?.description == "2")
        try await register(fixture, #"{"channel_id":"general","tools":[]}"#)
        #expect(try await agent.listTools().map(\.name) == ["builtin"])
    }

    // C29
    @Test func whoComesBackGetsWhatItMissed() async throws {
        let (fixture, first, second, third) = (F(), Ear(), Ear(), Ear())
        try await register(fixture, Self.greet)
        let hub = fixture.hub
        _ = await hub.listen(first.listener(results: false), in: "general", after: nil)
        let agent = try await fixture.agent("general")
        for name in ["1", "2", "3"] { _ = try await agent.said("greet", ["who": .string(name)]) }
        let ids = first.events.withLock { $0.map(\.id) }
        _ = await hub.listen(second.listener(results: false), in: "general", after: ids[0])
        #expect(second.all.map { $0["args"]?["who"] } == ["2", "3"])
        _ = await hub.listen(third.listener(results: false), in: "general", after: "other-5")
        #expect(third.all.count == 3)
        #expect(Set(ids).count == 3)
    }

    // C28
    @Test func aClientOfEachKindSharesAChannel() async throws {
        let (fixture, ear) = (F(), Ear())
        try await register(fixture, Self.greet)
        _ = await fixture.hub.listen(ear.listener(results: false), in: "general", after: nil)
        try await fixture.attach(try F.provider([F.tool("greet", "other")]), "one", channel: "general")
        let agent = try await fixture.agent("general")
        #expect(try await agent.listTools().map(\.name) == ["builtin", "greet", "greet__one"])
        #expect(try await agent.said("greet__one") == .text("greet"))
    }
}
