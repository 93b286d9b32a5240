import MCPCore
import TestSupport
import Testing

/// Two instances of a server with one key and one store.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SharedStateTests {
    private static let key = [UInt8](repeating: 5, count: 32)
    private static let forms: JSONObject = ["elicitation": [:]]

    private static func asking(_ store: SharedStore?) throws -> AskingServer {
        var options = ServerOptions()
        options.stateStore = store
        return try AskingServer(options, stateKey: key)
    }

    /// Serves two instances over HTTP.
    private static func withTwo(
        _ store: SharedStore?, _ body: ([AskingServer], [UInt16]) async throws -> Void
    ) async throws {
        let instances = [try asking(store), try asking(store)]
        try await instances[0].server.withPort { one in
            try await instances[1].server.withPort { two in try await body(instances, [one, two]) }
        }
    }

    // MARK: Sessions

    // LEG-21
    @Test(arguments: Setting.versions.dropLast()) func aSessionEndsEverywhere(_ version: String) async throws
    {
        let store = SharedStore()
        try await Self.withTwo(store) { _, ports in
            let session = try await WireSession(port: ports[0], version: version)
            #expect(store.commands == 0)
            let other = try await WireSession(port: ports[1], version: version, id: session.id)
            #expect(try await other.request("tools/list")?.status == 200)
            #expect(try await session.delete() == 204)
            let lifetimes = store.lifetimes
            #expect(lifetimes.count == 1)
            #expect(lifetimes.values.allSatisfy { $0 == .seconds(86_700) })
            for wire in [session, other] {
                let answer = try await wire.request("tools/list")
                #expect(answer?.status == 404)
                #expect(answer?.json?["error"]?["code"]?.int == -32600)
                #expect(try await wire.delete() == 404)
                if version >= "2025-03-26" { #expect(try await Self.get(wire) == 404) }
            }
        }
    }

    /// Another client of the store, without the key, ends no session.
    @Test func foreignEntriesEndNothing() async throws {
        let store = SharedStore()
        try await Self.withTwo(store) { _, ports in
            let session = try await WireSession(port: ports[0], version: "2025-06-18")
            let other = try await WireSession(port: ports[1], version: "2025-06-18", id: session.id)
            #expect(try await session.delete() == 204)
            let key = try #require(store.lifetimes.keys.first)
            let good = try #require(try await store.value(for: key))
            for value in [[], [0x31], Array(good.dropLast()), good.map { $0 ^ 1 }] {
                store.put(value, for: key)
                #expect(try await other.request("tools/list")?.status == 200, "\(value)")
            }
            store.put(good, for: key)
            #expect(try await other.request("tools/list")?.status == 404)
        }
    }

    private static func get(_ wire: WireSession) async throws -> Int? {
        let request = WireSession.get(["Mcp-Session-Id: \(wire.id)", "MCP-Protocol-Version: \(wire.version)"])
        return try await onThread { () throws -> Int? in
            let socket = try WireSocket(port: wire.port)
            socket.send(request)
            var reader = WireReader(socket)
            return reader.response()?.status
        }
    }

    @Test func withoutAStoreTheOthersDoNotKnow() async throws {
        try await Self.withTwo(nil) { _, ports in
            let session = try await WireSession(port: ports[0], version: "2025-06-18")
            let other = try await WireSession(port: ports[1], version: "2025-06-18", id: session.id)
            #expect(try await session.delete() == 204)
            #expect(try await session.request("tools/list")?.status == 404)
            #expect(try await other.request("tools/list")?.status == 200)
        }
    }

    /// Sessions go on without the store, and none is ended.
    @Test func sessionsWithoutTheStore() async throws {
        let store = SharedStore()
        try await Self.withTwo(store) { instances, ports in
            let session = try await WireSession(port: ports[0], version: "2025-06-18")
            let ended = try await WireSession(port: ports[0], version: "2025-06-18")
            #expect(try await ended.delete() == 204)
            store.isAway = true
            #expect(try await session.request("tools/list")?.status == 200)
            // The instance that ended it still knows.
            #expect(try await ended.request("tools/list")?.status == 404)
            #expect(try await session.delete() == 503)
            #expect(try await session.request("tools/list")?.status == 200)
            #expect(instances[0].log.count { $0.contains("the state store failed") } == 1)
            store.isAway = false
            #expect(try await session.delete() == 204)
        }
    }

    /// Ids that are not ours cost the store nothing, and neither do clients without sessions.
    @Test func onlySessionsAreLookedUp() async throws {
        let store = SharedStore()
        try await Self.withTwo(store) { _, ports in
            let session = try await WireSession(port: ports[0], version: "2025-06-18")
            for id in [String(session.id.dropLast()) + "_", "x", String(repeating: "A", count: 72)] {
                let forged = try await WireSession(port: ports[0], version: "2025-06-18", id: id)
                #expect(try await forged.request("tools/list")?.status == 404)
                #expect(try await forged.delete() == 404)
            }
            #expect(store.commands == 0)
            _ = try await session.request("tools/list")
            #expect(store.commands == 1)
        }
        let asking = try Self.asking(store)
        try await withServer(Setting(leg: .http, version: "2026-07-28"), asking.server) { served in
            let client = try await served.client(capabilities: [:])
            _ = await client.request("tools/list", [:])
        }
        #expect(store.commands == 1)
    }

    // MARK: Rounds of questions

    private static func params(_ answers: JSONObject, _ state: JSONValue, tool: String) -> JSONObject {
        ["name": .string(tool), "arguments": [:], "inputResponses": .object(answers), "requestState": state]
    }

    private static let ada: JSONObject = ["user_name": ["action": "accept", "content": ["name": "Ada"]]]

    private func withRounds(
        _ setting: Setting, _ store: SharedStore,
        _ body: (_ one: RawClient, _ two: RawClient, [AskingServer]) async throws -> Void
    ) async throws {
        let instances = [try Self.asking(store), try Self.asking(store)]
        try await withServer(setting, instances[0].server) { one in
            try await withServer(setting, instances[1].server) { two in
                try await body(
                    try await one.client(capabilities: Self.forms),
                    try await two.client(capabilities: Self.forms), instances)
            }
        }
    }

    /// A store that stalls carries a claim out late. The instance knows the claim as its own; others refuse.
    @Test(arguments: Setting.modern) func aClaimWithALostReply(_ setting: Setting) async throws {
        let store = SharedStore()
        try await withRounds(setting, store) { one, two, instances in
            let state = try #require(await one.call("greet").result?["requestState"]?.value)
            let answer = Self.params(Self.ada, state, tool: "greet")
            store.losesReplies = true
            #expect(await two.request("tools/call", answer).errorCode == 503)
            store.losesReplies = false
            #expect(store.lifetimes.count == 1)
            #expect(await one.request("tools/call", answer).errorMessage?.contains("already used") == true)
            #expect(await two.request("tools/call", answer).text == "Hello, Ada!")
            for client in [one, two] {
                let again = await client.request("tools/call", answer)
                #expect(again.errorMessage?.contains("already used") == true)
            }
            #expect(instances.map(\.runs.value) == [1, 1])
        }
    }

    /// What another client of the store has put in the place of a claim is nobody's.
    @Test(arguments: Setting.modern) func aForeignClaim(_ setting: Setting) async throws {
        let store = SharedStore()
        try await withRounds(setting, store) { one, two, instances in
            let state = try #require(await one.call("greet").result?["requestState"]?.value)
            let answer = Self.params(Self.ada, state, tool: "greet")
            store.losesReplies = true
            #expect(await two.request("tools/call", answer).errorCode == 503)
            store.losesReplies = false
            let key = try #require(store.lifetimes.keys.first)
            for value in [[], [0x31], [UInt8](repeating: 0, count: 16)] {
                store.put(value, for: key)
                #expect(await two.request("tools/call", answer).errorCode == -32602, "\(value)")
            }
            #expect(instances.map(\.runs.value) == [1, 0])
        }
    }

    // MRTR-11
    @Test(arguments: Setting.modern) func anAnswerCountsOnce(_ setting: Setting) async throws {
        let store = SharedStore()
        try await withRounds(setting, store) { one, two, instances in
            let state = try #require(await one.call("greet").result?["requestState"]?.value)
            let answer = Self.params(Self.ada, state, tool: "greet")
            #expect(await two.request("tools/call", answer).text == "Hello, Ada!")
            for client in [one, two] {
                let again = await client.request("tools/call", answer)
                #expect(again.errorCode == -32602)
                #expect(again.errorMessage?.contains("already used") == true)
            }
            // The handler asked once and answered once.
            #expect(instances.map(\.runs.value) == [1, 1])
            #expect(store.lifetimes.values.allSatisfy { $0 == .seconds(86_400) })
        }
    }

    @Test(arguments: Setting.modern) func roundsChangeInstances(_ setting: Setting) async throws {
        try await withRounds(setting, SharedStore()) { one, two, _ in
            let first = try #require(await one.call("steps").result?["requestState"]?.value)
            let name: JSONObject = ["elicitation-1": ["action": "accept", "content": ["name": "Ada"]]]
            let color: JSONObject = ["elicitation-2": ["action": "accept", "content": ["color": "red"]]]
            let asked = await two.request("tools/call", Self.params(name, first, tool: "steps"))
            let second = try #require(asked.result?["requestState"]?.value)
            let last = await one.request("tools/call", Self.params(color, second, tool: "steps"))
            #expect(last.text == "Ada likes red")
            // All states of the call are used up together.
            let again = await two.request("tools/call", Self.params(name, first, tool: "steps"))
            #expect(again.errorCode == -32602)
        }
    }

    @Test(arguments: Setting.modern) func aSlipUsesNothingUp(_ setting: Setting) async throws {
        let store = SharedStore()
        try await withRounds(setting, store) { one, two, _ in
            let state = try #require(await one.call("greet").result?["requestState"]?.value)
            let slip = Self.params(["user_name": ["action": "agree"]], state, tool: "greet")
            #expect(await two.request("tools/call", slip).errorCode == -32602)
            #expect(store.lifetimes.isEmpty)
            let answer = Self.params(Self.ada, state, tool: "greet")
            #expect(await one.request("tools/call", answer).text == "Hello, Ada!")
        }
    }

    @Test(arguments: Setting.modern) func withoutTheStoreNothingRuns(_ setting: Setting) async throws {
        let store = SharedStore()
        try await withRounds(setting, store) { one, two, instances in
            let state = try #require(await one.call("greet").result?["requestState"]?.value)
            let answer = Self.params(Self.ada, state, tool: "greet")
            store.isAway = true
            #expect(await two.request("tools/call", answer).errorCode == 503)
            // Questions are still asked: they need no store.
            #expect(await two.call("greet").result?["requestState"] != nil)
            #expect(instances.map(\.runs.value) == [1, 1])
            store.isAway = false
            #expect(await two.request("tools/call", answer).text == "Hello, Ada!")
        }
    }
}
