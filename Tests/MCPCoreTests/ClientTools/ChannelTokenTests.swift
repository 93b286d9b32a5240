import TestSupport
import Testing

@testable import MCPCore

/// Channels with a token of their own: who may come to them, and with what.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ChannelTokenTests {
    typealias Daemon = ClientToolEndpointTests.Daemon

    private static let tokens = ["a": "token-of-a", "b": "token-of-b"]
    /// What is sent, and whether it is right for the channel `a`.
    private static let sent: [(String?, Bool)] = [
        ("Bearer token-of-a", true), ("bearer token-of-a", true), (nil, false), ("Bearer", false),
        ("Bearer token-of-b", false), ("Bearer daemon", false), ("Bearer token-of-a ", true),
        ("Bearer token-of-", false), ("Bearer token-of-ab", false), ("Basic token-of-a", false),
    ]

    private func status(
        _ daemon: Daemon, _ line: String, _ fields: [String], body: String = ""
    ) async throws -> WireResponse {
        let request = RequestHandlerTests.request(line, fields, body: body)
        return try #require(try await RequestHandlerTests.answers(daemon.port, [request]).first ?? nil)
    }

    private static func fields(_ authorization: String?) -> [String] {
        authorization.map { ["Authorization: \($0)"] } ?? []
    }

    private static func registration(_ channel: String) -> String {
        #"{"channel_id":"\#(channel)","tools":[{"name":"t","description":"d"}]}"#
    }

    // C26, C30: agents
    @Test func agents() async throws {
        let daemon = try Daemon(token: "daemon", channelTokens: Self.tokens)
        let discover =
            #"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"#
            + #""io.modelcontextprotocol/protocolVersion":"2026-07-28","#
            + #""io.modelcontextprotocol/clientCapabilities":{}}}}"#
        let kinds = [
            "Content-Type: application/json", "Accept: application/json, text/event-stream",
            "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: server/discover",
        ]
        for (authorization, isRight) in Self.sent {
            let answer = try await status(
                daemon, "POST /mcp/channels/a", kinds + Self.fields(authorization), body: discover)
            #expect(answer.status == (isRight ? 200 : 401), "\(authorization ?? "none")")
            if isRight { continue }
            #expect(answer.headers["www-authenticate"] == "Bearer")
            #expect(answer.body.contains("Authorization: Bearer TOKEN"))
        }
        // Who has no token makes no server.
        #expect(daemon.hub.allServers.count == 2)
        let refused = try await status(daemon, "POST /mcp/channels/b", kinds, body: discover)
        #expect(refused.status == 401)
        #expect(daemon.hub.allServers.count == 2)
        // Streams and the ends of sessions are no way around it, and neither is another spelling of the path.
        for line in ["GET /mcp/channels/a", "DELETE /mcp/channels/a", "GET /mcp/channels/%61"] {
            let answer = try await status(daemon, line, ["Accept: text/event-stream"])
            #expect(answer.status == 401, "\(line)")
        }
        // Other channels are as they were.
        let open = try await status(daemon, "POST /mcp/channels/c", kinds, body: discover)
        #expect(open.status == 200)
        await daemon.stop()
    }

    // C30: programs, whose own channel's token counts and no other.
    @Test(arguments: [true, false]) func programs(_ needsToken: Bool) async throws {
        let daemon = try Daemon(token: "daemon", needsToken: needsToken, channelTokens: Self.tokens)
        let json = ["Content-Type: application/json"]
        let upgrade = ["Connection: Upgrade", "Upgrade: mcp"]
        for (authorization, isRight) in Self.sent {
            let fields = Self.fields(authorization)
            // An upgrade that is not asked for is refused behind the token.
            let provider = try await status(daemon, "POST /providers?channel=messaging:a", fields)
            #expect(provider.status == (isRight ? 426 : 401), "\(authorization ?? "none")")
            let registered = try await status(
                daemon, "POST /register-tools", json + fields, body: Self.registration("messaging:a"))
            #expect(registered.status == (isRight ? 200 : 401), "\(authorization ?? "none")")
            if isRight { continue }
            let events = try await status(daemon, "GET /client-tools/events?channel_id=a", fields)
            #expect(events.status == 401)
        }
        // A channel without one wants the daemon's, and that of another channel is worth nothing there.
        let other = "Authorization: Bearer token-of-a"
        #expect(
            try await status(daemon, "POST /providers?channel=c", upgrade + [other]).status == 401)
        let free = try await status(
            daemon, "POST /register-tools", json + [other], body: Self.registration("c"))
        #expect(free.status == (needsToken ? 401 : 200))
        await daemon.stop()
    }

    /// Where anybody may register, whoever does so takes no room from those with a token, and once it is idle
    /// none from agents.
    @Test func registrationsWithoutATokenTakeNoRoomOfOthers() async throws {
        let fixture = HubFixture()
        let endpoints = ClientToolEndpoints(
            fixture.hub, token: "daemon", registrationNeedsToken: false, channelTokens: Self.tokens)
        func register(_ channel: String, _ token: String? = nil) async throws -> Int {
            var fields = HeaderFields()
            try fields.append("Content-Type", "application/json")
            if let token { try fields.append("Authorization", "Bearer \(token)") }
            let request = HTTPRequest(
                method: "POST", target: "/register-tools", headers: fields,
                body: Array(Self.registration(channel).utf8))
            return await endpoints.respond(to: request).status
        }
        func agent(_ channel: String) -> MCPServer? { endpoints.server(atPath: "/mcp/channels/\(channel)") }
        #expect(agent("room1") != nil)
        var answers: [Int: Int] = [:]
        for number in 0 ..< 1_100 {
            let status = try await register("z\(number)")
            answers[status, default: 0] += 1
        }
        #expect(answers == [200: ClientToolLimits.openChannels, 429: 1_100 - ClientToolLimits.openChannels])
        // While all of them may still begin to listen, there is room for those with a token.
        #expect(agent("room2") == nil)
        #expect(agent("a") != nil)
        #expect(try await register("a", "token-of-a") == 200)
        #expect(try await register("b", "token-of-b") == 200)
        #expect(try await register("c", "daemon") == 200)
        // Nobody listens: they are idle, and make room.
        await fixture.advance(.seconds(5))
        #expect(agent("room1") != nil && agent("room2") != nil)
        #expect(try await register("z2000") == 200)
        for number in 0 ..< 800 { #expect(agent("agent\(number)") != nil) }
        // One that begins to listen late is offered again.
        let known = try #require(await fixture.hub.channels.keys.first { $0.hasPrefix("z") })
        _ = await fixture.hub.listen(
            StreamChatTests.Ear().listener(results: false), in: known, after: nil, isReserved: false)
        let tools = try await fixture.agent(known).listTools().map(\.name)
        #expect(tools == ["builtin", "t"])
    }

    /// Those with a token do not keep agents without one out either.
    @Test func idleChannelsOfProgramsMakeRoomForAgents() async throws {
        let fixture = HubFixture()
        let endpoints = ClientToolEndpoints(fixture.hub, token: "daemon")
        for number in 0 ..< ClientToolLimits.channels { _ = try fixture.hub.server(for: "c\(number)") }
        for number in 0 ..< ClientToolLimits.openChannels {
            #expect(endpoints.server(atPath: "/mcp/channels/agent\(number)") != nil)
        }
        // The rest stays for those with a token: agents replace agents from now on.
        let kept = try fixture.hub.server(for: "c\(ClientToolLimits.channels - 1)")
        for number in 0 ..< 100 { #expect(endpoints.server(atPath: "/mcp/channels/more\(number)") != nil) }
        #expect(try fixture.hub.server(for: "c\(ClientToolLimits.channels - 1)") === kept)
    }

    // C27, C30: a result is for those who may be in the channel of its call.
    @Test(arguments: [("a", "token-of-a", "daemon"), ("c", "daemon", "token-of-a")])
    func results(_ channel: String, _ token: String, _ other: String) async throws {
        let daemon = try Daemon(token: "daemon", channelTokens: Self.tokens)
        let json = ["Content-Type: application/json"]
        let right = ["Authorization: Bearer \(token)"]
        _ = try await status(
            daemon, "POST /register-tools", json + right, body: Self.registration(channel))
        let ear = StreamChatTests.Ear()
        _ = await daemon.hub.listen(ear.listener(results: true), in: channel, after: nil)
        var options = ClientOptions()
        options.protocol = .auto
        let agent = try await MCPClient.connect(
            .inProcess(try daemon.hub.server(for: channel)), options: options)
        async let answer = agent.said("t")
        #expect(await ear.heard.wait())
        let id = try #require(ear.all.first?["invocation_id"]?.stringValue)
        let body = #"{"invocation_id":"\#(id)","result":{"content":[{"type":"text","text":"Hello"}]}}"#
        for token in [other, "token-of-b"] {
            let refused = try await status(
                daemon, "POST /client-tools/result", json + ["Authorization: Bearer \(token)"], body: body)
            #expect(refused.status == 401)
        }
        #expect(
            try await status(daemon, "POST /client-tools/result", json + right, body: body).status == 200)
        #expect(try await answer == .text("Hello"))
        // Late, and not unauthorised; so is a message on a link that has ended.
        let late = try await status(
            daemon, "POST /providers/messages?link=0", json + ["Authorization: Bearer token-of-a"], body: "{}"
        )
        #expect(late.status == 404 && late.body.contains("its event stream has ended"))
        #expect(
            try await status(daemon, "POST /client-tools/result", json + right, body: body).status == 404)
        await agent.close()
        await daemon.stop()
    }

    // C24: a provider and an agent that show the token; at the unix socket of their user they need none.
    @Test func bothSides() async throws {
        let folder = TemporaryDirectory()
        let path = folder.path + "/p.sock"
        let daemon = try Daemon(token: "daemon", socket: path, channelTokens: Self.tokens)
        let addresses: [(ProviderAddress, String?)] = [
            (.tcp(port: daemon.port), "token-of-a"), (.unix(path: path), nil),
        ]
        for (address, token) in addresses {
            let provider = ClientToolProvider(
                server: try HubFixture.provider([HubFixture.tool("t")]), channel: "a", clientID: "p",
                address: address, token: { token })
            let run = Task { try await provider.run() }
            try await daemon.until("t", in: "a")
            var options = ClientOptions()
            if let token { options.headers = [("Authorization", "Bearer \(token)")] }
            let target: ClientTarget =
                token == nil
                ? .unix(path: path, endpoint: "/mcp/channels/a")
                : .http("http://127.0.0.1:\(daemon.port)/mcp/channels/a")
            let agent = try await MCPClient.connect(target, options: options)
            #expect(try await agent.said("t") == .text("t"))
            await agent.close()
            run.cancel()
            try await run.value
            await daemon.hub.detach(channel: "a", clientID: "p")
        }
        let provider = ClientToolProvider(
            server: try HubFixture.provider([HubFixture.tool("t")]), channel: "a", clientID: "p",
            address: .tcp(port: daemon.port), token: { "daemon" })
        let error = await #expect(throws: ClientError.self) { try await provider.run() }
        #expect(error?.httpStatus == 401)
        await daemon.stop()
    }
}
