import Foundation
import MCPClientCLI
import MCPCore
import TestSupport
import Testing

/// What the client says about servers that fail: two to four lines, the right exit code, nothing left behind.
@Suite(.serialized)
struct BadServerTests {
    private func run(_ words: [String], limit: Int = 30) async throws -> ProgramOutcome {
        try await ProgramRunner.run(ProgramRunner.client, words, limit: limit)
    }

    private func lines(_ outcome: ProgramOutcome) -> [Substring] { outcome.stderr.split(separator: "\n") }

    // MARK: Programs (fault rows 82 to 84)

    @Test func aProgramThatDiesAtOnce() async throws {
        // Its end is what ends the wait, and no time-out does.
        let outcome = try await run(
            [
                "--connect-timeout", "1h", "tools", "--", "/bin/sh", "-c",
                "echo unknown option --oops >&2; exit 3",
            ], limit: 240)
        #expect(outcome.code == 3 && !outcome.wasKilled)
        #expect(outcome.stdout.isEmpty)
        let first = try #require(lines(outcome).first)
        #expect(first.hasPrefix("error: /bin/sh exited with status 3 before answering (after "))
        #expect(lines(outcome).dropFirst().first == "  stderr: unknown option --oops")
        // It may be gone before anything could be sent to it.
        #expect(
            lines(outcome).dropFirst(2).allSatisfy {
                $0.hasPrefix("  sent:   ") || $0.hasPrefix("hint: mcp-client doctor -- /bin/sh ")
            })
        #expect(lines(outcome).count <= 4)
    }

    /// Such as a server that listens on a port and leaves stdin alone.
    @Test func aProgramThatNeverAnswers() async throws {
        let outcome = try await run([
            "--connect-timeout", "3s", "tools", "--", "/bin/sh", "-c",
            "read x; echo first >&2; echo reads mcp.jsonc >&2; echo listening http://x >&2; exec sleep 100",
        ])
        #expect(outcome.code == 6)
        #expect(
            lines(outcome).dropFirst() == [
                "  stderr: reads mcp.jsonc", "  stderr: listening http://x",
                "hint: does it speak MCP on stdin and stdout? It may need a flag for that, such as --stdio for "
                    + "mcp-server; if it starts slowly, raise --connect-timeout",
            ], "\(outcome.stderr)")
    }

    @Test func aProgramThatIsNotThere() async throws {
        let outcome = try await run(["--json", "tools", "--", "no-such-program-here"])
        #expect(outcome.code == 3)
        #expect(outcome.stderr.contains("no-such-program-here"))
        #expect(outcome.stderr.contains("/usr/bin:/bin"))
        #expect(outcome.stderr.contains(#""kind":"cannot_start","code":3"#))
    }

    @Test func aProgramThatIsNoServer() async throws {
        let outcome = try await run(["tools", "--", "/bin/echo", "hello"])
        #expect(outcome.code == 3)
        #expect(lines(outcome).count <= 5)
    }

    @Test func aBannerOnStdoutIsSkippedAndTheConversationContinues() async throws {
        let server = ShellServer.words(
            call: #"answer '{"resultType":"complete","content":[{"type":"text","text":"fine"}]}'"#,
            start: "echo 'Welcome to my server!'; echo noise >&2")
        let outcome = try await run(["call", "t", "--"] + server)
        #expect(outcome.code == 0)
        #expect(outcome.stdout == "fine\n")
        let verbose = try await run(["-v", "call", "t", "--"] + server)
        #expect(verbose.stderr.contains("Welcome to my server!"))
        #expect(verbose.stderr.contains("noise"))
    }

    @Test func aServerKilledInTheMiddleOfACall() async throws {
        // Its end is what ends the call, and no time-out does.
        let server = ShellServer.words(call: "kill -9 $$")
        let outcome = try await run(["--timeout", "1h", "call", "t", "--"] + server, limit: 240)
        #expect(outcome.code == 3 && !outcome.wasKilled)
        let bench = try await run(["--timeout", "1h", "bench", "t", "--"] + server, limit: 240)
        #expect(bench.code == 3 && bench.stderr.hasPrefix("error: t failed: "), "\(bench.stderr)")
    }

    /// Fault row 83: the child ignores the end of its input and SIGTERM; nothing is left.
    @Test func aServerThatWillNotEndIsKilled() async throws {
        let file = NSTemporaryDirectory() + "mcp-pid-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: file) }
        let server = ShellServer.words(
            call: #"answer '{"resultType":"complete","content":[]}'; while :; do sleep 1; done"#,
            start: "trap '' TERM HUP; echo $$ > \(file)")
        let outcome = try await run(["call", "t", "--"] + server)
        #expect(outcome.code == 0)
        let pid =
            Int32(
                try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(
                    in: .whitespacesAndNewlines)) ?? 0
        #expect(pid > 0)
        #expect(isGone(pid))
    }

    /// The command leaves without waiting for the server any longer, and still says why.
    @Test func theDeadlineIsToldAlsoWhenTheServerWillNotEnd() async throws {
        let words = ShellServer.words(call: "while :; do sleep 1; done", start: "trap '' TERM HUP")
        let outcome = try await run(["--json", "--deadline", "1s", "call", "t", "--"] + words)
        #expect(outcome.code == 6)
        #expect(lines(outcome).first == "error: the deadline of 1 s has passed")
        #expect(lines(outcome).last?.contains(#""kind":"timeout","code":6"#) == true, "\(outcome)")
    }

    /// Files of other programs may be large, and slow to read.
    @Test func theDeadlineHoldsWhileConfigurationIsRead() async throws {
        let folder = TemporaryDirectory()
        let member = #""x": [[],{},[],{},[],{},[],{},[],{},[],{},[],{},[],{}],"# + "\n"
        let text = "{" + String(repeating: member, count: 400_000) + "\"mcpServers\": {}}"
        try folder.write(".claude.json", text)
        let outcome = try await ProgramRunner.run(
            ProgramRunner.client, ["--deadline", "300ms", "tools", "ops"], environment: ["HOME": folder.path])
        #expect(outcome.code == 6 || outcome.code == 2, "\(outcome.code) \(outcome.stderr)")
        #expect(outcome.stderr.hasPrefix("error: ") && !outcome.wasKilled)
    }

    /// The terminal is closed, or the connection to it is lost.
    @Test func aHangupEndsTheServerToo() async throws {
        let file = NSTemporaryDirectory() + "mcp-hup-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: file) }
        let words = ShellServer.words(
            call: "while :; do sleep 1; done", start: "trap '' TERM HUP; echo $$ > \(file)")
        let outcome = try await ProgramRunner.run(ProgramRunner.client, ["call", "t", "--"] + words) {
            ProgramRunner.interruptWhenItHasAChild($0, by: SIGHUP)
        }
        #expect(outcome.code == 130 && outcome.stderr == "interrupted\n")
        // It may have been interrupted before the server wrote its number.
        let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        if let pid = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)) { #expect(isGone(pid)) }
    }

    /// The last words wait for no reader.
    @Test func theDeadlineHoldsAlsoWhenNobodyReadsStandardError() async throws {
        let words = ShellServer.words(call: "while :; do sleep 1; done", start: "trap '' TERM HUP")
        // A pipe that is full and stays open.
        let command = """
            mkfifo "$1" && exec 3<>"$1" && (timeout 0.2 cat /dev/zero >&3; true); shift; exec "$0" "$@" 2>&3
            """
        let path = NSTemporaryDirectory() + "mcp-full-\(UUID().uuidString.prefix(8))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let outcome = try await ProgramRunner.run(
            "/bin/sh",
            ["-c", command, ProgramRunner.client, path, "--deadline", "1s", "call", "t", "--"] + words)
        #expect(outcome.code == 6 && !outcome.wasKilled)
    }

    /// A result that nobody can get is no success.
    @Test func aClosedOutputIsAnError() async throws {
        let command = "exec \"$0\" call add a=1 b=2 -- \"$1\" --demo --stdio >&-"
        let outcome = try await ProgramRunner.run(
            "/bin/sh", ["-c", command, ProgramRunner.client, ProgramRunner.server])
        #expect(outcome.code == 3)
        #expect(outcome.stderr.contains("cannot write to stdout: Bad file descriptor"))
    }

    /// One limit for the probe, the handshake and the end of the child, which ignores the end of its input.
    @Test func aSilentProgramTakesNoLongerThanItMay() async throws {
        let outcome = try await run(["--connect-timeout", "1s", "tools", "--", "sleep", "100"])
        #expect(outcome.code == 6)
        #expect(
            lines(outcome).first
                == "error: the program did not read its standard input within 1 s")
        #expect(outcome.stderr.contains("--connect-timeout"))
        #expect(outcome.duration >= .seconds(1))
        #expect(outcome.duration < .seconds(10))
    }

    /// A server that is never content names the limit, and not what was given already.
    @Test func aServerThatAsksInEveryRound() async throws {
        let folder = TemporaryDirectory()
        try folder.write("a.json", "{}")
        let server = ShellServer.words(
            call:
                #"answer '{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","#
                + #""params":{"mode":"form","message":"Sure?","requestedSchema":{"type":"object","properties":{}}}}},"#
                + #""requestState":"s"}'"#)
        let outcome = try await run(["--answers", folder.path + "/a.json", "call", "t", "--"] + server)
        #expect(outcome.code == 7)
        #expect(
            lines(outcome).dropFirst() == ["  it still asks after 10 rounds of answers, the limit"],
            "\(outcome.stderr)")
    }

    /// Bytes that are no text would become other characters.
    @Test func anArgumentThatIsNotText() async throws {
        let script = #"exec "$0" call "$(printf 'text=\377\376')" -- true"#
        let outcome = try await ProgramRunner.run("/bin/sh", ["-c", script, ProgramRunner.client])
        #expect(outcome.code == 2)
        #expect(lines(outcome).first == "error: argument 2 is not UTF-8 text", "\(outcome.stderr)")
        let text = try await ProgramRunner.client("call", "text=\u{FFFD}", "--", "true")
        #expect(!text.stderr.contains("is not UTF-8"), "\(text.stderr)")
        let folder = TemporaryDirectory()
        try folder.write("m", #"{"text": "hello"}"#)
        let asked = try await ProgramRunner.run(
            "/bin/sh",
            [
                "-c", #"printf 'say \377' | "$0" agent --model "script:$1" -"#, ProgramRunner.client,
                folder.path + "/m",
            ], environment: ["HOME": folder.path])
        #expect(asked.code == 2, "\(asked.stdout)")
        #expect(asked.stderr.contains("error: the prompt is not UTF-8 text"), "\(asked.stderr)")
    }

    // MARK: Answers

    @Test func aJSONRPCError() async throws {
        let server = ShellServer.words(call: "refuse -32603 'out of cheese'")
        let outcome = try await run(["--json", "call", "t", "--"] + server)
        #expect(outcome.code == 5)
        #expect(lines(outcome).first == "error: the server refused: out of cheese (-32603)")
        #expect(outcome.stderr.contains(#""rpcCode":-32603"#))
    }

    /// What has nothing of a result is none, such as a question in the form of another revision.
    @Test(arguments: [
        #"{"resultType":"complete","content":7}"#, #"{"resultType":"complete"}"#,
        #"{"resultType":"complete","inputRequests":{}}"#,
    ])
    func aMalformedResult(result: String) async throws {
        let server = ShellServer.words(call: "answer '\(result)'")
        let outcome = try await run(["call", "t", "--"] + server)
        #expect(outcome.code == 5)
        #expect(lines(outcome).first == "error: the server sent a malformed tool result")
        #expect(lines(outcome).last == "  the call was made: t has run")
    }

    /// Entries that cannot be read are noted, and hide no others.
    @Test func malformedEntriesOfAList() async throws {
        let good = #"{"name":"t","inputSchema":{"type":"object"}}"#
        let bad = #"null,{"name":5},{"name":"sur\ud800","inputSchema":{"type":"object"}},"#
        let outcome = try await run(["tools", "--"] + ShellServer.words(call: "", tools: bad + good))
        #expect(outcome.code == 0)
        #expect(outcome.stdout.hasPrefix("t()"), "\(outcome.stdout)")
        let notes = lines(outcome).filter { $0.hasPrefix("warning: ") }
        #expect(notes.count == 3 && notes.allSatisfy { $0.contains("left out") }, "\(outcome.stderr)")
        let many = String(repeating: "null,", count: 100) + good
        let flood = try await run(["tools", "--"] + ShellServer.words(call: "", tools: many))
        #expect(flood.code == 0 && lines(flood).count { $0.hasPrefix("warning: ") } == 6)
    }

    @Test func aServerThatAsksBack() async throws {
        let question =
            #"{"resultType":"input_required","requestState":"x","inputRequests":{"q":{"method":"elicitation/create","params":{"mode":"form","message":"Type the database name to confirm","requestedSchema":{"type":"object","properties":{"confirm":{"type":"string"}}}}}}}"#
        let outcome = try await run(["call", "t", "--"] + ShellServer.words(call: "answer '\(question)'"))
        #expect(outcome.code == 7)
        #expect(
            outcome.stderr
                == "input required: t asks \"Type the database name to confirm\" (field confirm: string)\n"
                + "hint: --answer confirm=…\n")
    }

    @Test func aServerThatNeedsAClientThatAnswers() async throws {
        let outcome = try await run(
            ["--json", "call", "t", "--"] + ShellServer.words(call: "refuse -32021 'needs elicitation'"))
        #expect(outcome.code == 7)
        #expect(outcome.stderr.contains(#""kind":"input_required","code":7"#))
    }

    @Test func silenceIsExitSix() async throws {
        let outcome = try await run(
            ["--timeout", "500ms", "call", "t", "--"] + ShellServer.words(call: "true"))
        #expect(outcome.code == 6)
        #expect(outcome.duration < .seconds(10))
    }

    // MARK: HTTP

    @Test func nobodyListens() async throws {
        let listener = try LocalListener()
        listener.close()
        let outcome = try await run(["tools", "localhost:\(listener.port)"])
        #expect(outcome.code == 3)
        #expect(outcome.stderr.hasPrefix("error: "))
        #expect(outcome.stderr.contains("refused"))
        let socket = try await run(["tools", "unix:///no/such.sock"])
        #expect(socket.code == 3)
        #expect(socket.stderr.contains("/no/such.sock"))
    }

    @Test(arguments: [
        ("401 Unauthorized", 4), ("403 Forbidden", 4), ("404 Not Found", 5), ("500 Internal Server Error", 5),
        ("503 Service Unavailable", 5),
    ])
    func refusalsOfHTTP(status: String, code: Int32) async throws {
        let listener = try LocalListener()
        defer { listener.close() }
        listener.serve(
            "HTTP/1.1 \(status)\r\nContent-Length: 0\r\nWWW-Authenticate: Bearer realm=\"x\"\r\nConnection: close\r\n\r\n"
        )
        let outcome = try await run(["--json", "tools", "http://127.0.0.1:\(listener.port)/mcp"])
        #expect(outcome.code == code)
        #expect(outcome.stderr.contains("\"status\":\(status.prefix(3))"))
        // It names no authorization server, so there is nowhere to log in.
        let hint =
            "hint: if its operator gave you a token: tools, call and the others send it with "
            + "--bearer-file FILE or --bearer-env VAR"
        #expect(outcome.stderr.contains(hint) == status.hasPrefix("401"))
        #expect(outcome.stderr.contains("hint: the server failed; its own log") == status.hasPrefix("500"))
        #expect(outcome.stderr.contains("hint: the server behind this address") == status.hasPrefix("503"))
        #expect(outcome.stderr.hasPrefix("error: "))
    }

    /// It accepts connections, and never answers.
    @Test func aSilentServer() async throws {
        let listener = try LocalListener()
        defer { listener.close() }
        let outcome = try await run(["--connect-timeout", "1s", "tools", "localhost:\(listener.port)"])
        #expect(outcome.code == 6)
        let first = lines(outcome).first ?? ""
        #expect(first.contains("localhost:\(listener.port)") && first.hasSuffix(" within 1 s"), "\(first)")
        #expect(outcome.stderr.contains("--connect-timeout"), "\(outcome.stderr)")
    }

    @Test func aWebPageIsNoServer() async throws {
        let listener = try LocalListener()
        defer { listener.close() }
        listener.serve(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>"
        )
        let outcome = try await run(["tools", "http://127.0.0.1:\(listener.port)/"])
        #expect(outcome.code == 5)
        #expect(lines(outcome).count <= 5)
    }

    // MARK: Interrupts

    /// A line and its status at every stage, whether Ctrl-C or the deadline comes.
    @Test(arguments: ["program", "http", "call", "callHTTP"], [true, false])
    func everyStageEndsWithALine(stage: String, isDeadline: Bool) async throws {
        let peer = try HTTPPeer { heard in
            switch (stage, heard.rpcMethod) {
            case ("callHTTP", "server/discover"): .result(heard, Script.discovered)
            case ("callHTTP", "tools/list"):
                .result(
                    heard,
                    #"{"resultType":"complete","tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#)
            default: HTTPPeer.Answer(pieces: [], then: .hang)
            }
        }
        defer { peer.stop() }
        let words =
            switch stage {
            case "program": ["tools", "--", "sleep", "100"]
            case "http": ["tools", peer.endpoint]
            case "callHTTP": ["call", peer.endpoint, "t"]
            default: ["call", "t", "--"] + ShellServer.words(call: "true")
            }
        let last = stage == "callHTTP" ? "tools/call" : "server/discover"
        let outcome = try await ProgramRunner.run(
            ProgramRunner.client, (isDeadline ? ["--deadline", "1s"] : []) + words,
            whileRunning: { pid in
                if isDeadline { return }
                guard stage.lowercased().contains("http") else {
                    return ProgramRunner.interruptWhenItHasAChild(pid)
                }
                Thread.detachNewThread {
                    let end = ContinuousClock.now + .seconds(20)
                    while ContinuousClock.now < end, !peer.heard.contains(where: { $0.rpcMethod == last }) {
                        usleep(10_000)
                    }
                    kill(pid, SIGINT)
                }
            })
        #expect(outcome.code == (isDeadline ? 6 : 130), "\(outcome)")
        let line = isDeadline ? "error: the deadline of 1 s has passed" : "interrupted"
        #expect(lines(outcome).contains { $0 == line }, "\(outcome.stderr)")
        #expect(outcome.stdout.isEmpty && outcome.duration < .seconds(10))
    }

    /// Fault row 83: also then nothing is left of a server that ignores everything.
    @Test func aSecondCtrlCLeavesAtOnce() async throws {
        let file = NSTemporaryDirectory() + "mcp-pid-\(getpid())-interrupt"
        defer { try? FileManager.default.removeItem(atPath: file) }
        let server = ShellServer.words(
            call: "while :; do sleep 1; done", start: "trap '' TERM HUP INT; echo $$ > \(file)")
        let outcome = try await ProgramRunner.run(
            ProgramRunner.client, ["call", "t", "--"] + server,
            whileRunning: { pid in
                for delay in [700, 900] {
                    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(delay)) {
                        kill(pid, SIGINT)
                    }
                }
            })
        #expect(outcome.code == 130)
        #expect(outcome.duration < .seconds(4))
        let pid =
            Int32(
                try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(
                    in: .whitespacesAndNewlines)) ?? 0
        #expect(pid > 0)
        #expect(isGone(pid))
    }

    // MARK: Our own side

    @Test func outputThatCannotBeWritten() async throws {
        for words in ["version", "help", "--help", "call --help"] {
            let full = try await ProgramRunner.run(
                "/bin/sh", ["-c", "'\(ProgramRunner.client)' \(words) > /dev/full"])
            #expect(full.code == 3, "\(words)")
            #expect(full.stderr.contains("cannot write to stdout"), "\(words)")
        }
        let file = try await run(["-o", "/no/such/dir/x", "tools", "localhost:1"])
        #expect(file.code == 2)
        #expect(file.stderr.hasPrefix("error: cannot write /no/such/dir/x: "))
    }

    @Test func directoryAndEnvironmentOfAProgram() async throws {
        let server = ShellServer.words(
            call:
                #"answer "{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":\"$(pwd) $GREETING\"}]}""#
        )
        let outcome = try await run(["-C", "/usr", "-e", "GREETING=hello", "call", "t", "--"] + server)
        #expect(outcome.stdout == "/usr hello\n")
    }
}
