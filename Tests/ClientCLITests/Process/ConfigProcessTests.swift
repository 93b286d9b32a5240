import Foundation
import MCPCore
import TestSupport
import Testing

@testable import MCPClientCLI

/// Configured servers and the errors around them, with the built programs.
@Suite(.timeLimit(.minutes(5))) struct ConfigProcessTests {
    private let folder = TemporaryDirectory()

    private func run(_ words: String...) async throws -> ProgramOutcome {
        try await ProgramRunner.run(
            ProgramRunner.client, words,
            environment: ["HOME": folder.path, "MCP_CONFIG": folder.path + "/c.json"], limit: 60)
    }

    private func write(_ servers: String) throws {
        try folder.write("c.json", "{\"mcpServers\": {\(servers)}}")
    }

    /// A disabled server is checked, too, and fails nothing; a directory must exist.
    @Test func checkLooksAtDisabledServersAndDirectories() async throws {
        try write(
            #""off": {"command": "/no/such", "disabled": true}, "wd": {"command": "sh", "cwd": "/no/dir"}"#)
        let all = try await run("config", "check")
        #expect(all.code == 8)
        let found = all.stdout.split(separator: "\n")
        #expect(found.count == 2, "\(all.stdout)")
        #expect(found.first?.contains(": warning: the server \"off\" cannot be started: ") == true)
        #expect(found.first?.hasSuffix(" (it is disabled)") == true)
        #expect(
            found.last?.hasSuffix("error: the server \"wd\" has a cwd that is not a directory: /no/dir")
                == true)
        #expect(all.stderr == "2 servers · 1 error · 1 warning · disabled: off\n", "\(all.stderr)")
        let one = try await run("config", "check", "off")
        #expect(one.code == 0 && one.stderr == "1 server · 0 errors · 1 warning · disabled: off\n")
        #expect(try await run("tools", "off").stderr.contains("the server \"off\" is disabled"))
        let start = try await run("tools", "wd")
        #expect(
            start.stderr.hasPrefix(
                "error: cannot use /no/dir as the working directory: No such file or directory\n"),
            "\(start.stderr)")
    }

    /// A token in a file that others can read is worth a warning when it is written.
    @Test func aTokenInAFileOfOthers() async throws {
        folder.makeDirectory(".config")
        folder.makeDirectory(".config/mcp")
        try folder.write(".config/mcp/mcp.jsonc", "{}")
        let path = folder.path + "/.config/mcp/mcp.jsonc"
        let headers = [
            ("Authorization: Bearer abcdef", 0o644), ("X-Note: a", 0o644), ("Authorization: x", 0o600),
        ]
        for (index, (header, mode)) in headers.enumerated() {
            #expect(unsafe chmod(path, mode_t(mode)) == 0)
            let outcome = try await ProgramRunner.run(
                ProgramRunner.client,
                ["config", "add", "s\(index)", "http://127.0.0.1:1/mcp", "-H", header],
                environment: ["HOME": folder.path])
            #expect(outcome.code == 0)
            let warning = "can be read by all users of this machine (mode 644): chmod 600 \(path)\n"
            #expect(outcome.stderr.contains(warning) == (index == 0), "\(outcome.stderr)")
        }
    }

    @Test func anAddressWithoutASchemeIsCompleted() async throws {
        try write(
            #""hp": {"url": "localhost:4711"}, "path": {"url": "localhost:4711/x"}, "no": {"url": "x:y"}"#)
        for (name, end) in [
            ("hp", "unix:///; did you mean http://localhost:4711/mcp?"),
            ("path", "unix:///; did you mean http://localhost:4711/x?"), ("no", "unix:///"),
        ] {
            let outcome = try await run("tools", name)
            #expect(outcome.code == 2 && outcome.stderr.contains(end + "\n"), "\(outcome.stderr)")
        }
    }

    /// A desktop starts programs with another PATH: the file gets their places, and nothing else changes.
    @Test func programsGetTheirPaths() async throws {
        folder.makeDirectory("mcp")
        let text = """
            { // mine
              "mcpServers": {
                "a": {"command": "sh", "args": ["-c", "sh"]}, /* "command": "sh" */
                "b": {"url": "http://localhost:1/mcp"}, "c": {"command": "/bin/cat"},
                "d": {"args": ["x"], "command": "no-such-program-here",}, "e": {"command": "${E}"},
                "f": {"command": "env"},
              },
            }
            """
        try folder.write("mcp/mcp.jsonc", text)
        func fix(_ words: String...) async throws -> ProgramOutcome {
            try await ProgramRunner.run(
                ProgramRunner.client, ["config", "fix-paths"] + words,
                environment: ["HOME": folder.path, "XDG_CONFIG_HOME": folder.path])
        }
        let outcome = try await fix()
        #expect(
            outcome.stderr == """
                a: sh is /usr/bin/sh now
                d: no-such-program-here is not in PATH, and stays
                f: env is /usr/bin/env now

                """, "\(outcome.stderr)")
        #expect(outcome.code == 8 && outcome.stdout.isEmpty)
        let fixed = text.replacing(
            "\"a\": {\"command\": \"sh\"", with: "\"a\": {\"command\": \"/usr/bin/sh\""
        )
        .replacing("\"env\"", with: "\"/usr/bin/env\"")
        func file() throws -> String {
            String(decoding: try Files.read(folder.path + "/mcp/mcp.jsonc", maxBytes: 1 << 16), as: UTF8.self)
        }
        #expect(try file() == fixed)
        try folder.write("mcp/mcp.jsonc", #"{"mcpServers": {"c": {"command": "/bin/cat"}}}"#)
        let none = try await fix()
        #expect(none.code == 0 && none.stderr == "every program in ~/mcp/mcp.jsonc has a path\n")
        #expect(try await fix("x").code == 2)
    }

    /// Each file is named once.
    @Test func theListIsGroupedByFile() async throws {
        try write(#""a": {"url": "http://h/a"}, "long": {"url": "http://h/b", "disabled": true}"#)
        #expect(
            try await run("config", "list").stdout == """
                ~/c.json
                  a     http://h/a
                  long  http://h/b
                        disabled

                """)
    }

    @Test func whatIsFoundStandsInColumns() async throws {
        let demo = #"{"command": "\#(ProgramRunner.server)", "args": ["--demo", "--stdio"]}"#
        try write(#""one": \#(demo), "longer": \#(demo)"#)
        #expect(
            try await run("find", "add").stdout == """
                one     add(a: number, b: number)
                            Adds two numbers.
                longer  add(a: number, b: number)
                            Adds two numbers.

                """)
    }

    /// One line for all servers that are awaited; `find` asks them at the same time.
    @Test func oneLineShowsWhatFindWaitsFor() async throws {
        let slow = #"{"command": "sleep", "args": ["600"]}"#
        let demo = #"{"command": "\#(ProgramRunner.server)", "args": ["--demo", "--stdio"]}"#
        try write(#""one": \#(slow), "two": \#(demo), "three": \#(slow)"#)
        let terminal = try PseudoTerminal(
            ProgramRunner.client, ["find", "add"],
            environment: ["HOME": folder.path, "MCP_CONFIG": folder.path + "/c.json", "NO_COLOR": "1"])
        try await terminal.wait(for: "waiting for one, three … (")
        terminal.type("\u{03}")
        #expect(try await terminal.end() == 130)
        #expect(
            !terminal.text.contains("waiting for sleep") && !terminal.text.contains("waiting for one … ("))
    }

    /// Each of these says what to do next.
    @Test(arguments: [
        (
            ["--bearer-file", "/no/such", "tools", "localhost:1"], 2,
            "name a file that contains the secret alone"
        ),
        (["auth", "token"], 2, "mcp-client auth status shows the servers with a login"),
        (["auth", "token", "http://localhost:1/mcp"], 4, "mcp-client login http://localhost:1/mcp"),
        (["agent", "--model-command", "false", "hello"], 1, "run the program by hand"),
        (
            ["agent", "--model-command", "no-such-program", "hello"], 3,
            "--model-command 'PROGRAM ARGS' names"
        ),
    ])
    func errorsNameTheNextStep(words: [String], code: Int32, hint: String) async throws {
        let outcome = try await ProgramRunner.run(
            ProgramRunner.client, words, environment: ["HOME": folder.path])
        #expect(outcome.code == code, "\(outcome.stderr)")
        #expect(outcome.stderr.contains("\nhint: " + hint), "\(outcome.stderr)")
    }

    /// A read that was waiting ends with the command, also when nobody ever writes.
    @Test func waitingForAPipeEndsWithTheTask() async throws {
        var ends: [Int32] = [-1, -1]
        #expect(unsafe pipe(&ends) == 0)
        let (input, output) = (ends[0], ends[1])
        defer {
            close(input)
            close(output)
        }
        let task = Task.detached { () -> Bool in
            do {
                _ = try SystemFile.read("/dev/fd/\(input)")
                return false
            } catch { return (error as? Failure)?.kind == .interrupted }
        }
        task.cancel()
        #expect(await task.value)
    }
}
