import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// The life of one task: its states, its questions, and who comes first.
@Suite(.timeLimit(.minutes(5))) struct ServerTaskTests {
    static let accept: JSONValue = ["action": "accept", "content": ["ok": true]]
    static let question = InputRequest.elicit("Go on?", ElicitationSchema([.boolean("ok", required: true)]))
    static let terms = ServerTask.Terms(
        ttl: .seconds(60), pollInterval: .seconds(1), deadline: .seconds(30), statusMessage: nil)

    static func task(_ clock: ManualClock = ManualClock(), changes: Counter = Counter()) -> ServerTask {
        ServerTask(id: "t", principal: "", terms: terms, clock: clock, call: nil) { _ in changes.increment() }
    }

    static func json(_ task: ServerTask) -> JSONValue { ServerProbe.json(task) }

    /// Waits until the task has so many questions open.
    static func keys(_ task: ServerTask, _ count: Int) async -> [String] {
        for _ in 0 ..< 10_000 {
            let keys = task.state.withLock { $0.questions.map(\.key) }
            if keys.count == count { return keys }
            await pause()
        }
        return []
    }

    static let outcomes: [(ServerTask.Outcome, String, String?)] = [
        (.result(RawJSON(["content": []])), "completed", "result"),
        (.error(.internalError("boom")), "failed", "error"), (.cancelled, "cancelled", nil),
    ]

    // TASK-06, TASK-09
    @Test func shape() throws {
        let clock = ManualClock(wallTime: WallTime(secondsSinceEpoch: 1_785_578_400))
        let changes = Counter()
        let task = Self.task(clock, changes: changes)
        #expect(
            Self.json(task) == [
                "taskId": "t", "status": "working", "createdAt": "2026-08-01T10:00:00.000Z",
                "lastUpdatedAt": "2026-08-01T10:00:00.000Z", "ttlMs": 60_000, "pollIntervalMs": 1000,
            ])
        clock.advance(by: .seconds(5))
        task.say("half done")
        #expect(Self.json(task)["statusMessage"] == "half done")
        #expect(Self.json(task)["lastUpdatedAt"] == "2026-08-01T10:00:05.000Z")
        #expect(Self.json(task)["createdAt"] == "2026-08-01T10:00:00.000Z")
        #expect(changes.value == 1)
        // A wall clock that is set back does not take the task back.
        clock.setWallTime(WallTime(secondsSinceEpoch: 0))
        task.say("on")
        #expect(Self.json(task)["lastUpdatedAt"] == "2026-08-01T10:00:05.000Z")
    }

    // TASK-10, TASK-11
    @Test(arguments: 0 ..< 3, 0 ..< 3) func terminalStatesNeverChange(_ first: Int, _ second: Int) throws {
        let changes = Counter()
        let task = Self.task(changes: changes)
        let (outcome, status, member) = Self.outcomes[first]
        #expect(task.end(outcome, byHandler: true))
        let json = Self.json(task)
        #expect(json["status"]?.stringValue == status)
        for name in ["result", "error", "inputRequests"] {
            #expect((json[name] != nil) == (name == member))
        }
        #expect(!task.end(Self.outcomes[second].0, byHandler: false))
        task.say("late")
        try task.take(["q": Self.accept])
        #expect(Self.json(task) == json)
        #expect(changes.value == 1)
        #expect(task.isOver)
    }

    // TASK-09, TASK-16
    @Test func questions() async throws {
        let changes = Counter()
        let task = Self.task(changes: changes)
        async let answers = task.ask(["b": Self.question, "a": .roots])
        #expect(await Self.keys(task, 2) == ["a", "b"])
        let json = Self.json(task)
        #expect(json["status"] == "input_required")
        #expect(json["inputRequests"]?["a"] == ["method": "roots/list", "params": [:]])
        #expect(json["inputRequests"]?["b"]?["method"] == "elicitation/create")
        #expect(json["inputRequests"]?["b"]?["params"]?["message"] == "Go on?")

        // A part of the answers, and answers to nothing.
        try task.take(["zz": 5, "a": ["roots": []]])
        #expect(Self.json(task)["status"] == "input_required")
        #expect(Self.json(task)["inputRequests"]?.objectValue?.keys.sorted() == ["b"])
        try task.take(["a": ["roots": [["uri": "file:///late"]]]])
        #expect(changes.value == 2)
        try task.take(["b": Self.accept])
        #expect(try await answers == ["a": ["roots": []], "b": Self.accept])
        #expect(Self.json(task)["status"] == "working")
        #expect(Self.json(task)["inputRequests"] == nil)
    }

    // TASK-15
    @Test func keysAreNeverUsedTwice() async throws {
        let task = Self.task()
        var seen: [String] = []
        for _ in 0 ..< 3 {
            async let answers = task.ask(["q": .roots])
            let key = try #require(await Self.keys(task, 1).first)
            seen.append(key)
            try task.take([key: ["roots": []]])
            #expect(try await answers["q"] == ["roots": []])
        }
        async let both = task.ask(["q-2": .roots, "q": .roots])
        let keys = await Self.keys(task, 2)
        seen += keys
        for key in keys { try task.take([key: ["roots": [["uri": .string("file:///\(key)")]]]]) }
        let answers = try await both
        #expect(Set(answers.keys) == ["q-2", "q"])
        #expect(Set(seen).count == 5)
        #expect(seen.first == "q")
    }

    // TASK-14, MRTR-12: one answer that does not fit, and none is taken.
    @Test(
        arguments: [
            5, .null, [], "accept", [:], ["action": 5], ["action": "accept"],
            ["action": "accept", "content": ["ok": "yes"]],
        ] as [JSONValue])
    func answersThatDoNotFit(_ answer: JSONValue) async throws {
        let task = Self.task()
        async let answers = task.ask(["a": .roots, "b": Self.question])
        #expect(await Self.keys(task, 2).count == 2)
        let error = #expect(throws: MCPError.self) { try task.take(["a": ["roots": []], "b": answer]) }
        #expect(error?.code == -32602)
        #expect(error?.message.contains("\"b\"") == true)
        #expect(Self.json(task)["inputRequests"]?.objectValue?.count == 2)
        try task.take(["a": ["roots": []], "b": ["action": "decline"]])
        #expect(try await answers["b"] == ["action": "decline"])
    }

    /// Whoever waits for an answer when the task ends is told so.
    @Test(arguments: 0 ..< 3) func theEndWhileAsking(_ way: Int) async {
        let task = Self.task()
        let waiting = Task { try await task.ask(["q": .roots]) }
        #expect(await Self.keys(task, 1) == ["q"])
        task.end(Self.outcomes[way].0, byHandler: false)
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await #expect(throws: CancellationError.self) { try await task.ask(["q": .roots]) }
        #expect(Self.json(task)["inputRequests"] == nil)
    }

    /// A handler that stops waiting takes its questions back.
    @Test func aQuestionTakenBack() async {
        let task = Self.task()
        let first = Task { try await task.ask(["a": .roots]) }
        #expect(await Self.keys(task, 1) == ["a"])
        let second = Task { try await task.ask(["b": .roots]) }
        #expect(await Self.keys(task, 2) == ["a", "b"])
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(Self.json(task)["inputRequests"]?.objectValue?.keys.sorted() == ["b"])
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(Self.json(task)["status"] == "working")
    }

    /// A handler that asks without end loses its task, not the server's memory.
    @Test func questionsAreLimited() async throws {
        let task = Self.task()
        for _ in 0 ..< ServerTask.maxQuestions {
            async let answers = task.ask(["q": .roots])
            let key = try #require(await Self.keys(task, 1).first)
            try task.take([key: ["roots": []]])
            _ = try await answers
        }
        let error = await #expect(throws: MCPError.self) { try await task.ask(["q": .roots]) }
        #expect(error?.code == -32603)
        #expect(task.state.withLock { $0.rounds.isEmpty && $0.questions.isEmpty })
    }

    // TASK-11, TASK-16, CANC-06: the handler, the client's cancellation and its answers at the same time.
    @Test(arguments: 0 ..< 40) func races(_ seed: UInt64) async {
        var random = SeededRandom(seed: seed)
        for _ in 0 ..< 10 {
            let changes = Mutex<[String]>([])
            let task = ServerTask(id: "t", principal: "", terms: Self.terms, clock: ManualClock(), call: nil)
            {
                let status = Self.json($0)["status"]?.stringValue ?? ""
                changes.withLock { $0.append(status) }
            }
            let handler = Task {
                let answer = try? await task.ask(["q": .roots])
                return (answer != nil, task.end(.result(RawJSON(["content": []])), byHandler: true))
            }
            let waits = (0 ..< 3).map { _ in Int.random(in: 0 ..< 60, using: &random) }
            async let cancelled = {
                for _ in 0 ..< waits[0] { await Task.yield() }
                return task.end(.cancelled, byHandler: false)
            }()
            async let failed = {
                for _ in 0 ..< waits[1] { await Task.yield() }
                return task.end(.error(.internalError("late")), byHandler: false)
            }()
            async let updated: Void = {
                for _ in 0 ..< waits[2] { await Task.yield() }
                try? task.take(["q": ["roots": []]])
            }()
            await updated
            let won = [await cancelled, await failed, await handler.value.1]
            #expect(won.filter { $0 }.count == 1)
            let status = Self.json(task)["status"]?.stringValue
            #expect(status == ["cancelled", "failed", "completed"][won.firstIndex(of: true) ?? 0])
            #expect(task.state.withLock { $0.rounds.isEmpty && $0.questions.isEmpty && $0.usedKeys.isEmpty })
            #expect(changes.withLock { $0.last } == status)
        }
    }
}
