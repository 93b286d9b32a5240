import Foundation
import TestSupport
import Testing

/// Sessions at a terminal, with the built programs.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ShellTerminalTests {
    private func environment(_ folder: TemporaryDirectory) -> [String: String] {
        ["HOME": folder.path, "NO_COLOR": "1"]
    }

    private var demo: [String] { ["--", ProgramRunner.server, "--demo", "--stdio"] }

    @Test func aShellEditsCompletesAndRemembers() async throws {
        let folder = TemporaryDirectory()
        let terminal = try PseudoTerminal(
            ProgramRunner.client, ["shell"] + demo, environment: environment(folder))
        var mark = try await terminal.wait(for: "demo> ")
        #expect(!terminal.echoes)
        // A mistake, corrected with the cursor keys.
        terminal.type("call ad a=2 b=3")
        terminal.type("\u{01}\u{1B}[1;5C\u{1B}[1;5Cd\r")
        mark = try await terminal.wait(for: "{\"sum\":5}\r\n", after: mark)
        mark = try await terminal.wait(for: "demo> ", after: mark)
        // A tab completes the name of the tool and of its argument.
        terminal.type("call ech\t")
        mark = try await terminal.wait(for: "call echo ", after: mark)
        terminal.type("te\t")
        mark = try await terminal.wait(for: "echo text=", after: mark)
        terminal.type("hello\r")
        mark = try await terminal.wait(for: "\r\nhello\r\n", after: mark)
        mark = try await terminal.wait(for: "demo> ", after: mark)
        terminal.type("\u{1B}[A\u{1B}[A")
        mark = try await terminal.wait(for: "call add a=2 b=3", after: mark)
        terminal.type("\u{03}")
        mark = try await terminal.wait(for: "^C", after: mark)
        terminal.type("\u{04}")
        #expect(try await terminal.end() == 0)
        #expect(terminal.echoes)
        let history = folder.path + "/.local/state/mcpcore/shell-history"
        #expect(
            try String(contentsOfFile: history, encoding: .utf8) == "call add a=2 b=3\ncall echo text=hello\n"
        )
    }

    /// A pasted line end runs nothing: the line waits for Return. The terminal marks pastes only meanwhile.
    @Test func whatIsPastedWaitsForReturn() async throws {
        let folder = TemporaryDirectory()
        let terminal = try PseudoTerminal(
            ProgramRunner.client, ["shell"] + demo, environment: environment(folder))
        var mark = try await terminal.wait(for: "\u{1B}[?2004h")
        mark = try await terminal.wait(for: "demo> ", after: mark)
        terminal.type("\u{1B}[200~call echo\rtext=hello\r\u{1B}[201~")
        mark = try await terminal.wait(for: "demo> call echo text=hello ", after: mark)
        #expect(!terminal.echoes)
        terminal.type("\r")
        mark = try await terminal.wait(for: "\u{1B}[?2004l", after: mark)
        mark = try await terminal.wait(for: "\r\nhello\r\n", after: mark)
        mark = try await terminal.wait(for: "\u{1B}[?2004h", after: mark)
        terminal.signal(SIGTERM)
        #expect(try await terminal.end() == 130)
        let marks = terminal.text.split(separator: "\u{1B}[?2004").dropFirst().map { $0.prefix(1) }
        #expect(marks == ["h", "l", "h", "l"], "\(terminal.text.debugDescription)")
    }

    /// What is typed in one go is shown before Return, Tab or Ctrl-C acts on it.
    @Test func whatArrivesTogetherIsShownFirst() async throws {
        let folder = TemporaryDirectory()
        let terminal = try PseudoTerminal(
            ProgramRunner.client, ["shell"] + demo, environment: environment(folder))
        var mark = try await terminal.wait(for: "demo> \u{1B}[K")
        terminal.type("call add a=1 b=1\r")
        mark = try await terminal.wait(for: "demo> call add a=1 b=1\u{1B}[K", after: mark)
        mark = try await terminal.wait(for: "{\"sum\":2}\r\n", after: mark)
        mark = try await terminal.wait(for: "demo> \u{1B}[K", after: mark)
        terminal.type("abc\u{03}")
        mark = try await terminal.wait(for: "demo> abc\u{1B}[K", after: mark)
        mark = try await terminal.wait(for: "^C\r", after: mark)
        mark = try await terminal.wait(for: "demo> \u{1B}[K", after: mark)
        terminal.type("call e\t\t")
        mark = try await terminal.wait(for: "demo> call e\u{1B}[K", after: mark)
        terminal.type("\u{03}exit\r")
        mark = try await terminal.wait(for: "demo> exit\u{1B}[K", after: mark)
        #expect(try await terminal.end() == 0)
    }

    /// A paste whose end never comes does not hold the shell.
    @Test func controlCDropsAPasteWithoutEnd() async throws {
        let folder = TemporaryDirectory()
        let terminal = try PseudoTerminal(
            ProgramRunner.client, ["shell"] + demo, environment: environment(folder))
        var mark = try await terminal.wait(for: "demo> ")
        terminal.type("\u{1B}[200~exit\r")
        mark = try await terminal.wait(for: "demo> exit ", after: mark)
        var end: Int?
        for _ in 1 ... 20 where end == nil {
            terminal.type("\u{03}")
            end = try? await terminal.wait(for: "^C", after: mark, seconds: 2)
        }
        mark = try await terminal.wait(for: "demo> ", after: #require(end))
        terminal.type("call add a=1 b=1\r")
        mark = try await terminal.wait(for: "{\"sum\":2}\r\n", after: mark)
        terminal.type("exit\r")
        #expect(try await terminal.end() == 0)
    }

    /// Another program has used the terminal in the meantime.
    @Test func theLineIsShownAgainAfterAStop() async throws {
        let folder = TemporaryDirectory()
        let terminal = try PseudoTerminal(
            ProgramRunner.client, ["shell"] + demo, environment: environment(folder))
        var mark = try await terminal.wait(for: "demo> ")
        terminal.type("call add a=1")
        mark = try await terminal.wait(for: "demo> call add a=1", after: mark)
        terminal.stop()
        #expect(terminal.echoes)
        terminal.signal(SIGCONT)
        mark = try await terminal.wait(for: "\u{1B}[?2004h", after: mark)
        mark = try await terminal.wait(for: "demo> call add a=1", after: mark)
        #expect(!terminal.echoes)
        terminal.type(" b=1\r")
        mark = try await terminal.wait(for: "{\"sum\":2}\r\n", after: mark)
        terminal.type("exit\r")
        #expect(try await terminal.end() == 0)
    }

    /// Why the shell ends is said once, and below what was typed.
    @Test func aShellThatIsEnded() async throws {
        let folder = TemporaryDirectory()
        for isCalling in [true, false] {
            let terminal = try PseudoTerminal(
                ProgramRunner.client, ["shell"] + demo, environment: environment(folder))
            var mark = try await terminal.wait(for: "demo> ")
            terminal.type(isCalling ? "call slow seconds=600\r" : "call ad")
            mark = try await terminal.wait(for: isCalling ? "▸ slow" : "demo> call ad", after: mark)
            terminal.signal(SIGTERM)
            #expect(try await terminal.end() == 130)
            #expect(terminal.text.components(separatedBy: "interrupted").count == 2, "\(terminal.text)")
            let isBelow = terminal.text.contains("\r\n\u{1B}[?2004linterrupted")
            #expect(isBelow || isCalling, "\(terminal.text)")
        }
    }

    @Test func controlCCancelsTheCallAndNotTheShell() async throws {
        let folder = TemporaryDirectory()
        let terminal = try PseudoTerminal(
            ProgramRunner.client, ["shell"] + demo, environment: environment(folder))
        var mark = try await terminal.wait(for: "demo> ")
        terminal.type("call slow seconds=600\r")
        mark = try await terminal.wait(for: "▸ slow", after: mark)
        #expect(terminal.echoes)
        terminal.type("\u{03}")
        mark = try await terminal.wait(for: "interrupted", after: mark)
        mark = try await terminal.wait(for: "demo> ", after: mark)
        terminal.type("call add a=1 b=1\r")
        mark = try await terminal.wait(for: "{\"sum\":2}\r\n", after: mark)
        terminal.type("exit\r")
        #expect(try await terminal.end() == 0)
        #expect(terminal.echoes)
    }

    /// On a slow line, Ctrl-C arrives together with Return; what was typed in between is dropped.
    @Test func controlCRightBehindReturnCancelsTheCall() async throws {
        let folder = TemporaryDirectory()
        let terminal = try PseudoTerminal(
            ProgramRunner.client, ["shell"] + demo, environment: environment(folder))
        var mark = try await terminal.wait(for: "demo> ")
        terminal.type("call slow seconds=600\rcall echo text=dropped\r\u{03}")
        mark = try await terminal.wait(for: "interrupted\r\n", after: mark)
        mark = try await terminal.wait(for: "demo> \u{1B}[K", after: mark)
        terminal.type("exit\r")
        #expect(try await terminal.end() == 130)
        #expect(!terminal.text.contains("dropped"), "\(terminal.text)")
    }

    @Test func theTerminalIsRestoredWhenTheShellIsKilledPolitely() async throws {
        let folder = TemporaryDirectory()
        let terminal = try PseudoTerminal(
            ProgramRunner.client, ["shell"] + demo, environment: environment(folder))
        try await terminal.wait(for: "demo> ")
        #expect(!terminal.echoes)
        terminal.signal(SIGTERM)
        #expect(try await terminal.end() == 130)
        #expect(terminal.echoes)
    }

    @Test func theTerminalIsRestoredBySIGQUIT() async throws {
        let folder = TemporaryDirectory()
        let terminal = try PseudoTerminal(
            ProgramRunner.client, ["shell"] + demo, environment: environment(folder))
        try await terminal.wait(for: "demo> ")
        #expect(!terminal.echoes)
        terminal.signal(SIGQUIT)
        #expect(try await terminal.end() != 0)
        #expect(terminal.echoes)
    }

    @Test func listsAreBrokenWhereTheTerminalEnds() async throws {
        let folder = TemporaryDirectory()
        let terminal = try PseudoTerminal(
            ProgramRunner.client, ["tools"] + demo,
            environment: environment(folder), columns: 40)
        #expect(try await terminal.end() == 0)
        for line in terminal.text.split(separator: "\r\n") where !line.hasPrefix("11 tools") {
            #expect(line.count <= 40, "\(line)")
        }
        #expect(terminal.text.contains("echo(text: string)"))
    }
}
