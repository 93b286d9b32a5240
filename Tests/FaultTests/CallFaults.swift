import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// Calls that fail, never end, or end twice.
@Suite("faults: calls", .ownThreads) struct CallFaults {
    @Test("fault 35: unknown tools and arguments that do not fit") func fault35() throws {
        let process = try StdioProcess()
        let connection = try HTTPDaemon.shared().connect()
        for name in ["nope", "", "ECHO", "echo "] {
            #expect(try process.ask(Message.call(id: "1", name, "{}")).code == -32602, "\(name)")
        }
        let unknown = try connection.ask(Post(Message.call(id: "1", "nope", "{}"), name: "nope"))
        #expect(unknown.status == 200)
        #expect(unknown.message?.code == -32602)
        let arguments = [
            "{}", #"{"text":7}"#, #"{"text":null}"#, #"{"text":"x","more":1}"#, #"{"TEXT":"x"}"#,
        ]
        let old = try StdioProcess()
        _ = try old.ask(Message.initialize("2025-06-18"))
        let newer = try StdioProcess()
        _ = try newer.ask(Message.initialize("2025-11-25"))
        for text in arguments {
            let modern = try process.ask(Message.call(id: "2", "echo", text))
            #expect(modern.isToolError, "\(text)")
            #expect(modern.text?.isEmpty == false, "\(text)")
            let params = #"{"name":"echo","arguments":\#(text)}"#
            #expect(try newer.ask(Message.legacy(id: "2", "tools/call", params)).isToolError, "\(text)")
            #expect(try old.ask(Message.legacy(id: "2", "tools/call", params)).code == -32602, "\(text)")
        }
        try process.expectAlive()
        try connection.expectAlive()
    }

    @Test("fault 35: a result that does not fit the tool's output schema") func fault35Output() async throws {
        let lines = Mutex<[String]>([])
        var options = ServerOptions()
        options.log = { line in lines.withLock { $0.append(line) } }
        let server = MCPServer("test", version: "1", options: options)
        let schema: JSONValue = [
            "type": "object", "properties": ["n": ["type": "integer"]], "required": ["n"],
        ]
        try server.register(Tool("later", outputSchema: schema)) { _, _ in .structured(["n": "secret"]) }
        try server.registerRaw(Tool("now", outputSchema: schema)) { _, _, out in out.text("none") }
        try await LocalServer.serve(server) { port in
            let connection = try WireConnection(port: port)
            for tool in ["later", "now"] {
                let response = try connection.ask(Post(Message.call(id: "1", tool, "{}"), name: tool))
                #expect(response.status == 200)
                #expect(response.message?.code == -32603)
                #expect(!response.description.contains("secret"))
            }
        }
        #expect(lines.withLock { $0.count } == 2)
    }

