import MCPCore
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The file of the audit log: its chain, rotation, and what happens when it cannot be written.
@Suite struct AuditLogTests {
    private func open(_ path: String, isChained: Bool = false) throws -> AuditLog {
        var settings = AuditSettings(file: path)
        settings.isChained = isChained
        return try AuditLog(settings, log: .disabled)
    }

    private func add(_ numbers: ClosedRange<Int>, to log: AuditLog) {
        for number in numbers { log.add(Array("{\"n\":\(number)".utf8)) }
        log.finish()
    }

    private func text(_ path: String) throws -> String {
        String(decoding: try Files.read(path, maxBytes: 1 << 20), as: UTF8.self)
    }

    private func report(_ paths: String...) throws -> AuditChain.Report {
        var report = AuditChain.Report()
        var head: String?
        for path in paths {
            var verifier = AuditChain.Verifier(after: head)
            for line in try text(path).split(separator: "\n") where !verifier.add(Array(line.utf8)) { break }
            verifier.end()
            report = verifier.report
            head = report.last
        }
        return report
    }

    /// Lines that were lost are told of, also if none comes after them.
    @Test(arguments: [false, true]) func whatWasLostIsToldAtTheEnd(_ isChained: Bool) throws {
        let directory = try TemporaryDirectory()
        let log = try open("\(directory.path)/audit", isChained: isChained)
        for _ in 0 ..< 2 { log.add([UInt8](repeating: 0x20, count: AuditLog.maxPendingBytes)) }
        add(1 ... 1, to: log)
        let lines = try text("\(directory.path)/audit").split(separator: "\n")
        #expect(lines.count == 2, "\(lines)")
        #expect(lines.last?.contains(#","event":"lost","lines":2"#) == true, "\(lines)")
        #expect(log.status.lost == 2 && log.status.written == 1)
        if isChained { #expect(try report("\(directory.path)/audit").problem == nil) }
        // Once.
        log.finish()
        #expect(try text("\(directory.path)/audit").split(separator: "\n").count == 2)
    }

    /// Names of callers are cut, and no escape with them.
    @Test(arguments: [
        String(repeating: "a", count: 1_023) + #"\"b"#, String(repeating: #"\u00e9"#, count: 200),
        "a" + String(repeating: #"\""#, count: 600), "a" + String(repeating: #"\\"#, count: 600),
        String(repeating: "😀", count: 300), #"short \" \\ \u0000"#,
    ])
    func namesAreValidJSON(_ name: String) async throws {
        let directory = try TemporaryDirectory()
        let log = try open("\(directory.path)/audit", isChained: true)
        var options = ServerOptions()
        options.middleware = [
            Observer(
                metrics: nil, audit: (log, Redactor(RedactionSettings())), recorder: nil, errors: nil,
                calls: .none, log: .disabled)
        ]
        let server = MCPServer("m", version: "1", options: options)
        let version = #""io.modelcontextprotocol/protocolVersion":"2026-07-28""#
        let capabilities = #""io.modelcontextprotocol/clientCapabilities":{}"#
        _ = await server.handle(
            Array(
                #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\#(name)","arguments":{},"#
                    .utf8)
                + Array(#""_meta":{\#(version),\#(capabilities)}}}"#.utf8))
        log.finish()
        let lines = try text("\(directory.path)/audit").split(separator: "\n")
        #expect(lines.count == 1)
        for line in lines { #expect(throws: Never.self) { try JSONValue(parsing: Array(line.utf8)) } }
        #expect(try report("\(directory.path)/audit").problem == nil)
    }

    /// What a caller names, and what it is told, without secrets of servers behind this one.
    @Test func namesWithoutSecrets() async throws {
        let directory = try TemporaryDirectory()
        let log = try open("\(directory.path)/audit")
        let (secrets, errors) = (HiddenSecrets(), ErrorRing())
        secrets.hide(["the-first-line\nthe-last-line"])
        var options = ServerOptions()
        options.middleware = [
            Observer(
                metrics: nil, audit: (log, Redactor(RedactionSettings(), hiding: secrets)), recorder: nil,
                errors: errors, calls: .all, hiding: secrets,
                log: Log(sink: try LogSink(path: "\(directory.path)/log", format: .json)))
        ]
        let message = """
            {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x-the-last-line",\
            "arguments":{"the-last-line":"the-first-line"},"_meta":{\
            "io.modelcontextprotocol/protocolVersion":"2026-07-28",\
            "io.modelcontextprotocol/clientCapabilities":{}}}}
            """
        let server = MCPServer("m", version: "1", options: options)
        server.addTool("x", "X") { () in "x" }
        _ = await server.handle(Array(message.utf8))
        log.finish()
        let audit = try text("\(directory.path)/audit")
        #expect(audit.contains(#""name":"x-[redacted]","arguments":{"[redacted]":"[redacted]"}"#), "\(audit)")
        #expect(try text("\(directory.path)/log").contains("x-[redacted]"))
        let error = try #require(errors.last(1).first)
        #expect(error.name == "x-[redacted]" && !error.text.contains("the-last-line"), "\(error)")
    }

    /// A message that was refused on its own has a code, and no status of HTTP.
    @Test func refusalsInTheLog() async throws {
        let directory = try TemporaryDirectory()
        var options = ServerOptions()
        options.middleware = [
            Observer(
                metrics: nil, audit: nil, recorder: nil, errors: nil, calls: .all,
                log: Log(sink: try LogSink(path: "\(directory.path)/log", format: .json)))
        ]
        _ = await MCPServer("m", version: "1", options: options).handle(Array("{".utf8))
        let line = try JSONValue(parsing: Array(try text("\(directory.path)/log").utf8))
        #expect(line["event"] == "request refused" && line["code"] == -32700, "\(line)")
        #expect(line["status"] == nil)
    }

    /// An operation on a task names it; reading its state has no line unless it fails.
    @Test func operationsOnTasks() async throws {
        let directory = try TemporaryDirectory()
        let log = try open("\(directory.path)/audit")
        var options = ServerOptions()
        options.tasks = TaskOptions()
        options.middleware = [
            Observer(
                metrics: nil, audit: (log, Redactor(RedactionSettings())), recorder: nil, errors: nil,
                calls: .none, log: .disabled)
        ]
        let server = MCPServer("m", version: "1", options: options)
        try server.register(Tool("job", inputSchema: ["type": "object"]), task: .required) { _, context in
            try await context.becomeTask()
            return .text("done")
        }
        func request(_ method: String, _ params: JSONObject) async throws -> JSONValue {
            var params = params
            params["_meta"] = [
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": [
                    "extensions": ["io.modelcontextprotocol/tasks": [:]]
                ],
            ]
            let message: JSONValue = [
                "jsonrpc": "2.0", "id": 1, "method": .string(method), "params": .object(params),
            ]
            return try JSONValue(parsing: try #require(await server.handle(Array(message.serialized().utf8))))
        }
        let begun = try await request("tools/call", ["name": "job", "arguments": [:]])
        let id = try #require(begun["result"]?["taskId"])
        _ = try await request("tasks/get", ["taskId": id])
        _ = try await request("tasks/cancel", ["taskId": id])
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            _ = try await request(method, ["taskId": "mcps_\"x", "inputResponses": [:]])
        }
        log.finish()
        let lines = try text("\(directory.path)/audit").split(separator: "\n").map {
            try JSONValue(parsing: Array($0.utf8))
        }
        let operations = lines.filter { $0["method"]?.stringValue?.hasPrefix("tasks/") == true }
        #expect(
            operations.map { $0["method"] } == ["tasks/cancel", "tasks/get", "tasks/update", "tasks/cancel"])
        #expect(operations.first?["task"] == id, "\(operations)")
        #expect(operations.dropFirst().allSatisfy { $0["outcome"] == "error" && $0["task"] != nil })
    }

    /// What the requests of a connection have in common is remembered, and nothing else.
    @Test func linesOfOneConnectionDiffer() async throws {
        let directory = try TemporaryDirectory()
        let log = try open("\(directory.path)/audit")
        var options = ServerOptions()
        options.middleware = [
            Observer(
                metrics: nil, audit: (log, Redactor(RedactionSettings())), recorder: nil, errors: nil,
                calls: .none, log: .disabled)
        ]
        let server = MCPServer("m", version: "1", options: options)
        for name in ["one", "two"] {
            server.addTool(name, "", Argument("text")) { (text: String) in text }
        }
        var expected: [String] = []
        for client in ["a", "b"] {
            for name in ["one", "one", "two", "one", "none"] {
                expected.append("\(client)/1 \(name) \(name == "none" ? "error" : "ok")")
                let message: JSONValue = [
                    "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                    "params": [
                        "name": .string(name), "arguments": ["text": .string(name)],
                        "_meta": [
                            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                            "io.modelcontextprotocol/clientCapabilities": [:],
                            "io.modelcontextprotocol/clientInfo": ["name": .string(client), "version": "1"],
                        ],
                    ],
                ]
                _ = await server.handle(Array(message.serialized().utf8))
            }
        }
        log.finish()
        let lines = try text("\(directory.path)/audit").split(separator: "\n").map {
            try JSONValue(parsing: Array($0.utf8))
        }
        let found = lines.map { line in
            ["client", "name", "outcome"].map { line[$0]?.stringValue ?? "-" }.joined(separator: " ")
        }
        #expect(found == expected)
        for line in lines {
            #expect(line["arguments"]?["text"] == line["name"])
            let time = line["time"]?.stringValue ?? ""
            #expect(time.utf8.count == 24 && time.hasSuffix("Z") && time.contains("T"), "\(time)")
        }
        let times = lines.compactMap { $0["time"]?.stringValue }
        #expect(times.sorted() == times && times.count == lines.count)
    }

    @Test func linesWithoutAChain() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/audit.jsonl"
        add(1 ... 2, to: try open(path))
        #expect(try text(path) == "{\"n\":1}\n{\"n\":2}\n")
        #expect(try Files.info(path).permissions == 0o600)
    }

    /// The chain spans restarts and a rotation by rename.
    @Test func theChainContinues() throws {
        let directory = try TemporaryDirectory()
        let (path, old) = ("\(directory.path)/audit.jsonl", "\(directory.path)/audit.jsonl.1")
        add(1 ... 3, to: try open(path, isChained: true))
        let log = try open(path, isChained: true)
        add(4 ... 5, to: log)
        #expect(unsafe rename(path, old) == 0)
        add(6 ... 7, to: log)
        #expect(try report(old).lines == 5)
        #expect(try report(old).first == AuditChain.start)
        let both = try report(old, path)
        #expect(both.problem == nil && both.lines == 2)
        #expect(log.status.head == both.last)
    }

    /// A file that a rotation has emptied or replaced has the digest of the one before when the server ends,
    /// and also once it was told to open its files again.
    @Test(arguments: ["rename", "create", "copytruncate"], [false, true])
    func theChainContinuesWithoutACall(_ rotation: String, _ isTold: Bool) async throws {
        let directory = try TemporaryDirectory()
        let (path, old) = ("\(directory.path)/audit.jsonl", "\(directory.path)/audit.jsonl.1")
        let log = try open(path, isChained: true)
        add(1 ... 2, to: log)
        if rotation == "copytruncate" {
            try directory.write("audit.jsonl.1", try text(path))
        } else {
            #expect(unsafe rename(path, old) == 0)
        }
        if rotation != "rename" { try directory.write("audit.jsonl", "") }
        if isTold { log.reopen() } else { log.finish() }
        // Both are done by the same thread, one after another.
        log.finish()
        #expect(try text(path).contains("\"event\":\"rotated\""))
        #expect(log.status.written == 2)
        add(3 ... 3, to: try open(path, isChained: true))
        let both = try report(old, path)
        #expect(both.problem == nil && both.lines == 2)
    }

    /// Lines that are lost are counted once, whatever was saved of an earlier batch.
    @Test func aFileThatCannotBeOpened() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/audit.jsonl"
        let log = try open(path)
        add(1 ... 2, to: log)
        // A directory takes the place of the file.
        #expect(unsafe rename(path, path + ".1") == 0)
        try directory.makeDirectory("audit.jsonl")
        add(3 ... 5, to: log)
        add(6 ... 6, to: log)
        #expect(log.status.written == 2 && log.status.lost == 4, "\(log.status)")
        #expect(unsafe rmdir(path) == 0)
        add(7 ... 7, to: log)
        #expect(log.status.written == 3 && log.status.lost == 4, "\(log.status)")
        #expect(try text(path).contains("\"event\":\"lost\",\"lines\":4"))
    }

