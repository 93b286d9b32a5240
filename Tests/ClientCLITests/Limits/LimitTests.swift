import Foundation
import MCPApps
import MCPCore
import TestSupport
import Testing

@testable import MCPClientCLI

/// Every row of the limits of docs/cli.md, and of those of docs/limits.md about the page of `mcp-client host`, is
/// what the code has, and every limit acts.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LimitTests {
    @Test func thePageSaysWhatIsProven() throws {
        #expect(try LimitPage("limits").differences(in: "The page of views", Self.proofs) == [])
    }

    @Test func thePageOfTheClientSaysWhatIsProven() throws {
        #expect(try LimitPage("cli").differences(in: "Limits", Self.ownProofs) == [])
    }

    static let ownProofs = [
        LimitProof("file or standard input for arguments", LimitText.bytes(SystemFile.maxBytes), input),
        LimitProof(
            "file with a secret: a token, a password, a key, an assertion",
            LimitText.bytes(SystemFile.maxSecretBytes), secret),
        LimitProof(
            "text that a configuration includes (`envFile`, `${file:PATH}`)",
            LimitText.bytes(ConfigFile.maxBytes), included),
        LimitProof(
            "configuration file of any program", LimitText.bytes(ConfigPlace.maxBytes), configuration),
        LimitProof("allowed servers of projects", LimitText.grouped(AllowedServers.maxEntries), allowed),
        LimitProof(
            "wait for another process that changes the same file", LimitText.seconds(ChangeLock.limit),
            { try await ChangeLockTests().aFileThatIsBeingChanged() }),
        LimitProof(
            "question about a project's server",
            "\(LimitText.grouped(ServerOutline.maxCharacters)) characters, \(ServerOutline.maxLines) lines",
            outlines),
        LimitProof(
            "questions of a server in one command", LimitText.grouped(Interaction.maxQuestions),
            {
                try await QuestionTests().questionsWithoutEnd()
            }),
        LimitProof("lines of a server's question", "\(MarkedText.maxLines)", questionLines),
        LimitProof(
            "value that is shown before it is sent",
            "\(LimitText.grouped(Prompter.shownCharacters)) characters",
            { try await QuestionTests().whatIsSentIsShown() }),
        LimitProof("address of a page to open", LimitText.bytes(PageAddress.maxBytes), pageAddress),
        LimitProof("files that `-o` writes beside FILE", LimitText.grouped(ResultPrinter.maxFiles), files),
        LimitProof("one file of the cache", LimitText.bytes(DiskCache.maxFileBytes), cachedFile),
        LimitProof(
            "files of the cache",
            "\(DiskCache.maxFiles), \(LimitText.bytes(DiskCache.maxBytes)) in all", cachedFiles),
        LimitProof("pages of one list", LimitText.grouped(Session.maxPages), pages),
        LimitProof(
            "one list with all its pages",
            "\(LimitText.grouped(Session.maxListEntries)) entries, \(LimitText.bytes(Session.maxListBytes))",
            lists),
        LimitProof(
            "proposals of a completion",
            "\(LimitText.grouped(Candidate.maxCount)), \(Candidate.maxBytes) bytes each", proposals),
        LimitProof("time for proposals", LimitText.seconds(Completer.limit), proposalTime),
        LimitProof(
            "time for a response that `doctor` waits for", LimitText.seconds(DoctorCommand.patience),
            { try await DoctorCommandTests().aProxyThatBuffersAndAServerForEveryPage() }),
        LimitProof(
            "history of `shell`",
            "\(LimitText.grouped(ShellHistory.maxLines)) lines, \(LimitText.bytes(ShellHistory.maxBytes))",
            history),
        LimitProof("line of the input of `shell`", LimitText.bytes(InputReader.maxLineBytes), shellLine),
        LimitProof("image shown in a terminal", LimitText.bytes(TerminalGraphics.maxBytes), images),
        LimitProof(
            "line on a terminal", "\(LimitText.grouped(TerminalText.maxLineLength)) characters", lineOfText),
    ]

    /// Beyond a smaller limit, which is the same code.
    @Sendable private static func input() async throws {
        let path = NSTemporaryDirectory() + "mcp-input-\(UUID().uuidString.prefix(8))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let limit = 1 << 20
        for (count, fits) in [(limit, true), (limit + 1, false)] {
            try Data(count: count).write(to: URL(fileURLWithPath: path))
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            let bytes = try? SystemFile.readAll(file.fileDescriptor, name: path, atMost: limit)
            #expect(bytes?.count == (fits ? count : nil))
        }
    }

    /// What is at the limit is read, and is no token; beyond it nothing is read, of a device neither.
    @Sendable private static func secret() async throws {
        let folder = TemporaryDirectory()
        let limit = SystemFile.maxSecretBytes
        try folder.write("fits", String(repeating: " ", count: limit))
        try folder.write("more", String(repeating: " ", count: limit + 1))
        for (path, says) in [
            (folder.path + "/fits", "fits is empty"), (folder.path + "/more", "more is larger than 1 MiB"),
            ("/dev/zero", "/dev/zero is larger than 1 MiB"),
        ] {
            for (flag, command) in [
                ("--bearer-file", "tools"), ("--token-file", "provide"), ("--client-secret-file", "login"),
            ] {
                var words = [flag, path, command]
                if command == "provide" { words += ["--tool", "greet", "--once"] }
                if command == "login" { words += ["--client-id", "c", "--auth-grant", "client-credentials"] }
                let outcome = try await ProgramRunner.run(
                    ProgramRunner.client, ["-q"] + words + ["http://127.0.0.1:1/mcp"],
                    environment: ["HOME": folder.path])
                // The other commands send what is at the limit to a server that is not there.
                let isRead = path.hasSuffix("fits") && command != "tools"
                #expect(outcome.code == (isRead ? 3 : 2), "\(words): \(outcome.stderr)")
                #expect(isRead || outcome.stderr.contains(says), "\(words): \(outcome.stderr)")
            }
        }
    }

    @Sendable private static func included() async throws {
        let folder = TemporaryDirectory()
        try folder.write(
            "c.json",
            #"{"mcpServers": {"file": {"command": "true", "env": {"A": "${file:text}"}}, "#
                + #""variables": {"command": "true", "envFile": "text"}}}"#)
        for (text, fits) in [
            (String(repeating: "#", count: ConfigFile.maxBytes), true),
            (String(repeating: "#", count: ConfigFile.maxBytes + 1), false),
        ] {
            try Files.replace(folder.path + "/text", with: Array(text.utf8))
            var harness = CommandHarness(server: try OpsServer.make())
            harness.variables = ["MCP_CONFIG": folder.path + "/c.json"]
            harness.directory = folder.path
            for name in ["file", "variables"] {
                let outcome = await harness.run("info", name)
                #expect(outcome.code == (fits ? .ok : .usage), "\(name): \(outcome.stderr)")
                #expect(fits || outcome.stderr.contains("text is larger than 4 MiB"), "\(outcome.stderr)")
            }
        }
    }

    /// What is too long is refused as a whole, in the middle and at the end; the lines around it are read.
    @Sendable private static func shellLine() async throws {
        let folder = TemporaryDirectory()
        let limit = InputReader.maxLineBytes
        for (excess, fits) in [(0, true), (1, false), (limit * 2, false)] {
            let long = String(repeating: "x", count: limit + excess)
            try folder.write("lines", "first\n\(long)\nsecond\nthird\n\(long)")
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder.path + "/lines"))
            let reader = InputReader(file.fileDescriptor)
            var lines: [String] = []
            while let line = await reader.line() {
                switch line {
                case .text(let text): lines.append(text == long ? "long" : text)
                case .refused(let failure): lines.append(failure.message)
                }
            }
            try file.close()
            let shown = fits ? "long" : "a line is longer than 1 MiB, so nothing of it was done"
            #expect(lines == ["first", shown, "second", "third", shown])
        }
    }

    @Sendable private static func configuration() async throws {
        for (excess, fits) in [(0, true), (1, false)] {
            let folder = TemporaryDirectory()
            let text = #"{"mcpServers": {"a": {"command": "x"}}}"#
            let blank = String(repeating: " ", count: ConfigPlace.maxBytes + excess - text.utf8.count)
            try folder.write("c.json", text + blank)
            var harness = CommandHarness(server: try OpsServer.make())
            harness.variables = ["MCP_CONFIG": folder.path + "/c.json"]
            let outcome = await harness.run("info", "a")
            #expect(outcome.code == (fits ? .ok : .usage), "\(outcome.stderr)")
            #expect(fits || outcome.stderr.contains("is larger than 32 MiB"))
        }
    }

    @Sendable private static func allowed() async throws {
        let folder = TemporaryDirectory()
        var environment = CommandEnvironment.process()
        environment.variable = { $0 == "HOME" ? folder.path : nil }
        let allowed = AllowedServers(environment)
        let position = SourcePosition(file: "f")
        func entry(_ number: Int) -> ConfigSource.Entry {
            ConfigSource.Entry(
                name: "\(number)", node: ConfigNode(kind: .null, position: position), position: position,
                place: ConfigPlace(path: "/p", kind: .project, program: "p"))
        }
        try allowed.allow(entry(0))
        // Filled at once: each one that is allowed writes the file.
        let path = folder.path + "/.local/state/mcpcore/allowed-servers.json"
        let first = String(decoding: try Files.read(path, maxBytes: 1 << 20), as: UTF8.self)
        let others = (2 ..< AllowedServers.maxEntries).map { "\"\($0)\"" }.joined(separator: ",")
        try Files.replace(path, with: Array((first.dropLast() + "," + others + "]").utf8))
        try allowed.allow(entry(1))
        #expect(allowed.contains(entry(0)))
        try allowed.allow(entry(2))
        #expect(!allowed.contains(entry(0)) && allowed.contains(entry(2)))
    }

    @Sendable private static func outlines() async throws {
        func outline(_ members: String) throws -> ServerOutline {
            let folder = TemporaryDirectory()
            try folder.write("p.json", #"{"mcpServers": {"a": {"command": "x", \#(members)}}}"#)
            var environment = CommandEnvironment.process()
            environment.variable = { _ in nil }
            let source = try #require(
                ConfigSource(
                    ConfigPlace(path: folder.path + "/p.json", kind: .project, program: "p"), in: environment)
            )
            return ServerOutline(try #require(source.entries.first), environment)
        }
        // `x ` and the argument.
        for (excess, isTooLong) in [(0, false), (1, true)] {
            let word = String(repeating: "a", count: ServerOutline.maxCharacters - 2 + excess)
            #expect(try outline(#""args": ["\#(word)"]"#).isTooLong == isTooLong)
            let members = (1 ..< ServerOutline.maxLines + excess).map { #""V\#($0)": "1""# }
            #expect(try outline(#""env": {\#(members.joined(separator: ","))}"#).isTooLong == isTooLong)
        }
    }

    @Sendable private static func questionLines() async throws {
        for (excess, last) in [(0, "  | x"), (1, "  | … and 1 more lines")] {
            let text = String(repeating: "x\n", count: MarkedText.maxLines + excess)
            #expect(MarkedText.lines(text, after: 0, width: nil).last == last)
        }
    }

    @Sendable private static func pageAddress() async throws {
        for (excess, isOne) in [(0, true), (1, false)] {
            let start = "https://h/"
            let rest = String(repeating: "x", count: PageAddress.maxBytes - start.utf8.count + excess)
            #expect(PageAddress.isOne(start + rest) == isOne)
        }
    }

    @Sendable private static func files() async throws {
        for excess in [0, 1] {
            let server = MCPServer("s", version: "1")
            try server.register(Tool("many")) { _, _ in
                let image = ContentBlock.image([1], mimeType: "image/png")
                return CallToolResult(
                    content: Array(repeating: image, count: ResultPrinter.maxFiles + excess))
            }
            let outcome = await CommandHarness(server: server).run(
                "-o", "out.txt", "call", "localhost:1", "many")
            #expect(outcome.files.count == ResultPrinter.maxFiles + 1)
            #expect(outcome.code == (excess == 0 ? .ok : .unreachable), "\(outcome.stderr.suffix(300))")
            #expect(outcome.stderr.contains("the result has more than 1000 files") == (excess == 1))
        }
    }

    @Sendable private static func cachedFile() async throws {
        let folder = TemporaryDirectory()
        let cache = try #require(DiskCache { $0 == "HOME" ? folder.path : nil })
        cache.write("a", [UInt8](repeating: 0x20, count: DiskCache.maxFileBytes))
        cache.write("b", [UInt8](repeating: 0x20, count: DiskCache.maxFileBytes + 1))
        #expect(cache.read("a") != nil && cache.read("b") == nil)
    }

    @Sendable private static func cachedFiles() async throws {
        let folder = TemporaryDirectory()
        let cache = try #require(DiskCache { $0 == "XDG_CACHE_HOME" ? folder.path : nil })
        for number in 0 ... DiskCache.maxFiles { cache.write("\(number)", [0x20]) }
        let count = try Files.names(in: folder.path + "/mcp-client").names.count
        #expect(count == DiskCache.maxFiles)
        #expect(cache.read("\(DiskCache.maxFiles)") != nil)
        let large = [UInt8](repeating: 0x20, count: DiskCache.maxFileBytes)
        for number in 0 ... DiskCache.maxBytes / DiskCache.maxFileBytes {
            cache.write("large\(number)", large)
        }
        let names = try Files.names(in: folder.path + "/mcp-client").names
        let sizes = try names.map { try Files.info(folder.path + "/mcp-client/" + $0).size }
        #expect(sizes.reduce(0, +) <= DiskCache.maxBytes)
    }

    @Sendable private static func pages() async throws {
        for (excess, code) in [(0, CommandCode.ok), (1, .protocolError)] {
            let server = MCPServer("s", version: "1", options: onePerPage)
            for number in 0 ..< Session.maxPages + excess { server.addTool("t\(number)", "") { "" } }
            let outcome = await CommandHarness(server: server).run("tools", "localhost:1")
            #expect(outcome.code == code, "\(outcome.stderr)")
            #expect(excess == 0 || outcome.stderr.contains("has more than 1000 pages"))
        }
    }

    /// A server that adds pages without end: each has one long entry.
    @Sendable private static func lists() async throws {
        let folder = TemporaryDirectory()
        let text = String(repeating: "x", count: 3 << 20)
        let entry = #"{"name":"t","inputSchema":{"type":"object"},"description":"\#(text)"}"#
        try folder.write("page", #"{"resultType":"complete","tools":[\#(entry)],"nextCursor":""#)
        try folder.write(
            "server.sh",
            """
            n=0
            while read -r line; do
              id=${line#*'"id":'}; id=${id%%[!0-9]*}
              case $line in
              *'"server/discover"'*)
                printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" \
                '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}' ;;
              *'"tools/list"'*)
                n=$((n+1)); printf '{"jsonrpc":"2.0","id":%s,"result":' "$id"
                cat "${0%/*}/page"; printf '%s"}}\\n' $n ;;
              esac
            done
            """)
        let outcome = try await ProgramRunner.client(
            "tools", "--names", "--", "/bin/sh", folder.path + "/server.sh", limit: 60)
        #expect(outcome.code == 5)
        #expect(
            outcome.stderr.contains("the list of tools/list is too long"), "\(outcome.stderr.prefix(500))")
        #expect(outcome.stdout.isEmpty)
    }

    @Sendable private static func proposals() async throws {
        let request = try #require(CompletionRequest(["fish", ""]))
        let many = (0 ... Candidate.maxCount).map { Candidate(value: "c\($0)") }
        #expect(request.output(many).split(separator: "\n").count == Candidate.maxCount)
        for (excess, isShown) in [(0, true), (1, false)] {
            let value = String(repeating: "x", count: Candidate.maxBytes + excess)
            #expect(request.output([Candidate(value: value)]).isEmpty != isShown)
        }
    }

    @Sendable private static func proposalTime() async throws {
        let folder = TemporaryDirectory()
        try folder.write(
            "c.json", #"{"mcpServers": {"silent": {"command": "/bin/sh", "args": ["-c", "exec sleep 600"]}}}"#
        )
        let outcome = try await ProgramRunner.client(
            "__complete", "fish", "call", "silent", "", environment: ["MCP_CONFIG": folder.path + "/c.json"])
        #expect(outcome.code == 0 && outcome.stdout.isEmpty)
        #expect(outcome.duration >= Completer.limit && outcome.duration < .seconds(20))
    }

    @Sendable private static func history() async throws {
        for (line, count) in [("a", ShellHistory.maxLines), (String(repeating: "x", count: 4_029), 65)] {
            let folder = TemporaryDirectory()
            folder.makeDirectory("mcpcore")
            let lines = (0 ..< count).map { "\(line)\($0)\n" }.joined()
            try folder.write("mcpcore/" + ShellHistory.name, lines)
            let history = ShellHistory { $0 == "XDG_STATE_HOME" ? folder.path : nil }
            #expect(history.lines.count == count)
            let last = String(repeating: "l", count: 100)
            history.add(last)
            let again = ShellHistory { $0 == "XDG_STATE_HOME" ? folder.path : nil }
            #expect(again.lines.last == last && again.lines.first == "\(line)1")
        }
    }

    @Sendable private static func images() async throws {
        let head: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        for graphics in [TerminalGraphics.kitty, .iTerm] {
            let whole = head + [UInt8](repeating: 0, count: TerminalGraphics.maxBytes - head.count)
            #expect(graphics.text(whole) != nil && graphics.text(whole + [0]) == nil)
        }
    }

    private static var onePerPage: ServerOptions {
        var options = ServerOptions()
        options.limits.pageSize = 1
        return options
    }

    @Sendable private static func lineOfText() async throws {
        let line = String(repeating: "a", count: TerminalText.maxLineLength)
        #expect(TerminalText.block(line) == line)
        #expect(TerminalText.block(line + "b").hasPrefix(line + "… (1 more characters"))
    }

    @Test(.ownThreads, arguments: proofs + ownProofs) func acts(_ proof: LimitProof) async throws {
        try await proof.acts()
    }

    static let proofs = [
        LimitProof(
            "file of `--history`",
            "\(LimitText.bytes(HistoryFile.maxBytes)), then \(LimitText.bytes(HistoryFile.maxKeptBytes))",
            { try HostOptionsTests().theHistoryIsBounded() }),
        LimitProof("body of one request of the page", LimitText.bytes(HostServer.maxBodyBytes), body),
        LimitProof(
            "events kept for a page that comes back",
            "\(LimitText.grouped(EventLog.maxEvents)), \(LimitText.bytes(EventLog.maxBytes))", keptEvents),
        LimitProof(
            "events that one page may be behind",
            "\(LimitText.grouped(EventLog.maxBehind)), \(LimitText.bytes(HostServer.maxOutputBytes))", behind),
        LimitProof(
            "what the page shows of a result",
            "\(LimitText.bytes(ContentJSON.maxText)) of a text, \(ContentJSON.maxBlocks) blocks, "
                + LimitText.bytes(ContentJSON.maxBytes), result),
        LimitProof(
            "what it shows of a piece of the conversation",
            "\(LimitText.bytes(ContentJSON.maxText)) of a text, \(LimitText.bytes(HostEventWriter.maxSaid))",
            result),
        LimitProof(
            "lines of the log, arguments, problems", LimitText.bytes(HostEventWriter.maxLine), lines),
        LimitProof(
            "lines of a question; what a server says in it",
            "\(LimitText.bytes(QuestionJSON.maxLine)) each; \(LimitText.bytes(QuestionJSON.maxText))",
            { try QuestionJSONTests().longWordsAreCut() }),
        LimitProof(
            "names, titles and labels of tools, fields and choices",
            "\(HostEventWriter.maxName) bytes; \(HostEventWriter.maxPart) of a server's own name and version",
            { HostOptionsTests().namesAreShort() }),
        LimitProof("messages of a view that wait in the page", "2,000, 16 MiB", relay),
        LimitProof(
            "depth of a message of a view", "\(HostFeed.limits.maxDepth)",
            { try await HostServerTests().messagesAreNumbered() }),
        LimitProof("messages of a view in a second", "450; 2,000 or 64 MiB", rates),
        LimitProof(
            "times that a view takes the keyboard in 10 s", "6, 12 by all views; 2 while the user types",
            thefts),
        LimitProof("servers whose views have ports of their own", "\(SandboxPorts.maxPorts)", ports),
        LimitProof("tools of a server that are listed at once", "500, and 500 for views only", tools),
        LimitProof("depth and parts of a form", "\(FormSpec.maxDepth), \(FormSpec.maxNodes)", forms),
        LimitProof(
            "choices of a form; parts and choices of all forms that are asked at once",
            "\(LimitText.grouped(FormSpec.maxChoices)); \(LimitText.grouped(HostEventWriter.maxFormParts))",
            choices),
        LimitProof("connections of each listener", "\(HostServer.maxConnections)", connections),
        LimitProof(
            "ports of one scan",
            "\(LimitText.grouped(HostOptions.maxScannedPorts)); \(LimitText.seconds(ServerScan.patience)) each",
            scan),
    ]

    @Sendable private static func body() async throws {
        try await HostFixture.with { fixture in
            for (excess, status) in [(0, 400), (1, 413)] {
                let text = String(repeating: " ", count: HostServer.maxBodyBytes + excess)
                let answer = try await PlainHTTP.send(
                    "POST", "/api/calls", port: fixture.pagePort,
                    headers: [
                        ("Authorization", "Bearer \(fixture.server.token.text)"),
                        ("Content-Type", "application/json"),
                    ], body: text)
                #expect(answer.status == status)
            }
        }
    }

    @Sendable private static func keptEvents() async throws {
        var log = EventLog(page: "p")
        for number in 1 ... EventLog.maxEvents { log.append(["n": JSONValue(number)]) }
        #expect(log.resume(after: "p-0") != nil)
        log.append(["n": 0])
        #expect(log.resume(after: "p-0") == nil && log.resume(after: "p-1") != nil)
        await HostOptionsTests().theLogIsBounded()
    }

    @Sendable private static func behind() async throws {
        var log = EventLog(page: "p")
        let events = log.read()
        for number in 1 ... EventLog.maxBehind { log.append(["n": JSONValue(number)]) }
        // One more ends the stream behind what waits in it; the page comes back for the rest.
        log.append(["n": 0])
        var last: String?
        for await event in events { last = event.id }
        #expect(last == "p-\(EventLog.maxBehind)")
        #expect(log.resume(after: "p-\(EventLog.maxBehind)") != nil)
    }

    @Sendable private static func result() async throws {
        for (excess, isCut) in [(0, false), (1, true)] {
            let text = String(repeating: "x", count: ContentJSON.maxText + excess)
            #expect(ContentJSON.blocks([.text(text)])[0]["text"]?.stringValue?.hasSuffix(" bytes)") == isCut)
            let many = Array(repeating: ContentBlock.text("x"), count: ContentJSON.maxBlocks + excess)
            let shown = ContentJSON.blocks(many)
            #expect(shown.count == many.count && (shown.last?["text"] == "… and 1 more") == isCut)
        }
        try HostOptionsTests().ofALongResultTheBeginningIsShown()
        HostFollowerTests().ofALongAnswerTheBeginningIsShown()
    }

    @Sendable private static func lines() async throws {
        var writer = HostEventWriter(ports: SandboxPorts(port: 1))
        for (excess, isCut) in [(0, false), (1, true)] {
            let text = String(repeating: "x", count: HostEventWriter.maxLine + excess)
            let line = writer.json(.log(HostLogEntry("s", .info, .string(text))))
            #expect(line?["text"]?.stringValue?.hasSuffix(" bytes)") == isCut)
        }
    }

    /// The script runs in a browser only: here that it has these numbers.
    @Sendable private static func relay() async throws {
        let file = "Sources/MCPClientCLI/Host/Assets/relay.js"
        let root = URL(fileURLWithPath: #filePath).appending(path: "../../../..").standardized
        let script = try String(contentsOf: root.appending(path: file), encoding: .utf8)
        #expect(script.contains("view.queue.length >= 2000 || view.waiting + text.length > 16 * limit"))
        #expect(AppHost.maxMessageBytes == 1 << 20)
    }

    /// What these scripts do is proven in browsers: `noMessageBlocksThePage`, `aViewThatFloodsIsRemoved`,
    /// `aViewDoesNotTakeTheKeyboard`.
    private static func script(_ name: String) throws -> String {
        String(decoding: try #require(HostAssets.asset(atPath: name)).bytes, as: UTF8.self)
    }

    @Sendable private static func rates() async throws {
        #expect(
            try script("/relay.js").contains("maxMessages = 450, hardMessages = 2000, hardSize = 64 << 20"))
    }

    /// Proven in a browser by `ofManyToolsTheFirstAreShown`.
    @Sendable private static func tools() async throws {
        #expect(try script("/app.js").contains("tools.slice(0, 500)"))
    }

    @Sendable private static func thefts() async throws {
        let text = try script("/guard.js")
        #expect(
            text.contains("maxThefts = 6, maxWhileTyping = 2, maxOfAll = 12")
                && text.contains("one.time < 10000"))
    }

    @Sendable private static func ports() async throws {
        let ports = SandboxPorts(port: 1)
        ports.use((1 ... SandboxPorts.maxPorts).map { UInt16($0 + 10) })
        let origins = (1 ... SandboxPorts.maxPorts).map {
            ports.address(ofView: "v", server: HostID(rawValue: "s\($0)"))?.origin
        }
        #expect(Set(origins.compactMap(\.self)).count == SandboxPorts.maxPorts)
        #expect(ports.address(ofView: "v", server: "more") == nil)
        HostOptionsTests().aServerThatIsRemovedLeavesItsPort()
    }

    @Sendable private static func forms() async throws {
        func kind(atDepth depth: Int) -> JSONValue? {
            var schema: JSONValue = ["type": "object", "properties": ["x": ["type": "string"]]]
            for _ in 0 ..< depth { schema = ["type": "object", "properties": ["x": schema]] }
            var form: JSONValue? = FormSpec.json(for: schema)
            for _ in 0 ..< depth { form = form?["members"]?[0] }
            return form?["kind"]
        }
        #expect(
            kind(atDepth: FormSpec.maxDepth) == "object" && kind(atDepth: FormSpec.maxDepth + 1) == "json")
        // The form itself is a part, and so is a member that holds many.
        for (count, kind) in [(FormSpec.maxNodes - 2, "object"), (FormSpec.maxNodes - 1, "json")] {
            let members = JSONObject((0 ..< count).map { (key: "m\($0)", value: ["type": "string"]) })
            let many: JSONValue = ["type": "object", "properties": .object(members)]
            let items: JSONValue = [
                "type": "array", "items": ["type": "string"],
                "default": .array(Array(repeating: "x", count: count)),
            ]
            for (schema, wanted) in [(many, kind), (items, kind == "object" ? "list" : kind)] {
                let form = FormSpec.json(for: ["type": "object", "properties": ["x": schema]])
                #expect(form["members"]?[0]?["kind"] == .string(wanted), "\(count)")
            }
        }
    }

    @Sendable private static func choices() async throws {
        func field(_ count: Int) -> JSONValue {
            ["type": "string", "enum": .array((0 ..< count).map { .string("\($0)") })]
        }
        func kinds(_ counts: Int...) -> [JSONValue?] {
            let fields = JSONObject(counts.enumerated().map { (key: "f\($0)", value: field($1)) })
            let form = FormSpec.json(for: ["type": "object", "properties": .object(fields)])
            return counts.indices.map { form["members"]?[$0]?["kind"] }
        }
        #expect(kinds(FormSpec.maxChoices) == ["choice"] && kinds(FormSpec.maxChoices + 1) == ["json"])
        #expect(kinds(FormSpec.maxChoices - 1, 2, 1) == ["choice", "json", "choice"])
        QuestionJSONTests().formsOfAllQuestionsAreBounded()
    }

    @Sendable private static func connections() async throws {
        try await HostFixture.with { fixture in
            let port = fixture.pagePort
            let statuses = try await onThread { () -> [Int] in
                var open: [PlainConnection] = []
                var statuses: Set<Int> = []
                for _ in 0 ..< HostServer.maxConnections {
                    let connection = try PlainConnection(port: port)
                    try connection.send("GET", "/", headers: [("Host", "127.0.0.1:\(port)")])
                    statuses.insert(try connection.response().status)
                    open.append(connection)
                }
                let more = try PlainConnection(port: port)
                try more.send("GET", "/", headers: [("Host", "127.0.0.1:\(port)")])
                return statuses.sorted() + [try more.response().status]
            }
            #expect(statuses == [200, 503])
        }
    }

    @Sendable private static func scan() async throws {
        #expect(throws: Never.self) { try InvocationParser.parse(["host", "--scan", "1-1000"]) }
        #expect(throws: Failure.self) { try InvocationParser.parse(["host", "--scan", "1-1001"]) }
        // A port that takes connections and says nothing is given up; the server beside it is found.
        try await HostFixture.with { fixture in
            let silent = try LocalListener()
            defer { silent.close() }
            let port = UInt16(silent.port)
            let start = ContinuousClock.now
            #expect(await ServerScan.run(port ... port, ClientOptions()) == [])
            #expect(ContinuousClock.now - start < .seconds(10))
            #expect(await ServerScan.run(fixture.port ... fixture.port, ClientOptions()) == [fixture.url])
        }
    }
}
