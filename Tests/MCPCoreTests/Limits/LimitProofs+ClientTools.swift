import Synchronization
import TestSupport
import Testing

@testable import MCPCore

extension LimitProofs {
    private typealias F = HubFixture
    private typealias L = ClientToolLimits

    static let clientTools: [LimitProof] = {
        let options = ClientToolOptions()
        return [
            LimitProof("channels of one hub", LimitText.grouped(L.channels), channels),
            LimitProof(
                "those among them that only agents and Stream Chat clients without a token use",
                "\(L.openChannels)", openChannels),
            LimitProof("tools of one client", "\(L.toolsPerClient)", toolsOfAClient),
            LimitProof(
                "listing the tools of one client, with all pages", LimitText.seconds(L.listTimeout)
            ) { try await HostileProviderTests().aListThatNeverEnds() },
            LimitProof(
                "pause between two readings of a list that changes", "\(L.changePause.milliseconds) ms"
            ) { try await HostileProviderTests().aListThatAlwaysChanges(.connection) },
            LimitProof(
                "name of a refused tool in a report and in the log",
                LimitText.bytes(ClientToolReport.maxNameBytes)
            ) { try await HostileProviderTests().hugeNames(.connection) },
            LimitProof(
                "channels with only a Stream Chat registration and no listener",
                "\(LimitText.grouped(L.channels)) with all others"
            ) { try await StreamChatTests().registrationsThatWereLeftAloneAreLimited() },
            LimitProof("tools of clients in one channel", "\(L.toolsPerChannel)", toolsOfAChannel),
            LimitProof("clients of one channel", "\(L.clientsPerChannel)", clientsOfAChannel),
            LimitProof("schema of a client's tool", LimitText.bytes(L.schemaBytes)) {
                try StreamChatRegistrationTests().tooManyToolsAndTooLargeSchemasAreRefused()
            },
            LimitProof("steps of a check against it", "1 million, and 8 for each byte", stepsOfASchema),
            LimitProof(
                "description of a client's tool, its instructions", "\(LimitText.bytes(L.textBytes)) each",
                texts),
            LimitProof("instructions of a channel", LimitText.bytes(L.instructionBytes), instructions),
            LimitProof("names of channels and clients", LimitText.bytes(L.nameBytes), names),
            LimitProof("result of a client", LimitText.bytes(L.resultBytes), results),
            LimitProof("calls that wait for one client", "\(L.callsPerClient)", waitingCalls),
            LimitProof("registrations of one channel within a minute", "\(L.registrationsPerMinute)") {
                try await ClientToolHubTests().registrationsAreRateLimited()
                try await registrations()
            },
            LimitProof(
                "one call of a client's tool",
                "\(LimitText.seconds(options.callTimeout)); a tool's own, "
                    + "\(LimitText.seconds(L.longestCall)) at most"
            ) {
                try await ClientToolLifeTests().aCallThatTakesTooLongIsCancelled()
                try await ClientToolLifeTests().aToolHasATimeOfItsOwn()
                try longestCall()
            },
            LimitProof(
                "time for a client that lost its connection to come back",
                LimitText.seconds(options.graceTime)
            ) { try await graceTime() },
            LimitProof("time a client that is gone is remembered", LimitText.seconds(options.timeToLive)) {
                try await ClientToolLifeTests().aClientThatDoesNotComeBackIsForgotten()
            },
            LimitProof(
                "events kept for listeners that come back",
                "\(L.keptEvents), \(LimitText.bytes(L.keptEventBytes))", keptEvents),
            LimitProof("scopes that a tool declares", "16, of 64 bytes", scopes),
            LimitProof(
                "events that wait for one listener", LimitText.grouped(L.waitingEvents), waitingEvents),
            LimitProof("listeners of one channel", "\(L.listenersPerChannel)", listeners),
        ]
    }()

