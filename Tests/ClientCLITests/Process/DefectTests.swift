import Foundation
import MCPCore
import Synchronization
import TestSupport
import Testing

/// What people met with the servers of others, with real processes. The letters are those of the audit.
@Suite(.timeLimit(.minutes(5))) struct DefectTests {
    private static let demo = ["--", ProgramRunner.server, "--demo", "--stdio"]
    private let folder = TemporaryDirectory()

    private func run(_ words: [String], environment: [String: String] = [:]) async throws -> ProgramOutcome {
        try await ProgramRunner.run(
            ProgramRunner.client, words, environment: ["HOME": folder.path].merging(environment) { $1 },
            limit: 90)
    }

    private func lines(_ outcome: ProgramOutcome) -> [String] {
        outcome.stderr.split(separator: "\n").map(String.init)
    }

    // MARK: D1: servers that start slowly

    private static func slow(_ seconds: Int) -> [String] {
        ["--", "/bin/sh", "-c", "sleep \(seconds); exec \"$0\" --demo --stdio", ProgramRunner.server]
    }

    /// Longer than any answer may take; the newest revision is spoken all the same.
    @Test(arguments: [
        [], ["--connect-timeout", "70s"], ["--connect-timeout", "70s", "--protocol", "2026-07-28"],
    ])
    func aServerThatStartsAfterElevenSeconds(flags: [String]) async throws {
        let outcome = try await run(flags + ["tools"] + Self.slow(11))
        #expect(outcome.code == 0 && outcome.stdout.contains("add(a: number, b: number)"))
        #expect(outcome.stderr.contains(" · 2026-07-28 · "), "\(outcome.stderr)")
    }

    @Test func aTerminalShowsWhatIsAwaited() async throws {
        let terminal = try PseudoTerminal(
            ProgramRunner.client, ["-q", "tools"] + Self.slow(1),
            environment: ["HOME": folder.path, "NO_COLOR": "1"])
        #expect(try await terminal.end() == 0)
        #expect(!terminal.text.contains("waiting for"), "-q shows nothing")
        let shown = try PseudoTerminal(
            ProgramRunner.client, ["tools"] + Self.slow(4),
            environment: ["HOME": folder.path, "NO_COLOR": "1"])
        try await shown.wait(for: "waiting for sh … (")
        #expect(try await shown.end() == 0)
        let erased = try #require(shown.text.range(of: "\r\u{1B}[2K", options: .backwards))
        #expect(shown.text[erased.upperBound...].contains("add(a: number, b: number)"))
    }

    // MARK: D7: programs that watch starts

    @Test func whatAWatchingProgramWritesIsShown() async throws {
        let uri = "note:///1"
        let server = MCPServer("notes", version: "1")
        try server.register(Resource(uri, name: "1")) { _ in [.text("1", uri: uri)] }
        let running = try server.start([.http(port: 0)])
        let address = try #require(running.addresses.first?.description)
        let changes = Task {
            while !Task.isCancelled {
                server.notifyResourceUpdated(uri)
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
        let script = folder.path + "/show.sh"
        try folder.write("show.sh", "echo \"got $1\"; echo to stderr >&2; exit 3\n")
        let outcome = try await run([
            "--count", "1", "watch", address, uri, "--exec", "/bin/sh \(script) {uri}",
        ])
        let missing = try await run(["watch", address, uri, "--exec", "/no/such {uri}"])
        changes.cancel()
        await running.stop()
        #expect(outcome.code == 0 && outcome.stdout.hasPrefix("got \(uri)\n"), "\(outcome.stdout)")
        #expect(outcome.stdout.contains("→ /bin/sh exited 3 in "))
        #expect(outcome.stderr.hasSuffix("to stderr\n"), "\(outcome.stderr)")
        #expect(
            missing.code == 2 && missing.stderr.contains("--exec: the program \"/no/such\" was not found"))
    }

    // MARK: D9, D13: arguments

    private static let path = ShellServer.words(
        call: #"answer '{"resultType":"complete","content":[{"type":"text","text":"sent"}]}'"#,
        tools: #"{"name":"t","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"#
            + #""limit":{"type":"integer"}},"required":["path"]}}"#)

    @Test func withoutValidationAWrongTypeIsSentAsJSON() async throws {
        let refused = try await run(["--no-validate", "call", "t", "limit=x", "--"] + Self.path)
        #expect(refused.code == 2 && refused.stderr.contains("  limit  \"x\" is not an integer\n"))
        #expect(
            lines(refused).last == #"hint: write a value of another type as JSON: NAME:='"text"'"#,
            "\(refused.stderr)")
        let forced = try await run(["--no-validate", "call", "t", #"limit:="x""#, "--"] + Self.path)
        #expect(forced.code == 0 && forced.stdout == "sent\n", "\(forced.stderr)")
    }

    @Test func theMissingArgumentIsSuggestedForALongerName() async throws {
        let outcome = try await run(["call", "t", "filepath=x", "--"] + Self.path)
        #expect(outcome.code == 2)
        #expect(
            lines(outcome).contains("  filepath  no such argument        did you mean path?"),
            "\(outcome.stderr)")
        let other = try await run(["call", "t", "colour=x", "--"] + Self.path)
        #expect(!other.stderr.contains("did you mean"), "\(other.stderr)")
    }

    @Test(arguments: [
        ["--tokens", "tools", "x"], ["call", "--import", "x"], ["tools", "--strict", "x"], ["gen", "x"],
        ["completion"],
    ])
    func noSuggestionIsSilly(words: [String]) async throws {
        let outcome = try await run(words)
        #expect(outcome.code == 2 && !outcome.stderr.contains("did you mean"), "\(outcome.stderr)")
    }

    // MARK: D10: answers

    private static let form = ShellServer.words(
        call: #"answer '{"resultType":"input_required","requestState":"x","inputRequests":{"q":{"method":"#
            + #""elicitation/create","params":{"mode":"form","message":"Who?","requestedSchema":{"type":"#
            + #""object","properties":{"name":{"type":"string"},"age":{"type":"integer"},"#
            + #""note":{"type":"string"}},"required":["name","age"]}}}}}'"#)

    @Test func anAnswerThatDoesNotFitIsNamed() async throws {
        let wrong = try await run(["--answer", "age=x", "call", "t", "--"] + Self.form)
        #expect(wrong.code == 7)
        #expect(
            Array(lines(wrong).dropFirst()) == [
                "  --answer age: \"x\" is not a whole number", "  --answer name: missing",
                "hint: nothing was sent; correct the answers and try again",
            ], "\(wrong.stderr)")
        let none = try await run(["call", "t", "--"] + Self.form)
        #expect(none.code == 7 && lines(none).last == "hint: --answer name=… --answer age=…")
    }

    // MARK: D14: help everywhere

    @Test func helpIsWhereItIsLookedFor() async throws {
        let overview = try await run(["help"])
        #expect(overview.code == 0 && overview.stdout.contains("usage: mcp-client "))
        #expect(try await run(["help", "call"]).stdout.hasPrefix("mcp-client call: call a tool\n"))
        #expect(try await run(["-V"]).stdout.hasPrefix("mcp-client "))
        let tool = try await run(["call", "add", "--help"] + Self.demo)
        #expect(tool.code == 0 && tool.stdout.hasPrefix("add(a: number, b: number)"), "\(tool.stderr)")
        let bare = try await run([])
        #expect(bare.code == 2 && bare.stderr.contains("\nusage: mcp-client "))
        let line = #"cd "$1" && exec "$0" -o - call add a=1 b=2 -- "$2" --demo --stdio"#
        let dash = try await ProgramRunner.run(
            "/bin/sh", ["-c", line, ProgramRunner.client, folder.path, ProgramRunner.server])
        #expect(dash.code == 0 && dash.stdout == "{\"sum\":3}\n")
        #expect(try !Files.names(in: folder.path).names.contains("-"))
    }

    // MARK: D15: secrets

    /// Neither in the trace nor in a hint, which repeats the flags of the connection.
    @Test func secretsAreNotShown() async throws {
        let peer = try HTTPPeer { heard in
            heard.rpcMethod == "tools/list"
                ? .result(heard, #"{"resultType":"complete","tools":[]}"#) : .result(heard, Script.discovered)
        }
        defer { peer.stop() }
        let url = "http://\(peer.endpoint)/mcp?api_key=CANARY1"
        let flags = ["--protocol", "2026-07-28", "-H", "X-Key: CANARY2", "--bearer-env", "TOKEN"]
        let outcome = try await run(
            ["-vv"] + flags + ["call", url, "nosuch"], environment: ["TOKEN": "CANARY3"])
        #expect(outcome.code == 5 && !outcome.stderr.contains("CANARY"), "\(outcome.stderr)")
        #expect(peer.heard.contains { $0.header("authorization") == "Bearer CANARY3" })
        #expect(outcome.stderr.contains("> POST /mcp?api_key=*** HTTP/1.1\n"))
        let hint = try #require(lines(outcome).last)
        #expect(hint.hasPrefix("hint: mcp-client ") && hint.contains("--protocol 2026-07-28"), "\(hint)")
        #expect(hint.contains("--bearer-env TOKEN") && hint.contains("api_key=***"), "\(hint)")
    }

    // MARK: D16: one tool

    @Test func descriptionsOfArgumentsStayInTheirColumn() async throws {
        let members = (1 ... 9).map { #"{"type":"object","properties":{"f\#($0)":{"type":"string"}}}"# }
        let tool =
            #"{"name":"t","description":"zero\u200bwidth","inputSchema":{"type":"object","properties":{"q":{"#
            + #""type":"string","description":"one\ntwo"},"wide":{"description":"w","type":"object","#
            + #""properties":{"u":{"anyOf":[\#(members.joined(separator: ","))]}}},"kind":{"enum":["#
            + (1 ... 20).map { "\"choice\($0)\"" }.joined(separator: ",") + #"],"description":"k"}}}}"#
        let outcome = try await run(["tool", "t", "--"] + ShellServer.words(call: "", tools: tool))
        let shown = outcome.stdout.prefix(
            upTo: outcome.stdout.range(of: "input schema")?.lowerBound ?? "".endIndex)
        #expect(outcome.code == 0 && shown.contains("zero\\u{200b}width"), "\(outcome.stdout)")
        #expect(shown.contains("  one two\n") && !shown.contains("\\n"), "\(shown)")
        let rows = shown.split(separator: "\n").drop { $0 != "arguments" }
        #expect(rows.count == 4 && rows.allSatisfy { $0.count <= 100 }, "\(shown)")
    }

    // MARK: D17, D19: servers that lack something

    @Test func aServerWithoutNotificationsIsNotWatched() async throws {
        let peer = try HTTPPeer { heard in
            heard.rpcMethod == "server/discover"
                ? .result(heard, Script.discovered)
                : .json(
                    #"{"jsonrpc":"2.0","id":\#(heard.id),"error":{"code":-32601,"message":"Method not found"}}"#,
                    status: 404)
        }
        defer { peer.stop() }
        let outcome = try await run(["watch", "http://\(peer.endpoint)/mcp"])
        #expect(
            outcome.code == 5 && lines(outcome).first == "error: the server sends no change notifications",
            "\(outcome.stderr)")
        #expect(lines(outcome).last?.hasPrefix("hint: ask it again instead: mcp-client tools ") == true)
        let missing = try await run(["watch", "docs:///nope.md"] + Self.demo)
        #expect(missing.code == 5 && missing.stderr.contains("does not notify about: docs:///nope.md"))
    }

    @Test func theLevelHoldsForAServerWithoutAFilter() async throws {
        func log(_ level: String) -> String {
            #"printf '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"\#(level)","data":"\#(level) text"}}\n'"#
        }
        let server = ShellServer.words(
            call: log("debug") + "; " + log("error")
                + #"; answer '{"resultType":"complete","content":[{"type":"text","text":"done"}]}'"#)
        let all = try await run(["call", "t", "--"] + server)
        #expect(all.stderr.contains("debug text") && all.stderr.contains("error text"), "\(all.stderr)")
        let some = try await run(["--log-level", "error", "call", "t", "--"] + server)
        #expect(some.code == 0 && some.stderr == "[error] error text\n", "\(some.stderr)")
        let timed = try await run(["--no-cache", "--timings", "call", "t", "--"] + server)
        #expect(timed.stderr.hasSuffix(" ms · 3 requests\n"), "\(timed.stderr)")
    }

    /// As FastMCP 4 does: its questions need a revision in which a server can send requests.
    @Test func aToolThatCannotAskNamesTheRevision() async throws {
        let text = "elicitation via server-initiated requests is unavailable on 2026-07-28 connections."
        let server = ShellServer.words(
            call:
                #"answer '{"resultType":"complete","isError":true,"content":[{"type":"text","text":"\#(text)"}]}'"#
        )
        let outcome = try await run(["call", "t", "--"] + server)
        #expect(outcome.code == 1)
        #expect(
            lines(outcome).last
                == "hint: its server asks questions only in an older revision: --protocol 2025-11-25")
    }

    /// A program that ends leaves a shell that says so, and what to do.
    @Test func aShellWhoseServerHasEnded() async throws {
        let outcome = try await ProgramRunner.client(
            "shell", "--", "/bin/sh", "-c",
            ShellServer.words(call: "echo out of cheese >&2; exit 9").last ?? "",
            stdin: "call t\ntools\n")
        #expect(outcome.code == 3 && outcome.stdout.isEmpty, "\(outcome.stdout)")
        let lines = outcome.stderr.split(separator: "\n")
        #expect(lines.count { $0 == "error: /bin/sh exited with status 9" } == 2, "\(outcome.stderr)")
        #expect(lines.count { $0 == "  stderr: out of cheese" } == 2, "\(outcome.stderr)")
        #expect(lines.last == "hint: leave the shell with exit, and start it again", "\(outcome.stderr)")
    }
}
