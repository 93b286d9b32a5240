import Foundation
import MCPClientCLI
import MCPCore
import Testing

/// The built `mcp-client` against the built `mcp-server --demo`, over each transport and in each revision.
@Suite(.serialized)
struct DemoServerTests {
    private static let demo = ["--", ProgramRunner.server, "--demo", "--stdio"]

    private func run(_ words: [String], stdin: String? = nil) async throws -> ProgramOutcome {
        try await ProgramRunner.run(ProgramRunner.client, words, stdin: stdin)
    }

    @Test func toolsOverStdio() async throws {
        let outcome = try await run(["tools"] + Self.demo)
        #expect(outcome.code == 0)
        #expect(
            outcome.stdout == """
                echo(text: string)                                                read-only
                    Returns the text.
                now()                                                             read-only
                    Returns the current time in UTC.
                add(a: number, b: number)                                         read-only
                    Adds two numbers.
                slow(seconds: number 0…3600)                                      read-only
                    Waits, reports progress ten times a second, and can be cancelled.
                clock(label?: string)                                             read-only
                    Shows the server's clock.
                clock_tick()                                                      read-only
                    Returns the time for the clock.
                run_conformance(origin?: string, seconds?: number 0…60)           read-only
                    Checks the host of views, with a declared origin.
                run_conformance_default(origin?: string, seconds?: number 0…60)   read-only
                    Checks the host of views, with nothing declared.
                conformance_probe()                                               read-only
                    Returns its arguments to a view.
                conformance_record(passed: [string])                              read-only
                    Returns the checks passed in all runs, these included.
                model_only_probe()                                                read-only
                    A tool that no view may call.

                """)
        #expect(outcome.stderr.hasPrefix("11 tools · "))
    }

    @Test(arguments: [nil, "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
    func callsInEachRevision(revision: String?) async throws {
        let flags = revision.map { ["--protocol", $0] } ?? []
        let text = "text=000123 ü \"quoted\" \n two"
        let outcome = try await run(flags + ["call", "echo", text] + Self.demo)
        #expect(outcome.code == 0)
        #expect(outcome.stdout == "000123 ü \"quoted\" \n two\n")
        #expect(outcome.stderr.isEmpty)
    }

    @Test func exitCodesOfACall() async throws {
        #expect(try await run(["call", "add", "a=2", "b=3", "--structured"] + Self.demo).code == 2)
        #expect(
            try await run(["--structured", "call", "add", "a=2", "b=3"] + Self.demo).stdout == "{\"sum\":5}\n"
        )
        let failed = try await run(["call", "add", "a=1e308", "b=1e308"] + Self.demo)
        #expect(failed.code == 1)
        #expect(failed.stderr == "add failed: the sum is not a finite number\n")
        let wrong = try await run(["call", "add", "a=two"] + Self.demo)
        #expect(wrong.code == 2)
        #expect(wrong.stderr.contains("\n  a  \"two\" is not a number\n  b  is missing (number)\nusage: "))
        let unknown = try await run(["call", "ad"] + Self.demo)
        #expect(unknown.code == 5)
        #expect(unknown.stderr.contains("did you mean add?"))
    }

    @Test func aMisplacedFlagGetsTheHint() async throws {
        let outcome = try await run(["call", "add", "a=2", "b=3", "--json"] + Self.demo)
        #expect(outcome.code == 2)
        #expect(outcome.stderr.hasSuffix("hint: put it before add\n"))
    }

    @Test func readAndPrompt() async throws {
        #expect(try await run(["read", "demo:///hello"] + Self.demo).stdout == "Hello from mcp-server.\n")
        let dot = try await run(["--raw", "read", "demo:///dot.png"] + Self.demo)
        #expect(dot.stdoutBytes.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        let prompt = try await run(["prompt", "summarize", "text=x", "style=short"] + Self.demo)
        #expect(prompt.stdout == "[user]\nSummarize the following text. Style: short.\n\nx\n")
    }

    @Test func aPipedObject() async throws {
        let outcome = try await run(["call", "echo"] + Self.demo, stdin: #"{"text":"from a pipe"}"#)
        #expect(outcome.stdout == "from a pipe\n")
        let text = try await run(["call", "echo", "text=@-"] + Self.demo, stdin: "lines\nof text\n")
        #expect(text.stdout == "lines\nof text\n")
    }

    @Test func aLargeArgumentAndAnswer() async throws {
        let text = String(repeating: "0123456789abcdef", count: 128 << 10)
        let outcome = try await run(["call", "echo", "text=@-"] + Self.demo, stdin: text)
        #expect(outcome.code == 0)
        #expect(outcome.stdout.utf8.count == text.utf8.count + 1)
    }

    @Test func aReaderThatGoesAwayIsNoFailure() async throws {
        let command =
            "'\(ProgramRunner.client)' -q tools -- '\(ProgramRunner.server)' --demo --stdio | head -n 1"
        let outcome = try await ProgramRunner.run("/bin/sh", ["-c", command])
        #expect(outcome.stdout.hasPrefix("echo("))
        #expect(outcome.stderr.isEmpty)
    }

    @Test func overHTTPAndAUnixSocket() async throws {
        let daemon = try DemoDaemon()
        defer { daemon.stop() }
        let targets = [
            "localhost:\(daemon.port)", "http://127.0.0.1:\(daemon.port)/mcp", "unix://\(daemon.socket)",
        ]
        for target in targets + ["unix://\(daemon.socket)#/mcp"] {
            for revision in ["auto", "2026-07-28", "2025-11-25"] {
                let outcome = try await run(["--protocol", revision, "call", target, "echo", "text=hi"])
                #expect(outcome.code == 0, "\(target) \(revision): \(outcome.stderr)")
                #expect(outcome.stdout == "hi\n")
            }
        }
        let wire = try await run(["-vv", "-H", "X-Trace: 1", "--bearer-env", "TOKEN_X", "tools", targets[0]])
        #expect(wire.code == 2)
        let masked = try await ProgramRunner.client(
            "-vv", "-H", "X-Trace: 1", "--bearer-env", "TOKEN_X", "tools", targets[0],
            environment: ["TOKEN_X": "secret-token-12345"])
        #expect(masked.stderr.contains("\n> X-Trace: "))
        #expect(masked.stderr.contains("tools/list"))
        #expect(!masked.stderr.contains("secret-token-12345"))
    }

    /// Every progress report starts `--timeout` anew, also when nobody sees it. Reports come ten times a second;
    /// the time-out leaves room for a machine that stalls.
    @Test func progressKeepsACallAlive() async throws {
        let outcome = try await run(["--timeout", "2s", "call", "slow", "seconds=3"] + Self.demo)
        #expect(outcome.code == 0)
        #expect(outcome.stdout == "waited 3 s\n")
    }

    @Test func theDeadlineIsExitSix() async throws {
        let outcome = try await run(
            ["--json", "--deadline", "600ms", "call", "slow", "seconds=30"] + Self.demo)
        #expect(outcome.code == 6)
        #expect(outcome.duration < .seconds(10))
        #expect(outcome.stderr.hasPrefix("error: the deadline of 600 ms has passed\n"))
        #expect(outcome.stderr.contains(#""kind":"timeout","code":6"#))
    }

    @Test func ctrlCIsExit130AndTheServerIsGone() async throws {
        let outcome = try await ProgramRunner.client(
            "call", "slow", "seconds=30", "--", ProgramRunner.server, "--demo", "--stdio"
        ) { ProgramRunner.interruptWhenItHasAChild($0) }
        #expect(outcome.code == 130)
        #expect(outcome.duration < .seconds(10))
        #expect(outcome.stderr == "interrupted\n")
    }
}
