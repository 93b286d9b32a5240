import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// Programs that offer tools by plain HTTP requests: web pages, and programs behind proxies.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ProviderStreamTests {
    typealias Daemon = ClientToolEndpointTests.Daemon
    typealias F = HubFixture

    static let page = "https://app.example"
    static let auth = [("Authorization", "Bearer secret")]
    static let json = [("Content-Type", "application/json")]

    static func send(
        _ daemon: Daemon, _ method: String, _ target: String, origin: String? = page,
        _ fields: [(String, String)] = auth, body: String? = nil
    ) async throws -> PlainResponse {
        let fields = (origin.map { [("Origin", $0)] } ?? []) + fields
        return try await PlainHTTP.send(method, target, port: daemon.port, headers: fields, body: body)
    }

    static func ticket(_ daemon: Daemon, origin: String? = page, channel: String = "a") async throws
        -> String
    {
        let answer = try await send(
            daemon, "POST", "/client-tools/ticket?channel=\(channel)", origin: origin, auth + json, body: "{}"
        )
        #expect(answer.status == 200 && answer.headers["cache-control"] == "no-store")
        let body = try JSONValue(parsing: answer.text)
        #expect(body["expires_in"] == 30)
        return try #require(body["ticket"]?.stringValue)
    }

    /// Opens an event stream as an `EventSource` does, which sends no token.
    static func open(
        _ daemon: Daemon, _ ticket: String, origin: String? = page, channel: String = "a",
        client: String = "p"
    ) throws -> WireStream {
        let target = "/providers?channel=\(channel)&client=\(client)&report=1&ticket=\(ticket)"
        let fields = origin.map { ["Origin: \($0)"] } ?? []
        return try WireStream(port: daemon.port, RequestHandlerTests.request("GET \(target)", fields))
    }

    static func status(_ stream: WireStream) async -> Int? {
        _ = await stream.until { $0.status != nil || $0.isOver }
        return stream.status
    }

    /// Answers the daemon's requests as a page does, with one tool, until the stream ends.
    static func serve(
        _ stream: WireStream, _ daemon: Daemon, origin: String? = page,
        tools: @escaping @autoclosure @Sendable () -> String =
            #"[{"name":"t","inputSchema":{"type":"object"}}]"#
    ) -> Task<Void, any Error> {
        Task {
            var next = 0
            var link = ""
            while !Task.isCancelled, !stream.isOver || next < stream.messages.count {
                guard next < stream.messages.count else {
                    await pause()
                    continue
                }
                let event = stream.messages[next]
                next += 1
                if event.data.hasPrefix("providers/messages?link=") {
                    link = "/" + event.data
                    continue
                }
                let message = try JSONValue(parsing: event.data)
                guard let id = message["id"] else { continue }
                let result: String
                switch message["method"]?.stringValue {
                case "initialize":
                    result =
                        #"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"page","version":"1"}}"#
                case "tools/list": result = #"{"tools":\#(tools())}"#
                case "tools/call": result = #"{"content":[{"type":"text","text":"from the page"}]}"#
                default:
                    _ = try await send(
                        daemon, "POST", link, origin: origin, auth + json,
                        body:
                            #"{"jsonrpc":"2.0","id":\#(id.serialized()),"error":{"code":-32601,"message":"no"}}"#
                    )
                    continue
                }
                let answer = try await send(
                    daemon, "POST", link, origin: origin, auth + json,
                    body: #"{"jsonrpc":"2.0","id":\#(id.serialized()),"result":\#(result)}"#)
                #expect(answer.status == 202)
            }
        }
    }

    static func report(_ stream: WireStream) async throws -> JSONValue {
        let event = try #require(await stream.heard(ClientToolReport.method))
        return try #require(try JSONValue(parsing: event.data)["params"])
    }

    // MARK: Pages

    @Test func aPageOfAnotherOriginBringsATool() async throws {
        let daemon = try Daemon(token: "secret", origins: ["https://App.example"])
        let stream = try Self.open(daemon, try await Self.ticket(daemon))
        #expect(await stream.opened())
        #expect(stream.headers["access-control-allow-origin"] == Self.page)
        #expect(stream.headers["vary"] == "Origin" && stream.headers["content-type"] == "text/event-stream")
        let run = Self.serve(stream, daemon)
        try await daemon.until("t", in: "a")
        let report = try await Self.report(stream)
        #expect(report == ["tools": ["t"], "refused": []])
        let agent = try await daemon.agent("a")
        #expect(try await agent.said("t") == .text("from the page"))
        await agent.close()
        // The end of the stream is the end of the client.
        stream.close()
        #expect(await comesTrue { daemon.streams.isEmpty })
        run.cancel()
        await daemon.stop()
    }

    // What a browser asks before a request with a token, and after.
    @Test func onlyConfiguredOriginsAreAdmittedAndOnlyHere() async throws {
        let daemon = try Daemon(token: "secret", origins: [Self.page])
        let asked = [
            ("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "authorization"),
        ]
        for path in [
            "/client-tools/ticket", "/providers/messages", "/register-tools", "/client-tools/result",
        ] {
            let answer = try await Self.send(daemon, "OPTIONS", path, asked)
            #expect(answer.status == 204)
            #expect(answer.headers["access-control-allow-origin"] == Self.page)
            #expect(answer.headers["access-control-allow-methods"] == "POST")
            #expect(answer.headers["access-control-allow-headers"]?.contains("Authorization") == true)
            #expect(answer.headers["access-control-allow-credentials"] == nil)
        }
        // A refusal can be read by the page, and no other page gets as far as that.
        let refused = try await Self.send(
            daemon, "POST", "/client-tools/ticket?channel=a", Self.json, body: "{}")
        #expect(refused.status == 401 && refused.headers["access-control-allow-origin"] == Self.page)
        for origin in ["https://evil.example", "null", "https://app.example.evil.example"] {
            for method in ["OPTIONS", "POST"] {
                let answer = try await Self.send(
                    daemon, method, "/client-tools/ticket?channel=a", origin: origin)
                #expect(answer.status == 403 && answer.headers["access-control-allow-origin"] == nil)
            }
        }
        // An admitted page reaches no MCP endpoint.
        for path in ["/mcp", "/mcp/channels/a"] {
            #expect(try await Self.send(daemon, "OPTIONS", path).status == 403)
            #expect(try await Self.send(daemon, "POST", path, Self.json, body: "{}").status == 403)
        }
        await daemon.stop()
        let closed = try Daemon(token: "secret")
        #expect(try await Self.send(closed, "OPTIONS", "/client-tools/ticket").status == 403)
        await closed.stop()
    }

    // MARK: Tickets

    @Test func aTicketOpensOneStreamOfItsChannelForItsPage() async throws {
        let daemon = try Daemon(token: "secret", origins: [Self.page, "https://other.example"])
        // Used twice; stolen by another page; for another channel; invented.
        let first = try await Self.ticket(daemon)
        let stream = try Self.open(daemon, first)
        #expect(await stream.opened())
        #expect(await Self.status(try Self.open(daemon, first)) == 401)
        let second = try await Self.ticket(daemon)
        #expect(await Self.status(try Self.open(daemon, second, origin: "https://other.example")) == 401)
        #expect(await Self.status(try Self.open(daemon, second)) == 401)
        let third = try await Self.ticket(daemon)
        #expect(await Self.status(try Self.open(daemon, third, channel: "b")) == 401)
        #expect(await Self.status(try Self.open(daemon, "0123456789abcdef0123456789abcdef")) == 401)
        // It opens the events of Stream's clients, and nothing that is posted.
        let fourth = try await Self.ticket(daemon)
        let posted = try await Self.send(
            daemon, "POST", "/register-tools?ticket=\(fourth)", Self.json,
            body: #"{"channel_id":"a","tools":[]}"#)
        #expect(posted.status == 401)
        let events = try WireStream(
            port: daemon.port,
            RequestHandlerTests.request(
                "GET /client-tools/events?channel_id=messaging:a&ticket=\(fourth)", ["Origin: \(Self.page)"]))
        #expect(await events.opened())
        events.close()
        stream.close()
        await daemon.stop()
    }

    // A page of the daemon's public origin: browsers send no origin with the GET of an event stream.
    @Test(arguments: [true, false]) func aPageOfTheDaemonItselfBringsATool(_ saysSite: Bool) async throws {
        let daemon = try Daemon(
            token: "secret", origins: [Self.page, "https://mcp.example", "http://localhost:7"])
        // At an address of plain http there is no Sec-Fetch-Site: the host tells.
        let own = saysSite ? "https://mcp.example" : "http://localhost:7"
        let site = saysSite ? [("Sec-Fetch-Site", "same-origin")] : []
        func post(_ target: String, _ origin: String, _ site: [(String, String)], _ body: String)
            async throws -> PlainResponse
        {
            let fields = [("Origin", origin)] + Self.auth + Self.json + site
            return try await PlainHTTP.send(
                "POST", target, port: daemon.port, host: "localhost:7", headers: fields, body: body)
        }
        func ticket(_ origin: String, _ site: [(String, String)]) async throws -> String {
            let answer = try await post("/client-tools/ticket?channel=a", origin, site, "{}")
            return try #require(try JSONValue(parsing: answer.text)["ticket"]?.stringValue)
        }
        func open(_ ticket: String) throws -> WireStream {
            let target = "/providers?channel=a&client=p&report=1&ticket=\(ticket)"
            return try WireStream(
                port: daemon.port,
                RequestHandlerTests.request("GET \(target)", site.map { "\($0.0): \($0.1)" }))
        }
        let foreign = try await ticket(Self.page, saysSite ? [("Sec-Fetch-Site", "cross-site")] : [])
        #expect(await Self.status(try open(foreign)) == 401)
        let stream = try open(try await ticket(own, site))
        #expect(await stream.opened())
        #expect(await stream.until { !$0.messages.isEmpty })
        let link = "/" + stream.messages[0].data
        let note = #"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#
        #expect(try await post(link, own, site, note).status == 202)
        #expect(try await Self.send(daemon, "POST", link, Self.auth + Self.json, body: note).status == 404)
        stream.close()
        await daemon.stop()
    }

    // The switch for Stream's clients, which send no token, opens neither tickets nor streams of providers.
    @Test func aTicketNeedsTheTokenEvenWhereRegistrationsDoNot() async throws {
        let daemon = try Daemon(token: "secret", needsToken: false, origins: [Self.page])
        for target in ["POST /client-tools/ticket?channel=a", "GET /providers?channel=a"] {
            let words = target.split(separator: " ").map(String.init)
            #expect(try await Self.send(daemon, words[0], words[1], []).status == 401)
        }
        await daemon.stop()
    }

    @Test func ticketsExpireAndAreLimited() {
        let clock = ManualClock()
        let tickets = StreamTickets(clock: clock)
        let late = tickets.issue(channel: "a", origin: nil)
        let inTime = tickets.issue(channel: "a", origin: nil)
        clock.advance(by: .milliseconds(29_999))
        #expect(throws: Never.self) { try tickets.redeem(inTime ?? "", channel: "a", origin: nil) }
        clock.advance(by: .milliseconds(1))
        #expect(throws: StreamTickets.Refusal.expired) {
            try tickets.redeem(late ?? "", channel: "a", origin: nil)
        }
        for _ in 0 ..< StreamTickets.perChannel { #expect(tickets.issue(channel: "a", origin: nil) != nil) }
        #expect(tickets.issue(channel: "a", origin: nil) == nil)
        #expect(tickets.issue(channel: "b", origin: nil) != nil)
        clock.advance(by: .seconds(30))
        #expect(tickets.issue(channel: "a", origin: nil) != nil)
    }

    // MARK: Messages

    @Test func messagesNeedTheTokenTheTypeAndThePageOfTheStream() async throws {
        let daemon = try Daemon(token: "secret", origins: [Self.page, "https://other.example"])
        let stream = try Self.open(daemon, try await Self.ticket(daemon))
        #expect(await stream.opened())
        #expect(await stream.until { !$0.messages.isEmpty })
        let link = "/" + stream.messages[0].data
        let note = #"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#
        let all = Self.auth + Self.json
        #expect(try await Self.send(daemon, "POST", link, all, body: note).status == 202)
        #expect(try await Self.send(daemon, "POST", link, Self.json, body: note).status == 401)
        #expect(try await Self.send(daemon, "POST", link, Self.auth, body: note).status == 415)
        for origin in ["https://other.example", nil] {
            #expect(try await Self.send(daemon, "POST", link, origin: origin, all, body: note).status == 404)
        }
        #expect(
            try await Self.send(daemon, "POST", "/providers/messages?link=x", all, body: note).status == 404)
        #expect(try await Self.send(daemon, "POST", "/providers/messages", all, body: note).status == 404)
        for body in ["garbage{", "", note + note, String(repeating: "[", count: 10_000)] {
            #expect(
                try await Self.send(daemon, "POST", link, all, body: body).status == 400, "\(body.prefix(20))"
            )
        }
        #expect(try await Self.send(daemon, "GET", link, all).status == 405)
        stream.close()
        #expect(await comesTrue { daemon.streams.isEmpty })
        #expect(try await Self.send(daemon, "POST", link, all, body: note).status == 404)
        await daemon.stop()
    }

    // A page that opens streams without end: 60 in a minute; the others are refused, and nothing is left.
    @Test func aThousandStreamsOfOnePage() async throws {
        let daemon = try Daemon(token: "secret", origins: [Self.page])
        var statuses: [Int: Int] = [:]
        var streams: [WireStream] = []
        for _ in 0 ..< ClientToolLimits.registrationsPerMinute + 40 {
            let stream = try Self.open(daemon, try await Self.ticket(daemon))
            statuses[await Self.status(stream) ?? 0, default: 0] += 1
            streams.append(stream)
        }
        #expect(statuses == [200: ClientToolLimits.registrationsPerMinute, 429: 40])
        for stream in streams { stream.close() }
        #expect(await comesTrue { daemon.streams.isEmpty })
        await daemon.stop()
    }

    @Test func streamsAtTheSameTimeAreLimited() {
        let streams = ProviderStreams()
        let open = (0 ..< ProviderStreams.limit).compactMap { _ in streams.add(channel: "a", origin: nil) }
        #expect(open.count == ProviderStreams.limit)
        #expect(streams.add(channel: "a", origin: nil) == nil)
        open[0].end()
        #expect(streams.add(channel: "a", origin: nil) != nil)
    }

    // The call fails that has more than a stream may carry; the client stays.
    @Test func aMessageThatIsTooLargeForAStream() async throws {
        let daemon = try Daemon(token: "secret", origins: [Self.page])
        let stream = try Self.open(daemon, try await Self.ticket(daemon))
        #expect(await stream.opened())
        let run = Self.serve(stream, daemon)
        try await daemon.until("t", in: "a")
        let agent = try await daemon.agent("a")
        let text = String(repeating: "x", count: ProviderStream.messageBytes)
        let result = try await agent.said("t", ["text": .string(text)])
        #expect(result.isError && result.text.contains("at most 512 KiB"))
        #expect(try await agent.said("t") == .text("from the page"))
        await agent.close()
        stream.close()
        run.cancel()
        await daemon.stop()
    }

    // MARK: Programs

    /// Collects the events of a provider.
    private final class Told: Sendable {
        private let state = Mutex<[ClientToolReport]>([])
        let first = Gate()
        var reports: [ClientToolReport] { state.withLock { $0 } }

        func take(_ event: ClientToolProvider.Event) {
            guard case .registered(let report) = event else { return }
            state.withLock { $0.append(report) }
            first.open()
        }
    }

    // On Darwin, TLS is that of the platform, and there is no front for it.
    #if !canImport(Darwin)
    @Test(.enabled(if: TLSFront.isWanted))
    func aProviderBehindTLS() async throws {
        let daemon = try Daemon(token: "secret")
        let front = try TLSFront(to: daemon.port)
        let told = Told()
        let provider = ClientToolProvider(
            server: try F.provider([F.tool("t"), F.tool("builtin")]), channel: "a", clientID: "phone",
            address: .https(host: "localhost", port: front.port), token: { "secret" }, tls: Secured.tls,
            onEvent: { told.take($0) })
        let run = Task { try await provider.run() }
        try await daemon.until("t", in: "a")
        let agent = try await daemon.agent("a")
        try await withThrowingTaskGroup(of: CallToolResult.self) { group in
            for _ in 0 ..< 20 { group.addTask { try await agent.said("t") } }
            for try await result in group { #expect(result == .text("t")) }
        }
        #expect(await told.first.wait())
        #expect(told.reports.first?.tools == ["t"])
        #expect(
            told.reports.first?.refused
                == [.init(name: "builtin", reason: "a tool of the server has this name")])
        run.cancel()
        try await run.value
        // The connection is gone with it.
        #expect(await comesTrue { daemon.streams.isEmpty })
        await agent.close()
        await daemon.stop()
        front.stop()
    }

    @Test(.enabled(if: TLSFront.isWanted))
    func refusalsBehindTLSAreReported() async throws {
        let daemon = try Daemon(token: "secret")
        let front = try TLSFront(to: daemon.port)
        func failure(token: String?, channel: String = "a") async throws -> ClientError? {
            let provider = ClientToolProvider(
                server: try F.provider([F.tool("t")]), channel: channel, clientID: "phone",
                address: .https(host: "localhost", port: front.port), token: { token }, tls: Secured.tls)
            return await clientError { try await provider.run() }
        }
        let stranger = try await failure(token: "wrong")
        #expect(stranger?.kind == .authentication && stranger?.httpStatus == 401)
        let nowhere = try await failure(token: "secret", channel: "a/b")
        #expect(nowhere?.httpStatus == 400 && nowhere?.message.contains("Missing or invalid channel") == true)
        await daemon.stop()
        front.stop()
    }

    // A result that no daemon accepts fails the call, at once.
    @Test(.enabled(if: TLSFront.isWanted))
    func aResultThatIsTooLargeBehindTLS() async throws {
        let daemon = try Daemon(token: "secret")
        let front = try TLSFront(to: daemon.port)
        let provider = ClientToolProvider(
            server: try F.provider([F.tool("t")]) { _, _ in .text(String(repeating: "x", count: 5 << 20)) },
            channel: "a", clientID: "phone", address: .https(host: "localhost", port: front.port),
            token: { "secret" }, tls: Secured.tls)
        let run = Task { try await provider.run() }
        try await daemon.until("t", in: "a")
        let agent = try await daemon.agent("a")
        let result = try await agent.said("t")
        #expect(result.isError)
        #expect(result.text.contains("the server refused the message with HTTP 413"), "\(result.text)")
        run.cancel()
        try await run.value
        await agent.close()
        await daemon.stop()
        front.stop()
    }
    #endif

    /// A way to a daemon on which the first messages do not arrive.
    private final class LossyCarrier: HTTPCarrier {
        let posted = Mutex<[[UInt8]]>([])

        func start(_ request: HTTPCarrierRequest, _ receiver: HTTPCarrierReceiver) -> any HTTPCarrierTask {
            if request.method == "GET" {
                receiver.begin(status: 200, fields: [("Content-Type", "text/event-stream")])
                let asked =
                    #"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"#
                    + #""2025-11-25","capabilities":{},"clientInfo":{"name":"daemon","version":"1"}}}"#
                let events = "event: endpoint\ndata: providers/messages?link=x\n\ndata: \(asked)\n\n"
                receiver.receive(Array(events.utf8))
            } else {
                let count = posted.withLock {
                    $0.append(request.body)
                    return $0.count
                }
                receiver.begin(status: count < 3 ? 502 : 202, fields: [])
                receiver.finish()
            }
            return Started()
        }

        private struct Started: HTTPCarrierTask {
            func cancel() {}
        }
    }

    // One answer of a proxy that does not reach the daemon is not the end of a result.
    @Test func aResultThatDoesNotArriveIsSentAgain() async throws {
        let carrier = LossyCarrier()
        let provider = ClientToolProvider(
            server: try F.provider([F.tool("t")]), channel: "a", clientID: "p",
            address: .https(host: "mcp.example", port: 443), carrier: carrier)
        let run = Task { try await provider.run() }
        #expect(await comesTrue { carrier.posted.withLock { $0.count } >= 3 })
        let posted = carrier.posted.withLock { $0.prefix(3) }
        #expect(Set(posted).count == 1)
        let message = try JSONValue(parsing: try #require(posted.last))
        #expect(message["id"] == 7 && message["result"]?["serverInfo"] != nil)
        run.cancel()
        try await run.value
    }

    // MARK: Reports

    @Test func aProviderIsToldWhatIsAcceptedAndRefused() async throws {
        let folder = TemporaryDirectory()
        let daemon = try Daemon(socket: folder.path + "/s")
        let told = Told()
        let server = try F.provider(
            [F.tool("one"), F.tool("bad name"), F.tool("builtin")].filter { $0.name != "bad name" })
        let provider = ClientToolProvider(
            server: server, channel: "a", clientID: "p", address: .unix(path: folder.path + "/s"),
            onEvent: { told.take($0) })
        let run = Task { try await provider.run() }
        #expect(await told.first.wait())
        #expect(
            told.reports.first?.tools == ["one"] && told.reports.first?.refused.map(\.name) == ["builtin"])
        let line = "client tools: registered channel=a client=p tools=1 invalid="
        #expect(daemon.log.contains { $0.hasPrefix(line) && $0.contains("builtin") })
        // A change is reported, too; and a number of tools that is refused as a whole.
        try server.register(F.tool("two")) { _, _ in .text("2") }
        #expect(await comesTrue { told.reports.last?.tools == ["one", "two"] })
        for number in 0 ..< ClientToolLimits.toolsPerClient {
            try server.register(F.tool("n\(number)")) { _, _ in .text("n") }
        }
        #expect(await comesTrue { told.reports.last?.problem?.contains("more than 64") == true })
        run.cancel()
        try await run.value
        await daemon.stop()
    }

    @Test func aRegistrationThatIsRefusedAsAWholeSaysWhy() async throws {
        let folder = TemporaryDirectory()
        let daemon = try Daemon(socket: folder.path + "/s")
        let many = try F.provider((0 ... ClientToolLimits.toolsPerClient).map { F.tool("t\($0)") })
        let told = Told()
        let provider = ClientToolProvider(
            server: many, channel: "a", clientID: "p", address: .unix(path: folder.path + "/s"),
            onEvent: { told.take($0) })
        let error = await clientError { try await provider.runOnce() }
        #expect(error?.message.contains("refused the tools: p offers more than 64 tools") == true)
        #expect(told.reports.last?.problem != nil)
        await daemon.stop()
    }

    // The connection that one too many opens is refused with its reason, before anything is sent on it.
    @Test func tooManyRegistrationsOverASocketSayWhy() async throws {
        let folder = TemporaryDirectory()
        let daemon = try Daemon(socket: folder.path + "/s")
        for _ in 0 ..< ClientToolLimits.registrationsPerMinute { try await daemon.hub.admit("p", in: "a") }
        let provider = ClientToolProvider(
            server: try F.provider([F.tool("t")]), channel: "a", clientID: "p",
            address: .unix(path: folder.path + "/s"))
        let error = await clientError { try await provider.runOnce() }
        #expect(error?.httpStatus == 429)
        #expect(
            error?.message.contains("too many registrations in the channel a; try again in a minute") == true)
        await daemon.stop()
    }

    @Test(.ownThreads) func aReportOfAHostileDaemonIsBounded() throws {
        let many = JSONValue.array(Array(repeating: ["name": "x", "reason": 5], count: 100_000))
        let message = MessageEncoder.notification(
            ClientToolReport.method, ["tools": many, "refused": many, "problem": 7])
        let report = try #require(ClientToolReport(message: message))
        #expect(report.tools.isEmpty && report.refused.count == 256 && report.problem == nil)
        #expect(ClientToolReport(message: ByteSlice(#"{"jsonrpc":"2.0","id":1,"result":{}}"#)) == nil)
        #expect(ClientToolReport(message: MessageEncoder.notification(ClientToolReport.method))?.tools == [])
    }
}
