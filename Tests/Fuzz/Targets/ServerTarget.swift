import Synchronization

@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A server in memory: each answer is JSON-RPC with the right id, each exchange ends once, and nothing is left.
// SAFETY: a target and everything in it is used by one thread only, beside the tasks of its handlers, which its
// executor runs on that thread.
final class ServerTarget: @unchecked Sendable {
    private let endpoint: StreamableEndpoint
    private let context: ConnectionContext
    private let executor = QueueExecutor()
    private var runs: UInt64 = 0

    init() {
        var options = ServerOptions()
        options.stateKey = Array(repeating: 7, count: 32)
        let server = MCPServer("fuzz", version: "1", options: options)
        Self.fill(server)
        endpoint = StreamableEndpoint(server: server)
        context = ConnectionContext(handler: endpoint, policy: .loopback)
    }

    static func fill(_ server: MCPServer) {
        let echo = Tool(
            "echo",
            inputSchema: [
                "type": "object", "properties": ["text": ["type": "string"]], "required": ["text"],
                "additionalProperties": false,
            ])
        let choose = Tool(
            "choose",
            inputSchema: [
                "type": "object",
                "properties": [
                    "s": ["type": "string", "pattern": "^(a|b)+$"],
                    "n": ["multipleOf": 0.01, "maximum": 1e9], "e": ["enum": [1, "a", nil]],
                ], "oneOf": [["required": ["s"]], ["required": ["n"]]],
            ])
        let schema: JSONValue = ["type": "object"]
        do {
            try server.registerRaw(echo) { arguments, _, out in out.text(arguments["text"]) }
            server.addTool("add", "Adds", Argument("a"), Argument("b")) { (a: Double, b: Double) in "\(a + b)"
            }
            try server.register(choose) { call, context in
                await context.progress(1, total: 2)
                return .text(call.arguments.value.serialized())
            }
            try server.register(Tool("ask", inputSchema: schema)) { _, context in
                _ = try await context.elicit("Name?", ElicitationSchema([.string("name", required: true)]))
                return .text("ok")
            }
            try server.register(Resource("demo:///hello", name: "hello")) { _ in
                [.text("hi", uri: "demo:///hello")]
            }
            try server.register(ResourceTemplate("demo:///greeting/{name}", name: "greeting")) {
                uri, values, _ in
                [.text("Hello, \(values["name"] ?? "")!", uri: uri)]
            }
            try server.register(Prompt("sum", arguments: [PromptArgument("text", required: true)])) {
                values, _ in
                GetPromptResult([.user(values["text"] ?? "")])
            }
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// One message per line over one connection.
    func checkStream(_ input: [UInt8]) throws {
        runs += 1
        var channel = ServerChannel(id: runs)
        for line in input.lines(atMost: 12) { try serve(ByteSlice(line), &channel) }
        try end(runs)
    }

    /// Requests one after another over one HTTP connection.
    func checkEndpoint(_ input: [UInt8]) throws {
        runs += 1
        var rest = ByteSlice(input)
        for _ in 0 ..< 6 where !rest.isEmpty {
            var parser = RequestParser()
            guard case .head(let head) = unsafe rest.withBytes({ unsafe parser.parse($0) }) else { break }
            let bytes = rest
            rest = rest[head.byteCount...]
            guard let body = Self.body(of: head, &rest) else { break }
            try answer(head, bytes, body)
            if !head.keepAlive { break }
        }
        try end(runs)
    }

    private static func body(of head: RequestHead, _ rest: inout ByteSlice) -> ByteSlice? {
        if head.isChunked {
            var decoder = ChunkedDecoder()
            var body = ByteBuffer()
            guard case .done(let used) = unsafe rest.withBytes({ unsafe decoder.decode($0, into: &body) })
            else {
                return nil
            }
            rest = rest[used...]
            return body.slice(0 ..< body.count)
        }
        let count = head.contentLength ?? 0
        guard count <= rest.count else { return nil }
        defer { rest = rest[count...] }
        return rest[..<count]
    }

    private func answer(_ head: RequestHead, _ bytes: ByteSlice, _ body: ByteSlice) throws {
        var memory: ConnectionMemory?
        let decision = endpoint.check(
            head, in: bytes, context: context, isFromOwnUser: { true }, peer: { nil }, memory: &memory)
        if case .refuse(let refusal) = decision {
            return try require(Self.isRefusal(refusal.status), "status \(refusal.status)")
        }
        do throws(EarlyResponse) {
            switch head.method {
            case .delete: try endpoint.endSession(head, in: bytes, nil)
            case .get: _ = try endpoint.openedSession(head, in: bytes, nil)
            default:
                var channel = try endpoint.channel(of: head, in: bytes, connection: runs, caller: nil)
                let outcome = Result { try serve(body, &channel) }
                if case .failure(let finding) = outcome { pending = finding }
            }
        } catch {
            try require(Self.isRefusal(error.status), "status \(error.status)")
        }
        if let finding = pending {
            pending = nil
            throw finding
        }
    }

    private var pending: (any Error)?

    /// Only a method that does not exist is more than the client's fault.
    private static func isRefusal(_ status: Int) -> Bool { (400 ..< 500).contains(status) || status == 501 }

    private func serve(_ message: ByteSlice, _ channel: inout ServerChannel) throws {
        var writer = JSONWriter()
        var sinks: [FuzzSink] = []
        let disposition = endpoint.dispatcher.receive(message, from: &channel, into: &writer) {
            let sink = FuzzSink(executor)
            sinks.append(sink)
            return sink
        }
        switch disposition {
        case .answered(let status):
            try require((200 ..< 600).contains(status), "status \(status)")
            try check(answer: writer.finish(), to: message)
        case .accepted, .dropped: break
        case .deferred(let exchange):
            executor.run()
            if sinks.contains(where: { $0.ends == 0 }) {
                endpoint.dispatcher.cancel(exchange)
                if exchange == nil { endpoint.dispatcher.failAll("end", in: channel.id) }
                executor.run(until: { sinks.allSatisfy { $0.ends > 0 } })
            }
            for sink in sinks { try sink.check { try check(answer: $0, to: message) } }
        }
    }

    private func check(answer: ByteSlice, to message: ByteSlice) throws {
        let limits = JSONLimits(maxDepth: 192)
        guard let json = try? RawJSON(validating: answer, limits: limits) else {
            throw Finding(description: "the answer is not JSON: \(answer.array.text.prefix(300))")
        }
        for part in json.elements ?? [json] {
            let sample = part.bytes.array.text.prefix(300)
            try require(part["jsonrpc"]?.string == "2.0", "not JSON-RPC: \(sample)")
            try require((part["result"] != nil) != (part["error"] != nil), "not one outcome: \(sample)")
        }
        let asked = try? RawJSON(validating: message, limits: limits)
        if asked?.kind == .object, json["result"] != nil, let id = asked?["id"] {
            try require(json["id"]?.bytes == id.bytes, "another id")
        }
    }

    private func end(_ channel: UInt64) throws {
        endpoint.dispatcher.failAll("end", in: channel)
        executor.run(until: { self.endpoint.dispatcher.inFlight.count == 0 })
        let left = endpoint.dispatcher.inFlight.count
        try require(left == 0, "\(left) requests are left")
    }
}

/// The destination of an answer that comes later.
private final class FuzzSink: ResponseSink {
    private struct State {
        var ends = 0
        var answer: ByteSlice?
        var complaint: String?
    }

    private let state = Mutex(State())
    private let queue: QueueExecutor

    init(_ queue: QueueExecutor) { self.queue = queue }

    var executor: (any TaskExecutor)? { queue }
    var ends: Int { state.withLock { $0.ends } }

    func notify(_ message: ByteSlice) {
        let isJSON = (try? RawJSON(validating: message)) != nil
        state.withLock { state in
            if !isJSON { state.complaint = "a notification is not JSON" }
            if state.ends > 0 { state.complaint = "a notification after the end" }
        }
    }

    func release(retryAfter: Duration) {}

    func finish(_ answer: Answer?) {
        state.withLock { state in
            state.ends += 1
            state.answer = answer?.bytes
        }
    }

    func check(_ judge: (ByteSlice) throws -> Void) throws {
        let state = state.withLock { $0 }
        try require(state.complaint == nil, state.complaint ?? "")
        try require(state.ends == 1, "ended \(state.ends) times")
        if let answer = state.answer { try judge(answer) }
    }
}

/// Runs the jobs of handlers on the thread that asks for it.
final class QueueExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    func run() {
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    /// Runs jobs until something holds, for 2 s at most: parts of a handler may run elsewhere.
    func run(until isReached: () -> Bool) {
        let end = ContinuousClock.now + .seconds(2)
        run()
        while !isReached(), ContinuousClock.now < end {
            usleep(200)
            run()
        }
    }
}
