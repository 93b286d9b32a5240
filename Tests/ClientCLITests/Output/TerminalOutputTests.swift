import MCPCore
import Testing

@testable import MCPClientCLI

/// What depends on the terminal: its width, its images, and nothing else.
struct TerminalOutputTests {
    private func harness(columns: String? = nil) throws -> CommandHarness {
        var harness = CommandHarness(server: try OpsServer.make())
        harness.isTerminal = columns != nil
        harness.variables = columns.map { ["COLUMNS": $0, "NO_COLOR": "1"] } ?? [:]
        return harness
    }

    @Test func aTerminalBreaksLinesAtBlanksAndAPipeDoesNot() async throws {
        let narrow = try await harness(columns: "40").run("-q", "tools", "localhost:1", "git_log")
        #expect(
            narrow.stdout == """
                git_log(repo: path, limit: int 1…200 =
                    20, author?: string, paths?:
                    [string])
                    read-only
                    Commits of a repository, newest
                    first.

                """)
        let pipe = try await harness().run("-q", "tools", "localhost:1", "git_log")
        #expect(
            pipe.stdout == """
                git_log(repo: path, limit: int 1…200 = 20, author?: string, paths?: [string])   read-only
                    Commits of a repository, newest first.

                """)
    }

    @Test func linesAreBrokenWithTheirIndentation() {
        #expect(TextWrap.lines("    one two three", width: 12) == ["    one two", "    three"])
        #expect(TextWrap.lines("one two three", width: 9, hanging: 2) == ["one two", "  three"])
        #expect(TextWrap.lines("averyveryverylongword x", width: 10) == ["averyveryverylongword", "x"])
        #expect(TextWrap.lines("日本語 日本語", width: 10) == ["日本語", "日本語"])
        #expect(TextWrap.lines("a  b", width: 80) == ["a  b"])
        #expect(TextWrap.columns(of: "e\u{301}日\u{200D}") == 3)
    }

    /// JSON on a terminal has the same value, and nothing in it acts on the terminal.
    @Test(arguments: [["--json"], ["--jsonl"]]) func jsonIsHarmlessOnATerminal(flags: [String]) async throws {
        let text = "\u{9B}31m\u{202E}\u{200B}\u{E0041}é\u{1B}[2J"
        let server = MCPServer("s", version: "1")
        try server.register(Tool("t")) { _, _ in .text(text) }
        var harness = CommandHarness(server: server)
        let piped = await harness.run(flags + ["call", "localhost:1", "t"])
        harness.isTerminal = true
        let shown = await harness.run(flags + ["call", "localhost:1", "t"])
        #expect(piped.stdout.contains("\u{202E}"))
        #expect(shown.stdout.contains("\\u009b31m\\u202e\\u200b\\udb40\\udc41é"), "\(shown.stdout)")
        #expect(try JSONValue(parsing: shown.stdout) == JSONValue(parsing: piped.stdout))
    }

    @Test func onlyTheFirstLineOfADescriptionIsListed() async throws {
        let server = MCPServer("s", version: "1")
        try server.register(
            Tool(
                "t", description: "\n  First.  \nSecond.\n",
                inputSchema: [
                    "type": "object", "properties": ["late": ["type": "string"], "soon": ["type": "string"]],
                    "required": ["soon"],
                ])
        ) { _, _ in .text("") }
        let harness = CommandHarness(server: server)
        let list = await harness.run("-q", "tools", "localhost:1")
        #expect(list.stdout == "t(soon: string, late?: string)\n    First. …\n")
        #expect(await harness.run("tool", "localhost:1", "t").stdout.contains("    First.  \n    Second.\n"))
    }

    @Test func toolsAreSearchedAndNamed() async throws {
        let harness = try harness()
        let found = await harness.run("tools", "localhost:1", "--search", "SERVICES restart", "--names")
        #expect(found.stdout == "unit_restart\n")
        #expect(found.stderr.hasPrefix("1 of 8 tools · "))
        let none = await harness.run("tools", "localhost:1", "nothing*")
        #expect(none.stdout.isEmpty && none.stderr.contains("--search WORDS searches descriptions too"))
        let json = await harness.run("--json", "tools", "localhost:1", "--search", "restart")
        #expect(try JSONValue(parsing: json.stdout)["tools"]?.arrayValue?.count == 1)
    }

    // MARK: Images

    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

    private func image(_ bytes: [UInt8], _ flags: [String], _ variables: [String: String]) async throws
        -> CommandOutcome
    {
        let server = MCPServer("s", version: "1")
        try server.register(Tool("t")) { _, _ in
            CallToolResult(content: [.image(bytes, mimeType: "image/png")])
        }
        var harness = CommandHarness(server: server)
        harness.isTerminal = true
        harness.variables = variables
        return await harness.run(flags + ["call", "localhost:1", "t"])
    }

    @Test func imagesAreShownOnlyWhenAskedFor() async throws {
        let kitty = ["TERM": "xterm-kitty"]
        let shown = try await image(Self.png, ["--images"], kitty)
        #expect(shown.stdout.hasPrefix("\u{1B}_Gf=100,a=T,m=0;iVBORw0KGgoBAgM=\u{1B}\\\n[image/png, 11 B"))
        let plain = try await image(Self.png, [], kitty)
        #expect(!plain.stdout.contains("\u{1B}"))
        let other = try await image(Self.png, ["--images"], ["TERM": "xterm"])
        #expect(!other.stdout.contains("\u{1B}") && other.stderr.contains("this terminal shows no images"))
        let iterm = try await image(Self.png, ["--images"], ["TERM_PROGRAM": "iTerm.app"])
        #expect(iterm.stdout.hasPrefix("\u{1B}]1337;File=inline=1;size=11:iVBORw0KGgoBAgM=\u{07}\n"))
    }

    /// What a server calls an image may be anything.
    @Test func whatIsNotAnImageIsNotShown() async throws {
        let outcome = try await image(Array("\u{1B}]0;owned".utf8), ["--images"], ["TERM": "xterm-kitty"])
        #expect(!outcome.stdout.contains("\u{1B}"))
        #expect(outcome.stderr.contains("this terminal shows PNG only"))
        var harness = CommandHarness(server: try OpsServer.make())
        harness.variables = ["TERM": "xterm-kitty"]
        #expect(!(await harness.run("--images", "call", "localhost:1", "x_image")).stdout.contains("\u{1B}"))
    }

    @Test func aLongImageComesInParts() throws {
        let text = try #require(TerminalGraphics.kitty.text(Self.png + [UInt8](repeating: 7, count: 5_000)))
        #expect(text.hasPrefix("\u{1B}_Gf=100,a=T,m=1;"))
        #expect(text.contains("\u{1B}\\\u{1B}_Gm=0;") && text.hasSuffix("\u{1B}\\\n"))
    }

    // MARK: Errors

    @Test(arguments: [
        (["Retry-After: 7"], "in 7 s"), (["Retry-After: 0"], "now"), ([], "later"),
        (["Retry-After: Sun, 21 Oct 2125 07:28:00 GMT"], "after Sun, 21 Oct 2125 07:28:00 GMT"),
        (["Retry-After: Fri, 21 Oct 1994 07:28:00 GMT"], "now"), (["Retry-After: -5"], "later"),
        (["Retry-After: soon"], "later"),
    ])
    func aBusyServerSaysWhenToTryAgain(details: [String], when: String) throws {
        let error = ClientError(.httpStatus, "refused", details: details, httpStatus: 429)
        let failure = FailureMapping.failure(
            error, method: "tools/list", subject: nil, invocation: try invocation("tools", "localhost:1"))
        #expect(failure.hint == "the server limits the requests of this client; try again \(when)")
    }

    private func invocation(_ words: String...) throws -> Invocation {
        guard case .run(let invocation) = try InvocationParser.parse(words) else { throw Failure.usage("") }
        return invocation
    }

    @Test func secretsOfTheCommandLineAreMasked() throws {
        let url = "http://localhost:1/mcp?api_key=SECRET&x=1"
        let http = try invocation("tools", url)
        #expect(http.line("info", []) == "mcp-client info 'http://localhost:1/mcp?api_key=***&x=***'")
        #expect(
            http.masking("no answer from \(url)") == "no answer from http://localhost:1/mcp?api_key=***&x=***"
        )
        let program = try invocation("tools", "--", "./s", "--token", "SECRET", "--key=SECRET", "-p", "1")
        #expect(program.line("info", []) == "mcp-client info -- ./s --token '***' '--key=***' -p 1")
        #expect(
            MaskedText.words(["--header", "Authorization: Bearer x"]) == ["--header", "Authorization:***"])
        // A default may be a secret; which variable is read never is.
        let defaults = [
            ("${DB:-postgres://u:pw@h/db}", "${DB:-postgres://***@h/db}"),
            ("${T:-ghp_0123456789abcdefghijABCDEFGHIJ012345}", "${T:-***}"),
            ("${API_KEY:-hunter2}", "${API_KEY:-***}"), ("${X:---password=hunter2}", "${X:---password=***}"),
            ("${X:-plain}", "${X:-plain}"), ("${file:/a:-b}", "${file:/a:-b}"),
        ]
        for (word, shown) in defaults { #expect(MaskedText.words([word]) == [shown]) }
        #expect(MaskedText.words(["--api-key", "${A-B:-hunter2}"]) == ["--api-key", "${A-B:-***}"])
        #expect(MaskedText.url("${BASE:-https://u:pw@h}/mcp?key=abc") == "${BASE:-https://***@h}/mcp?key=***")
        let printer = TracePrinter(sink: MemorySink(), showsWire: true, style: Style(isOn: false))
        let shown = printer.text(.httpRequest(head: "GET /mcp?api_key=SECRET HTTP/1.1\r\nHost: x\r\n"))
        #expect(shown == "> GET /mcp?api_key=*** HTTP/1.1\n> Host: x")
    }
}
