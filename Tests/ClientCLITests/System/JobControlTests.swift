import Foundation
import TestSupport
import Testing

/// Jobs of a shell that share its terminal, with the built programs.
@Suite(.serialized, .timeLimit(.minutes(5))) struct JobControlTests {
    private let folder = TemporaryDirectory()

    private var demo: String { "-- \(ProgramRunner.server) --demo --stdio" }

    /// A shell at a terminal of its own, after its first prompt.
    private func start(_ variables: [String: String] = [:]) async throws -> (PseudoTerminal, Int) {
        try await PseudoTerminal.shell(in: folder, variables)
    }

    /// Waits until the shell says that its job is stopped, or how it has ended.
    private func job(_ terminal: PseudoTerminal, is state: String, after mark: Int) async throws -> Int {
        for _ in 1 ... 60 {
            terminal.type("jobs\r")
            if let end = try? await terminal.wait(for: state, after: mark, seconds: 1) {
                return try await terminal.wait(for: "ready> ", after: end)
            }
        }
        throw PseudoTerminal.Problem(description: "it is not \(state): \(terminal.text.debugDescription)")
    }

    private func leave(_ terminal: PseudoTerminal) async throws {
        terminal.type("exit 0\r")
        #expect(try await terminal.end() == 0)
        #expect(terminal.echoes)
    }

    /// A job that waits for the terminal ends like any other that is stopped.
    @Test(arguments: ["xterm", "dumb"], ["TERM", "HUP"])
    func aStoppedJobCanBeEnded(kind: String, signal: String) async throws {
        var (terminal, mark) = try await start(["TERM": kind])
        terminal.type("mcp-client shell \(demo) &\r")
        mark = try await job(terminal, is: "Stopped", after: mark)
        terminal.type("kill -\(signal) %1; kill -CONT %1\r")
        mark = try await terminal.wait(for: "ready> ", after: mark)
        // The shells write the status differently.
        mark = try await job(terminal, is: "130", after: mark)
        try await leave(terminal)
    }

    /// In the background, nothing is done to the terminal at the end.
    @Test func aJobIsEndedInTheBackground() async throws {
        var (terminal, mark) = try await start()
        terminal.type("mcp-client shell \(demo)\r")
        mark = try await terminal.wait(for: "demo> ", after: mark)
        terminal.type("call slow seconds=600\r")
        mark = try await terminal.wait(for: "▸ slow", after: mark)
        terminal.type("\u{1A}")
        mark = try await terminal.wait(for: "Stopped", after: mark)
        mark = try await terminal.wait(for: "ready> ", after: mark)
        terminal.type("bg\r")
        mark = try await terminal.wait(for: "ready> ", after: mark)
        terminal.type("kill %1; wait %1; echo rc=$?\r")
        mark = try await terminal.wait(for: "rc=130\r\n", after: mark)
        try await leave(terminal)
    }

    /// Whatever reads the terminal stops in the background, and reads when it has the terminal.
    @Test func allReadersOfTheTerminalStop() async throws {
        var (terminal, mark) = try await start()
        terminal.type("mcp-client call --json echo text=@- \(demo) &\r")
        mark = try await job(terminal, is: "Stopped", after: mark)
        terminal.type("fg\r")
        mark = try await terminal.wait(for: "mcp-client", after: mark)
        terminal.type("hello\r\u{04}")
        mark = try await terminal.wait(for: "\"text\":\"hello", after: mark)
        mark = try await terminal.wait(for: "ready> ", after: mark)
        terminal.type("mcp-client tap -o /dev/null \(demo) &\r")
        mark = try await job(terminal, is: "Stopped", after: mark)
        terminal.type("fg\r")
        mark = try await terminal.wait(for: "mcp-client", after: mark)
        terminal.type("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r")
        mark = try await terminal.wait(for: "\"result\":{}", after: mark)
        terminal.type("\u{04}")
        mark = try await terminal.wait(for: "ready> ", after: mark)
        try await leave(terminal)
    }

    /// The address may be pasted, and need not: the login goes on in the background.
    @Test func aLoginInTheBackground() async throws {
        let setting = try LoginSetting()
        var (terminal, mark) = try await start(["MCP_AUTH_STORE": setting.store])
        terminal.type("mcp-client login --no-browser \(setting.server.url) &\r")
        mark = try await terminal.wait(for: "open this page: ", after: mark)
        let end = try await terminal.wait(for: "\r\n", after: mark)
        let page = String(decoding: Array(terminal.text.utf8)[mark ..< end], as: UTF8.self)
        mark = try await terminal.wait(for: "waiting on ", after: end)
        try await LoginSetting.visit(page.trimmingCharacters(in: .whitespacesAndNewlines))
        // The server of the tests has no sessions, so this is as far as it goes.
        mark = try await terminal.wait(for: "is not a JSON-RPC response", after: mark)
        #expect(setting.server.grants("authorization_code").count == 1)
        try await leave(terminal)
        await setting.end()
    }
}
