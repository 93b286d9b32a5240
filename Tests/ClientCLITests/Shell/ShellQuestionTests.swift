import Foundation
import TestSupport
import Testing

/// Questions of a server at a terminal at which something else is being typed, with the built programs.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ShellQuestionTests {
    private let folder = TemporaryDirectory()

    private var environment: [String: String] { ["HOME": folder.path, "NO_COLOR": "1"] }

    /// A server of 2025-11-25 that asks when a line arrives in the pipe `ask`, takes its question back when
    /// one arrives in `withdraw`, and keeps the answers in `answers`; each is a line in the pipe `answered`, if
    /// there is one. `call` runs for each `tools/call`.
    private func server(call: String = #"answer '{"content":[{"type":"text","text":"done"}]}'"#) -> [String] {
        for name in ["ask", "withdraw"] { #expect(unsafe mkfifo(folder.path + "/" + name, 0o600) == 0) }
        return [
            "/bin/sh", "-c",
            """
            cd '\(folder.path)'
            answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$1"; }
            ask() { printf '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Your name?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}\\n'; }
            (read x < ask; ask; read x < withdraw
              printf '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}\\n') &
            while read -r line; do
              id=$(printf '%s' "$line" | sed -n 's/.*"id":\\([0-9]*\\).*/\\1/p')
              case $line in
              *'"initialize"'*)
                answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"asker","version":"1"}}' ;;
              *'"server/discover"'*)
                printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\\n' "$id" ;;
              *'"tools/list"'*) answer '{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}' ;;
              *'"tools/call"'*) \(call) ;;
              *'"id":"q"'*) printf '%s\\n' "$line" >> answers
                if [ -p answered ]; then (echo > answered) & fi ;;
              esac
            done
            """,
        ]
    }

    private func signal(_ name: String) async throws {
        let path = folder.path + "/" + name
        // Opening a pipe waits for its reader.
        try await Task.detached { try Data("\n".utf8).write(to: URL(fileURLWithPath: path)) }.value
    }

    /// Waits for an answer.
    private func answered() async {
        let path = folder.path + "/answered"
        _ = await Task.detached { FileHandle(forReadingAtPath: path)?.availableData }.value
    }

    private var answers: String {
        (try? String(contentsOfFile: folder.path + "/answers", encoding: .utf8)) ?? ""
    }

    private func start(_ words: [String], _ server: [String], _ variables: [String: String] = [:]) throws
        -> PseudoTerminal
    {
        try PseudoTerminal(
            ProgramRunner.client, words + ["--"] + server, environment: environment.merging(variables) { $1 })
    }

    @Test func aQuestionAtThePromptIsAnsweredAndTheLineGoesOn() async throws {
        let terminal = try start(["shell"], server())
        var mark = try await terminal.wait(for: "asker> ")
        terminal.type("call --js")
        mark = try await terminal.wait(for: "asker> call --js", after: mark)
        try await signal("ask")
        mark = try await terminal.wait(for: "Your name?", after: mark)
        mark = try await terminal.wait(for: "  a: ", after: mark)
        terminal.type("Bob\r")
        mark = try await terminal.wait(for: "[c]ancel: ", after: mark)
        terminal.type("y\r")
        mark = try await terminal.wait(for: "asker> call --js", after: mark)
        terminal.type("on t\r")
        mark = try await terminal.wait(
            for: "{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}", after: mark)
        terminal.type("exit\r")
        #expect(try await terminal.end() == 0)
        #expect(terminal.echoes)
        #expect(answers.contains(#""content":{"a":"Bob"}"#), "\(answers)")
    }

    /// Ctrl-C and Ctrl-D give up the question, and not the shell.
    @Test(arguments: ["\u{03}", "\u{04}"]) func aQuestionAtThePromptIsGivenUp(key: String) async throws {
        let terminal = try start(["shell"], server())
        var mark = try await terminal.wait(for: "asker> ")
        terminal.type("call t")
        mark = try await terminal.wait(for: "asker> call t", after: mark)
        try await signal("ask")
        mark = try await terminal.wait(for: "  a: ", after: mark)
        terminal.type(key)
        mark = try await terminal.wait(for: "asker> call t", after: mark)
        terminal.type("\r")
        mark = try await terminal.wait(for: "done\r\n", after: mark)
        mark = try await terminal.wait(for: "asker> ", after: mark)
        terminal.type("\u{04}")
        #expect(try await terminal.end() == 0)
        #expect(answers.contains(#""action":"cancel""#), "\(answers)")
    }

    @Test func aQuestionThatIsTakenBackGoesAway() async throws {
        let terminal = try start(["shell"], server())
        var mark = try await terminal.wait(for: "asker> ")
        terminal.type("call t")
        mark = try await terminal.wait(for: "asker> call t", after: mark)
        try await signal("ask")
        mark = try await terminal.wait(for: "  a: ", after: mark)
        terminal.type("exit")
        mark = try await terminal.wait(for: "exit", after: mark)
        try await signal("withdraw")
        // What was half typed as an answer is not part of the command.
        mark = try await terminal.wait(for: "asker> call t\u{1B}[K", after: mark)
        terminal.type("\r")
        mark = try await terminal.wait(for: "done\r\n", after: mark)
        mark = try await terminal.wait(for: "asker> ", after: mark)
        terminal.type("exit\r")
        #expect(try await terminal.end() == 0)
        #expect(answers.isEmpty)
    }

    /// A server that gives up waiting without a word.
    private var impatient: String {
        #"ask; (read x < withdraw; id=$id; answer '{"content":[{"type":"text","text":"nobody"}]}') & "#
    }

    @Test(arguments: ["xterm", "dumb"]) func aQuestionEndsWithItsCall(kind: String) async throws {
        #expect(unsafe mkfifo(folder.path + "/answered", 0o600) == 0)
        let terminal = try start(["shell"], server(call: impatient), ["TERM": kind])
        var mark = try await terminal.wait(for: "help lists the commands")
        mark = try await terminal.wait(for: "asker> ", after: mark)
        terminal.type("call t\r")
        mark = try await terminal.wait(for: "  a: ", after: mark)
        terminal.type("exit")
        mark = try await terminal.wait(for: "exit", after: mark)
        // The one that waits for `ask` is still there.
        try await signal("withdraw")
        mark = try await terminal.wait(for: "\r\nnobody\r\n", after: mark)
        // What was half typed is gone by then.
        await answered()
        mark = try await terminal.wait(for: "asker> ", after: mark)
        terminal.type("tools\r")
        mark = try await terminal.wait(for: "1 tool", after: mark)
        terminal.type("exit\r")
        #expect(try await terminal.end() == 0)
        #expect(answers.contains(#""action":"cancel""#), "\(answers)")
    }

    @Test func aQuestionDuringACallIsGivenUpWithIt() async throws {
        let terminal = try start(["shell"], server(call: "ask"))
        var mark = try await terminal.wait(for: "asker> ")
        terminal.type("call t\r")
        mark = try await terminal.wait(for: "  a: ", after: mark)
        terminal.type("\u{03}")
        mark = try await terminal.wait(for: "interrupted", after: mark)
        mark = try await terminal.wait(for: "asker> ", after: mark)
        terminal.type("exit\r")
        #expect(try await terminal.end() == 130)
    }

    @Test func aQuestionIsShownAgainAfterAStop() async throws {
        let terminal = try start(["shell"], server(call: "ask"))
        var mark = try await terminal.wait(for: "asker> ")
        terminal.type("call t\r")
        mark = try await terminal.wait(for: "  a: ", after: mark)
        terminal.stop()
        terminal.signal(SIGCONT)
        mark = try await terminal.wait(for: "Your name?", after: mark)
        mark = try await terminal.wait(for: "\r\n  a: ", after: mark)
        // The second is no more than the first: the shell goes on.
        terminal.type("\u{03}\u{03}")
        mark = try await terminal.wait(for: "asker> ", after: mark)
        terminal.type("exit\r")
        mark = try await terminal.wait(for: "exit\u{1B}[K", after: mark)
        #expect(try await terminal.end() == 130)
    }

    /// The lines behind the answer to a field neither send the form nor run as commands.
    @Test func aPasteAtAForm() async throws {
        let terminal = try start(["shell"], server())
        var mark = try await terminal.wait(for: "asker> ")
        try await signal("ask")
        mark = try await terminal.wait(for: "  a: ", after: mark)
        terminal.type("Bob\ry\rtools\r")
        mark = try await terminal.wait(for: "[c]ancel: ", after: mark)
        terminal.type("d\rtools\r")
        mark = try await terminal.wait(for: "asker> ", after: mark)
        terminal.type("exit\r")
        #expect(try await terminal.end() == 0)
        #expect(answers.contains(#""action":"decline""#), "\(answers)")
        #expect(!terminal.text.contains("1 tool"), "\(terminal.text)")
    }

    /// What was half typed as an answer is not left to the shell, however the client ends.
    @Test(arguments: ["exit 3", "kill $PPID"]) func aQuestionEndsWithTheProgram(how: String) async throws {
        let (terminal, start) = try await PseudoTerminal.shell(in: folder)
        var mark = start
        let script = server(call: "ask; read x < withdraw; " + how)[2]
        try script.write(toFile: folder.path + "/server", atomically: true, encoding: .utf8)
        terminal.type("mcp-client call t -- /bin/sh '\(folder.path)/server'\r")
        mark = try await terminal.wait(for: "  a: ", after: mark)
        terminal.type("echo SEC")
        mark = try await terminal.wait(for: "echo SEC", after: mark)
        try await signal("withdraw")
        mark = try await terminal.wait(for: "ready> ", after: mark)
        terminal.type("RET=1; echo rc=$RET\r")
        mark = try await terminal.wait(for: "rc=1\r\n", after: mark)
        terminal.type("exit 0\r")
        #expect(try await terminal.end() == 0)
    }

    /// Ctrl-C gives up the question, and not the conversation.
    @Test func aQuestionAtThePromptOfAnAgentIsGivenUp() async throws {
        let script = folder.path + "/model.jsonl"
        try "{\"text\":\"hello there\"}\n".write(toFile: script, atomically: true, encoding: .utf8)
        let terminal = try start(["agent", "--model", "script:" + script, "-"], server())
        var mark = try await terminal.wait(for: "> ")
        terminal.type("good mor")
        mark = try await terminal.wait(for: "> good mor", after: mark)
        try await signal("ask")
        mark = try await terminal.wait(for: "  a: ", after: mark)
        terminal.type("\u{03}")
        mark = try await terminal.wait(for: "> good mor", after: mark)
        terminal.type("ning\r")
        mark = try await terminal.wait(for: "hello there", after: mark)
        mark = try await terminal.wait(for: "> ", after: mark)
        terminal.type("\u{04}")
        #expect(try await terminal.end() == 0)
        #expect(answers.contains(#""action":"cancel""#), "\(answers)")
    }

    @Test func aQuestionAtThePromptOfAnAgent() async throws {
        let script = folder.path + "/model.jsonl"
        try "{\"text\":\"hello there\"}\n".write(toFile: script, atomically: true, encoding: .utf8)
        let terminal = try start(["agent", "--model", "script:" + script, "-"], server())
        var mark = try await terminal.wait(for: "> ")
        terminal.type("good mor")
        mark = try await terminal.wait(for: "> good mor", after: mark)
        try await signal("ask")
        mark = try await terminal.wait(for: "  a: ", after: mark)
        terminal.type("Bob\r")
        mark = try await terminal.wait(for: "[c]ancel: ", after: mark)
        terminal.type("y\r")
        mark = try await terminal.wait(for: "> good mor", after: mark)
        terminal.type("ning\r")
        mark = try await terminal.wait(for: "hello there", after: mark)
        mark = try await terminal.wait(for: "> ", after: mark)
        terminal.type("\u{03}")
        #expect(try await terminal.end() == 130)
        #expect(terminal.echoes)
        #expect(answers.contains(#""content":{"a":"Bob"}"#), "\(answers)")
    }
}
