import MCPCore
import Synchronization
import TestSupport
import Testing

/// A call that becomes a task, from the client's side (`io.modelcontextprotocol/tasks`).
@Suite(.timeLimit(.minutes(5))) struct TaskFollowerTests {
    private static func task(
        _ status: String, interval: Int? = 50, _ members: String = "", type: String = "complete"
    ) -> String {
        let interval = interval.map { #","pollIntervalMs":\#($0)"# } ?? ""
        return #"{"resultType":"\#(type)","taskId":"k","status":"\#(status)","ttlMs":null,"#
            + #""createdAt":"2026-08-01T10:00:00Z","lastUpdatedAt":"2026-08-01T10:00:00Z"\#(interval)\#(members)}"#
    }

    private static let completed = task("completed", #","result":\#(Script.done)"#)
    private static let form =
        #"{"method":"elicitation/create","params":{"message":"Name?","requestedSchema":"#
        + #"{"type":"object","properties":{"name":{"type":"string"}}}}}"#

    private static func asking(_ keys: String...) -> String {
        let requests = keys.map { #""\#($0)":\#(form)"# }.joined(separator: ",")
        return task("input_required", #","inputRequests":{\#(requests)}"#)
    }

    /// Each `tasks/get` is answered by the next of `steps`, and then by the last.
    private final class Peer: Sendable {
        let transport: ScriptedTransport
        let client: MCPClient
        private let times: Recorded

        init(
            _ steps: [ScriptedTransport.Step], interval: Int = 50, isHTTP: Bool = false,
            then further: [ScriptedTransport.Step] = [], _ change: (inout ClientOptions) -> Void = { _ in }
        ) async throws {
            let times = Recorded()
            transport = Script.modern(isHTTP: isHTTP) { sent in
                switch sent.method {
                case "tools/call":
                    return [Script.result(task("working", interval: interval, type: "task"))] + further
                case "tasks/get":
                    let number = times.add()
                    return steps.isEmpty ? [] : [steps[min(number, steps.count) - 1]]
                default: return [Script.result(#"{"resultType":"complete"}"#)]
                }
            }
            self.times = times
            var options = ClientOptions()
            options.followsTasks = true
            options.onElicit = { _ in .accept(["name": "Ada"]) }
            change(&options)
            client = try await MCPClient.connect(transport.target, options: options)
        }

        var polls: [ContinuousClock.Instant] { times.times.withLock { $0 } }
        func count(_ method: String) -> Int { transport.methods.count { $0 == method } }
    }

    private final class Recorded: Sendable {
        let times = Mutex<[ContinuousClock.Instant]>([])
        func add() -> Int {
            times.withLock { times in
                times.append(.now)
                return times.count
            }
        }
    }

    // TASK-01, TASK-05, TASK-12: asked at the pace of the server, which may change, until it has ended.
    @Test func polled() async throws {
        let peer = try await Peer(
            [
                Script.result(Self.task("working", interval: 200)), Script.result(Self.task("working")),
                Script.result(Self.completed),
            ], interval: 80)
        let seen = Mutex<[TaskStatus]>([])
        var options = CallOptions()
        options.onTask = { task in seen.withLock { $0.append(task.status) } }
        let start = ContinuousClock.now
        #expect(try await peer.client.callTool("t", options: options).text == "done")
        let polls = peer.polls
        try #require(polls.count == 3)
        #expect(polls[0] - start >= .milliseconds(80))
        #expect(polls[1] - polls[0] >= .milliseconds(200))
        #expect(polls[2] - polls[1] >= .milliseconds(50))
        #expect(seen.withLock { $0 } == [.working, .working, .working, .completed])
        await peer.client.close()
    }

    // TASK-09, TASK-10, TASK-12: the ends that a task can have; a status that is not known is none.
    @Test func ends() async throws {
        let failed = try await Peer([
            Script.result(Self.task("resting")),
            Script.result(Self.task("failed", #","error":{"code":4711,"message":"m","data":[1]}"#)),
        ])
        await #expect(throws: MCPError(code: 4711, message: "m", data: [1])) {
            try await failed.client.callTool("t")
        }
        await failed.client.close()
        for (step, kind) in [
            (Self.task("cancelled"), ClientError.Kind.taskCancelled),
            (Self.task("completed"), .protocolViolation),
            (Self.task("completed", #","result":7"#), .protocolViolation),
            (#"{"resultType":"complete","taskId":7}"#, .protocolViolation),
            // A result that is not one: the task asks by its status.
            (
                Self.task("completed", #","result":{"resultType":"input_required","requestState":"s"}"#),
                .protocolViolation
            ),
        ] {
            let peer = try await Peer([Script.result(step)])
            let error = await clientError { _ = try await peer.client.callTool("t") }
            #expect(error?.kind == kind)
            await peer.client.close()
        }
    }

    /// Also the proof of a row in docs/limits.md.
    @Test("a task that never stops asking is cancelled") func rounds() async throws {
        let limit = ClientOptions().maxRounds
        for (count, kind) in [(limit, nil), (limit + 1, ClientError.Kind.inputRequired)] {
            let steps = (0 ..< count).map { Script.result(Self.asking("\($0)")) }
            let peer = try await Peer(steps + [Script.result(Self.completed)])
            let error = await clientError { _ = try await peer.client.callTool("t") }
            #expect(error?.kind == kind)
            #expect(peer.count("tasks/update") == limit)
            #expect(peer.count("tasks/cancel") == (kind == nil ? 0 : 1))
            await peer.client.close()
        }
    }

    @Test("the deadline of a call is that of its polls") func deadlineOfAPoll() async throws {
        // The server never answers the first poll.
        let peer = try await Peer([])
        let error = await clientError {
            _ = try await peer.client.callTool("t", options: CallOptions(deadline: .seconds(2)))
        }
        #expect(error?.kind == .timeout)
        #expect(error?.details.last == "the call may have been executed; it was not sent again")
        #expect(peer.count("tasks/get") == 1)
        #expect(peer.count("tasks/cancel") == 1)
        await peer.client.close()
    }

    // TASK-14: each key once, however long it stays in the list; later keys too.
    @Test func questionsInTheMiddle() async throws {
        let asked = Mutex<[String]>([])
        let peer = try await Peer(
            [
                Script.result(Self.asking("a")), Script.result(Self.asking("a")),
                Script.result(Self.asking("a", "b", "c")), Script.result(Self.task("working")),
                Script.result(Self.completed),
            ]
        ) { options in
            options.onElicit = { request in
                asked.withLock { $0.append(request.message) }
                return .accept(["name": "Ada"])
            }
        }
        #expect(try await peer.client.callTool("t").text == "done")
        #expect(asked.withLock { $0.count } == 3)
        let updates = peer.transport.sent.filter { $0.method == "tasks/update" }.map(\.json)
        #expect(updates.allSatisfy { $0["params"]?["taskId"]?.string == "k" })
        #expect(
            updates.map { $0["params"]?["inputResponses"]?.value } == [
                ["a": ["action": "accept", "content": ["name": "Ada"]]],
                [
                    "b": ["action": "accept", "content": ["name": "Ada"]],
                    "c": ["action": "accept", "content": ["name": "Ada"]],
                ],
            ])
        await peer.client.close()
    }

    // TASK-14: a question that nobody answers ends the call, and the task with it.
    @Test func unanswerable() async throws {
        let peer = try await Peer([Script.result(Self.asking("a"))]) { $0.onElicit = nil }
        let error = await clientError { _ = try await peer.client.callTool("t") }
        #expect(error?.kind == .inputRequired)
        #expect(error?.result?["inputRequests"]?["a"] != nil)
        #expect(peer.count("tasks/cancel") == 1)
        #expect(peer.count("tasks/update") == 0)
        await peer.client.close()
    }

    // TASK-17, TASK-18: the task is cancelled by its own method.
    @Test func cancelled() async throws {
        let peer = try await Peer([Script.result(Self.task("working"))])
        let call = Task { try await peer.client.callTool("t") }
        await waitUntil { peer.polls.count >= 2 }
        call.cancel()
        #expect(await clientError { _ = try await call.value }?.kind == .cancelled)
        #expect(peer.count("tasks/cancel") == 1)
        let notices = peer.transport.sent.filter { $0.method == "notifications/cancelled" }
        // At most the question that was on its way was taken back, never the call.
        #expect(notices.allSatisfy { $0.json["params"]?["requestId"]?.int64 != 2 })
        await peer.client.close()
    }

    // TASK-12: a deadline is kept although the server wants to be asked later, after a last look.
    @Test func deadline() async throws {
        let peer = try await Peer([Script.result(Self.task("working"))], interval: 86_400_000)
        let start = ContinuousClock.now
        let error = await clientError {
            _ = try await peer.client.callTool("t", options: CallOptions(deadline: .seconds(1)))
        }
        #expect(error?.kind == .timeout)
        #expect(ContinuousClock.now - start >= .seconds(1))
        #expect(peer.polls.count == 1)
        #expect(peer.count("tasks/cancel") == 1)
        await peer.client.close()
    }

    // TASK-12: a question that got lost is asked again; the task goes on meanwhile.
    @Test(arguments: [5, 6]) func losses(_ count: Int) async throws {
        let lost = ScriptedTransport.Step.failure(ClientError(.connectionClosed, "reset"))
        let peer = try await Peer(
            [ScriptedTransport.Step](repeating: lost, count: count) + [Script.result(Self.completed)],
            isHTTP: true)
        let error = await clientError { _ = try await peer.client.callTool("t") }
        #expect(error?.kind == (count > 5 ? .connectionClosed : nil))
        #expect(peer.polls.count == 6)
        await peer.client.close()
    }

    /// What a poll did not reach, the call had: it is reported as one that may have been executed.
    @Test func anUnsentPollIsNoUnsentCall() async throws {
        let busy = ClientError(.httpStatus, "too many requests", httpStatus: 429)
        for failure in [ClientError.unsent, busy] {
            let peer = try await Peer([.failure(failure)], isHTTP: true)
            let error = try #require(await clientError { _ = try await peer.client.callTool("t") })
            #expect(error.kind == .connectionClosed && !error.isUnsent && error.httpStatus == nil)
            #expect(error.message.hasPrefix("the call became a task whose result is unknown: "))
            #expect(error.details.last == "the call may have been executed; it was not sent again")
            #expect(error.hint == "find out whether it was executed before you send it again")
            #expect(peer.count("tools/call") == 1)
            await peer.client.close()
        }
    }

    /// A server that cancels a task is told from a caller who does, and its reason is kept.
    @Test func cancelledByTheServer() async throws {
        for (members, suffix) in [("", "server"), (#","statusMessage":"operator""#, "server: operator")] {
            let peer = try await Peer([Script.result(Self.task("cancelled", members))])
            let error = try #require(await clientError { _ = try await peer.client.callTool("t") })
            #expect(error.kind == .taskCancelled)
            #expect(error.message == "the task was cancelled by the \(suffix)")
            #expect(error.details == ["the call may have been executed; it was not sent again"])
            #expect(peer.count("tasks/cancel") == 0)
            await peer.client.close()
        }
    }

    // TASK-13: its time is over. A refusal of the poll is not one of the call.
    @Test func aTaskThatTheServerHasForgotten() async throws {
        let peer = try await Peer([Script.error(MCPError.invalidParamsCode)])
        let error = try #require(await clientError { _ = try await peer.client.callTool("t") })
        #expect(error.kind == .protocolViolation && error.message.hasSuffix(" (-32602)"))
        #expect(error.details.last == "the call may have been executed; it was not sent again")
        #expect(peer.count("tasks/cancel") == 0)
        await peer.client.close()
    }

    @Test func anotherTask() async throws {
        let answer = Self.completed.replacing(#""taskId":"k""#, with: #""taskId":"other""#)
        let peer = try await Peer([Script.result(answer)])
        let error = await clientError { _ = try await peer.client.callTool("t") }
        #expect(error?.kind == .protocolViolation)
        await peer.client.close()
    }

    @Test func theEndOfTheClient() async throws {
        let peer = try await Peer([Script.result(Self.task("working"))])
        let call = Task { try await peer.client.callTool("t") }
        await waitUntil { !peer.polls.isEmpty }
        await peer.client.close()
        #expect(await clientError { _ = try await call.value }?.kind == .connectionClosed)
    }

    /// A server names a pause of a day, and is gone at once, or while the client waits.
    @Test(arguments: [true, false]) func theEndInAPause(_ isAtOnce: Bool) async throws {
        let gone = ScriptedTransport.Step.closed(ClientError(.connectionClosed, "the server is gone"))
        let peer = try await Peer([], interval: 86_400_000, then: isAtOnce ? [gone] : [])
        let (begun, begins) = AsyncStream.makeStream(of: Void.self)
        var options = CallOptions()
        options.onTask = { _ in begins.yield() }
        let call = Task { [options] in try await peer.client.callTool("t", options: options) }
        for await _ in begun { break }
        let start = ContinuousClock.now
        if !isAtOnce { await peer.client.close() }
        let error = try #require(await clientError { _ = try await call.value })
        // Long before the next poll, however slow the machine is.
        #expect(ContinuousClock.now - start < .seconds(30))
        #expect(error.kind == .connectionClosed && !error.isUnsent)
        #expect(error.message.hasPrefix("the call became a task whose result is unknown: "))
        #expect(error.details.last == "the call may have been executed; it was not sent again")
        #expect(peer.polls.isEmpty)
        await peer.client.close()
    }

    /// A program that hangs is noticed after the time that it may be silent, whatever pause it named.
    @Test func aServerThatHangs() async throws {
        let peer = try await Peer([], interval: 86_400_000)
        let error = try #require(
            await clientError {
                _ = try await peer.client.callTool("t", options: CallOptions(timeout: .seconds(1)))
            })
        #expect(error.kind == .timeout)
        #expect(error.details.last == "the call may have been executed; it was not sent again")
        #expect(peer.polls.count == 1)
        await peer.client.close()
    }

    // TASK-05, JRPC-09: only a call can become a task, and only where tasks are declared.
    @Test func whereItBelongs() async throws {
        let transport = Script.modern { _ in [Script.result(Self.task("working", type: "task"))] }
        var options = ClientOptions()
        options.followsTasks = true
        let client = try await MCPClient.connect(transport.target, options: options)
        #expect(await clientError { _ = try await client.getPrompt("p") }?.kind == .protocolViolation)
        await client.close()
        let without = try await MCPClient.connect(transport.target)
        #expect(await clientError { _ = try await without.callTool("t") }?.kind == .protocolViolation)
        await without.close()
    }

    // TASK-16, TASK-22, HDR-05
    @Test func byHand() async throws {
        let peer = try await Peer([Script.result(Self.completed)], isHTTP: true)
        let task = try await peer.client.task("k")
        #expect(task.status == .completed)
        #expect(task.result?["content"]?[0]?["text"] == "done")
        try await peer.client.updateTask("k", ["a": ["action": "decline"]])
        try await peer.client.cancelTask("k")
        let sent = peer.transport.sent.suffix(3)
        #expect(sent.map(\.method) == ["tasks/get", "tasks/update", "tasks/cancel"])
        #expect(sent.allSatisfy { $0.mirroredName == "k" })
        await peer.client.close()
    }
}
