import MCPCore
import Testing

/// `help` and what else prints help.
struct HelpCommandTests {
    private func run(_ words: String...) async throws -> CommandOutcome {
        await CommandHarness(server: try OpsServer.make()).run(words)
    }

    @Test func helpExplainsACommand() async throws {
        #expect(try await run("help", "call").stdout == run("call", "--help").stdout)
        #expect(try await run("help").stdout == run("--help").stdout)
        #expect(try await run("help", "--all").stdout.contains("\nLogin flags\n"))
        #expect(try await run("help", "--man").stdout.hasPrefix(".TH MCP-CLIENT 1"))
        #expect(try await run("-V").stdout == run("version").stdout)
    }

    @Test func aMistakeGetsASuggestion() async throws {
        let outcome = try await run("help", "cal")
        #expect(outcome.code == .usage)
        #expect(outcome.stderr.contains("\"cal\" is not a command\n  did you mean call?"))
    }

    @Test func aFlagMeansWhatItMeansForTheCommand() async throws {
        #expect(try await run("help", "login").stdout.contains("longest wait for the person (5m)"))
        #expect(try await run("help", "tools").stdout.contains("time limit for silence"))
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func completionPrintsAScript(shell: String) async throws {
        let outcome = try await run("completion", shell)
        #expect(outcome.code == .ok && outcome.stdout.contains("__complete \(shell)"))
        #expect(try await run("completion", "tcsh").code == .usage)
    }
}