    /// A file that cannot be opened again is known before the next line, and so is that it can be.
    @Test(arguments: [false, true], [false, true])
    func aFileThatCannotBeOpenedAgain(_ isChained: Bool, _ isTold: Bool) async throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/audit.jsonl"
        let log = try open(path, isChained: isChained)
        add(1 ... 2, to: log)
        #expect(unsafe rename(path, path + ".1") == 0)
        try directory.makeDirectory("audit.jsonl")
        if isTold { log.reopen() }
        await log.look()
        #expect(log.status.failure?.contains("audit.jsonl") == true)
        #expect(log.status.written == 2 && log.status.lost == 0, "\(log.status)")
        #expect(unsafe rmdir(path) == 0)
        if isTold { log.reopen() }
        await log.look()
        #expect(log.status.failure == nil)
        add(3 ... 3, to: log)
        #expect(log.status.written == 3 && log.status.lost == 0, "\(log.status)")
        if isChained { #expect(try report(path + ".1", path).problem == nil) }
    }

    /// Nothing is written about a rotation where there is no chain to continue.
    @Test(arguments: [false, true]) func anEmptyFileStaysEmpty(_ isChained: Bool) throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/audit.jsonl"
        let log = try open(path, isChained: isChained)
        if !isChained {
            add(1 ... 1, to: log)
            #expect(unsafe truncate(path, 0) == 0)
        }
        log.reopen()
        log.finish()
        #expect(try text(path).isEmpty)
    }

    @Test(arguments: [
        ("{\"n\":2", "{\"n\":9", 3), ("\"prev\"", "\"next\"", 1), ("{\"n\":3,", "{\"n\":3;", 4),
    ])
    func aChangedLineIsFound(_ old: String, _ new: String, _ line: Int) throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/audit.jsonl"
        add(1 ... 4, to: try open(path, isChained: true))
        try directory.write("audit.jsonl", try text(path).replacing(old, with: new, maxReplacements: 1))
        #expect(try report(path).problem?.line == line)
    }

    @Test func aRemovedLineIsFound() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/audit.jsonl"
        add(1 ... 4, to: try open(path, isChained: true))
        var lines = try text(path).split(separator: "\n")
        lines.remove(at: 1)
        try directory.write("audit.jsonl", lines.joined(separator: "\n") + "\n")
        #expect(try report(path).problem?.line == 2)
    }

    /// After `kill -9` or on a full disk, the last line may be incomplete: it stays alone on its line.
    @Test func anIncompleteLineStaysAlone() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/audit.jsonl"
        add(1 ... 2, to: try open(path, isChained: true))
        let whole = try text(path)
        try directory.write("audit.jsonl", String(whole.dropLast(10)))
        add(3 ... 3, to: try open(path, isChained: true))
        #expect(try text(path).split(separator: "\n").count == 3)
        let found = try report(path)
        #expect(found.problem == nil && found.incomplete == [2] && found.lines == 3)
    }

    /// Behind an incomplete line the chain continues: what is changed, removed or inserted there is found.
    @Test func linesBehindAnIncompleteOneAreVerified() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/audit.jsonl"
        add(1 ... 3, to: try open(path, isChained: true))
        try directory.write("audit.jsonl", String(try text(path).dropLast(10)))
        add(4 ... 7, to: try open(path, isChained: true))
        let lines = try text(path).split(separator: "\n").map(String.init)
        #expect(lines.count == 7)
        func problem(_ change: (inout [String]) -> Void) throws -> AuditChain.Break? {
            var changed = lines
            change(&changed)
            try directory.write("audit.jsonl", changed.joined(separator: "\n") + "\n")
            return try report(path).problem
        }
        #expect(try problem { _ in } == nil)
        #expect(try problem { $0.remove(at: 4) }?.line == 5)
        #expect(try problem { $0[4] = $0[4].replacing("{\"n\":5", with: "{\"n\":9") }?.line == 6)
        #expect(try problem { $0.insert($0[4], at: 5) }?.line == 6)
        // Nor can the incomplete line be another one, or a whole one be made incomplete.
        #expect(try problem { $0.remove(at: 2) }?.line == 3)
        #expect(try problem { $0[2] += "x" }?.line == 4)
        #expect(try problem { $0[4] = String($0[4].dropLast(3)) }?.line == 6)
        // The first line of a file, and a file that is something else.
        #expect(try problem { $0.removeSubrange(..<2) } == nil)
        #expect(try problem { $0 = ["# Title", "text"] }?.text.hasPrefix("not a line") == true)
        #expect(try problem { $0 = [] } == nil)
    }

    #if os(Linux)
    /// The command names the incomplete line, and finds a change behind it.
    @Test func verifyContinuesBehindAnIncompleteLine() async throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/audit.jsonl"
        add(1 ... 2, to: try open(path, isChained: true))
        try directory.write("audit.jsonl", String(try text(path).dropLast(10)))
        add(3 ... 5, to: try open(path, isChained: true))
        let program = try WatchedProgram.path()
        func verify() async throws -> (ProcessExit, [String]) {
            let launch = ProcessLaunch(
                program, ["audit", "verify", path], environment: WatchedProgram.environment)
            let result = try await Offload.run { try ProcessRunner.run(launch) }
            let lines = String(decoding: result.output, as: UTF8.self).split(separator: "\n")
            return (result.status, lines.map { String($0.replacing(path, with: "FILE")) })
        }
        let cut = "FILE:2: incomplete: the disk was full, the server was killed, or the line was cut"
        let (status, lines) = try await verify()
        #expect(status == .exited(0))
        #expect(lines.prefix(2) == [cut, "FILE: ok (5 lines, 1 of them incomplete)"], "\(lines)")
        try directory.write("audit.jsonl", try text(path).replacing("{\"n\":4", with: "{\"n\":9"))
        let (forged, found) = try await verify()
        #expect(forged == .exited(8))
        #expect(found.first == cut && found.last?.hasPrefix("FILE:5: does not fit") == true, "\(found)")
        // Another file, some of whose lines happen to be JSON.
        for (other, line) in [("{\n  \"tools\": {\n{}\n}\n", 3), ("a\nb\n", 2)] {
            try directory.write("audit.jsonl", other)
            let (_, lines) = try await verify()
            #expect(lines.count == 1 && lines[0].hasPrefix("FILE:\(line): "), "\(lines)")
        }
    }

    /// Files in another order are no broken chain, and the program says so.
    @Test func theFilesOfAChainHaveAnOrder() async throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/audit.jsonl"
        let log = try open(path, isChained: true)
        for (numbers, name) in [(1 ... 2, "a"), (3 ... 4, "b")] {
            add(numbers, to: log)
            #expect(unsafe rename(path, "\(directory.path)/\(name)") == 0)
        }
        add(5 ... 6, to: log)
        let program = try WatchedProgram.path()
        func verify(_ names: String...) async throws -> [String] {
            let launch = ProcessLaunch(
                program, ["audit", "verify"] + names.map { "\(directory.path)/\($0)" },
                environment: WatchedProgram.environment)
            let result = try await Offload.run { try ProcessRunner.run(launch) }
            let lines = String(decoding: result.output, as: UTF8.self).split(separator: "\n")
            return lines.map { $0.replacing(directory.path + "/", with: "") }.filter {
                !$0.hasPrefix("last: ")
            }
        }
        #expect(try await verify("a", "b", "audit.jsonl").count == 3)
        let swapped = try await verify("audit.jsonl", "b", "a")
        #expect(
            swapped.dropFirst().first?.hasPrefix("b:1: does not fit the line before") == true, "\(swapped)")
        #expect(swapped.last == "hint: audit.jsonl continues b: name the files in their order, oldest first")
        let oldest = try await verify("b", "a")
        #expect(oldest.dropFirst().first?.hasPrefix("a:1: begins a new chain") == true, "\(oldest)")
        #expect(oldest.last == "hint: b continues a: name the files in their order, oldest first")
        let gap = try await verify("a", "audit.jsonl")
        #expect(gap.last?.hasPrefix("hint: the files may be in another order, or one is left out") == true)
    }
    #endif

    @Test func copyingAndTruncatingLosesNothing() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/audit.jsonl"
        let log = try open(path, isChained: true)
        add(1 ... 2, to: log)
        try directory.write("old", try text(path))
        #expect(unsafe truncate(path, 0) == 0)
        add(3 ... 4, to: log)
        #expect(try text(path).hasPrefix("{\"n\":3"))
        #expect(try report("\(directory.path)/old", path).problem == nil)
    }

    #if os(Linux)
    /// What cannot be written is counted, and the file says so later.
    @Test func aFullDisk() throws {
        let log = try open("/dev/full")
        add(1 ... 3, to: log)
        #expect(log.status.lost == 3 && log.status.written == 0)
        #expect(log.status.failure?.contains("No space left") == true)
    }

    /// A write that ends in the middle saves the lines before: they are not counted as lost.
    @Test func aWriteThatEndsInTheMiddle() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/pipe"
        #expect(unsafe mkfifo(path, 0o600) == 0)
        let reader = FileDescriptor(owning: unsafe Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC))
        let log = try open(path)
        let line = Array(#"{"n":"\#(String(repeating: "x", count: 990))""#.utf8)
        // More than a pipe holds.
        for _ in 1 ... 100 { log.add(line) }
        log.finish()
        var bytes = [UInt8](repeating: 0, count: 200_000)
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe read(reader.rawValue, $0.baseAddress, $0.count)
        }
        let saved = bytes[..<max(0, count)].count { $0 == 0x0A }
        #expect(saved > 0 && saved < 100)
        #expect(log.status.written == saved && log.status.lost == 100 - saved)
    }
    #endif

    @Test func linksAndOtherThingsAreRefused() throws {
        let directory = try TemporaryDirectory()
        try directory.write("target", "")
        try directory.link("link", to: "\(directory.path)/target")
        for name in ["link", "missing/file"] {
            #expect(throws: IOError.self) { try open("\(directory.path)/\(name)") }
        }
    }

    /// The reopened log file has the lines after its rotation.
    @Test func theLogIsRotatedToo() async throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/server.log"
        let log = Log(sink: try LogSink(path: path, format: .text))
        log.info("one")
        #expect(unsafe rename(path, path + ".1") == 0)
        log.reopen()
        log.info("two")
        #expect(try text(path + ".1").contains("one"))
        #expect(try text(path).contains("two"))
    }

    #if os(Linux)
    /// Two servers would break each other's chain; the lock of one that is killed goes with it.
    @Test func aChainHasOneWriter() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "mcp.jsonc",
            #"{ "observe": { "audit": { "file": "audit.jsonl", "chain": true } }, "tools": { "t": { "exec": ["true"] } } }"#
        )
        let file = "\(directory.path)/mcp.jsonc"
        let first = try await WatchedProgram(configuration: file, socket: "\(directory.path)/a")
        let launch = ProcessLaunch(
            try WatchedProgram.path(), ["-c", file, "--listen", "unix://\(directory.path)/b"],
            environment: WatchedProgram.environment)
        let second = try await Offload.run { try ProcessRunner.run(launch) }
        let errors = String(decoding: second.errors, as: UTF8.self)
        #expect(second.status == .exited(2))
        #expect(
            errors.contains("another server writes \(directory.path)/audit.jsonl, and a chain has one writer")
        )
        // The owner opens it again, whether it was renamed or not.
        for name in [nil, "old.jsonl"] {
            if let name {
                #expect(
                    unsafe rename("\(directory.path)/audit.jsonl", "\(directory.path)/\(name)") == 0)
            }
            let before = first.output.ranges(of: #""event":"reloaded""#).count
            first.signal(SIGHUP)
            #expect(await first.logs(#""event":"reloaded""#, times: before + 1))
            let client = try await MCPClient.connect(.unix(path: first.socket))
            _ = try await client.callTool("t")
            await client.close()
            #expect(
                await eventually {
                    (try? text("\(directory.path)/audit.jsonl"))?.contains("tools/call") == true
                })
        }
        #expect(!first.output.contains("audit failing"))
        first.signal(SIGKILL)
        _ = await first.wait()
        let third = try await WatchedProgram(configuration: file, socket: "\(directory.path)/b")
        await third.stop()
        let chain = try report("\(directory.path)/old.jsonl", "\(directory.path)/audit.jsonl")
        #expect(chain.problem == nil)
    }
    #endif
}