    /// Those of web pages, and of reports.
    static let toolStreams: [LimitProof] = [
        LimitProof(
            "unused tickets of one channel",
            "\(StreamTickets.perChannel), \(LimitText.seconds(StreamTickets.lifetime))", tickets),
        LimitProof(
            "event streams of providers at the same time", LimitText.grouped(ProviderStreams.limit), streams),
        LimitProof("message on a provider's event stream", LimitText.bytes(ProviderStream.messageBytes)) {
            try await ProviderStreamTests().aMessageThatIsTooLargeForAStream()
        },
        LimitProof(
            "requests to the backend of Stream Chat clients at the same time",
            "\(StreamChatBackend.maxRequests)"
        ) { try await StreamChatBackendTests().requestsAtTheSameTimeAreLimited() },
        LimitProof(
            "response of a client on an event stream, asked every 20 s",
            LimitText.seconds(ClientToolLimits.probeTimeout)
        ) {
            try await ProviderProbeTests().aClientThatVanishesBehindAProxyIsNoticed()
            try await ProviderProbeTests().aClientThatWorksIsNotGivenUp()
        },
        LimitProof(
            "silence of a daemon on an event stream", LimitText.seconds(ClientToolLimits.longestSilence)
        ) { ProviderProbeTests().theTimesFitTogether() },
        LimitProof("refusals that a report names", "\(ClientToolReport.maxRefusals)", refusals),
    ]

    private static func listener(
        _ send: @escaping @Sendable (String, ByteSlice) -> Bool = { _, _ in true }
    ) -> EventFeed.Listener { EventFeed.Listener(wantsResults: false, send: send, end: {}) }

