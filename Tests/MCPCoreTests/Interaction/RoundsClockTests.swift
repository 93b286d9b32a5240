import TestSupport
import Testing

@testable import MCPCore

/// Rounds of questions while the clock of the machine is set (MRTR-10, MRTR-11).
@Suite(.timeLimit(.minutes(5))) struct RoundsClockTests {
    private static let start = WallTime(secondsSinceEpoch: 1_800_000_000)
    private static let key = [UInt8](repeating: 9, count: 32)

    /// A server with one tool, `run`, which runs when the user agrees.
    private struct Instance {
        let clock = ManualClock(wallTime: RoundsClockTests.start)
        let runs = Counter()
        let server: MCPServer

        init(_ store: SharedStore? = nil) throws {
            var options = ServerOptions()
            options.stateKey = RoundsClockTests.key
            options.stateStore = store
            server = MCPServer("confirming", options: options, at: clock)
            try server.register(Tool("run", inputSchema: ["type": "object"])) { [runs] _, context in
                let answer = try await context.elicit("Run it?", ElicitationSchema([]), key: "confirm")
                guard answer.action == .accept else { return .text("no") }
                runs.increment()
                return .text("done")
            }
        }

        /// Sets the wall clock to a number of seconds after the truth.
        func setClock(_ offset: Int64) {
            let uptime = clock.now - MonotonicInstant(nanoseconds: 0)
            clock.setWallTime(RoundsClockTests.start + uptime + .seconds(offset))
        }
    }

    private func ask(_ client: RawClient) async throws -> JSONValue {
        try #require(await client.call("run").result?["requestState"]?.value)
    }

    private func agree(_ client: RawClient, _ state: JSONValue) async -> RawReply {
        await client.request(
            "tools/call",
            [
                "name": "run", "arguments": [:], "requestState": state,
                "inputResponses": ["confirm": ["action": "accept", "content": [:]]],
            ])
    }

    private func withInstance(_ body: (Instance, RawClient) async throws -> Void) async throws {
        let instance = try Instance()
        try await withServer(.inMemory(), instance.server) { served in
            try await body(instance, try await served.client(capabilities: ["elicitation": [:]]))
        }
    }

    @Test func aheadAndBack() async throws {
        try await withInstance { instance, client in
            let state = try await ask(client)
            #expect(await agree(client, state).text == "done")
            // An hour ahead, where other calls are completed, and which forgets nothing.
            instance.setClock(3600)
            #expect(await agree(client, state).errorMessage?.contains("expired") == true)
            #expect(try await agree(client, ask(client)).text == "done")
            instance.clock.advance(by: .seconds(30))
            instance.setClock(0)
            #expect(await agree(client, state).errorMessage?.contains("already used") == true)
            #expect(instance.runs.value == 2)
        }
    }

    /// The state becomes valid by the clock when its use is no longer remembered.
    @Test(arguments: [-3600, -3630] as [Int64]) func backMuchLater(_ offset: Int64) async throws {
        try await withInstance { instance, client in
            let state = try await ask(client)
            #expect(await agree(client, state).text == "done")
            instance.clock.advance(by: .seconds(3600))
            // What is remembered is looked through.
            #expect(try await agree(client, ask(client)).text == "done")
            instance.setClock(offset)
            #expect(await agree(client, state).errorCode == -32602)
            #expect(instance.runs.value == 2)
        }
    }

    /// A question that is asked while the clock is ahead is not valid again when the time has come.
    @Test func askedAhead() async throws {
        try await withInstance { instance, client in
            instance.setClock(3600)
            let (used, open) = (try await ask(client), try await ask(client))
            #expect(await agree(client, used).text == "done")
            instance.setClock(0)
            for state in [used, open] {
                #expect(await agree(client, state).errorMessage?.contains("set back") == true)
            }
            instance.clock.advance(by: .seconds(3600))
            for state in [used, open] { #expect(await agree(client, state).errorCode == -32602) }
            #expect(instance.runs.value == 1)
        }
    }

    /// A state of an earlier run, or of another instance, counts once too, when the clock is set back by less
    /// than a day after its use. Its store has forgotten nothing by then either.
    @Test(arguments: [1800, 80_000] as [Int64], [false, true])
    func anotherInstance(_ offset: Int64, _ isShared: Bool) async throws {
        let store = isShared ? SharedStore() : nil
        let instances = [try Instance(store), try Instance(store)]
        try await withServer(.inMemory(), instances[0].server) { one in
            try await withServer(.inMemory(), instances[1].server) { two in
                let asking = try await one.client(capabilities: ["elicitation": [:]])
                let client = try await two.client(capabilities: ["elicitation": [:]])
                for instance in instances { instance.setClock(offset) }
                let (used, late) = (try await ask(asking), try await ask(asking))
                #expect(await agree(client, used).text == "done")
                instances[1].setClock(0)
                #expect(await agree(client, used).errorMessage?.contains("set back") == true)
                #expect(await agree(client, late).errorMessage?.contains("set back") == true)
                // The time of the state has come, and what is remembered was looked through.
                instances[1].clock.advance(by: .seconds(offset))
                #expect(try await agree(client, ask(client)).text == "done")
                #expect(await agree(client, used).errorMessage?.contains("already used") == true)
                #expect(instances[1].runs.value == 2)
                if let store { #expect(store.lifetimes.values.allSatisfy { $0 == .seconds(86_400) }) }
            }
        }
    }

    /// Whatever the clock was: who asks now is answered, here and at another instance.
    @Test(arguments: [-86_400, -3600, -60, 60, 3600, 86_400] as [Int64], [false, true])
    func newQuestions(_ offset: Int64, _ isShared: Bool) async throws {
        let store = isShared ? SharedStore() : nil
        let instances = [try Instance(store), try Instance(store)]
        try await withServer(.inMemory(), instances[0].server) { one in
            try await withServer(.inMemory(), instances[1].server) { two in
                let clients = [
                    try await one.client(capabilities: ["elicitation": [:]]),
                    try await two.client(capabilities: ["elicitation": [:]]),
                ]
                for instance in instances { instance.setClock(offset) }
                for _ in 0 ..< 3 { #expect(try await agree(clients[0], ask(clients[0])).text == "done") }
                for instance in instances { instance.setClock(0) }
                for client in clients {
                    for other in clients {
                        let state = try await ask(client)
                        #expect(await agree(other, state).text == "done")
                        #expect(await agree(other, state).errorMessage?.contains("already used") == true)
                    }
                }
            }
        }
    }

    /// Between instances whose clocks differ by a minute, an open question counts.
    @Test(arguments: [-60, 60] as [Int64]) func clocksThatDiffer(_ offset: Int64) async throws {
        let store = SharedStore()
        let instances = [try Instance(store), try Instance(store)]
        instances[1].setClock(offset)
        try await withServer(.inMemory(), instances[0].server) { one in
            try await withServer(.inMemory(), instances[1].server) { two in
                let asking = try await one.client(capabilities: ["elicitation": [:]])
                let other = try await two.client(capabilities: ["elicitation": [:]])
                let state = try await ask(asking)
                #expect(await agree(other, state).text == "done")
                #expect(await agree(asking, state).errorMessage?.contains("already used") == true)
            }
        }
    }

    /// A store that has forgotten a claim, because its own clock was set, brings no state of the instance back
    /// that has expired.
    @Test func aStoreThatForgets() async throws {
        let store = SharedStore()
        let instance = try Instance(store)
        try await withServer(.inMemory(), instance.server) { served in
            let client = try await served.client(capabilities: ["elicitation": [:]])
            let state = try await ask(client)
            #expect(await agree(client, state).text == "done")
            for key in store.lifetimes.keys { try await store.removeValue(for: key) }
            #expect(await agree(client, state).errorMessage?.contains("already used") == true)
            instance.clock.advance(by: .seconds(700))
            #expect(try await agree(client, ask(client)).text == "done")
            instance.setClock(-700)
            #expect(await agree(client, state).errorMessage?.contains("expired") == true)
        }
    }
}
