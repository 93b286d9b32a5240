import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// What a daemon and a program behind a proxy find out about each other: whether the other one is still there, and why
/// something was refused.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ProviderProbeTests {
    typealias Daemon = ClientToolEndpointTests.Daemon
    typealias Page = ProviderStreamTests
    typealias F = HubFixture

    /// Lines of the log.
    private final class Lines: Sendable {
        private let state = Mutex<[String]>([])
        func add(_ line: String) { state.withLock { $0.append(line) } }
        var all: [String] { state.withLock { $0 } }
    }

    private static func advance(_ clock: ManualClock, _ daemon: Daemon, by time: Duration) async {
        clock.advance(by: time)
        await daemon.hub.tick()
    }

    private static func pings(_ stream: WireStream) -> Int { stream.methods.count { $0 == "ping" } }

    /// Waits until the hub knows that the client has responded.
    private static func isHeard(_ daemon: Daemon) async -> Bool {
        for _ in 0 ..< 2_000 {
            if await daemon.hub.channels["a"]?.registrations["p"]?.probeEnd == .never { return true }
            await pause()
        }
        return false
    }

    // A phone whose network is gone, behind a proxy that does not notice it.
    @Test func aClientThatVanishesBehindAProxyIsNoticed() async throws {
        let clock = ManualClock()
        let lines = Lines()
        let daemon = try Daemon(token: "secret", origins: [Page.page], clock: clock) {
            $0.log = { lines.add($0) }
        }
        let stream = try Page.open(daemon, try await Page.ticket(daemon))
        #expect(await stream.opened())
        let run = Page.serve(stream, daemon)
        try await daemon.until("t", in: "a")
        await Self.advance(clock, daemon, by: .milliseconds(19_999))
        #expect(Self.pings(stream) == 0)
        // It answers, with an error too, and stays.
        await Self.advance(clock, daemon, by: .milliseconds(1))
        #expect(await stream.until { Self.pings($0) == 1 })
        #expect(await Self.isHeard(daemon))
        run.cancel()
        _ = await run.result
        await Self.advance(clock, daemon, by: ClientToolLimits.probeInterval)
        #expect(await stream.until { Self.pings($0) == 2 })
        await Self.advance(clock, daemon, by: .milliseconds(19_999))
        #expect(!stream.isComplete)
        await Self.advance(clock, daemon, by: .milliseconds(1))
        // The connection itself stays open for other requests.
        #expect(await stream.until { $0.isComplete })
        #expect(await comesTrue { daemon.streams.isEmpty })
        #expect(lines.all.contains { $0.contains("no response channel=a client=p") })
        await daemon.stop()
    }

    // A program that does one thing at a time does not answer during a call.
    @Test func aClientThatWorksIsNotGivenUp() async throws {
        let clock = ManualClock()
        let daemon = try Daemon(token: "secret", origins: [Page.page], clock: clock)
        let stream = try Page.open(daemon, try await Page.ticket(daemon))
        #expect(await stream.opened())
        let tool = #"[{"name":"t","inputSchema":{"type":"object"},"_meta":{"mcpcore/timeoutMs":600000}}]"#
        let run = Page.serve(stream, daemon, tools: tool)
        try await daemon.until("t", in: "a")
        run.cancel()
        _ = await run.result
        let agent = try await daemon.agent("a")
        let call = Task { try await agent.said("t") }
        #expect(await stream.until { $0.methods.contains("tools/call") })
        for _ in 1 ... 4 { await Self.advance(clock, daemon, by: ClientToolLimits.probeInterval) }
        #expect(await stream.until { Self.pings($0) == 4 })
        #expect(!stream.isComplete)
        call.cancel()
        _ = await call.result
        for _ in 0 ..< 2_000 where await daemon.hub.counts.callsInFlight > 0 { await pause() }
        // After the call it has to.
        await Self.advance(clock, daemon, by: ClientToolLimits.probeTimeout)
        // The connection itself stays open for other requests.
        #expect(await stream.until { $0.isComplete })
        await agent.close()
        await daemon.stop()
    }

    #if !canImport(Darwin)
    // A program whose daemon is silent for too long connects again.
    @Test(.enabled(if: TLSFront.isWanted)) func aDaemonThatIsSilentIsGivenUp() async throws {
        let daemon = try Daemon(token: "secret")
        let front = try TLSFront(to: daemon.port)
        let connections = Counter()
        let provider = ClientToolProvider(
            .server(try F.provider([F.tool("t")])), channel: "a", clientID: "p",
            address: .https(host: "localhost", port: front.port), token: { "secret" }, tls: Secured.tls,
            firstPause: .milliseconds(10), silence: .milliseconds(200),
            onEvent: { event in if case .connected = event { connections.increment() } })
        let run = Task { try await provider.run() }
        #expect(await comesTrue { connections.value >= 2 })
        run.cancel()
        try await run.value
        await daemon.stop()
        front.stop()
    }
    #endif

    /// The heart-beats of one side are more frequent than the patience of the other.
    @Test func theTimesFitTogether() {
        #expect(ClientToolLimits.longestSilence > ClientToolLimits.probeInterval * 3)
        #expect(ClientToolLimits.probeInterval + ClientToolLimits.probeTimeout < .seconds(60))
        // docs/client-tools.md: detected within a minute. The page of the example waits as long as a program.
        #expect(
            (try? RepositoryFile.text("Examples/BrowserTools/client-tools.js"))?.contains("75_000") == true)
    }

    // MARK: Damaged lists

    @Test func aDamagedEntryIsInTheReportAndTheLog() async throws {
        let lines = Lines()
        let daemon = try Daemon(token: "secret", origins: [Page.page]) { $0.log = { lines.add($0) } }
        let stream = try Page.open(daemon, try await Page.ticket(daemon))
        #expect(await stream.opened())
        let tools = Mutex(#"[{"name":"t","inputSchema":{"type":"object"}},{"name":5}]"#)
        let run = Page.serve(stream, daemon, tools: tools.withLock { $0 })
        try await daemon.until("t", in: "a")
        let report = try await Page.report(stream)
        #expect(report["tools"] == ["t"])
        #expect(
            report["refused"]?[0]?["reason"]?.stringValue?.hasPrefix("a malformed Tool is omitted") == true)
        #expect(
            lines.all.contains { $0.contains("registered") && $0.contains("a malformed Tool is omitted") })
        // A list that cannot be read at all, later: the last one stays, and the client learns why.
        tools.withLock { $0 = "5" }
        let note = #"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#
        let link = "/" + stream.messages[0].data
        #expect(
            try await Page.send(daemon, "POST", link, Page.auth + Page.json, body: note).status == 202)
        #expect(await stream.until { $0.messages.contains { $0.data.contains("the last one stays") } })
        #expect(lines.all.contains { $0.contains("not updated channel=a client=p") })
        #expect(await daemon.hub.counts.tools == 1)
        stream.close()
        run.cancel()
        await daemon.stop()
    }

    // MARK: Requests

    @Test func aTicketThatIsRefusedSaysWhy() async throws {
        let clock = ManualClock()
        let daemon = try Daemon(
            token: "secret", origins: [Page.page, "https://other.example"], clock: clock)
        func reason(_ ticket: String, channel: String = "a", origin: String = Page.page) async throws
            -> String?
        {
            let answer = try await Page.send(
                daemon, "GET", "/providers?channel=\(channel)&client=p&ticket=\(ticket)", origin: origin, [])
            #expect(answer.status == 401)
            return try JSONValue(parsing: answer.text)["error"]?.stringValue
        }
        let used = try await Page.ticket(daemon)
        let stream = try Page.open(daemon, used)
        #expect(await stream.opened())
        #expect(try await reason(used) == "The ticket has been used: each one opens one stream")
        let stolen = try await Page.ticket(daemon)
        let other = "The ticket was issued for another channel or another page"
        #expect(try await reason(stolen, origin: "https://other.example") == other)
        #expect(try await reason(try await Page.ticket(daemon), channel: "b") == other)
        let late = try await Page.ticket(daemon)
        clock.advance(by: StreamTickets.lifetime)
        #expect(try await reason(late) == "The ticket has expired: it is valid for 30 s")
        #expect(try await reason("0123456789abcdef") == "The ticket is unknown")
        clock.advance(by: StreamTickets.lifetime)
        _ = try await Page.ticket(daemon)
        // What ended long ago is forgotten.
        #expect(try await reason(late) == "The ticket is unknown")
        stream.close()
        await daemon.stop()
    }

    @Test(arguments: [
        "GET /providers?channel=a&channel=b", "POST /client-tools/ticket?channel=a&channel=a",
        "GET /providers?channel=a&ticket=x&ticket=y", "GET /providers?channel=a&client=x&%63lient=y",
        "POST /providers/messages?link=a&link=b", "GET /client-tools/events?channel_id=a&channel_id=b",
    ])
    func aParameterCountsOnce(_ target: String) async throws {
        let daemon = try Daemon(token: "secret", origins: [Page.page])
        let words = target.split(separator: " ").map(String.init)
        let answer = try await Page.send(daemon, words[0], words[1])
        #expect(answer.status == 400 && answer.text.contains("is given more than once"))
        await daemon.stop()
    }
}
