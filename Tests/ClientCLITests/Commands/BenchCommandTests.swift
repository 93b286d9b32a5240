import MCPCore
import Synchronization
import Testing

@testable import MCPClientCLI

struct BenchCommandTests {
    private func harness() throws -> CommandHarness { CommandHarness(server: try OpsServer.make()) }

    @Test func oneLineTellsEverything() async throws {
        let outcome = try await harness().run(
            "bench", "-n", "50", "-c", "4", "localhost:1", "git_log", "repo=web")
        #expect(outcome.code == .ok)
        #expect(
            outcome.stdout.wholeMatch(
                of: /50 ok 0 errors · [0-9,]+\/s · p50 [0-9.]+ p90 [0-9.]+ p99 [0-9.]+ max [0-9.]+ ms\n/)
                != nil, "\(outcome.stdout)")
    }

    @Test func jsonHasTheSameFigures() async throws {
        let outcome = try await harness().run(
            "--json", "bench", "-n", "20", "localhost:1", "git_log", "repo=web")
        let json = try JSONValue(parsing: outcome.stdout)
        #expect(json["ok"] == 20)
        #expect(json["errors"] == 0)
        #expect(json["concurrency"] == 1)
        let times = try ["p50", "p90", "p99", "max"].map {
            try #require(json["milliseconds"]?[$0]?.doubleValue)
        }
        #expect(times == times.sorted())
        #expect(times[0] > 0)
    }

    @Test func aToolThatFailsIsNotMeasured() async throws {
        let outcome = try await harness().run("bench", "localhost:1", "git_log", "repo=nope")
        #expect(outcome.code == .toolError)
        #expect(outcome.stdout.isEmpty)
        #expect(outcome.stderr.contains("repository \"nope\" is not under workspace"))
    }

    @Test(arguments: ["0", "-1", "x", "10000001", ""])
    func countsAreChecked(_ count: String) async throws {
        let outcome = try await harness().run("bench", "-n", count, "localhost:1", "git_log")
        #expect(outcome.code == .usage)
    }

    @Test func failuresInTheMiddleAreCounted() async throws {
        let server = MCPServer("ops", version: "1")
        let gate = CallCounter()
        try server.register(Tool("flaky")) { _, _ in
            guard gate.next() % 10 != 0 else { throw ToolError("not now") }
            return .text("ok")
        }
        let outcome = await CommandHarness(server: server).run("bench", "-n", "99", "localhost:1", "flaky")
        #expect(outcome.code == .toolError)
        // The first call is one of them.
        #expect(outcome.stdout.hasPrefix("90 ok 9 errors"), "\(outcome.stdout)")
        #expect(outcome.stdout.contains("first error: not now"))
        #expect(gate.next() == 100)
    }

    /// What was measured is printed, and the status is that of the interruption.
    @Test func anInterruptionIsNoSuccess() async throws {
        let server = MCPServer("ops", version: "1")
        let (calls, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingOldest(1))
        let count = CallCounter()
        try server.register(Tool("slow")) { _, _ in
            if count.next() == 7 {
                continuation.yield()
                try await Task.sleep(for: .seconds(60))
            }
            return .text("ok")
        }
        let harness = CommandHarness(server: server)
        let work = Task { await harness.run("bench", "-n", "10", "localhost:1", "slow") }
        var begun = calls.makeAsyncIterator()
        await begun.next()
        work.cancel()
        let outcome = await work.value
        #expect(outcome.code == .interrupted, "\(outcome.stderr)")
        #expect(outcome.stdout.hasPrefix("6 ok 0 errors"), "\(outcome.stdout)")
    }

    @Test(arguments: [(1, 1), (5, 1), (50, 1), (20, 4), (3, 8)])
    func asManyCallsAsAskedFor(_ count: Int, _ tasks: Int) async throws {
        let server = MCPServer("ops", version: "1")
        let calls = CallCounter()
        try server.register(Tool("order")) { _, _ in .text("order \(calls.next())") }
        let outcome = await CommandHarness(server: server).run(
            "--json", "bench", "-n", "\(count)", "-c", "\(tasks)", "localhost:1", "order")
        #expect(outcome.code == .ok, "\(outcome.stderr)")
        let json = try JSONValue(parsing: outcome.stdout)
        #expect(json["ok"] == JSONValue(count) && json["errors"] == 0)
        #expect(try #require(json["perSecond"]?.doubleValue) > 0)
        #expect(calls.next() == count + 1)
    }

    @Test func aDestructiveToolIsAskedAbout() async throws {
        var harness = try harness()
        for (typed, flags, runs) in [
            (["n"], [], false), (["y"], [], true), ([], ["--yes"], true), ([], ["--no-input"], true),
            (nil, [], true),
        ] as [([String]?, [String], Bool)] {
            harness.typed = typed
            let words = ["bench", "-n", "3", "localhost:1", "unit_restart", "unit=web"]
            let outcome = await harness.run(flags + words)
            #expect(outcome.code == (runs ? .ok : .inputRequired), "\(outcome.stderr)")
            #expect(outcome.stdout.hasPrefix("3 ok") == runs, "\(outcome.stdout)")
            let question = "irreversibly; call it 3 times? [y]es, [N]o: "
            #expect(outcome.stderr.contains(question) == (typed?.isEmpty == false), "\(outcome.stderr)")
        }
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")])
    func thousands(_ number: Int, _ text: String) {
        #expect(BenchReport.grouped(number) == text)
    }
}

private final class CallCounter: Sendable {
    private let count = Mutex(0)
    func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }
}
