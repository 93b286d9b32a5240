import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// The limits of tasks and their times, with a clock that the test moves.
@Suite(.timeLimit(.minutes(5))) struct TaskManagerTests {
    private let clock = ManualClock()
    private let counters = ServerCounters()

    private func desk(_ change: (inout TaskOptions) -> Void = { _ in }) -> TaskManager {
        var options = TaskOptions()
        change(&options)
        return TaskManager(options: options, clock: clock, counters: counters) { _ in }
    }

    /// A call that may become a task, and its handler, which waits until it is cancelled.
    private func call() throws -> (call: DeferredCall, handler: Task<Void, Never>) {
        let dispatcher = Dispatcher(
            identity: Implementation(name: "s", version: "1"), instructions: nil, options: ServerOptions(),
            stateKeys: StateKeys([]))
        let message = try MessageScanner.scan(
            ByteSlice(#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#),
            limits: JSONLimits())
        let entry = try #require(WireEra.modern.methods.entry(for: ByteSlice("\"tools/call\"")))
        let request = Dispatcher.Request(
            message: message,
            verdict: Classifier.Verdict(isModern: true, revision: .newest, entry: entry), channelID: 1,
            abilities: [])
        let call = DeferredCall(request, PendingRequestTests.exchange(RecordingSink()), dispatcher)
        let handler = Task { while !Task.isCancelled { await pause() } }
        call.attach(handler)
        return (call, handler)
    }

    private func open(
        _ desk: TaskManager, ttl: Duration? = nil, pollInterval: Duration? = nil, principal: String = ""
    ) throws -> ServerTask {
        try desk.open(
            for: try call().call, principal: principal, ttl: ttl, pollInterval: pollInterval,
            statusMessage: nil)
    }

    // TASK-23: 128 random bits in characters that can stand in a header.
    @Test func names() throws {
        let desk = desk { $0.maxTasks = 2000 }
        let names = try (0 ..< 1000).map { _ in try open(desk).id }
        #expect(Set(names).count == 1000)
        #expect(names.allSatisfy { Base64URL.decode(ByteSlice($0))?.count == 16 })
        #expect(names.allSatisfy { MCPHeaderValue.encode($0) == $0 })
    }

    // SEC-02, SEC-03, TASK-23
    @Test func ownersOnly() throws {
        let desk = desk()
        let mine = try open(desk, principal: "me")
        #expect(desk.task(mine.id, principal: "me") === mine)
        #expect(desk.task(mine.id, principal: "") == nil)
        #expect(desk.task(mine.id, principal: "you") == nil)
        #expect(desk.task("", principal: "me") == nil)
    }

    @Test func terms() throws {
        let desk = desk()
        let task = try open(desk)
        #expect(task.ttl == .seconds(3600))
        #expect(task.pollInterval == .seconds(1))
        let other = try open(desk, ttl: .seconds(48 * 3600), pollInterval: .zero)
        #expect(other.ttl == .seconds(24 * 3600))
        #expect(other.pollInterval == .milliseconds(1))
        #expect(try open(desk, ttl: .seconds(-5)).ttl == .milliseconds(1))
    }

    // TASK-13: not before its time, and then for good; a handler that still works is cancelled.
    @Test func expiry() async throws {
        let desk = desk { $0.deadline = .seconds(1000) }
        let (call, handler) = try call()
        let task = try desk.open(
            for: call, principal: "", ttl: .seconds(60), pollInterval: nil, statusMessage: nil)
        clock.advance(by: .milliseconds(59_999))
        desk.sweep()
        #expect(desk.task(task.id, principal: "") === task)
        #expect(!task.isOver)
        clock.advance(by: .milliseconds(1))
        #expect(desk.task(task.id, principal: "") == nil)
        #expect(desk.count == 0)
        await handler.value
        // Until its handler has returned, the task counts.
        #expect(desk.handlersAtWork == 1)
        desk.end(task, with: .success(.text("late")), maxDepth: 60)
        #expect(desk.handlersAtWork == 0)
        #expect(desk.resultBytes == 0)
    }

    // CANC-08: the deadline of the work; the task is kept and says why.
    @Test func deadline() async throws {
        let desk = desk { $0.deadline = .seconds(30) }
        let (call, handler) = try call()
        let task = try desk.open(
            for: call, principal: "", ttl: nil, pollInterval: nil, statusMessage: nil)
        clock.advance(by: .seconds(29))
        desk.sweep()
        #expect(!task.isOver)
        clock.advance(by: .seconds(1))
        desk.sweep()
        await handler.value
        let json = ServerTaskTests.json(task)
        #expect(json["status"] == "failed")
        #expect(json["error"]?["code"]?.intValue == MCPError.deadlineExceededCode)
        desk.end(task, with: .success(.text("late")), maxDepth: 60)
        #expect(ServerTaskTests.json(task) == json)
        #expect(counters.value(of: .deadlines) == 1)
        #expect(desk.handlersAtWork == 0)
        clock.advance(by: .seconds(3600))
        desk.sweep()
        #expect(desk.count == 0)
    }

    /// The desk wakes up by itself for a deadline that comes.
    @Test func wakesUp() async throws {
        var options = TaskOptions()
        options.deadline = .milliseconds(5)
        let gate = Gate()
        let desk = TaskManager(options: options, clock: SystemClock(), counters: counters) { _ in gate.open()
        }
        let task = try desk.open(
            for: try call().call, principal: "", ttl: nil, pollInterval: nil, statusMessage: nil)
        #expect(await gate.wait())
        #expect(task.isOver)
    }

    @Test func fullStore() throws {
        let desk = desk { $0.maxTasks = 3 }
        let tasks = try (0 ..< 3).map { number in try open(desk, ttl: .seconds(10 + number)) }
        for _ in 0 ..< 5 {
            let error = #expect(throws: MCPError.self) { try open(desk) }
            #expect(error?.code == MCPError.overloadedCode)
        }
        #expect(desk.count == 3 && desk.handlersAtWork == 3)
        // A finished task makes room: one whose end its client knows, then the oldest.
        for task in tasks { desk.end(task, with: .success(.text("done")), maxDepth: 60) }
        #expect(desk.handlersAtWork == 0)
        tasks[1].saw()
        let kept = { tasks.map { desk.task($0.id, principal: "") != nil } }
        let next = try open(desk)
        #expect(kept() == [true, false, true])
        _ = try open(desk)
        #expect(kept() == [false, false, true])
        _ = try open(desk)
        #expect(kept() == [false, false, false])
        #expect(throws: MCPError.self) { try open(desk) }
        #expect(desk.count == 3)
        clock.advance(by: .seconds(3600))
        desk.sweep()
        #expect(desk.count == 0 && desk.resultBytes == 0)
        // The handlers do not return: their places are taken until they do.
        #expect(desk.handlersAtWork == 3)
        #expect(throws: MCPError.self) { try open(desk) }
        desk.end(next, with: .failure(.internalError()), maxDepth: 60)
        _ = try open(desk)
    }

    // SEC-10: one caller leaves room for the others, and gives way with what is finished.
    @Test func shares() throws {
        let desk = desk { $0.maxTasks = 6 }
        let end = { (task: ServerTask) in desk.end(task, with: .success(.text("done")), maxDepth: 60) }
        var eve = try (0 ..< 3).map { _ in try open(desk, principal: "eve") }
        let error = #expect(throws: MCPError.self) { try open(desk, principal: "eve") }
        #expect(error?.code == MCPError.overloadedCode)
        var alice = try (0 ..< 2).map { _ in try open(desk, principal: "alice") }
        // Nobody else makes room for what is beyond a share.
        end(alice[0])
        #expect(throws: MCPError.self) { try open(desk, principal: "eve") }
        #expect(desk.task(alice[0].id, principal: "alice") != nil)
        for task in eve { end(task) }
        for _ in 0 ..< 10 {
            let task = try open(desk, principal: "eve")
            end(task)
            eve.append(task)
        }
        #expect(eve.map { desk.task($0.id, principal: "eve") != nil }.suffix(4) == [false, true, true, true])
        // A handler that does not return counts, whatever became of its task.
        let stuck = try (0 ..< 3).map { _ in try open(desk, principal: "eve") }
        for task in stuck { task.end(.cancelled, byHandler: false) }
        #expect(throws: MCPError.self) { try open(desk, principal: "eve") }
        for task in stuck { end(task) }
        // The places are all taken: those of the caller with the most go to one with less.
        alice.append(try open(desk, principal: "alice"))
        #expect(desk.count == 6)
        let bob = try open(desk, principal: "bob")
        #expect(desk.count == 6 && desk.task(bob.id, principal: "bob") === bob)
        #expect(alice.map { desk.task($0.id, principal: "alice") != nil } == [false, true, true])
        _ = try open(desk, principal: "bob")
        #expect(stuck.map { desk.task($0.id, principal: "eve") != nil } == [false, true, true])
        // Everybody has as much.
        #expect(throws: MCPError.self) { try open(desk, principal: "bob") }
        #expect(desk.count == 6)
        clock.advance(by: .seconds(3600))
        desk.sweep()
        #expect(desk.count == 0 && desk.resultBytes == 0)
    }

    @Test func resultsAreLimited() throws {
        let desk = desk {
            $0.maxResultBytes = 100 * 1024
            $0.maxTotalBytes = 150 * 1024
        }
        var last = ""
        func end(_ kilobytes: Int, _ principal: String = "") throws -> JSONValue {
            let task = try open(desk, ttl: .seconds(60), principal: principal)
            last = task.id
            desk.end(
                task, with: .success(.text(String(repeating: "x", count: kilobytes * 1024))), maxDepth: 60)
            return ServerTaskTests.json(task)
        }
        #expect(try end(100)["error"]?["code"] == -32603)
        #expect(try end(99)["status"] == "completed")
        let first = last
        // The results of the same caller make room.
        #expect(try end(90)["status"] == "completed")
        #expect(desk.task(first, principal: "") == nil)
        let second = last
        #expect(try end(40)["status"] == "completed")
        #expect(desk.task(second, principal: "") != nil)
        #expect(desk.resultBytes > 130 * 1024)
        // A principal has at most half, and nothing is forgotten for what is larger.
        #expect(try end(80, "eve")["error"]?["code"]?.intValue == MCPError.overloadedCode)
        #expect(desk.task(second, principal: "") != nil)
        // Those of the caller with the most make room for another one.
        #expect(try end(60, "eve")["status"] == "completed")
        #expect(desk.task(second, principal: "") == nil)
        let eves = last
        #expect(try end(30, "alice")["status"] == "completed")
        #expect(desk.task(eves, principal: "eve") != nil)
        #expect(try end(50, "eve")["status"] == "completed")
        #expect(desk.task(eves, principal: "eve") == nil)
        #expect(desk.resultBytes <= 150 * 1024)
        clock.advance(by: .seconds(60))
        desk.sweep()
        #expect(desk.resultBytes == 0 && desk.count == 0)
    }

    @Test(arguments: [(0, 64), (100, 100), (1 << 20, 4096)])
    func rangeOfTheResultLimit(_ kilobytes: Int, _ used: Int) {
        var options = TaskOptions()
        options.maxResultBytes = kilobytes * 1024
        #expect(options.resultLimit == used * 1024)
    }

    // fault 22: what cannot be written is an error of the task.
    @Test func resultsThatAreTooDeep() throws {
        let desk = desk()
        var value = JSONValue.array([])
        for _ in 0 ..< 70 { value = .array([value]) }
        let task = try open(desk)
        desk.end(task, with: .success(CallToolResult(structuredContent: value)), maxDepth: 62)
        #expect(ServerTaskTests.json(task)["error"]?["code"] == -32603)
    }

    /// When the server stops, what works fails and what is done stays.
    @Test func stop() async throws {
        let desk = desk()
        let done = try open(desk)
        desk.end(done, with: .success(.text("done")), maxDepth: 60)
        let (call, handler) = try call()
        let working = try desk.open(
            for: call, principal: "", ttl: nil, pollInterval: nil, statusMessage: nil)
        desk.failAll("The server is stopping")
        await handler.value
        #expect(ServerTaskTests.json(done)["status"] == "completed")
        #expect(ServerTaskTests.json(working)["status"] == "failed")
        #expect(ServerTaskTests.json(working)["error"]?["code"]?.intValue == MCPError.interruptedCode)
    }

    /// A client that was gone before it could learn of the task leaves nothing behind.
    @Test func discarded() throws {
        let desk = desk()
        let task = try open(desk)
        desk.discard(task)
        #expect(desk.task(task.id, principal: "") == nil)
        #expect(task.isOver)
        desk.end(task, with: .failure(.internalError()), maxDepth: 60)
        #expect(desk.count == 0 && desk.handlersAtWork == 0 && desk.resultBytes == 0)
    }
}
