import TestSupport
import Testing

@testable import MCPCore

/// Tasks of two instances of a server with one key and one store.
@Suite(.timeLimit(.minutes(5))) struct SharedTasksTests {
    private static let key = [UInt8](repeating: 5, count: 32)
    private static let setting = Setting.modern[0]

    private struct Two {
        let store: SharedStore
        let makers: [TaskServer]
        /// A client of each instance.
        let clients: [RawClient]
    }

    /// Serves two instances.
    private func withTwo(
        keys: [[UInt8]] = [key, key], _ body: (Two) async throws -> Void
    ) async throws {
        let store = SharedStore()
        let makers = try keys.map { try TaskServer(store: store, stateKey: $0) }
        try await withClient(Self.setting, makers[0].server) { one in
            try await withClient(Self.setting, makers[1].server) { other in
                try await body(Two(store: store, makers: makers, clients: [one, other]))
            }
        }
        // Handlers outlive their requests.
        for maker in makers {
            maker.release.open()
            #expect(await Self.eventually { maker.server.probe.taskHandlers == 0 })
        }
    }

    private static func eventually(_ condition: () -> Bool) async -> Bool {
        for _ in 0 ..< 20_000 {
            if condition() { return true }
            await pause()
        }
        return condition()
    }

    private func begin(_ two: Two, _ tool: String, _ arguments: JSONObject = [:]) async throws -> String {
        let reply = await two.clients[0].taskCall(tool, arguments)
        return try #require(reply.result?["taskId"]?.string, "\(reply)")
    }

    @Test func bothSeeATask() async throws {
        try await withTwo { two in
            let id = try await begin(two, "slow_compute", ["label": "sum"])
            // From the moment on at which the client knows of it.
            let task = await two.clients[1].task(id)
            #expect(task?["status"]?.string == "working" && task?["taskId"]?.string == id)
            #expect(task?["statusMessage"]?.string == "computing")
            two.makers[0].release.open()
            let first = await two.clients[0].task(id, until: "completed")
            let second = await two.clients[1].task(id, until: "completed")
            #expect(second?["result"]?["content"]?[0]?["text"]?.string == "sum done")
            #expect(second?["result"]?["structuredContent"]?["n"]?.int == 1)
            #expect(second?.value == first?.value)
            #expect(two.makers[1].server.probe.tasks == 0)
            // It is as long in the store as it is kept.
            let lifetime = try #require(two.store.lifetimes["task:\(id)"])
            #expect(lifetime > .seconds(60) && lifetime <= TaskOptions().ttl)
        }
    }

    @Test func aCancellationAtTheOther() async throws {
        try await withTwo { two in
            let id = try await begin(two, "slow_compute")
            let reply = await two.clients[1].taskRequest("tasks/cancel", ["taskId": .string(id)])
            #expect(reply.result != nil && reply.status == Self.setting.status(200))
            #expect(two.store.lifetimes["cancel:\(id)"].map { $0 == SharedTasks.patience } ?? true)
            #expect(await two.makers[0].cancelled.wait())
            #expect(await two.clients[1].task(id, until: "cancelled") != nil)
            #expect(await two.clients[0].task(id)?["status"]?.string == "cancelled")
            // The state is final, and nothing waits any more.
            _ = await two.clients[1].taskRequest("tasks/cancel", ["taskId": .string(id)])
            #expect(await two.clients[1].task(id)?["status"]?.string == "cancelled")
        }
    }

    @Test func answersAtTheOther() async throws {
        try await withTwo { two in
            let id = try await begin(two, "confirm_delete", ["filename": "a.txt"])
            let asked = await two.clients[1].task(id, until: "input_required")
            #expect(asked?["inputRequests"]?["confirm"]?["params"]?["message"]?.string == "Delete a.txt?")
            let answers: JSONObject = ["confirm": ["action": "accept", "content": ["confirm": true]]]
            let reply = await two.clients[1].taskRequest(
                "tasks/update", ["taskId": .string(id), "inputResponses": .object(answers)])
            #expect(reply.result != nil)
            let done = await two.clients[1].task(id, until: "completed")
            #expect(done?["result"]?["content"]?[0]?["text"]?.string == "a.txt: accept true")
            let wrong = await two.clients[1].taskRequest(
                "tasks/update", ["taskId": .string(id), "inputResponses": 5])
            #expect(wrong.errorCode == -32602)
        }
    }

    /// `kill -9` of an instance, and the end of one that was drained.
    @Test func anInstanceThatHasEnded() async throws {
        try await withTwo { two in
            let id = try await begin(two, "slow_compute")
            let lease = two.store.lifetimes.first { $0.key.hasPrefix("instance:") }
            #expect(lease?.value == InstanceLease.lifetime)
            two.store.expire("instance:")
            let task = await two.clients[1].task(id)
            #expect(task?["status"]?.string == "failed")
            #expect(task?["error"]?["message"]?.string?.contains("has ended") == true)
            // It lives, and says so again.
            #expect(await two.clients[0].task(id)?["status"]?.string == "working")
            #expect(await two.clients[1].task(id, until: "working") != nil)
        }
    }

    @Test func withoutTheStore() async throws {
        try await withTwo { two in
            let id = try await begin(two, "slow_compute")
            two.store.isAway = true
            #expect(await two.clients[0].task(id)?["status"]?.string == "working")
            for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
                let reply = await two.clients[1].taskRequest(
                    method, ["taskId": .string(id), "inputResponses": [:]])
                #expect(reply.errorCode == MCPError.overloadedCode, "\(method)")
            }
            // A task that begins meanwhile is known to its instance alone.
            let other = try await begin(two, "slow_compute")
            #expect(await two.clients[0].task(other)?["status"]?.string == "working")
            two.store.isAway = false
            #expect(await two.clients[1].task(id)?["status"]?.string == "working")
        }
    }

    /// What began, and what ended, without the store is in it soon after it has come back.
    @Test func tasksWithoutTheStoreAreStoredLater() async throws {
        try await withTwo { two in
            let ended = try await begin(two, "slow_compute")
            two.store.isAway = true
            let begun = try await begin(two, "confirm_delete", ["filename": "a.txt"])
            two.makers[0].release.open()
            #expect(await two.clients[0].task(ended, until: "completed") != nil)
            let away = await two.clients[1].taskRequest("tasks/get", ["taskId": .string(begun)])
            #expect(away.errorCode == MCPError.overloadedCode)
            two.store.isAway = false
            // Not "unknown": it may not have been stored yet.
            let reply = await two.clients[1].taskRequest("tasks/get", ["taskId": .string(begun)])
            #expect(reply.result != nil || reply.errorCode == MCPError.overloadedCode, "\(reply)")
            #expect(await Self.eventually { two.store.lifetimes["task:\(begun)"] != nil })
            #expect(await two.clients[1].task(begun, until: "input_required") != nil)
            #expect(await two.clients[1].task(ended, until: "completed") != nil)
            let lifetime = try #require(two.store.lifetimes["task:\(begun)"])
            #expect(lifetime > .seconds(60) && lifetime <= TaskOptions().ttl)
            _ = await two.clients[0].taskRequest("tasks/cancel", ["taskId": .string(begun)])
        }
    }

    @Test func aTaskIsUnknownOnceTheStoreIsWell() async {
        let keys = StateKeys(Self.key)
        let clock = ManualClock()
        let store = SharedStore()
        let state = SharedState(store, keys: keys, clock: clock, log: nil)
        let shared = SharedTasks(state, keys: keys, clock: clock)
        func answer() async -> String {
            switch await shared.find(String(repeating: "a", count: 22), principal: "") {
            case .unknown: "unknown"
            case .away: "away"
            default: "found"
            }
        }
        #expect(await answer() == "unknown")
        store.isAway = true
        #expect(await answer() == "away")
        store.isAway = false
        clock.advance(by: SharedTasks.doubt - .nanoseconds(1))
        #expect(await answer() == "away")
        clock.advance(by: .nanoseconds(1))
        #expect(await answer() == "unknown")
        // A store that is full may not have it.
        store.isFull = true
        #expect(await answer() == "away")
        store.isFull = false
        clock.advance(by: SharedTasks.doubt)
        #expect(await answer() == "unknown")
    }

    /// All tasks that wait are stored, none that has expired, and nothing is written once they are.
    @Test func manyTasksWithoutTheStore() async throws {
        let keys = StateKeys(Self.key)
        let clock = ManualClock()
        let store = SharedStore()
        let state = SharedState(store, keys: keys, clock: clock, log: nil)
        let shared = SharedTasks(state, keys: keys, clock: clock)
        func task(_ number: UInt8, _ ttl: Duration) -> ServerTask {
            var terms = ServerTaskTests.terms
            terms.ttl = ttl
            let id = Base64URL.encode([UInt8](repeating: number, count: 16))
            return ServerTask(id: id, principal: "", terms: terms, clock: clock, call: nil) { _ in }
        }
        store.isAway = true
        let tasks = (UInt8(0) ..< 10).map { task($0, $0 == 0 ? .seconds(1) : .seconds(100_000)) }
        for task in tasks {
            task.end(.cancelled, byHandler: true)
            await shared.begin(task)
        }
        store.isAway = false
        // An earlier look may have found the store away.
        let areStored = await Self.eventually {
            clock.advance(by: SharedTasks.interval)
            return tasks.dropFirst().allSatisfy { store.lifetimes["task:\($0.id)"] != nil }
        }
        #expect(areStored)
        #expect(store.lifetimes["task:\(tasks[0].id)"] == nil)
        for task in tasks.dropFirst() {
            guard case .task = await shared.find(task.id, principal: "") else {
                Issue.record("not found")
                continue
            }
        }
    }

    /// Another client of the store, without the key: what it writes does nothing.
    @Test(arguments: [[0x31], [], [UInt8](repeating: 0, count: 32), [UInt8](repeating: 7, count: 200)])
    func foreignEntries(_ value: [UInt8]) async throws {
        try await withTwo { two in
            let id = try await begin(two, "slow_compute")
            // A mark that belongs to something else is foreign, too.
            let other = SharedState(
                two.store, keys: StateKeys(Self.key), clock: SystemClock(), log: nil
            ).mark(of: "cancel:\(String(id.reversed()))")
            for value in [value, other] {
                two.store.put(value, for: "cancel:\(id)")
                #expect(await Self.eventually { two.store.lifetimes["cancel:\(id)"] == nil })
            }
            #expect(await two.clients[0].task(id)?["status"]?.string == "working")
            // Nor does a lease that the instance has not written keep its tasks alive.
            let lease = try #require(two.store.lifetimes.keys.first { $0.hasPrefix("instance:") })
            #expect(await two.clients[1].task(id)?["status"]?.string == "working")
            two.store.put(value, for: lease)
            let seen = await two.clients[1].task(id)?["status"]?.string
            // The instance may have written its own again meanwhile.
            let now = try await two.store.value(for: lease)
            #expect(seen == "failed" || now != value)
            two.store.put(value, for: "task:\(id)")
            #expect(await two.clients[1].task(id) == nil)
        }
    }

    /// What is in the store can only be read with the key, and is only served to those it belongs to.
    @Test func theStoreKnowsNothing() async throws {
        let other = [UInt8](repeating: 6, count: 32)
        try await withTwo(keys: [Self.key, other]) { two in
            let id = try await begin(two, "slow_compute", ["label": "confidential"])
            two.makers[0].release.open()
            _ = await two.clients[0].task(id, until: "completed")
            let isStored = await Self.eventually { two.store.values.contains { $0.count > 300 } }
            #expect(isStored)
            for value in two.store.values {
                #expect(!String(decoding: value, as: UTF8.self).contains("confidential"))
            }
            let foreign = await two.clients[1].taskRequest("tasks/get", ["taskId": .string(id)])
            #expect(foreign.errorCode == -32602)
            let commands = two.store.commands
            // An instance may write its lease, and what it knows of its own task, at any time.
            func asked() -> [String] {
                two.store.keys.dropFirst(commands).filter { !$0.hasPrefix("instance:") && $0 != "task:\(id)" }
            }
            for id in ["", "x", "../../../../../../../..", String(repeating: "a", count: 10_000)] {
                let reply = await two.clients[1].taskRequest("tasks/get", ["taskId": .string(id)])
                #expect(reply.errorCode == -32602)
            }
            #expect(asked() == [])
        }
    }

    @Test func otherCallersSeeNothing() async throws {
        let keys = StateKeys(Self.key)
        let state = SharedState(SharedStore(), keys: keys, clock: SystemClock(), log: nil)
        let (one, other) = (
            SharedTasks(state, keys: keys, clock: SystemClock()),
            SharedTasks(state, keys: keys, clock: SystemClock())
        )
        let id = Base64URL.encode([UInt8](repeating: 1, count: 16))
        let task = ServerTask(
            id: id, principal: "me", terms: ServerTaskTests.terms, clock: SystemClock(), call: nil,
            changed: { one.changed($0) })
        await one.begin(task)
        guard case .task = await other.find(id, principal: "me") else {
            Issue.record("not found")
            return
        }
        for principal in ["", "you", "m", "me "] {
            guard case .unknown = await other.find(id, principal: principal) else {
                Issue.record("found for \(principal)")
                continue
            }
        }
        task.end(.cancelled, byHandler: true)
    }

    @Test func aLargeResult() async throws {
        let keys = StateKeys(Self.key)
        let store = SharedStore()
        let state = SharedState(store, keys: keys, clock: SystemClock(), log: nil)
        let shared = SharedTasks(state, keys: keys, clock: SystemClock())
        for (count, isLarge) in [(SharedTasks.maxBytes - 1_000, false), (SharedTasks.maxBytes, true)] {
            let id = Base64URL.encode([UInt8](repeating: isLarge ? 1 : 2, count: 16))
            let task = ServerTask(
                id: id, principal: "", terms: ServerTaskTests.terms, clock: SystemClock(), call: nil,
                changed: { _ in })
            task.end(.result(RawJSON(.string(String(repeating: "x", count: count)))), byHandler: true)
            await shared.begin(task)
            shared.changed(task)
            switch await shared.find(id, principal: "") {
            case .task: #expect(!isLarge)
            case .tooLarge(let size): #expect(isLarge && size > count)
            default: Issue.record("not found")
            }
        }
        #expect(store.values.allSatisfy { $0.count < RESPReply.maxValueBytes })
    }
}
