import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// What middleware sees of requests, over every leg, in every revision.
@Suite(.timeLimit(.minutes(5))) struct MiddlewareTests {
    /// Writes down what it sees, and refuses what it is told to.
    private final class Recorder: ServerMiddleware {
        private let name: String
        private let refused: Set<String>
        private let notes: Notes

        init(_ name: String, _ notes: Notes, refusing refused: Set<String> = []) {
            self.name = name
            self.refused = refused
            self.notes = notes
        }

        struct Odd: Error {}

        func willServe(_ request: IncomingRequest) throws {
            notes.add("\(name) > \(request.method) \(request.name ?? "-")")
            guard refused.contains(request.name ?? "") else { return }
            if request.name == "odd" { throw Odd() }
            throw MCPError(code: 429, message: "too many calls of \(request.name ?? "")")
        }

        func didServe(_ request: IncomingRequest, _ end: RequestEnd) {
            notes.add("\(name) < \(request.method) \(request.name ?? "-") \(end.outcome)")
            if end.duration < .zero { notes.add("a negative duration") }
        }
    }

    /// Writes down the ends of tasks.
    private final class TaskRecorder: ServerMiddleware {
        let notes = Notes()
        func didEndTask(_ end: TaskEnd) {
            notes.add("\(end.tool) \(end.outcome) \(end.failure ?? "-")")
            if end.duration < .zero || end.taskID.isEmpty { notes.add("not a task") }
        }
    }

    // For `didServe` the call has ended, with the id of its task.
    @Test(arguments: Setting.modern) func endsOfTasks(_ setting: Setting) async throws {
        let recorder = TaskRecorder()
        let tasks = try TaskServer(middleware: [recorder])
        try await withClient(setting, tasks.server) { client in
            let cancelled = await client.taskCall("slow_compute", ["seconds": 9, "label": "a"])
            let id = try #require(cancelled.result?["taskId"]?.value)
            _ = await client.taskRequest("tasks/cancel", ["taskId": id])
            #expect(await recorder.notes.has("slow_compute cancelled -"))
            tasks.release.open()
            _ = await client.taskCall("slow_compute", ["seconds": 9, "label": "b"])
            #expect(await recorder.notes.has("slow_compute result -"))
            _ = await client.taskCall("failing_job")
            await waitUntil { recorder.notes.all.count == 3 }
            _ = await client.taskCall("protocol_error_job")
            await waitUntil { recorder.notes.all.count == 4 }
        }
        #expect(recorder.notes.all.dropFirst(2).first?.hasPrefix("failing_job toolError ") == true)
        #expect(recorder.notes.all.last?.hasPrefix("protocol_error_job error(4711) ") == true)
        #expect(recorder.notes.all.count == 4, "\(recorder.notes.all)")
    }

    private final class Notes: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        /// But for what opens a connection.
        var all: [String] {
            lines.withLock { $0.filter { !$0.contains("initialize") && !$0.contains("server/discover") } }
        }
        func has(_ line: String) async -> Bool {
            await waitUntil { self.all.contains(line) }
            return all.contains(line)
        }
    }

    private static func server(_ middleware: [any ServerMiddleware]) throws -> (MCPServer, Gate) {
        var options = ServerOptions()
        options.middleware = middleware
        let server = MCPServer("seen", version: "1", options: options)
        let release = Gate()
        server.addTool("add", "Adds", Argument("a"), Argument("b")) { (a: Int, b: Int) in a + b }
        server.addTool("odd", "Odd") { "" }
        server.addTool("later", "Later") { () async throws -> String in
            await release.wait()
            return "later"
        }
        server.addTool("fail", "Fails") { () async throws -> String in throw MCPError(code: -7, message: "no")
        }
        return (server, release)
    }

    /// A response that asks is no failure, whatever the handler makes of it.
    @Test(arguments: Setting.modern) func questionsAreNoFailures(_ setting: Setting) async throws {
        let notes = Notes()
        let (server, _) = try Self.server([Recorder("a", notes)])
        try server.register(Tool("ask")) { _, context in
            let answer = try await context.elicit("Now?", ElicitationSchema([]))
            return answer.action == .accept ? .text("done") : .error("declined")
        }
        try server.register(Tool("hide")) { _, context in
            let answer = try? await context.elicit("Now?", ElicitationSchema([]))
            return answer == nil ? .error("no answer") : .text("done")
        }
        for (answer, outcome) in [(TestAnswer.accept([:]), "result"), (.decline, "toolError")] {
            try await withAskedClient(setting, server, answering: { _ in answer }) { client in
                _ = await client.call("ask")
            }
            #expect(await notes.has("a < tools/call ask \(outcome)"))
        }
        try await withAskedClient(setting, server, answering: { _ in .accept([:]) }) { client in
            #expect(await client.call("hide").text == "done")
        }
        await waitUntil { notes.all.count == 12 }
        let ends = notes.all.filter { $0.hasPrefix("a <") }
        #expect(
            ends == [
                "a < tools/call ask result", "a < tools/call ask result", "a < tools/call ask result",
                "a < tools/call ask toolError", "a < tools/call hide result", "a < tools/call hide result",
            ], "\(ends)")
    }

    @Test(arguments: Setting.all) func resultsAndErrors(_ setting: Setting) async throws {
        let notes = Notes()
        let (server, release) = try Self.server([Recorder("a", notes)])
        release.open()
        try await withClient(setting, server) { client in
            #expect(await client.call("add", ["a": 1, "b": 2], id: 1).text == "3")
            #expect(await client.call("later", [:], id: 2).text == "later")
            // The client may have the response of an asynchronous tool first.
            #expect(await notes.has("a < tools/call later result"))
            #expect(await client.call("fail", [:], id: .init(3)).errorCode == -7)
            #expect(await notes.has("a < tools/call fail error(-7)"))
            #expect(await client.call("no\"such,", [:], id: 4).errorCode == -32602)
            _ = await client.request("tools/list")
        }
        #expect(
            notes.all == [
                "a > tools/call add", "a < tools/call add result",
                "a > tools/call later", "a < tools/call later result",
                "a > tools/call fail", "a < tools/call fail error(-7)",
                "a > tools/call no\"such,", "a < tools/call no\"such, error(-32602)",
                "a > tools/list -", "a < tools/list - result",
            ])
    }

    @Test(arguments: Setting.all) func refusals(_ setting: Setting) async throws {
        let notes = Notes()
        let (server, _) = try Self.server([
            Recorder("a", notes), Recorder("b", notes, refusing: ["add", "odd"]), Recorder("c", notes),
        ])
        try await withClient(setting, server) { client in
            let refused = await client.call("add", ["a": 1, "b": 2], id: 1)
            #expect(refused.errorCode == 429)
            #expect(refused.errorMessage == "too many calls of add")
            // The text of other errors stays here.
            let odd = await client.call("odd", [:], id: 2)
            #expect(odd.errorCode == -32603)
            #expect(odd.errorMessage == "tools/call failed")
        }
        #expect(
            notes.all == [
                "a > tools/call add", "b > tools/call add", "a < tools/call add error(429)",
                "a > tools/call odd", "b > tools/call odd", "a < tools/call odd error(-32603)",
            ])
    }

    @Test(arguments: Setting.all) func inOrderAndBack(_ setting: Setting) async throws {
        let notes = Notes()
        let (server, _) = try Self.server([Recorder("a", notes), Recorder("b", notes)])
        try await withClient(setting, server) { client in
            #expect(await client.call("add", ["a": 1, "b": 2], id: "x,\"y\\").text == "3")
        }
        #expect(
            notes.all == [
                "a > tools/call add", "b > tools/call add", "b < tools/call add result",
                "a < tools/call add result",
            ])
    }

    @Test(arguments: [Setting.inMemory(), .inMemory("2025-11-25")])
    func aCallThatIsTakenBack(_ setting: Setting) async throws {
        let notes = Notes()
        let (server, release) = try Self.server([Recorder("a", notes)])
        defer { release.open() }
        let client = try await MCPClient.connect(
            .inProcess(server),
            options: { () -> ClientOptions in
                var options = ClientOptions()
                options.protocol = .exactly(
                    try #require(ProtocolVersion.known.first { $0.text == setting.version }))
                return options
            }())
        let call = Task { _ = try await client.callTool("later") }
        #expect(await notes.has("a > tools/call later"))
        call.cancel()
        #expect(await notes.has("a < tools/call later cancelled"))
        await client.close()
    }

    @Test(arguments: [
        (#"{"jsonrpc":"2.0","id":1,"result":{}}"#, RequestOutcome.result),
        (#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"x"}}"#, .error(-32602)),
        (#"{"jsonrpc":"2.0","error":{"code":7}}"#, .error(7)),
        (#"{"jsonrpc":"2.0","id":"a,\"error\":{\\","error":{"code":12}}"#, .error(12)),
        (#"{"jsonrpc":"2.0","id":"x","result":{"a":1,"error":{"code":5}}}"#, .result),
        ("", .result),
    ])
    func outcomeOfAnAnswer(_ answer: String, _ outcome: RequestOutcome) {
        #expect(RequestOutcome.of(answer.utf8) == outcome)
        // With the id of the request, whether or not the answer has it.
        for id in ["1", "\"x\"", "\"a,\\\"error\\\":{\\\\\"", "12345678"] {
            #expect(RequestOutcome.of(ByteSlice(answer), to: RawJSON(unchecked: ByteSlice(id))) == outcome)
        }
        #expect(RequestOutcome.of(ByteSlice(answer), to: nil) == outcome)
    }
}
