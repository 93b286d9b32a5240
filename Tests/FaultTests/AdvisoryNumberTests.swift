import Synchronization
import TestSupport
import Testing

@testable import MCPClientCLI
@testable import MCPCore
@testable import MCPServerDaemon

/// Every reader of a number with every number at a bound: none of them ends its process.
///
/// A reader of this process that traps ends the tests; one of a real process is asked for a sign of life.
@Suite("advisories: numbers") struct Advisory_NumberTests {
    private struct Reader {
        let name: String
        var numbers = BoundaryNumbers.all
        let read: (String) async throws -> Void

        init(
            _ name: String, _ numbers: [String] = BoundaryNumbers.all,
            read: @escaping (String) async throws -> Void
        ) {
            self.name = name
            self.numbers = numbers
            self.read = read
        }
    }

    @Test("Advisory_Number", .timeLimit(.minutes(10))) func everyReaderOfANumberLives() async throws {
        let process = try StdioProcess()
        // The token of programs that bring tools is there.
        let home = TemporaryDirectory()
        let daemon = try HTTPDaemon(
            ["--client-tools", "--client-tools-auth", "none"], through: ["/usr/bin/env", "HOME=\(home.path)"])
        let peer = try HostilePeer()
        defer { peer.stop() }
        let client = try await MCPClient.connect(.http(peer.url), options: peer.options)
        let readers =
            try codable + types + schemas + streams + times + sizes + mirrored + stdio(process)
            + http(daemon) + facade(daemon) + clients(client, peer)
        var count = 0
        for reader in readers {
            for number in reader.numbers {
                do {
                    try await reader.read(number)
                } catch {
                    Issue.record("\(reader.name), \(number): \(error)")
                    return
                }
                count += 1
            }
        }
        try process.expectAlive()
        try process.finish()
        try daemon.expectAlive()
        await client.close()
        try program(peer)
        let numbers = BoundaryNumbers.all.count
        print(
            "R01: \(numbers) boundary numbers × \(readers.count + 1) readers (\(count + numbers) readings): 0 processes ended"
        )
    }

    // MARK: This process

    private func decoder<T: Decodable>(_ type: T.Type) -> Reader {
        Reader("Codable \(type)") { number in
            let raw = try RawJSON(validating: "[\(number)]")
            _ = try? raw.decode([T].self)
            _ = try? JSONValue(parsing: raw.bytes).decode([T].self)
        }
    }

