import MCPCore
import Synchronization
import TestSupport
import Testing

/// Calls that do not end as they should: each has its defined end, and nothing is left behind.
@Suite struct ClientToolLifeTests {
    typealias F = HubFixture

    /// A provider whose calls wait until they are cancelled or released.
    final class Waiting: Sendable {
        let begun = Gate()
        let release = Gate()
        let cancelled = Gate()
        let count = Counter()

        func provider(idempotent: Bool = false) throws -> MCPServer {
            try F.provider([F.tool("t", idempotent: idempotent)]) { [self] _, _ in
                count.increment()
                begun.open()
                if await !release.wait() { cancelled.open() }
                return .text("released")
            }
        }
    }

    /// The call ended at once and left nothing behind.
    private func isOver(_ fixture: F, since start: ContinuousClock.Instant) async {
        #expect(ContinuousClock.now - start < .seconds(5))
        await isQuiet(fixture)
    }

    private func isQuiet(_ fixture: F) async {
        await fixture.until("nothing is left") { $0.callsInFlight == 0 }
    }

    // C27
    @Test func aCallThatTakesTooLongIsCancelled() async throws {
        let (fixture, waiting) = (F(), Waiting())
        try await fixture.attach(try waiting.provider(), "one")
        let agent = try await fixture.agent()
        async let answer = agent.said("t")
        #expect(await waiting.begun.wait())
        await fixture.advance(.seconds(29))
        #expect(await fixture.hub.counts.callsInFlight == 1)
        let start = ContinuousClock.now
        await fixture.advance(.seconds(1))
        let result = try await answer
        #expect(result == .error("t: client did not answer within 30 s"))
        #expect(await waiting.cancelled.wait())
        await isOver(fixture, since: start)
        #expect(await fixture.hub.counts.timeouts == 1)
    }

    // C27
    @Test func aToolHasATimeOfItsOwn() async throws {
        let (fixture, waiting) = (F(), Waiting())
        let provider = HubFixture.emptyProvider()
        let tool = Tool("t", inputSchema: ["type": "object"], meta: [VendorKey.timeout: 90_000])
        try provider.register(tool) { _, _ in
            waiting.begun.open()
            await waiting.release.wait()
            return .text("late")
        }
        try await fixture.attach(provider, "one")
        let agent = try await fixture.agent()
        async let answer = agent.said("t", options: CallOptions(timeout: .seconds(200)))
        #expect(await waiting.begun.wait())
        await fixture.advance(.seconds(89))
        #expect(await fixture.hub.counts.callsInFlight == 1)
        await fixture.advance(.seconds(1))
        #expect(try await answer == .error("t: client did not answer within 90 s"))
    }

    // C27
    @Test(arguments: ClientToolHubTests.eras)
    func aCallThatTheAgentGivesUpIsCancelled(_ era: ClientOptions.ProtocolChoice) async throws {
        let (fixture, waiting) = (F(), Waiting())
        try await fixture.attach(try waiting.provider(), "one", revision: era)
        let agent = try await fixture.agent(revision: era)
        let call = Task { try await agent.said("t") }
        #expect(await waiting.begun.wait())
        let start = ContinuousClock.now
        call.cancel()
        #expect(await waiting.cancelled.wait())
        await isOver(fixture, since: start)
        #expect(await fixture.hub.counts.cancelled == 1)
    }

    // C27
    @Test func aCallWhoseClientIsGoneFailsAtOnce() async throws {
        let (fixture, waiting) = (F(), Waiting())
        let client = try await fixture.attach(try waiting.provider(), "one")
        let agent = try await fixture.agent()
        async let answer = agent.said("t")
        #expect(await waiting.begun.wait())
        let start = ContinuousClock.now
        await client.close()
        let result = try await answer
        #expect(result.isError && result.text.contains("lost its connection"))
        await isOver(fixture, since: start)
        // It comes back: what may have been done is not done again.
        try await fixture.attach(try waiting.provider(), "one")
        #expect(waiting.count.value == 1)
    }