    private static func registration(_ channel: String, tools: String = #"{"name":"t","description":"d"}"#)
        throws -> StreamChatRegistration
    {
        try StreamChatRegistration(
            ByteSlice(#"{"channel_id":"\#(channel)","tools":[\#(tools)]}"#), isJSON: true)
    }

    @Sendable private static func channels() async throws {
        let fixture = F()
        let endpoints = ClientToolEndpoints(fixture.hub, token: nil)
        for number in 0 ..< L.channels {
            _ = await fixture.hub.listen(listener(), in: "c\(number)", after: nil)
            try await fixture.hub.register(try registration("c\(number)"))
        }
        #expect(await fixture.hub.counts.channels == L.channels)
        #expect(endpoints.server(atPath: "/mcp/channels/c0") != nil)
        // No server for a path is the status 404.
        #expect(endpoints.server(atPath: "/mcp/channels/more") == nil)
        #expect(throws: RegistrationError.self) { try fixture.hub.server(for: "more") }
        #expect(await fixture.hub.listen(listener(), in: "more", after: nil) == nil)
        let more = try registration("more")
        await #expect(throws: RegistrationError.self) { try await fixture.hub.register(more) }
        #expect(await fixture.hub.counts.channels == L.channels)
        // Channels that only count how often somebody came are no more than that either.
        let empty = F()
        for number in 0 ..< L.channels + 10 {
            try await empty.hub.register(try registration("c\(number)", tools: ""))
        }
        #expect(await empty.hub.channels.count == L.channels)
    }

    @Sendable private static func openChannels() async throws {
        let fixture = F()
        let endpoints = ClientToolEndpoints(fixture.hub, token: nil)
        for number in 0 ..< L.openChannels {
            #expect(endpoints.server(atPath: "/mcp/channels/c\(number)") != nil)
            _ = await fixture.hub.listen(listener(), in: "c\(number)", after: nil)
        }
        try ChannelServersTests().thereIsRoomForThoseWithAToken()
        try ChannelServersTests().oneIdleChannelMakesRoom()
        try await ChannelTokenTests().registrationsWithoutATokenTakeNoRoomOfOthers()
    }

    @Sendable private static func toolsOfAClient() async throws {
        try StreamChatRegistrationTests().tooManyToolsAndTooLargeSchemasAreRefused()
        for (count, fits) in [(L.toolsPerClient, true), (L.toolsPerClient + 1, false)] {
            let fixture = F()
            let provider = try F.provider((0 ..< count).map { F.tool("t\($0)") })
            var isRefused = false
            do {
                try await fixture.attach(provider, "one")
            } catch is RegistrationError {
                isRefused = true
            }
            #expect(isRefused == !fits)
            #expect(await fixture.hub.counts.tools == (fits ? count : 0))
        }
    }

    @Sendable private static func toolsOfAChannel() async throws {
        let fixture = F()
        let clients = L.toolsPerChannel / L.toolsPerClient
        for client in 0 ..< clients {
            let tools = (0 ..< L.toolsPerClient).map { F.tool("c\(client)t\($0)") }
            try await fixture.attach(try F.provider(tools), "client\(client)")
        }
        #expect(await fixture.hub.counts.tools == L.toolsPerChannel)
        try await fixture.attach(try F.provider([F.tool("more")]), "late")
        #expect(await fixture.hub.counts.tools == L.toolsPerChannel)
        let agent = try await fixture.agent()
        let names = try await agent.listTools().map(\.name)
        // The server's own tool is one more.
        #expect(names.count == L.toolsPerChannel + 1 && !names.contains("more"))
        #expect(names.contains("c\(clients - 1)t\(L.toolsPerClient - 1)"))
    }

    @Sendable private static func clientsOfAChannel() async throws {
        let fixture = F()
        let provider = try F.provider([F.tool("t")])
        for client in 0 ..< L.clientsPerChannel {
            // Not more than may register within a minute.
            if client.isMultiple(of: L.registrationsPerMinute) { await fixture.advance(.seconds(60)) }
            try await fixture.attach(provider, "client\(client)")
        }
        await #expect(throws: RegistrationError.self) { try await fixture.attach(provider, "more") }
        #expect(await fixture.hub.counts.clients == L.clientsPerChannel)
        // One that is known may come again.
        try await fixture.attach(provider, "client0")
    }

    /// Each look-ahead goes through the whole text.
    @Sendable private static func stepsOfASchema() async throws {
        #expect(ClientToolLimits.schemaWork == 1_000_000)
        for (looks, isValid) in [(1, true), (200, false)] {
            let pattern = String(repeating: "(?=(.*x))", count: looks)
            let schema: JSONValue = [
                "type": "object", "properties": ["t": ["type": "string", "pattern": .string(pattern)]],
            ]
            let entry = try ToolEntry(
                Tool("t", inputSchema: schema), timeout: nil, schemas: ClientToolLimits.schemas,
                handler: .asynchronous { _, _ in CallToolResult() })
            let value: JSONValue = ["t": .string(String(repeating: "x", count: 20_000))]
            #expect(entry.input.isValid(value) == isValid)
        }
    }

    @Sendable private static func texts() async throws {
        for bytes in [L.textBytes - 1, L.textBytes, L.textBytes + 1] {
            let text = String(repeating: "x", count: bytes)
            let tool = try ClientToolDefinition(
                Tool("a", description: text), instructions: text, parameters: nil, showsExternalSources: false
            )
            #expect(tool.tool.description?.utf8.count == min(bytes, L.textBytes))
            #expect(tool.instructions?.utf8.count == min(bytes, L.textBytes))
        }
        try StreamChatRegistrationTests().textsAreCutAndLoseControlCharacters()
    }

    @Sendable private static func instructions() async throws {
        // A line of one tool takes "- ", its author, its text, and its end.
        for (excess, fits) in [(0, true), (1, false)] {
            let fixture = F()
            let size = L.instructionBytes / 4 - 3 - "t0 (client one): ".utf8.count
            let tools = (0 ..< 4).map { number in
                let text = "\(number)" + String(repeating: "x", count: size - 1 + (number == 3 ? excess : 0))
                return Tool(
                    "t\(number)", inputSchema: ["type": "object"],
                    meta: [VendorKey.instructions: .string(text)])
            }
            try await fixture.attach(try F.provider(tools), "one")
            let said = try await fixture.agent().instructions ?? ""
            #expect(said.contains("\n- t2 (client one): 2xx"))
            #expect(said.contains("\n- t3 (client one): 3xx") == fits)
        }
    }

    @Sendable private static func scopes() async throws {
        func declared(_ names: [String]) -> Int {
            Tool("t", meta: [VendorKey.scopes: .array(names.map(JSONValue.string))]).declaredScopes.count
        }
        #expect(declared((0 ..< 16).map { "s\($0)" }) == 16 && declared((0 ..< 17).map { "s\($0)" }) == 16)
        for (length, count) in [(64, 1), (65, 0)] {
            #expect(declared([String(repeating: "x", count: length)]) == count)
        }
    }

    @Sendable private static func names() async throws {
        let fixture = F()
        let provider = try F.provider([F.tool("t")])
        for (bytes, fits) in [(L.nameBytes, true), (L.nameBytes + 1, false)] {
            let name = String(repeating: "n", count: bytes)
            #expect((ChannelName(name) != nil) == fits)
            #expect(((try? registration(name)) != nil) == fits)
            if fits {
                try await fixture.attach(provider, name, channel: name)
            } else {
                await #expect(throws: RegistrationError.self) { try await fixture.attach(provider, name) }
                let refusal = #expect(throws: StreamChatRefusal.self) { try registration(name) }
                #expect(refusal?.status == 400)
            }
        }
    }

    @Sendable private static func results() async throws {
        let fixture = F()
        let large = ByteCount()
        let provider = try F.provider([F.tool("large")]) { _, _ in
            .text(String(repeating: "x", count: large.value))
        }
        let client = try await fixture.attach(provider, "one")
        let agent = try await fixture.agent()
        // What stands around the text depends on the revision.
        let empty = try await client.request("tools/call", ["name": "large"])
        for (excess, isError) in [(0, false), (1, true)] {
            large.value = L.resultBytes - empty.bytes.count + excess
            let result = try await agent.said("large")
            #expect(result.isError == isError)
            #expect(isError ? result.text.contains("10 MB") : result.text.utf8.count == large.value)
        }
    }

    @Sendable private static func waitingCalls() async throws {
        let (fixture, release, begun) = (F(), Gate(), Counter())
        let provider = try F.provider([F.tool("t")]) { _, _ in
            begun.increment()
            await release.wait()
            return .text("done")
        }
        try await fixture.attach(provider, "one")
        // An agent may have so many requests in flight, and the hub more agents.
        let agents = [try await fixture.agent(), try await fixture.agent()]
        let calls = (0 ..< L.callsPerClient).map { number in
            Task { try await agents[number % 2].said("t") }
        }
        #expect(await comesTrue { begun.value == L.callsPerClient })
        let refused = try await agents[0].said("t")
        #expect(refused.isError && refused.text.contains("already working on \(L.callsPerClient) calls"))
        release.open()
        for call in calls { #expect(try await call.value == .text("done")) }
        #expect(try await agents[0].said("t") == .text("done"))
    }

    @Sendable private static func registrations() async throws {
        let fixture = F()
        let endpoints = ClientToolEndpoints(fixture.hub, token: nil)
        var statuses: [Int] = []
        for _ in 0 ... L.registrationsPerMinute {
            var headers = HeaderFields()
            try headers.append("Content-Type", "application/json")
            let request = HTTPRequest(
                method: "POST", target: "/register-tools", headers: headers,
                body: ByteSlice(#"{"channel_id":"a","tools":[{"name":"t","description":"d"}]}"#))
            statuses.append(await endpoints.respond(to: request).status)
        }
        #expect(statuses == Array(repeating: 200, count: L.registrationsPerMinute) + [429])
    }

    private static func longestCall() throws {
        for (milliseconds, timeout) in [(599_999, Duration.milliseconds(599_999)), (600_001, L.longestCall)] {
            let tool = Tool(
                "t", inputSchema: ["type": "object"], meta: [VendorKey.timeout: JSONValue(milliseconds)])
            #expect(try ClientToolDefinition(listed: tool).timeout == timeout)
        }
    }

    private static func graceTime() async throws {
        let fixture = F()
        let client = try await fixture.attach(try F.provider([F.tool("t")]), "one")
        let agent = try await fixture.agent()
        await client.close()
        await fixture.lossIsKnown()
        await fixture.advance(.milliseconds(4_999))
        #expect(try await agent.listTools().map(\.name) == ["builtin", "t"])
        await fixture.advance(.milliseconds(1))
        #expect(try await agent.listTools().map(\.name) == ["builtin"])
        try await ClientToolLifeTests().aClientThatDoesNotComeBackIsForgotten()
    }

    @Sendable private static func keptEvents() async throws {
        func missed(_ count: Int, bytes: Int) -> Int {
            var feed = EventFeed()
            let ids = StreamChatTests.Ear()
            _ = feed.add(ids.listener(results: false), after: nil)
            let event = ByteSlice("\"" + String(repeating: "x", count: bytes - 2) + "\"")
            for _ in 0 ..< count { _ = feed.send(event) }
            let back = StreamChatTests.Ear()
            _ = feed.add(back.listener(results: false), after: "other-1")
            return back.all.count
        }
        #expect(missed(L.keptEvents, bytes: 10) == L.keptEvents)
        #expect(missed(L.keptEvents + 1, bytes: 10) == L.keptEvents)
        #expect(missed(16, bytes: L.keptEventBytes / 16) == 16)
        #expect(missed(17, bytes: L.keptEventBytes / 16) == 16)
    }

    /// A stream that is not read holds what it may; one event more ends it.
    @Sendable private static func waitingEvents() async throws {
        let fixture = F()
        let endpoints = ClientToolEndpoints(fixture.hub, token: nil)
        let request = HTTPRequest(method: "GET", target: "/client-tools/events?channel_id=general")
        guard case .events(let events) = await endpoints.respond(to: request).body.content else {
            throw NothingThere()
        }
        let tool = #"{"name":"t","description":"d","showExternalSourcesIndicator":false}"#
        try await fixture.hub.register(try registration("general", tools: tool))
        let agent = try await fixture.agent("general")
        for _ in 0 ..< L.waitingEvents { #expect(try await agent.said("t").isError == false) }
        #expect(await fixture.hub.counts.listeners == 1)
        #expect(try await agent.said("t").isError)
        #expect(await fixture.hub.counts.listeners == 0)
        var count = 0
        for await _ in events { count += 1 }
        #expect(count == L.waitingEvents)
    }

    @Sendable private static func tickets() async throws {
        ProviderStreamTests().ticketsExpireAndAreLimited()
    }

    @Sendable private static func streams() async throws {
        ProviderStreamTests().streamsAtTheSameTimeAreLimited()
    }

    @Sendable private static func refusals() async throws {
        let all = (0 ... ClientToolReport.maxRefusals).map {
            ClientToolReport.Refusal(name: "t\($0)", reason: "r")
        }
        let most = Array(all.dropLast())
        #expect(ClientToolReport.shortened(most) == most)
        let shortened = ClientToolReport.shortened(all)
        #expect(shortened.count == ClientToolReport.maxRefusals)
        #expect(shortened.last?.reason == "2 more are refused")
    }

    @Sendable private static func listeners() async throws {
        let fixture = F()
        let endpoints = ClientToolEndpoints(fixture.hub, token: nil)
        for _ in 0 ..< L.listenersPerChannel {
            #expect(await fixture.hub.listen(listener(), in: "general", after: nil) != nil)
        }
        let request = HTTPRequest(method: "GET", target: "/client-tools/events?channel_id=general")
        #expect(await endpoints.respond(to: request).status == 429)
        #expect(await fixture.hub.listen(listener(), in: "other", after: nil) != nil)
    }
}

/// A number that a handler reads and a test changes.
private final class ByteCount: Sendable {
    private let state = Mutex(0)
    var value: Int {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
