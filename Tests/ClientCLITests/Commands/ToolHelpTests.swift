import MCPCore
import Testing

/// `call T TOOL --help` shows the tool instead of calling it.
struct ToolHelpTests {
    @Test(arguments: ["--help", "-h"]) func helpShowsTheTool(flag: String) async throws {
        let harness = CommandHarness(server: try OpsServer.make())
        for command in ["call", "bench"] {
            let outcome = await harness.run(command, "localhost:1", "unit_restart", flag)
            #expect(outcome.code == .ok)
            #expect(
                outcome.stdout.hasPrefix("unit_restart(unit: \"web\"|\"worker\"|\"cron\")   destructive\n"))
            #expect(
                outcome.stdout.hasSuffix(
                    "usage: mcp-client call localhost:1 unit_restart unit=<web|worker|cron>\n"))
            #expect(!outcome.stdout.contains("input schema"))
        }
    }

    @Test func helpShowsThePrompt() async throws {
        let harness = CommandHarness(server: try OpsServer.make())
        let outcome = await harness.run("prompt", "localhost:1", "review", "--help")
        #expect(
            outcome.stdout == """
                review(code, style?)
                    Review code.

                arguments
                  code   required
                  style

                usage: mcp-client prompt localhost:1 review code=<string> [style=<string>]

                """)
    }

    /// A tool with an argument of that name gets it.
    @Test func anArgumentNamedHelpIsTheTools() async throws {
        let server = MCPServer("s", version: "1")
        try server.register(
            Tool("t", inputSchema: ["type": "object", "properties": ["help": ["type": "boolean"]]])
        ) { call, _ in .structured(call.arguments.value) }
        let outcome = await CommandHarness(server: server).run("call", "localhost:1", "t", "--help")
        #expect(outcome.stdout.contains(#"{"help":true}"#))
    }

    @Test func shortFlagsMayFollowTheTool() async throws {
        let harness = CommandHarness(server: try OpsServer.make())
        let outcome = await harness.run("call", "localhost:1", "git_log", "repo=web", "-o", "out", "-v")
        #expect(outcome.code == .ok && outcome.stdout.isEmpty)
        #expect(outcome.files["out"] != nil && outcome.stderr.contains("> tools/call"))
        // After a name, it is a value.
        let value = await harness.run("call", "localhost:1", "git_log", "--repo", "-v")
        #expect(value.code == .toolError && !value.stderr.contains("tools/call"))
    }
}