    // C27
    @Test func whatMayBeDoneTwiceIsGivenToTheClientThatComesBack() async throws {
        let (fixture, waiting) = (F(), Waiting())
        let client = try await fixture.attach(try waiting.provider(idempotent: true), "one")
        let agent = try await fixture.agent()
        async let answer = agent.said("t")
        #expect(await waiting.begun.wait())
        await client.close()
        await fixture.lossIsKnown(calls: 1)
        waiting.release.open()
        try await fixture.attach(try waiting.provider(idempotent: true), "one")
        #expect(try await answer == .text("released"))
        #expect(waiting.count.value == 2)
        await isQuiet(fixture)
    }

    // C27
    @Test func aClientThatDoesNotComeBackIsForgotten() async throws {
        let (fixture, waiting) = (F(), Waiting())
        let client = try await fixture.attach(try waiting.provider(idempotent: true), "one")
        let agent = try await fixture.agent()
        async let answer = agent.said("t")
        #expect(await waiting.begun.wait())
        await client.close()
        await fixture.lossIsKnown(calls: 1)
        #expect(try await agent.listTools().map(\.name) == ["builtin", "t"])
        await fixture.advance(.seconds(5))
        #expect(try await answer.isError)
        #expect(try await agent.listTools().map(\.name) == ["builtin"])
        #expect(await fixture.hub.counts.clients == 1)
        await fixture.advance(.seconds(55))
        let counts = await fixture.hub.counts
        #expect(counts.clients == 0 && counts.channels == 0 && counts.tools == 0)
    }

    // C27
    @Test func aCallWaitsForAClientThatHasJustGone() async throws {
        let fixture = F()
        let client = try await fixture.attach(try F.provider([F.tool("t")]), "one")
        let agent = try await fixture.agent()
        await client.close()
        await fixture.lossIsKnown()
        async let answer = agent.said("t")
        await fixture.until("the call waits") { $0.callsInFlight == 1 }
        try await fixture.attach(try F.provider([F.tool("t")]), "one")
        #expect(try await answer == .text("t"))
    }

    // C27
    @Test func anAgentThatWaitsIsToldSo() async throws {
        let (fixture, waiting) = (F(), Waiting())
        try await fixture.attach(try waiting.provider(), "one")
        let agent = try await fixture.agent()
        let reports = Mutex<[ProgressReport]>([])
        let told = Gate()
        let options = CallOptions(onProgress: { progress in
            reports.withLock { $0.append(progress) }
            told.open()
        })
        async let answer = agent.said("t", options: options)
        #expect(await waiting.begun.wait())
        await fixture.advance(.seconds(5))
        #expect(await told.wait())
        waiting.release.open()
        #expect(try await answer == .text("released"))
        #expect(reports.withLock { $0.map(\.message) } == ["waiting for client"])
    }

    // C27
    @Test func theProgressOfTheClientReachesTheAgent() async throws {
        let fixture = F()
        try await fixture.attach(
            try F.provider([F.tool("t")]) { _, context in
                await context.progress(1, total: 2, message: "half")
                return .text("done")
            }, "one")
        let agent = try await fixture.agent()
        let reports = Mutex<[ProgressReport]>([])
        let options = CallOptions(onProgress: { progress in reports.withLock { $0.append(progress) } })
        #expect(try await agent.said("t", options: options) == .text("done"))
        #expect(reports.withLock { $0 } == [ProgressReport(1, total: 2, message: "half")])
    }

    // C27, D4: nobody says that the client did not run what it ran.
    @Test func aMalformedAndATooLargeResultAreErrors() async throws {
        let fixture = F()
        let large = String(repeating: "x", count: 10_000_000)
        try await fixture.attach(
            try F.provider([F.tool("large"), F.tool("typed")]) { call, _ in
                if call.name == "large" { return .text(large) }
                throw MCPError.internalError("it broke")
            }, "one")
        let agent = try await fixture.agent()
        let result = try await agent.said("large")
        #expect(result.isError && result.text.contains("10 MB"))
        #expect(try await agent.said("typed") == .error("typed failed in its client: it broke"))
    }

    @Test func stoppingEndsEverything() async throws {
        let (fixture, waiting) = (F(), Waiting())
        try await fixture.attach(try waiting.provider(), "one")
        let agent = try await fixture.agent()
        async let answer = agent.said("t")
        #expect(await waiting.begun.wait())
        await fixture.hub.stop()
        #expect(try await answer.isError)
        let counts = await fixture.hub.counts
        #expect(counts.channels == 0 && counts.callsInFlight == 0)
    }
}