    @Test("fault 36: a handler throws") func fault36() async throws {
        // The program's own way to fail on purpose: no finite sum.
        let process = try StdioProcess()
        let failed = try process.ask(Message.call(id: "1", "add", #"{"a":1e308,"b":1e308}"#))
        #expect(failed.isToolError)
        try process.expectAlive()

        struct Internal: Error { let path = "/etc/secret" }
        let server = MCPServer("test", version: "1")
        try server.register(Tool("later")) { _, _ in throw Internal() }
        try server.registerRaw(Tool("now")) { _, _, _ in throw Internal() }
        try server.registerBlocking(Tool("blocking")) { _, _ in throw Internal() }
        try server.register(Tool("own")) { _, _ in throw MCPError(code: -32602, message: "mine") }
        try server.register(Resource("x:///r", name: "r")) { _ in throw Internal() }
        try server.register(Prompt("p")) { _, _ in throw Internal() }
        try await LocalServer.serve(server) { port in
            let connection = try WireConnection(port: port)
            for tool in ["later", "now", "blocking"] {
                let response = try connection.ask(Post(Message.call(id: "1", tool, "{}"), name: tool))
                #expect(response.status == 200)
                #expect(response.message?.isToolError == true, "\(response)")
                #expect(!response.description.contains("secret"))
            }
            let own = try connection.ask(Post(Message.call(id: "1", "own", "{}"), name: "own"))
            #expect(own.message?.code == -32602)
            let read = Message.modern(id: "2", "resources/read", #""uri":"x:///r""#)
            let resource = try connection.ask(Post(read, method: "resources/read", name: "x:///r"))
            #expect(resource.message?.code == -32603)
            #expect(!resource.description.contains("secret"))
            let get = Message.modern(id: "3", "prompts/get", #""name":"p""#)
            let prompt = try connection.ask(Post(get, method: "prompts/get", name: "p"))
            #expect(prompt.message?.code == -32603)
            #expect(!prompt.description.contains("secret"))
        }
    }

    @Test("fault 37: a handler that never returns") func fault37() async throws {
        var options = ServerOptions()
        options.limits.requestDeadline = .milliseconds(150)
        options.limits.maxRequestsInFlight = 2
        let server = MCPServer("test", version: "1", options: options)
        let gate = AsyncStream.makeStream(of: Void.self)
        let wasCancelled = Mutex(false)
        // It ignores its cancellation: the worst kind.
        try server.register(Tool("stuck")) { _, context in
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    Task.detached {
                        for await _ in gate.stream {}
                        continuation.resume()
                    }
                }
            } onCancel: {
                wasCancelled.withLock { $0 = true }
            }
            return .text("late")
        }
        let client = server.makeConnection()
        let answer = await client.handle(Array(Message.call(id: "1", "stuck", "{}").utf8))
        let first = try JSONValue(parsing: try #require(answer))
        #expect(first["id"] == 1)
        #expect(first.code == MCPError.deadlineExceededCode)
        #expect(wasCancelled.withLock { $0 })
        // Its slot stays taken while it runs.
        _ = await client.handle(Array(Message.call(id: "2", "stuck", "{}").utf8))
        let refused = await client.handle(Array(Message.call(id: "3", "stuck", "{}").utf8))
        #expect(try JSONValue(parsing: try #require(refused)).code == MCPError.overloadedCode)
        let other = await client.handle(Array(Message.modern(id: "4", "tools/list").utf8))
        #expect(try JSONValue(parsing: try #require(other))["result"] != nil)
        try await LocalServer.serve(server) { port in
            let connection = try WireConnection(port: port)
            let response = try connection.ask(Post(Message.call(id: "1", "stuck", "{}"), name: "stuck"))
            #expect(response.message?.code == MCPError.deadlineExceededCode)
            let list = Post(Message.modern(id: "2", "tools/list"), method: "tools/list")
            #expect(try connection.ask(list).status == 200)
        }
        gate.continuation.finish()
    }

    /// Counts what comes out of an exchange.
    private final class CountingSink: ResponseSink {
        let notifications = Atomic<Int>(0)
        let answers = Atomic<Int>(0)
        let ends = Atomic<Int>(0)
        var executor: (any TaskExecutor)? { nil }
        func notify(_ message: ByteSlice) { notifications.add(1, ordering: .relaxed) }
        func finish(_ answer: Answer?) {
            ends.add(1, ordering: .relaxed)
            if answer != nil { answers.add(1, ordering: .relaxed) }
        }
    }

    private static func exchange(_ sink: CountingSink) -> PendingRequest {
        PendingRequest(
            key: .init(channelID: 1, id: RequestID(1)), revision: .newest, progressToken: nil, deadline: .max,
            sink: sink)
    }

    private static let answer = Answer(bytes: ByteSlice("{}"), status: 200)

    @Test("fault 38: an exchange ends once, whoever comes first") func fault38() {
        let sink = CountingSink()
        let exchange = Self.exchange(sink)
        #expect(exchange.finish(Self.answer))
        #expect(!exchange.finish(Self.answer))
        #expect(!exchange.fail(Self.answer))
        #expect(!exchange.cancel())
        #expect(sink.answers.load(ordering: .relaxed) == 1)
        #expect(sink.ends.load(ordering: .relaxed) == 1)
    }

    @Test("fault 39: cancelling") func fault39() throws {
        let process = try StdioProcess()
        // Unknown, finished, malformed: nothing happens.
        for id in ["99", "\"x\"", "null", "[]", "1e400"] { try process.send(line: Message.cancel(id)) }
        try process.send(line: #"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#)
        try process.expectAlive()
        try process.send(line: Message.cancel("\"alive\""))
        // One that runs, twice: not a word more of it.
        let slow = Message.modern(
            id: "5", "tools/call", #""name":"slow","arguments":{"seconds":60}"#
        )
        try process.send(line: slow)
        try process.send(line: Message.cancel("5"))
        try process.send(line: Message.cancel("5"))
        try process.expectAlive()
        // The id is free again once the handler has ended; the process ends without waiting 60 s for it.
        #expect(try process.finish().isEmpty)
        // Over HTTP another connection cannot cancel it.
        let daemon = try HTTPDaemon.shared()
        let connection = try daemon.connect()
        try connection.send(
            Post(Message.call(id: "5", "slow", #"{"seconds":0.3}"#), name: "slow").bytes(port: daemon.port))
        let cancel = Post(Message.cancel("5"), method: "notifications/cancelled")
        #expect(try daemon.ask(cancel).status == 202)
        #expect(try connection.response()?.answer?.text == "waited 0.3 s")
        // Within a session it can: that is how sessions cancel (LEG-09).
        let session = try daemon.openSession("2025-11-25")
        let call = #"{"name":"slow","arguments":{"seconds":60}}"#
        let post = Post(Message.legacy(id: "6", "tools/call", call), method: nil).with(
            "Mcp-Session-Id", session)
        try connection.send(post.bytes(port: daemon.port))
        let notification = #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}"#
        var cancelled: WireResponse?
        while cancelled == nil {
            // The call may still be on its way.
            let response = try daemon.ask(Post(notification, method: nil).with("Mcp-Session-Id", session))
            #expect(response.status == 202)
            cancelled = try? connection.response(within: .milliseconds(50))
        }
        #expect(cancelled?.answer == nil)
        try connection.expectAlive()
    }

    @Test("fault 40: a cancellation races with the answer") func fault40() throws {
        let process = try StdioProcess()
        var answered = 0
        for number in 0 ..< 200 {
            // Reading an address is a task, and it ends at once: both orders happen.
            let read = Message.modern(id: "\(number)", "resources/read", #""uri":"demo:///hello""#)
            try process.send(Array((read + "\n" + Message.cancel("\(number)") + "\n").utf8))
            let slow = Message.call(id: "\"s\(number)\"", "slow", #"{"seconds":0.00\#(number % 10)}"#)
            try process.send(line: slow)
            try process.send(line: Message.cancel("\"s\(number)\""))
        }
        var seen: Set<String> = []
        for answer in try process.finish() {
            let id = try #require(answer["id"]).serialized()
            #expect(seen.insert(id).inserted, "\(id) was answered twice")
            answered += 1
        }
        #expect(answered <= 400)
    }

    @Test("fault 40: both orders, on two threads") func fault40Threads() {
        for _ in 0 ..< 20_000 {
            let sink = CountingSink()
            let exchange = Self.exchange(sink)
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                if index == 0 { exchange.finish(Self.answer) } else { exchange.cancel() }
            }
            guard sink.ends.load(ordering: .acquiring) == 1, sink.answers.load(ordering: .acquiring) <= 1
            else {
                Issue.record("the exchange ended \(sink.ends.load(ordering: .acquiring)) times")
                return
            }
        }
    }

    @Test("fault 41: progress after the end") func fault41() throws {
        let sink = CountingSink()
        let exchange = Self.exchange(sink)
        exchange.notify(ByteSlice("{}"))
        exchange.finish(Self.answer)
        exchange.notify(ByteSlice("{}"))
        #expect(sink.notifications.load(ordering: .relaxed) == 1)

        let process = try StdioProcess()
        try process.send(line: Message.slowWithProgress)
        #expect(try process.answer()["method"] == "notifications/progress")
        try process.send(line: Message.cancel("1"))
        try process.send(line: Message.echo(id: "2", "after"))
        // What was reported before the cancellation may come first; behind the echo nothing does.
        while try process.answer()["id"] != 2 {}
        #expect(try process.finish().isEmpty)
    }

    @Test("fault 42: cursors that were not given out") func fault42() async throws {
        let process = try StdioProcess()
        let huge = String(repeating: "A", count: 100_000)
        for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
            for cursor in [
                "\"\"", "\"garbage\"", "\"MQ\"", "\"\(huge)\"", #""\u0000""#, "7", "[]", "{}", "\"0\"",
                "\"-1\"",
            ] {
                let answer = try process.ask(Message.modern(id: "1", method, #""cursor":\#(cursor)"#))
                #expect(answer.code == -32602, "\(method) \(cursor.prefix(20))")
                #expect(answer["id"] == 1)
            }
            #expect(try process.ask(Message.modern(id: "2", method, #""cursor":null"#))["result"] != nil)
        }
        try process.expectAlive()

        // A true one of another list, of another server, and one with a bit changed.
        var options = ServerOptions()
        options.limits.pageSize = 1
        func make() throws -> MCPServer {
            let server = MCPServer("test", version: "1", options: options)
            for name in ["a", "b"] {
                try server.registerRaw(Tool(name)) { _, _, out in out.text(name) }
                try server.register(Prompt(name)) { _, _ in GetPromptResult([]) }
            }
            return server
        }
        let (server, other) = (try make(), try make())
        func list(_ server: MCPServer, _ method: String, _ cursor: String?) async throws -> JSONValue {
            let member = cursor.map { #""cursor":"\#($0)""# } ?? ""
            let answer = await server.handle(Array(Message.modern(id: "1", method, member).utf8))
            return try JSONValue(parsing: try #require(answer))
        }
        let first = try await list(server, "tools/list", nil)
        let cursor = try #require(first["result"]?["nextCursor"]?.stringValue)
        #expect(try await list(server, "tools/list", cursor)["result"]?["tools"]?[0]?["name"] == "b")
        #expect(try await list(server, "prompts/list", cursor).code == -32602)
        #expect(try await list(other, "tools/list", cursor).code == -32602)
        let flipped = (cursor.first == "A" ? "B" : "A") + cursor.dropFirst()
        #expect(try await list(server, "tools/list", flipped).code == -32602)
    }
}