    private var codable: [Reader] {
        [
            decoder(Int.self), decoder(Int8.self), decoder(Int16.self), decoder(Int32.self),
            decoder(Int64.self), decoder(UInt.self), decoder(UInt8.self), decoder(UInt16.self),
            decoder(UInt32.self), decoder(UInt64.self), decoder(Double.self), decoder(Float.self),
            decoder(JSONValue.self), decoder(String.self), decoder(TaskInfo.self),
            Reader("JSONNumber") { text in
                let number = try #require(JSONNumber(text: text))
                _ = (number.int64, number.uint64, number.double, number.hashValue)
                for other in BoundaryNumbers.all {
                    let other = try #require(JSONNumber(text: other))
                    if number == other { #expect(number.hashValue == other.hashValue, "\(text) \(other)") }
                }
                let raw = try RawJSON(validating: text)
                #expect(raw.int64 == number.int64 && raw.double == number.double)
            },
        ]
    }

    /// A type that is read, and written again if it can be read: no number may become `null`.
    private func type<T: WireType>(_ type: T.Type, _ text: String) -> Reader {
        Reader("\(type) \(text)") { number in
            let json = try JSONValue(parsing: text.replacing("#", with: number))
            guard let value = try? T(json: json) else { return }
            #expect(!value.json.serialized().contains(":null"), "\(number) in \(text)")
        }
    }

    private var types: [Reader] {
        let message = #""messages":[],"maxTokens""#
        let task = #"{"taskId":"t","status":"working","createdAt":"","lastUpdatedAt":"""#
        return [
            type(Annotations.self, #"{"priority":#}"#),
            type(
                CallToolResult.self,
                ##"{"content":[{"type":"text","text":"","annotations":{"priority":#}}]}"##),
            type(Resource.self, ##"{"uri":"u","name":"n","size":#}"##),
            type(ModelPreferences.self, ##"{"costPriority":#,"speedPriority":#,"intelligencePriority":#}"##),
            type(CreateMessageRequest.self, "{\(message):#}"),
            type(CreateMessageRequest.self, "{\(message):1,\"temperature\":#}"),
            type(CompletionResult.self, ##"{"values":[],"total":#}"##),
            type(TaskInfo.self, task + ##","ttlMs":#,"pollIntervalMs":#}"##),
            type(TaskInfo.self, task + ##","ttlMs":1,"error":{"code":#,"message":""}}"##),
            Reader("Progress") { number in
                let params = try RawJSON(validating: #"{"progress":\#(number),"total":\#(number)}"#)
                guard let progress = ProgressReport(params: params) else { return }
                #expect(progress.progress.isFinite && progress.total?.isFinite != false)
                _ = progress.fraction
            },
        ]
    }

    private var schemas: [Reader] {
        let keywords = [
            "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
            "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "const",
        ]
        let instances = ["0", "-1", "1e400", "0.1", "9223372036854775807", "\"ab\"", "[1,1]", "{\"a\":1}"]
        return keywords.map { keyword in
            Reader("schema \(keyword)") { number in
                let text = #"{"contains":{},"uniqueItems":true,"\#(keyword)":\#(number)}"#
                guard let schema = try? CompiledSchema(JSONValue(parsing: text)) else { return }
                for instance in instances + [number] {
                    let raw = try RawJSON(validating: instance)
                    #expect(schema.isValid(raw) == schema.validate(raw).isEmpty)
                    #expect(schema.isValid(raw) == schema.isValid(raw.value))
                }
            }
        } + [
            Reader("schema type") { number in
                let schema = try CompiledSchema(["type": "integer", "enum": [1, 2, 3]])
                let raw = try RawJSON(validating: number)
                #expect(schema.isValid(raw) == schema.isValid(raw.value))
            }
        ]
    }

    private var streams: [Reader] {
        [
            Reader("SSE retry") { number in
                var decoder = SSEDecoder()
                var events: [SSEEvent] = []
                let bytes = Array("retry: \(number)\ndata: x\n\n".utf8)
                unsafe try bytes.withUnsafeBufferPointer { unsafe try decoder.decode($0, into: &events) }
                var position = HTTPStreamPosition()
                position.reach("1", retryMilliseconds: decoder.retryMilliseconds)
                #expect(position.retry.map { $0 >= .zero && $0 <= .seconds(86_400) } != false)
            },
            Reader("Keep-Alive") { number in
                #expect((KeepAliveHint.timeout(ByteSlice("timeout=\(number)")) ?? .zero) >= .zero)
            },
            Reader("JSON pointer") { _ = JSONPointer.index($0) },
        ]
    }

    // MARK: Texts with units, and header fields

    /// Every number with every unit: what is read lasts, and for less than ever.
    private var times: [Reader] {
        ["", "ms", "s", "m", "min", "h", "m1s"].map { unit in
            Reader("TimeSpan \(unit)") { number in
                guard let span = TimeSpan.parse(number + unit) else { return }
                #expect(span > .zero && span <= .seconds(8_640_000), "\(number)\(unit)")
                #expect(TimeSpan.text(span).isEmpty == false)
            }
        } + [
            Reader("TimeSpan.text") { number in
                guard let double = JSONNumber(text: number)?.double else { return }
                #expect(TimeSpan.decimal(double).isEmpty == false)
            }
        ]
            + ["ms", "s", "m", "min", "h", "d"].map { unit in
                Reader("Units.duration \(unit)") { number in
                    guard let duration = Units.duration(number + unit) else { return }
                    #expect(duration > .zero, "\(number)\(unit)")
                    #expect(duration + duration > duration, "\(number)\(unit)")
                    #expect(Units.describe(duration).isEmpty == false)
                }
            }
    }

    private var sizes: [Reader] {
        ["", "B", "kB", "KB", "KiB", "K", "MB", "MiB", "M", "GB", "GiB", "G"].map { unit in
            Reader("Units.size \(unit)") { number in
                guard let size = Units.size(number + unit) else { return }
                #expect(size >= 0 && size <= Int.max / 4, "\(number)\(unit)")
                #expect(Units.describe(bytes: size).isEmpty == false)
            }
        }
    }

    /// `x-mcp-header`: what a client writes is what a server takes.
    private var mirrored: [Reader] {
        let schema = ##"{"type":"object","properties":{"n":{"type":"#","x-mcp-header":"N"}}}"##
        func plan(_ type: String) throws -> HeaderPlan {
            let json = try JSONValue(parsing: schema.replacing("#", with: type))
            return try #require(try HeaderPlan(json, at: .lenient))
        }
        func claims(_ value: String) -> HeaderClaims {
            HeaderClaims(bytes: ByteSlice("POST /mcp HTTP/1.1\r\nMcp-Param-N: \(value)\r\n\r\n"))
        }
        return ["integer", "number", "string"].map { type in
            Reader("x-mcp-header \(type)") { number in
                let plan = try plan(type)
                let arguments = try RawJSON(validating: #"{"n":\#(number)}"#)
                let fields = plan.fields(for: try #require(arguments.value.objectValue))
                let value = try #require(fields.first).value
                #expect(plan.mismatch(claims(value), with: arguments) == nil, "\(number) as \(value)")
                #expect(plan.mismatch(claims(number), with: arguments) == nil, "\(number)")
                #expect(plan.mismatch(claims(number + "1x"), with: arguments) != nil, "\(number)")
                for other in BoundaryNumbers.all { _ = plan.mismatch(claims(other), with: arguments) }
            }
        } + [
            Reader("x-mcp-header name") { number in
                let text = #"{"properties":{"n":{"type":"integer","x-mcp-header":\#(number)}}}"#
                #expect(throws: HeaderPlan.Invalid.self) { try HeaderPlan(JSONValue(parsing: text)) }
            }
        ]
    }

    // MARK: mcp-server over stdio

    private func stdio(_ process: StdioProcess) -> [Reader] {
        let requests: [(String, (String) -> String)] = [
            ("an argument", { Message.call(id: "1", "add", #"{"a":\#($0),"b":-0.1}"#) }),
            ("both arguments", { Message.call(id: "1", "add", #"{"a":\#($0),"b":\#($0)}"#) }),
            ("a wrong argument", { Message.call(id: "1", "echo", #"{"text":\#($0)}"#) }),
            ("id", { Message.modern(id: $0, "tools/list") }),
            ("cursor", { Message.modern(id: "1", "tools/list", #""cursor":\#($0)"#) }),
            ("uri", { Message.modern(id: "1", "resources/read", #""uri":\#($0)"#) }),
            (
                "task",
                { Message.modern(id: "1", "tools/list", #""task":{"ttl":\#($0),"pollInterval":\#($0)}"#) }
            ),
            ("taskId", { Message.modern(id: "1", "tasks/get", #""taskId":\#($0)"#) }),
            (
                "progressToken",
                {
                    Message.modern(id: "1", "tools/list").replacing(
                        "\"_meta\":{", with: "\"_meta\":{\"progressToken\":\($0),")
                }
            ),
            ("params", { Message.legacy(id: "1", "tools/list", $0) }),
            ("version", { Message.modern(id: "1", "ping").replacing("\"2026-07-28\"", with: $0) }),
            ("jsonrpc", { Message.legacy(id: "1", "ping").replacing("\"2.0\"", with: $0) }),
        ]
        return requests.map { name, message in
            Reader("stdio \(name)") { number in
                let answer = try process.ask(message(number))
                #expect(answer["jsonrpc"] == "2.0", "\(name) \(number)")
            }
        } + [
            Reader(
                "stdio slow",
                BoundaryNumbers.all.filter { (Self.double($0) ?? 0) > 1e6 || $0.hasPrefix("-") }
            ) {
                let answer = try process.ask(Message.call(id: "1", "slow", #"{"seconds":\#($0)}"#))
                if Self.double($0) != 0 { #expect(answer.isToolError, "\($0)") }
            },
            Reader("stdio notifications") { number in
                try process.send(line: Message.cancel(number))
                try process.send(
                    line:
                        #"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":\#(number),"progress":\#(number)}}"#
                )
                try process.expectAlive()
            },
        ]
    }

    private static func double(_ text: String) -> Double? { JSONNumber(text: text)?.double }

    // MARK: mcp-server over HTTP

    private func http(_ daemon: HTTPDaemon) throws -> [Reader] {
        let session = try daemon.openSession("2025-11-25")
        let echo = Post(Message.echo(id: "1", "x"), name: "echo")
        let fields = [
            "Content-Length", "Mcp-Session-Id", "MCP-Protocol-Version", "Mcp-Name", "Last-Event-ID",
            "Keep-Alive", "Host",
            "Range", "Expect",
        ]
        return [
            Reader("HTTP argument") { number in
                let post = Post(Message.call(id: "1", "add", #"{"a":\#(number),"b":0.1}"#), name: "add")
                let answer = try daemon.ask(post)
                #expect(answer.message != nil, "\(number)")
            },
            Reader("HTTP chunk", BoundaryNumbers.digits) { number in
                let connection = try daemon.connect()
                try connection.send(Post.chunkedHead() + "\(number)\r\n")
                try connection.finishWriting()
                _ = try connection.response()
            },
            Reader("HTTP Accept") { number in
                _ = try daemon.ask(echo.with("Accept", "application/json;q=\(number), */*;q=\(number)"))
            },
            Reader("HTTP event id", BoundaryNumbers.digits) { number in
                var post = Post("", method: nil).with("Mcp-Session-Id", session)
                    .with("Last-Event-ID", "\(session.prefix(8))-\(number)")
                post.requestLine = "GET /mcp HTTP/1.1"
                let connection = try daemon.connect()
                try connection.send(post.bytes(port: daemon.port))
                try connection.finishWriting()
                try connection.waitForBytes(12)
            },
        ]
            + fields.map { field in
                Reader("HTTP \(field)") { number in
                    let connection = try daemon.connect()
                    try connection.send(echo.with(field, number).bytes(port: daemon.port))
                    try connection.finishWriting()
                    _ = try connection.response()
                }
            }
    }

    private func facade(_ daemon: HTTPDaemon) -> [Reader] {
        func post(_ path: String, _ body: String) throws -> WireResponse {
            var post = Post(body, method: nil)
            post.requestLine = "POST \(path) HTTP/1.1"
            return try daemon.ask(post)
        }
        return [
            Reader("register-tools") { number in
                let schema =
                    #"{"type":"object","properties":{"a":{"minimum":\#(number),"maxLength":\#(number)}}}"#
                let tool = #"{"name":"t","description":"d","parameters":\#(schema),"timeoutMs":\#(number)}"#
                let answer = try post(
                    "/register-tools", #"{"channel_id":"messaging:c","tools":[\#(tool),\#(number)]}"#)
                #expect([200, 400, 429].contains(answer.status), "\(answer.status)")
            },
            Reader("client-tools/result") { number in
                let block = #"{"type":"text","text":"","annotations":{"priority":\#(number)}}"#
                let result = #"{"content":[\#(block)],"structuredContent":{"a":\#(number)}}"#
                let answer = try post("/client-tools/result", #"{"invocation_id":"i","result":\#(result)}"#)
                // Nobody waits for it, or it does not fit.
                #expect([400, 404].contains(answer.status), "\(answer.status)")
            },
        ]
    }

    // MARK: The client

    private func clients(_ client: MCPClient, _ peer: HostilePeer) -> [Reader] {
        let results = [
            ("priority", ##"{"content":[{"type":"text","text":"x","annotations":{"priority":#}}]}"##),
            ("ttlMs", ##"{"content":[],"ttlMs":#,"cacheScope":"public"}"##),
            ("structured", ##"{"content":[],"structuredContent":{"a":#}}"##),
            ("isError", ##"{"content":[],"isError":#}"##), ("result", "#"),
            ("task", ##"{"resultType":"task","taskId":"t","status":"x","ttlMs":#,"pollIntervalMs":#}"##),
        ]
        return results.map { name, text in
            Reader("client \(name)") { number in
                peer.script.result.withLock { $0 = text.replacing("#", with: number) }
                _ = try? await client.callTool("t")
            }
        } + [
            Reader("client error") { number in
                peer.script.error.withLock { $0 = #"{"code":\#(number),"message":"m","data":\#(number)}"# }
                _ = try? await client.callTool("t")
                peer.script.error.withLock { $0 = nil }
            }
        ]
    }

    /// `mcp-client` as a process: every number in a report of progress, in `retry` and in the result.
    private func program(_ peer: HostilePeer) throws {
        let numbers = BoundaryNumbers.all.joined(separator: ",")
        peer.script.result.withLock {
            $0 = #"{"content":[{"type":"text","text":"done"}],"structuredContent":{"a":[\#(numbers)]}}"#
        }
        peer.script.reports.withLock { $0 = BoundaryNumbers.all }
        let launch = ProcessLaunch(
            BuiltProgram.path("mcp-client"), ["call", "--connect-timeout", "120", peer.url, "t"],
            environment: ["PATH": "/usr/bin:/bin", "HOME": "/dev/null"])
        let run = try ProcessRunner.run(launch)
        #expect(run.status == .exited(0), "\(run.status) \(String(decoding: run.errors, as: UTF8.self))")
        #expect(String(decoding: run.output, as: UTF8.self).contains("done"))
    }
}
