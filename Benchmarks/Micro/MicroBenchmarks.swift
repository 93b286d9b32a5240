@testable import MCPCore

/// What each layer costs by itself. Run by `make bench` in an optimised build; a debug build says nothing.
struct MicroBenchmarks {
    func json() throws {
        print("\nJSON")
        let call = Samples.call
        try Stopwatch.row("envelope scan of a call (\(call.count) bytes)", bytes: call.count) {
            keep(try MessageScanner.scan(call, limits: JSONLimits()).head.kind)
        }
        let tools = Samples.tools
        try Stopwatch.row("validate a tools list (\(tools.count / 1000) kB)", bytes: tools.count) {
            keep(try RawJSON(validating: tools))
        }
        try Stopwatch.row("parse it to a tree", bytes: tools.count) { keep(try JSONValue(parsing: tools)) }
        let tree = try JSONValue(parsing: tools)
        Stopwatch.row("write the tree", bytes: tools.count) {
            var writer = JSONWriter()
            writer.value(tree)
            keep(writer.finish())
        }
        let arguments = try RawJSON(validating: Samples.arguments)
        try Stopwatch.row("decode a struct of three members") {
            keep(try arguments.decode(Samples.Question.self))
        }
        let question = try arguments.decode(Samples.Question.self)
        try Stopwatch.row("encode it") { keep(try RawJSON(encoding: question)) }
    }

    func schema() throws {
        print("\nJSON Schema")
        let schema = try CompiledSchema(Samples.schema)
        let arguments = try RawJSON(validating: Samples.arguments)
        Stopwatch.row("validate arguments (flat schema)") { keep(schema.isValid(arguments)) }
        var nested = Samples.schema.objectValue ?? [:]
        nested["allOf"] = [["anyOf": [["required": ["city"]], ["required": ["days"]]]]]
        let slow = try CompiledSchema(.object(nested))
        Stopwatch.row("validate arguments (allOf, anyOf)") { keep(slow.isValid(arguments)) }
        try Stopwatch.row("compile the schema") { keep(try CompiledSchema(Samples.schema)) }
    }

    func framing() throws {
        print("\nFraming")
        let head = Samples.requestHead
        let bytes = head
        Stopwatch.row("parse an HTTP request head (\(head.count) bytes)", bytes: head.count) {
            var parser = RequestParser(limits: HTTPLimits())
            keep(unsafe bytes.withBytes { unsafe parser.parse($0) })
        }
        let line = ByteSlice(String(Samples.call) + "\n")
        var framer = LineFramer(maxBytes: 1 << 20)
        Stopwatch.row("cut a line of stdio", bytes: line.count) {
            framer.append(line)
            keep(framer.next())
        }
        var event = ByteBuffer()
        Stopwatch.row("write a server-sent event", bytes: Samples.call.count) {
            event.removeAll(keeping: 1 << 16)
            SSEEncoder.write(data: Samples.call, to: &event)
        }
        let text = event.slice(0 ..< event.count)
        try Stopwatch.row("read it", bytes: text.count) {
            var decoder = SSEDecoder(maxEventBytes: 1 << 20)
            var events: [SSEEvent] = []
            try unsafe text.withBytes { (bytes) throws(HTTPError) in
                try unsafe decoder.decode(bytes, into: &events)
            }
            keep(events.count)
        }
    }

    func dispatch() throws {
        print("\nA tools/call without a transport")
        let server = MCPServer("bench", version: "1")
        let schema = #"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#
        server.addTool("echo", "", schema: schema) { arguments, _, out in out.text(arguments["text"]) }
        try row(server, "raw tool")
        let typed = MCPServer("bench", version: "1")
        typed.addTool("echo", "", Argument("text")) { (text: String) in text }
        try row(typed, "typed tool, text")
        struct Answer: Codable { var text: String }
        let structured = MCPServer("bench", version: "1")
        structured.addTool("echo", "", Argument("text")) { (text: String) in Answer(text: text) }
        try row(structured, "typed tool, structured result")
    }

    private func row(_ server: MCPServer, _ name: String) throws {
        var writer = JSONWriter()
        Stopwatch.row(name) {
            writer.out.removeAll(keeping: 1 << 16)
            var channel = ServerChannel(id: 1)
            let disposition = server.dispatcher.receive(Samples.call, from: &channel, into: &writer) {
                NoSink()
            }
            keep(disposition)
        }
        let answer = String(writer.out.slice(0 ..< writer.out.count))
        precondition(answer.contains("hello world"), "the tool was not called: \(answer)")
    }
}

/// These tools answer on the spot.
private final class NoSink: ResponseSink {
    var executor: (any TaskExecutor)? { nil }
    func notify(_ message: ByteSlice) {}
    func finish(_ answer: Answer?) {}
}
