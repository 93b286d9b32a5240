import Foundation
import MCPClientCLI
import MCPCore
import TestSupport
import Testing

/// `agent` with a model that is a program, against a server in this process.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AgentCommandTests {
    /// Calls one tool, then says what it read.
    private static func model(_ directory: String, tool: String, arguments: String = "{}") throws -> String {
        let path = directory + "/model.sh"
        let script = #"""
            #!/bin/sh
            while read -r line; do
              case $line in
              *'"role":"tool"'*)
                text=$(printf '%s' "$line" | sed 's/.*"results":\[{[^}]*"text":"\([^"]*\)".*/\1/')
                printf '{"type":"text","delta":"It says: %s"}\n{"type":"stop"}\n' "$text";;
              *) printf '%s\n' '{"type":"tool_call","id":"c1","name":"TOOL","arguments":ARGUMENTS}' '{"type":"stop"}';;
              esac
            done
            """#
        let text = script.replacing("TOOL", with: tool).replacing("ARGUMENTS", with: arguments)
        try Files.replace(path, with: Array(text.utf8))
        // Not a program itself: one that another thread forks meanwhile has it open for writing for a moment, and
        // it cannot be started then (ETXTBSY).
        return "sh " + path
    }

    private func run(
        _ words: [String], tool: String = "unit_restart", arguments: String = #"{"unit":"web"}"#,
        typed: [String]? = nil
    ) async throws -> CommandOutcome {
        let directory = NSTemporaryDirectory() + "mcp-agent-\(UInt64.random(in: 0 ... .max))"
        #expect(unsafe mkdir(directory, 0o700) == 0)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var harness = CommandHarness(server: try OpsServer.make())
        harness.typed = typed
        let model = try Self.model(directory, tool: tool, arguments: arguments)
        return await harness.run(["--model-command", model] + words)
    }

    // H16
    @Test func aPersonApproves() async throws {
        let outcome = try await run(["agent", "Restart it", "localhost:1"], typed: ["y"])
        #expect(outcome.code == .ok, "\(outcome.stderr)")
        #expect(outcome.stdout == "It says: restarted\n")
        for part in [
            "allow unit_restart of server1 to run?",
            "  Operations · Restart one of our services. (according to the server)",
            "· change or delete something, possibly irreversibly",
            "\"unit\": \"web\"", "← unit_restart completed in ",
        ] {
            #expect(outcome.stderr.contains(part), "\(part) in \(outcome.stderr)")
        }
    }

    @Test(arguments: [["n"], [""], ["x"], ["yet another"], ["rum"], ["alas"], []])
    func aPersonSaysNo(_ typed: [String]) async throws {
        let outcome = try await run(["agent", "Restart it", "localhost:1"], typed: typed)
        #expect(outcome.code == .ok)
        #expect(outcome.stdout == "It says: unit_restart was not allowed: the user declined\n")
    }

    /// A tail that is not shown is announced, and shown when asked for.
    @Test func longArgumentsAreNotHidden() async throws {
        let long = String(repeating: "A", count: 5_000) + " && rm -rf /"
        let outcome = try await run(
            ["agent", "Say it", "localhost:1"], tool: "x_echo", arguments: #"{"text":"\#(long)"}"#,
            typed: ["s", "n"])
        #expect(outcome.stderr.contains("characters that are not shown here"))
        let asked = outcome.stderr.components(separatedBy: "[y]es, yes for this [r]un, [s]how all, [N]o: ")
        #expect(asked.count == 3 && !asked[0].contains("rm -rf") && asked[1].contains("AA && rm -rf /"))
    }

    /// It asks for the arguments, also where all of them were shown, and declines nothing.
    @Test func showingAgainIsNoAnswer() async throws {
        let outcome = try await run(["agent", "Restart it", "localhost:1"], typed: ["s", "y"])
        #expect(outcome.code == .ok && !outcome.stdout.contains("declined"), "\(outcome.stdout)")
        let asked = outcome.stderr.components(separatedBy: "[y]es, yes for this [r]un, [N]o: ")
        #expect(asked.count == 3 && asked[0].contains(asked[1].trimmingCharacters(in: .newlines)))
    }

    /// What a model says before it calls tools is not the answer.
    @Test func aPipeGetsTheAnswerAlone() async throws {
        let path = NSTemporaryDirectory() + "mcp-talk-\(UInt64.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let script = #"""
            while read -r line; do
              case $line in
              *'"role":"tool"'*) echo '{"type":"text","delta":"Done."}';;
              *) echo '{"type":"text","delta":"Let me look."}'
                echo '{"type":"tool_call","id":"c1","name":"unit_restart","arguments":{"unit":"web"}}';;
              esac
              echo '{"type":"stop"}'
            done
            """#
        try Files.replace(path, with: Array(script.utf8))
        var harness = CommandHarness(server: try OpsServer.make())
        let words = [
            "--model-command", "/bin/sh \(path)", "--policy", "auto", "agent", "x", "localhost:1",
        ]
        let piped = await harness.run(words)
        #expect(piped.stdout == "Done.\n" && piped.stderr.contains("Let me look."))
        // All of it, where it is no terminal.
        let long = String(repeating: "a", count: 5_000)
        try Files.replace(path, with: Array(script.replacing("Let me look.", with: long).utf8))
        #expect(await harness.run(words).stderr.contains(long))
        try Files.replace(path, with: Array(script.utf8))
        harness.isTerminal = true
        // On a terminal, what follows begins a line of its own (D12).
        #expect(await harness.run(words).stdout == "Let me look.\nDone.\n")
    }

    @Test func aModelThatCannotStart() async throws {
        let harness = CommandHarness(server: try OpsServer.make())
        let outcome = await harness.run(["--model-command", "/no/model", "agent", "x", "localhost:1"])
        #expect(outcome.code == .unreachable)
        #expect(outcome.stderr.contains("cannot start the model /no/model"), "\(outcome.stderr)")
    }

    @Test func withoutAServerTheModelIsAlone() async throws {
        let outcome = try await run(["agent", "Restart it"])
        #expect(outcome.code == .ok)
        #expect(
            outcome.stderr.hasPrefix("no TARGET: the model has no tools\n"))
    }

    @Test func nobodyIsThere() async throws {
        for words in [["agent"], ["--no-input", "agent"]] {
            let outcome = try await run(
                words + ["Restart it", "localhost:1"], typed: words.count > 1 ? ["y"] : nil)
            #expect(outcome.code == .inputRequired)
            #expect(outcome.stderr.contains("requires approval, and nobody can be asked"))
            #expect(outcome.stderr.contains("hint: --allow unit_restart allows it"))
            #expect(outcome.stdout.contains("was not allowed"))
        }
    }

    @Test func policiesOfTheCommandLine() async throws {
        let auto = try await run(["--policy", "auto", "agent", "x", "localhost:1"])
        #expect(auto.stdout == "It says: restarted\n" && auto.code == .ok)
        #expect(auto.stderr.contains("→ unit_restart {\"unit\":\"web\"}"))
        let deny = try await run(["--policy", "deny", "agent", "x", "localhost:1"])
        #expect(deny.stdout == "It says: unit_restart is not allowed.\n" && deny.code == .ok)
        let log = #"{"repo":"web"}"#
        let trusted = try await run(
            ["--trust", "server1", "agent", "x", "localhost:1"], tool: "git_log", arguments: log)
        #expect(trusted.code == .ok)
        let ask = try await run(
            ["--policy", "ask", "--trust", "server1", "agent", "x", "localhost:1"], tool: "git_log",
            arguments: log)
        #expect(ask.code == .inputRequired)
    }

    @Test func eventsAsJSON() async throws {
        let outcome = try await run(["--policy", "auto", "--events", "jsonl", "agent", "x", "localhost:1"])
        let events = try outcome.stdout.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        #expect(
            events.map { $0["event"]?.stringValue } == [
                "round", "toolCallRequested", "toolCallCompleted", "text", "completed",
            ])
        #expect(events[1]["call"]?["source"] == "server1")
        #expect(events[2]["result"]?["status"] == "completed")
        let reply = try await run(["--policy", "auto", "--json", "agent", "x", "localhost:1"])
        #expect(try JSONValue(parsing: reply.stdout)["text"] == "It says: restarted")
    }

    /// Without any model: a file says what one would.
    @Test func scripted() async throws {
        let path = NSTemporaryDirectory() + "mcp-script-\(UInt64.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let lines =
            #"{"calls":[{"name":"unit_restart","arguments":{"unit":"web"}}]}"# + "\n" + #"{"text":"Done."}"#
        try Files.replace(path, with: Array(lines.utf8))
        let harness = CommandHarness(server: try OpsServer.make())
        let words = ["--model", "script:\(path)", "--policy", "auto", "agent", "x", "localhost:1"]
        let outcome = await harness.run(words)
        #expect(outcome.code == .ok && outcome.stdout == "Done.\n")
        #expect(outcome.stderr.contains("← unit_restart completed"))
        // What is said before the calls is one answer with them.
        let both = lines.replacing(#"{"calls""#, with: #"{"text":"Let me.","calls""#)
        try Files.replace(path, with: Array(both.utf8))
        let said = await harness.run(words)
        #expect(said.code == .ok && said.stdout == "Done.\n")
        #expect(said.stderr.contains("Let me."))
        #expect(said.stderr.contains("← unit_restart completed"))
        for line in [
            #"{"song":"la"}"#, "{}", #"{"text":1}"#, #"{"text":"x","calls":[]}"#, #"{"text":"x","call":[]}"#,
            #"{"calls":[{"name":"a","argument":{}}]}"#, #"["text"]"#,
        ] {
            try Files.replace(path, with: Array(line.utf8))
            let wrong = await harness.run(words)
            #expect(wrong.code == .usage && wrong.stderr.contains("line 1 of"), "\(line)")
        }
        try FileManager.default.removeItem(atPath: path)
        let missing = await harness.run(words)
        #expect(missing.code == .usage && missing.stderr.contains("cannot read"))
        #expect(missing.stderr.contains("hint: script:FILE has one answer per line"))
    }

    @Test func severalServers() async throws {
        let outcome = try await run(
            ["--policy", "auto", "--server", "a=localhost:2", "agent", "x", "localhost:1"],
            tool: "server1__unit_restart")
        #expect(outcome.stdout == "It says: restarted\n", "\(outcome.stderr)")
    }

    @Test func roundsEnd() async throws {
        let harness = CommandHarness(server: try OpsServer.make())
        let call = #"{"calls":[{"name":"x_echo","arguments":{"a":1}}]}"#
        let folder = TemporaryDirectory()
        try folder.write("s.jsonl", "\(call)\n\(call)\n")
        let outcome = await harness.run(
            "--rounds", "1", "--policy", "auto", "agent", "x", "localhost:1", "--model",
            "script:\(folder.path)/s.jsonl")
        #expect(outcome.code == .toolError, "\(outcome.stderr)")
        #expect(outcome.stderr.contains("after 1 round"), "\(outcome.stderr)")
    }

    @Test(
        arguments: [
            (["agent", "x", "localhost:1"], "needs a model"),
            (["--model", "gpt", "agent", "x"], "openai:URL,NAME"),
            (["--model", "openai:ftp://x,m", "agent", "x"], "openai:URL,NAME"),
            (
                ["--rounds", "0", "agent", "x", "localhost:1"],
                "--rounds must be a number from 1 to 1000, not \"0\""
            ),
            (["--trust", "b", "--model", "script:x", "agent", "x"], "no server is given"),
            (
                ["--model-command", "cat", "--param", "a=1", "agent", "x", "localhost:1"],
                "--param has no effect on this model"
            ),
            (
                ["--model", "script:x", "--model-key-env", "K", "agent", "x", "localhost:1"],
                "--model-key-env has no effect on this model"
            ),
            (["--policy", "maybe", "agent", "x"], "is not ask, auto or deny"),
            (["--events", "xml", "agent", "x"], "not jsonl"),
            (["--server", "localhost:1", "agent", "x"], "not NAME=TARGET"),
            (
                ["--trust", "b", "--server", "a=localhost:1", "agent", "x"],
                "no server has this name"
            ),
            (["-H", "A:b", "agent", "x", "localhost:1", "localhost:2"], "exactly one HTTP server"),
            (["--server", "server1=localhost:1", "agent", "x", "localhost:2"], "two servers are named"),
            (["agent"], "missing PROMPT"), (["--rounds", "6", "tools", "localhost:1"], "does not apply"),
        ])
    func wrongWords(_ words: [String], _ text: String) async throws {
        let outcome = await CommandHarness(server: try OpsServer.make()).run(words)
        #expect(outcome.code == .usage)
        #expect(outcome.stderr.contains(text), "\(outcome.stderr)")
    }
}
