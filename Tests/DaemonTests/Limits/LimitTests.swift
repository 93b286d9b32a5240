import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Every row of the limits of docs/daemon.md is what the code has, and every limit acts.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LimitTests {
    @Test func thePageSaysWhatIsProven() throws {
        #expect(try LimitPage("daemon").differences(in: "Limits", Self.proofs) == [])
    }

    @Test(.ownThreads, arguments: proofs) func acts(_ proof: LimitProof) async throws {
        try await proof.acts()
    }

    static let commands = [
        LimitProof("run of a command", LimitText.seconds(ToolDefinition.defaultTimeout), timeout),
        LimitProof(
            "standard output of a run", LimitText.bytes(ToolDefinition.defaultMaxOutput), standardOutput),
        LimitProof("standard error of a run", LimitText.bytes(CommandTool.maxErrorBytes), standardError),
        LimitProof("commands that run at the same time", "\(CommandTool.maxRunning)", running),
        LimitProof(
            "one argument of a command", LimitText.bytes(CommandTemplate.maxArgumentBytes), argument),
        LimitProof("open paths of a command", "\(PassedDescriptor.maxCount)") {
            #if os(Linux)
            try await OpenedPathTests().theSamePathIsOpenedOnceAndOnlySoManyAre()
            #endif
        },
        LimitProof("commands of one caller", "\(CallSlots(CommandTool.maxRunning, areShared: true).maxOfOne)")
        {
            await CallSlotsTests().oneCallerCannotTakeAll()
        },
        LimitProof("calls of one caller that wait", "\(CallSlots.maxWaitingOfOne)") {
            await CallSlotsTests().oneCallerCannotTakeAll()
            await CallSlotsTests().theLineOfATool()
        },
        LimitProof("calls that wait for a command to end", "\(CallSlots.maxWaiting)", waiting),
        LimitProof("tasks that are kept or worked on", "\(ServerBuilder.maxTasks)") {
            try await LongWorkTests().finishedTasksMakeRoom()
        },
        LimitProof(
            "line of output as progress", LimitText.bytes(CommandProgress.maxLineBytes), CommandLimits.line),
        LimitProof("time between two reports of progress", "100 ms", CommandLimits.interval),
        LimitProof("output as a resource", LimitText.bytes(OutputStore.maxBytes), CommandLimits.output),
        LimitProof(
            "outputs kept as resources",
            "\(LimitText.bytes(OutputStore.maxTotalBytes)), \(OutputStore.maxCount) outputs, "
                + "\(OutputStore.lifetime.components.seconds / 60) min", CommandLimits.outputs),
        LimitProof(
            "outputs read to their end at the same time", "\(OutputStore.maxReading)", CommandLimits.reading),
        LimitProof(
            "results kept by `cacheTtl`",
            "\(LimitText.bytes(ResultCache.maxTotalBytes)), \(ResultCache.maxCount) results, "
                + "\(LimitText.bytes(ResultCache.maxBytes)) each", CommandLimits.results),
        LimitProof(
            "names that a page of files looks at", LimitText.grouped(FileWalk.maxLooks), files),
        LimitProof(
            "reads of files that wait, and as many lists and completions of files",
            LimitText.grouped(OffloadQueues.maxWaiting)
        ) { try await OffloadTests().theLineHasALimit() },
        LimitProof("levels of one root that are listed", "\(FileWalk.maxDepth)", levels),
        LimitProof("file that is read", LimitText.bytes(FilesDefinition.defaultMaxBytes), file),
        LimitProof("path of a unix socket", socketPathBytes, socketPath),
        LimitProof("configuration, a text in it", LimitText.bytes(ConfigFile.maxBytes), configuration),
        LimitProof("lock file of a server", LimitText.bytes(UpstreamReader.maxLockBytes), lockFile),
        LimitProof("files of a configuration (`include`)", "\(IncludedFiles.maxFiles)", included),
        LimitProof(
            "keys in `state.key`",
            "\(StateReader.maxKeys), of \(StateReader.keyBytes.lowerBound) to "
                + "\(LimitText.grouped(StateReader.keyBytes.upperBound)) bytes each"
        ) { try StateReaderTests().lengthsAndNumbersOfKeys() },
        LimitProof("prompts of one directory", LimitText.grouped(PromptReader.maxFiles), prompts),
    ]

    static let proofs = commands + ObserveLimits.proofs

    private static func tool(_ exec: String, _ more: String = "") throws -> ConfiguredServer {
        try ConfiguredServer(#"{ "tools": { "t": { "exec": \#(exec)\#(more) } } }"#, in: "/")
    }

    @Sendable private static func timeout() async throws {
        let short = try tool(#"["sleep", "60"]"#, #", "timeout": "500ms""#)
        let stopped = try await short.call("t")
        #expect(stopped.isError && stopped.text.contains("stopped after its timeout of 500 ms"))
        let done = try await tool(#"["sleep", "0.1"]"#, #", "timeout": "30s""#).call("t")
        #expect(!done.isError)
    }

    @Sendable private static func argument() async throws {
        let server = try ConfiguredServer(
            #"{ "tools": { "t": { "input": { "text": { "type": "string" } }, "exec": ["printf", "%.1s", "{text}"] } } }"#,
            in: "/")
        for (count, isError) in [(CommandTemplate.maxArgumentBytes, false), (131_072, true)] {
            let call = try await server.call("t", ["text": .string(String(repeating: "x", count: count))])
            #expect(call.isError == isError && call.text.contains("131072 bytes") == isError, "\(call.text)")
        }
    }

    private static var socketPathBytes: String {
        #if canImport(Darwin)
        "107 bytes; \(ConfiguredAddress.maxPathBytes) on macOS"
        #else
        "\(ConfiguredAddress.maxPathBytes) bytes; 103 on macOS"
        #endif
    }

    @Sendable private static func socketPath() async throws {
        let directory = try TemporaryDirectory()
        let room = ConfiguredAddress.maxPathBytes - directory.path.utf8.count - 1
        try #require(room > 0, "the temporary directory has a long path: \(directory.path)")
        for (count, fits) in [(room, true), (room + 1, false)] {
            let path = "\(directory.path)/\(String(repeating: "s", count: count))"
            #expect(((try? ConfiguredAddress("unix://\(path)")) != nil) == fits)
            #expect(((try? ConfiguredAddress(unixPath: path)) != nil) == fits)
        }
    }

    @Sendable private static func standardOutput() async throws {
        let limit = ToolDefinition.defaultMaxOutput
        let fits = try await tool(#"["printf", "%0\#(limit)d", "0"]"#).call("t")
        #expect(!fits.isError && fits.text.utf8.count == limit)
        let more = try await tool(#"["printf", "%0\#(limit + 1)d", "0"]"#).call("t")
        #expect(more.isError && more.text.contains("it wrote more than 256 KiB"))
    }

    @Sendable private static func standardError() async throws {
        for (excess, isStopped) in [(0, false), (1, true)] {
            let count = CommandTool.maxErrorBytes + excess
            let call = try await tool(#"["sh", "-c", "printf %0\#(count)d 0 >&2"]"#).call("t")
            #expect(call.isError == isStopped)
            #expect(!isStopped || call.text.contains("it wrote too much to standard error"))
        }
    }

    @Sendable private static func running() async throws {
        // One takes up to nine descriptors, and all together a quarter of them.
        let enough = CommandTool.maxRunning * 4 * 9
        for (files, count) in [(enough, 128), (10 * enough, 128), (enough - 1, 127), (0, 1)] {
            #expect(CommandTool.maxRunning(openFiles: files) == count)
        }
        let slots = CallSlots(CommandTool.maxRunning)
        for _ in 0 ..< CommandTool.maxRunning { #expect(await slots.acquire(timeout: .seconds(60))) }
        #expect(!(await slots.acquire(timeout: .milliseconds(20))))
        slots.release()
        #expect(await slots.acquire(timeout: .seconds(60)))
        try await CommandToolTests().onlySoManyRunAtTheSameTime()
    }

    /// One is turned away at once; the others have their turn when the slot is free.
    @Sendable private static func waiting() async throws {
        let slots = CallSlots(1)
        #expect(await slots.acquire(timeout: .seconds(60)))
        await withTaskGroup(of: Bool.self) { group in
            for number in 0 ... CallSlots.maxWaiting {
                group.addTask {
                    let caller = "\(number % 2)"
                    guard await slots.acquire(for: caller, timeout: .seconds(60)) else { return false }
                    slots.release(for: caller)
                    return true
                }
            }
            #expect(await group.next() == false)
            slots.release()
            var served = 0
            for await isServed in group where isServed { served += 1 }
            #expect(served == CallSlots.maxWaiting)
        }
    }

    /// Many files with the same content: names of one, since each written file waits for the disk.
    private static func fill(_ directory: TemporaryDirectory, _ names: [String]) throws {
        try directory.write("one", "x")
        for name in names {
            try #require(unsafe link("\(directory.path)/one", "\(directory.path)/\(name)") == 0)
        }
    }

    @Sendable private static func files() async throws {
        func next(_ count: Int) throws -> String? {
            var children = RootChildren()
            children.entries = (0 ..< count).map { RootChild(name: "f\($0 + 100_000)", isDirectory: false) }
            var walk = FileWalk(FileFilter(), limit: 1, children: { _ in children }, info: { _ in nil })
            try walk.run(after: nil)
            return walk.next
        }
        #expect(try next(FileWalk.maxLooks) == nil)
        #expect(try next(FileWalk.maxLooks + 1) == "f\(FileWalk.maxLooks + 99_999)")
    }

    @Sendable private static func levels() async throws {
        let directory = try TemporaryDirectory()
        var path = "docs"
        for level in 1 ... FileWalk.maxDepth + 1 {
            try directory.makeDirectory(path)
            try directory.write("\(path)/f\(level)", "x")
            path += "/d"
        }
        let definition = FilesDefinition(
            name: "docs", root: "\(directory.path)/docs", template: try FileURITemplate("docs:///{+path}"))
        let log = "\(directory.path)/log"
        let files = try DirectoryResources(definition, log: Log(sink: try LogSink(path: log, format: .text)))
        #expect(try await files.resources(after: nil, limit: 1_000).page.count == FileWalk.maxDepth)
        #expect(
            try ConfigFile.text(at: log, shownAs: "log").contains(
                "not everything is listed: a directory is too deep"))
    }

    @Sendable private static func file() async throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("docs")
        let limit = FilesDefinition.defaultMaxBytes
        try directory.write("docs/fits", [UInt8](repeating: 0x61, count: limit))
        try directory.write("docs/more", [UInt8](repeating: 0x61, count: limit + 1))
        let server = try ConfiguredServer(#"{ "files": { "docs": { "root": "docs" } } }"#, in: directory.path)
        let fits = try await server.request("resources/read", ["uri": "docs:///fits"])
        #expect(fits["result"]?["contents"]?[0]?["text"]?.stringValue?.utf8.count == limit)
        let more = try await server.request("resources/read", ["uri": "docs:///more"])
        #expect(more["error"]?["message"] == "docs:///more is larger than the limit of 1 MiB")
        let list = try await server.request("resources/list")
        #expect(list["result"]?["resources"]?.arrayValue?.count == 2)
    }

    @Sendable private static func configuration() async throws {
        let directory = try TemporaryDirectory()
        let limit = ConfigFile.maxBytes
        try directory.write("fits", [UInt8](repeating: 0x20, count: limit))
        try directory.write("more", [UInt8](repeating: 0x20, count: limit + 1))
        #expect(try ConfigFile.bytes(at: "\(directory.path)/fits", shownAs: "fits").count == limit)
        let refusal = #expect(throws: ConfigFileError.self) {
            try ConfigFile.bytes(at: "\(directory.path)/more", shownAs: "more")
        }
        #expect(refusal?.text == "more is larger than 4 MiB")
    }

    @Sendable private static func lockFile() async throws {
        let directory = try TemporaryDirectory()
        let text = Array(#"{"lockVersion":1,"servers":{"s":{}}}"#.utf8)
        func findings(_ count: Int) throws -> [String] {
            try directory.write("mcp.lock", text + [UInt8](repeating: 0x20, count: count - text.count))
            return ConfigurationLoader(environment: ["PATH": "/usr/bin:/bin"]).load(
                SourceText(name: "c", text: #"{"mcpServers":{"s":{"command":"cat","lock":"mcp.lock"}}}"#),
                directory: directory.path, Diagnostics()
            ).diagnostics.report
        }
        #expect(try findings(UpstreamReader.maxLockBytes) == [])
        #expect(
            try findings(UpstreamReader.maxLockBytes + 1).first?.contains("mcp.lock is larger than 16 MiB")
                == true)
    }

    @Sendable private static func included() async throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("conf.d")
        func findings(_ count: Int) throws -> [String] {
            try directory.write("conf.d/\(count).jsonc", "{}")
            return ConfigurationLoader(environment: [:]).load(
                SourceText(name: "c", text: #"{ "include": ["conf.d/*.jsonc"] }"#), directory: directory.path,
                Diagnostics()
            ).diagnostics.report
        }
        for number in 1 ..< IncludedFiles.maxFiles { try directory.write("conf.d/\(number).jsonc", "{}") }
        #expect(try findings(IncludedFiles.maxFiles).isEmpty)
        #expect(try findings(IncludedFiles.maxFiles + 1).first?.contains("more than 256 files") == true)
    }

    @Sendable private static func prompts() async throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("prompts")
        try fill(directory, (0 ..< PromptReader.maxFiles).map { "prompts/p\($0).md" })
        func load() -> (prompts: Int, report: String) {
            let outcome = ConfigurationLoader(environment: [:]).load(
                SourceText(name: "mcp.jsonc", text: #"{ "prompts": { "dir": "prompts" } }"#),
                directory: directory.path, Diagnostics())
            return (outcome.configuration.prompts.count, outcome.diagnostics.report.joined(separator: "\n"))
        }
        #expect(load().prompts == PromptReader.maxFiles)
        try directory.write("prompts/more.md", "x")
        #expect(load().prompts == 0 && load().report.contains("contains more than 1000 files"))
    }
}

/// The limits of what the server writes down about its work.
enum ObserveLimits {
    static let proofs = [
        LimitProof(
            "lines of the audit log that wait for the disk", LimitText.bytes(AuditLog.maxPendingBytes),
            waiting),
        LimitProof("arguments in a line of the audit log", LimitText.bytes(Redactor.maxBytes), arguments),
        LimitProof("tools with metrics of their own", LimitText.grouped(CallMetrics.maxTools), tools),
        LimitProof("errors that are kept", "\(ErrorRing.capacity)") { MetricsTests().errorsAreARing() },
        LimitProof(
            "messages of the flight recorder together", LimitText.bytes(FlightRecorder.maxBytes), recorder),
        LimitProof("files of the flight recorder", "\(FlightRecorder.maxFiles)", files),
        LimitProof(
            "secrets of upstreams that the flight recorder leaves out",
            "\(LimitText.grouped(HiddenSecrets.maxCount)), of the last configurations"
        ) {
            let secrets = HiddenSecrets()
            let redactor = Redactor(RedactionSettings(), hiding: secrets)
            secrets.hide((0 ... HiddenSecrets.maxCount).map { "secret-\($0)." })
            var line = LineText()
            let isDone = redactor.append(RawJSON(["secret-0.", "secret-1."] as JSONValue), to: &line)
            #expect(isDone)
            #expect(String(decoding: line.bytes, as: UTF8.self) == #"["secret-0.","[redacted]"]"#)
        },
    ]

    @Sendable private static func waiting() async throws {
        let directory = try TemporaryDirectory()
        let log = try AuditLog(AuditSettings(file: "\(directory.path)/a"), log: .disabled)
        let line = [UInt8](repeating: 0x20, count: AuditLog.maxPendingBytes - 1)
        log.add(line)
        #expect(log.status.lost == 0)
        // Unless the first one was written in between, which makes room.
        log.add(line)
        log.finish()
        #expect(log.status.lost + log.status.written == 2)
        log.add(line + [0x20])
        #expect(log.status.lost >= 1)
    }

    @Sendable private static func arguments() async throws {
        try RedactorTests().manyArgumentsAreOnlyCounted()
        let fits = try RawJSON(validating: "\"\(String(repeating: "x", count: Redactor.maxBytes - 2))\"")
        var line = LineText()
        #expect(Redactor(RedactionSettings()).append(fits, to: &line))
    }

    @Sendable private static func tools() async throws {
        let metrics = CallMetrics { _ in true }
        var options = ServerOptions()
        options.middleware = [
            Observer(
                metrics: metrics, audit: nil, recorder: nil, errors: nil, calls: .none, log: .disabled)
        ]
        let server = MCPServer("m", version: "1", options: options)
        server.addTool("one", "One") { "" }
        for number in 0 ... CallMetrics.maxTools {
            let text =
                #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t\#(number)","_meta":"#
                + #"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#
                + #""io.modelcontextprotocol/clientCapabilities":{}}}}"#
            _ = await server.handle(Array(text.utf8))
        }
        let names = Set(metrics.snapshot.series.map(\.tool))
        #expect(names.count == CallMetrics.maxTools + 1 && names.contains(CallMetrics.otherTools))
    }

    @Sendable private static func recorder() async throws {
        let directory = try TemporaryDirectory()
        var settings = RecorderSettings(directory: directory.path)
        settings.keep = 10_000
        settings.triggers = []
        let recorder = FlightRecorder(settings, log: .disabled)
        var options = ServerOptions()
        options.middleware = [
            Observer(
                metrics: nil, audit: nil, recorder: recorder, errors: nil, calls: .none, log: .disabled)
        ]
        let server = MCPServer("m", version: "1", options: options)
        let text =
            #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":""#
            + String(repeating: "x", count: 60_000)
            + #"","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#
            + #""io.modelcontextprotocol/clientCapabilities":{}}}}"#
        server.addTool("one", "One") { "" }
        for _ in 0 ..< 300 { _ = await server.handle(Array(text.utf8)) }
        #expect(recorder.exchanges < 280 && recorder.exchanges > 250)
    }

    @Sendable private static func files() async throws {
        let directory = try TemporaryDirectory()
        var settings = RecorderSettings(directory: directory.path)
        settings.triggers = [.signal]
        let recorder = FlightRecorder(settings, log: .disabled)
        var options = ServerOptions()
        options.middleware = [
            Observer(
                metrics: nil, audit: nil, recorder: recorder, errors: nil, calls: .none, log: .disabled)
        ]
        let server = MCPServer("m", version: "1", options: options)
        server.addTool("one", "One") { "" }
        let text =
            #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":"#
            + #"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#
            + #""io.modelcontextprotocol/clientCapabilities":{}}}}"#
        _ = await server.handle(Array(text.utf8))
        for _ in 0 ..< FlightRecorder.maxFiles + 3 { recorder.dump("test") }
        recorder.finish()
        #expect(try Files.names(in: directory.path).names.count == FlightRecorder.maxFiles)
    }
}
