import MCPCore
import TestSupport
import Testing

@testable import MCPClientCLI

/// What a person sees of servers that are slow, broken or from another time, with real processes.
@Suite(.serialized, .enabled(if: isWanted("python3"), "python3 is not installed"))
struct ConnectingTests {
    private let folder = TemporaryDirectory()

    private func run(_ words: [String], _ fault: String) async throws -> ProgramOutcome {
        try await ProgramRunner.run(
            ProgramRunner.client, words + ["--"] + PythonServer.words(fault, log: folder.path + "/log"),
            environment: ["HOME": folder.path, "PATH": Environment.value("PATH") ?? "/usr/bin:/bin"])
    }

    private var steps: [String] {
        let bytes = (try? Files.read(folder.path + "/log", maxBytes: 1 << 20)) ?? []
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The first run finds out, and every later one knows; the file is private.
    @Test(arguments: ["dies", "half"]) func aServerIsRemembered(_ fault: String) async throws {
        let words = ["--connect-timeout", "20s", "call", "t"]
        let first = try await run(words, fault)
        #expect(first.code == 0 && first.stdout == "fine, handshake\n", "\(first.stderr)")
        #expect(steps.contains("server/discover"))
        let cache = folder.path + "/.cache/mcp-client"
        let file = try #require(try Files.names(in: cache).names.first)
        let mode = try Files.info(cache + "/" + file).permissions & 0o777
        #expect(mode == 0o600)
        try Files.replace(folder.path + "/log", with: [])
        let second = try await run(words, fault)
        #expect(second.stdout == "fine, handshake\n" && second.stderr.isEmpty, "\(second.stderr)")
        #expect(steps == ["start", "initialize", "notifications/initialized", "tools/list", "tools/call"])
    }

    /// Both streams are shown, and where the program may be found instead.
    @Test func whatItWroteIsShown() async throws {
        // Long enough for a program that starts on a busy machine.
        let outcome = try await run(["--connect-timeout", "15s", "tools"], "banner")
        #expect(outcome.code == 6)
        #expect(
            outcome.stderr.hasSuffix(
                """
                 within 15 s
                  stderr: Uvicorn running on http://127.0.0.1:3001 (Press CTRL+C)
                  the server sent something that is not a message: unexpected character 'h' in JSON (at byte 0): hello
                hint: it may serve HTTP: mcp-client tools http://localhost:3001/mcp

                """), "\(outcome.stderr)")
    }

    @Test(arguments: [
        ("bom", "a JSON text must not start with a byte order mark"), ("latin", "invalid UTF-8"),
        ("wrongid", "its id is the string \"3\", but the request has the number 3"),
        ("batch", "it is in an array, and only 2025-03-26 has batches"),
        ("nojsonrpc", "\"jsonrpc\" must be \"2.0\""),
    ])
    func whyAnAnswerWasNotTaken(_ fault: String, _ reason: String) async throws {
        let outcome = try await run(["--timeout", "2s", "call", "t"], fault)
        // An answer that can only be that to the call ends it at once.
        #expect(outcome.code == (fault == "bom" ? 6 : 5), "\(outcome.stderr)")
        #expect(outcome.stderr.contains(reason), "\(outcome.stderr)")
    }

    /// 50 MB of a result, and 5,000 tools.
    @Test func muchIsNoProblem() async throws {
        let large = try await run(["call", "t"], "large")
        #expect(large.code == 0 && large.stdoutBytes.count == 50_000_001, "\(large.stderr.prefix(500))")
        let many = try await run(["tools"], "many")
        #expect(many.code == 0 && many.stderr.hasPrefix("5000 tools · "), "\(many.stderr.prefix(500))")
        #expect(many.stdout.split(separator: "\n").count == 10_000)
    }

    @Test func anErrorIsChosenFromALongTraceback() {
        let stderr = [
            "Traceback:", "ValueError: no such table", "  at x", "", "   ^^^^", "+----+", "try --help",
        ]
        #expect(StderrExcerpt.lines(of: stderr) == ["ValueError: no such table", "  at x", "try --help"])
        #expect(StderrExcerpt.url(in: ["on http://0.0.0.0:8000/sse now"]) == "http://localhost:8000/sse")
        #expect(StderrExcerpt.url(in: ["see http://example.com:80/x", "http://localhost:0/"]) == nil)
    }

    // MARK: Redirects

    @Test(arguments: [
        ("/mcp/", 307, true), ("/mcp/", 308, true), ("/mcp/", 302, false),
        ("http://127.0.0.1:1/mcp/", 307, false),
        ("/mcp", 307, false),
    ])
    func redirects(_ location: String, _ status: Int, _ isFollowed: Bool) async throws {
        let peer = try HTTPPeer { heard in
            if heard.head.hasPrefix("POST /mcp HTTP") {
                return HTTPPeer.Answer(pieces: [
                    "HTTP/1.1 \(status) Moved\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
                ])
            }
            return .result(
                heard,
                heard.rpcMethod == "server/discover"
                    ? Script.discovered : #"{"resultType":"complete","tools":[]}"#)
        }
        defer { peer.stop() }
        let outcome = try await ProgramRunner.client("tools", "http://\(peer.endpoint)/mcp")
        #expect(outcome.code == (isFollowed ? 0 : 5), "\(outcome.stderr)")
        guard !isFollowed else { return }
        #expect(
            outcome.stderr.hasPrefix(
                "error: the server redirects to \(location) (HTTP \(status)), which was not followed\n"))
        // A 307 is not refused for being none.
        #expect(outcome.stderr.contains("only 307 and 308") == (status == 302), "\(outcome.stderr)")
    }

    // MARK: Waiting

    /// After two seconds a terminal shows what is awaited, and nothing of it is left afterwards.
    @Test func aTerminalShowsWhatIsAwaited() async throws {
        let sink = MemorySink(isTerminal: true)
        let console = Console(stdout: sink, stderr: sink, options: Options(), variable: { _ in nil })
        let name = Target.program(["/usr/bin/uvx", "--token", "s3cret"]).shortName
        let line = try #require(
            WaitingLine(for: name, console: console, options: Options(), patience: .milliseconds(50)))
        line.hear("Downloading \u{1B}[2Jnumpy")
        try await WaitingLine.showing(line) { await waitUntil { sink.text.contains("waiting for") } }
        #expect(sink.text.hasPrefix("\r\u{1B}[2Kwaiting for uvx … ("))
        #expect(sink.text.contains(" s)  Downloading \\e[2Jnumpy"))
        #expect(sink.text.hasSuffix("\r\u{1B}[2K"))
        for columns in 1 ... 60 {
            let text = WaitingLine.line("uvx", .seconds(5), "Downloading numpy", columns: columns)
            #expect(text.unicodeScalars.count <= columns)
        }
        var options = Options()
        options.verbosity = 1
        #expect(WaitingLine(for: name, console: console, options: options, patience: .zero) == nil)
        let pipe = Console(stdout: sink, stderr: MemorySink(), options: Options(), variable: { _ in nil })
        #expect(WaitingLine(for: name, console: pipe, options: Options(), patience: .zero) == nil)
    }
}
