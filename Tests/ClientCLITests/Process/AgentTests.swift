import Foundation
import MCPClientCLI
import TestSupport
import Testing

/// `agent` as a program: how it ends, and what it leaves behind.
@Suite(.timeLimit(.minutes(5))) struct AgentTests {
    private static let server = ["--", ProgramRunner.server, "--demo", "--stdio"]

    @Test func theDeadlineIsExitSix() async throws {
        // A model that never answers, and ends by nothing but force.
        let path = NSTemporaryDirectory() + "mcp-deaf-\(UUID().uuidString.prefix(8))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try "trap '' TERM HUP INT; echo $$ > '\(path).pid'; while :; do sleep 1; done"
            .write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path + ".pid") }
        let outcome = try await ProgramRunner.run(
            ProgramRunner.client,
            ["agent", "--deadline", "1500ms", "--model-command", "/bin/sh \(path)", "Hello"] + Self.server)
        #expect(outcome.code == 6)
        #expect(outcome.stderr.hasPrefix("error: the deadline of 1.5 s has passed\n"), "\(outcome.stderr)")
        #expect(outcome.stdout.isEmpty)
        let text = try String(contentsOfFile: path + ".pid", encoding: .utf8)
        let pid = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        // Killed; the system may need a moment until it is gone.
        let end = ContinuousClock.now + .seconds(10)
        while kill(pid, 0) == 0, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(10)) }
        #expect(kill(pid, 0) != 0)
    }

    @Test func ctrlCIsExit130() async throws {
        let outcome = try await ProgramRunner.run(
            ProgramRunner.client, ["agent", "--model-command", "sleep 60", "Hello"] + Self.server
        ) { ProgramRunner.interruptWhenItHasAChild($0) }
        #expect(outcome.code == 130)
        #expect(outcome.stderr == "interrupted\n")
    }

    /// At a terminal: what was typed before a question was shown does not answer it, nor does the end of the
    /// input.
    @Test(arguments: [("\u{4}", false), ("\n", false), ("yes\n", true)])
    func whatWasTypedBeforeIsNoAnswer(typed: String, isYes: Bool) async throws {
        let folder = TemporaryDirectory()
        let go = folder.path + "/go"
        let script = #"""
            while read -r line; do
              case $line in
              *'"role":"tool"'*) printf '%s\n' '{"type":"text","delta":"It is over."}' '{"type":"stop"}';;
              *) printf '%s\n' '{"type":"text","delta":"Wait."}'
                while [ ! -e 'GO' ]; do sleep 0.05; done
                printf '%s\n' '{"type":"tool_call","id":"c1","name":"add","arguments":{"a":1,"b":2}}' '{"type":"stop"}';;
              esac
            done
            """#
        let path = folder.path + "/model.sh"
        try script.replacing("GO", with: go).write(toFile: path, atomically: true, encoding: .utf8)
        let terminal = try PseudoTerminal(
            ProgramRunner.client,
            ["--policy", "ask", "agent", "--model-command", "/bin/sh \(path)", "Add"] + Self.server,
            environment: ["HOME": folder.path, "NO_COLOR": "1"])
        var mark = try await terminal.wait(for: "Wait.")
        terminal.type("y\ny\ny\n")
        // The terminal has them: it echoes them.
        mark = try await terminal.wait(for: "y\r\ny\r\ny\r\n", after: mark)
        try "".write(toFile: go, atomically: true, encoding: .utf8)
        mark = try await terminal.wait(for: "[N]o", after: mark)
        terminal.type(typed)
        try await terminal.wait(for: isYes ? "add completed" : "add denied", after: mark)
        #expect(try await terminal.end() == 0, "\(terminal.text)")
    }

    /// A warning with a hint has it in a line of its own.
    @Test func aServerThatEndsWhenItsToolsAreListed() async throws {
        let folder = TemporaryDirectory()
        try folder.write("model", #"{"text":"hi"}"# + "\n")
        try folder.write(
            "server",
            #"""
            while read -r line; do
                id=${line#*\"id\":}
                id=${id%%[,\}]*}
                case $line in
                *'"initialize"'*)
                    info='"capabilities":{"tools":{}},"serverInfo":{"name":"h","version":"1"}'
                    echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-06-18",'"$info"'}}' ;;
                *tools/list*) exit 9 ;;
                *'"id"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"no"}}' ;;
                esac
            done
            """#)
        let outcome = try await ProgramRunner.run(
            ProgramRunner.client,
            [
                "agent", "--model", "script:\(folder.path)/model", "Hello", "--", "sh",
                folder.path + "/server",
            ],
            environment: ["HOME": folder.path])
        #expect(outcome.code == 0 && outcome.stdout == "hi\n")
        let lines = outcome.stderr.split(separator: "\n")
        #expect(lines.first == "warning: h did not list its tools: sh exited with status 9", "\(lines)")
        #expect(lines.last?.hasPrefix("  hint: ") == true, "\(lines)")
    }

    /// The key of the model is for the model.
    @Test func serversDoNotGetTheKey() async throws {
        let path = NSTemporaryDirectory() + "mcp-env-\(UUID().uuidString.prefix(8))"
        defer { for end in ["", ".sh"] { try? FileManager.default.removeItem(atPath: path + end) } }
        try "env > '\(path)'; exec '\(ProgramRunner.server)' --demo --stdio"
            .write(toFile: path + ".sh", atomically: true, encoding: .utf8)
        let outcome = try await ProgramRunner.run(
            ProgramRunner.client,
            [
                "agent", "--model", "openai:http://127.0.0.1:1/v1,m", "--model-key-env", "MODEL_KEY", "Hello",
                "--", "/bin/sh", path + ".sh",
            ], environment: ["MODEL_KEY": "sk-secret-1234", "OTHER": "stays"])
        #expect(outcome.code == 3)
        let variables = try String(contentsOfFile: path, encoding: .utf8)
        #expect(variables.contains("OTHER=stays") && !variables.contains("sk-secret-1234"))
    }
}
