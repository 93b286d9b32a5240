import MCPClientCLI
import MCPCore
import Testing

/// Reference outputs, compared byte by byte (times substituted).
struct ListCommandTests {
    private func harness() throws -> CommandHarness { CommandHarness(server: try OpsServer.make()) }

    @Test func toolsAsSignatures() async throws {
        let outcome = try await harness().run("tools", "localhost:1", "[gu]*")
        #expect(outcome.code == .ok)
        #expect(
            outcome.stdout == """
                git_log(repo: path, limit: int 1…200 = 20, author?: string, paths?: [string])   read-only
                    Commits of a repository, newest first.
                unit_restart(unit: "web"|"worker"|"cron")                                       destructive
                    Restart one of our services.

                """)
        #expect(outcome.stderr.hasPrefix("2 of 8 tools · "))
        #expect(withoutTime(outcome.stderr).hasSuffix(" tokens (est.) · ops 1.4.0 · 2026-07-28 · TIME\n"))
    }

    /// Fault row 108: descriptions are escaped wherever they are shown.
    @Test func descriptionsCannotSteerTheTerminal() async throws {
        let outcome = try await harness().run("tools", "localhost:1", "x_escape")
        #expect(outcome.stdout == "x_escape()\n    Sends \\e[2Jescapes.\n")
    }

    @Test func quietPrintsTheResultAlone() async throws {
        let outcome = try await harness().run("-q", "tools", "localhost:1")
        #expect(outcome.stderr.isEmpty)
        #expect(!outcome.stdout.isEmpty)
    }

    @Test func jsonIsTheWire() async throws {
        let outcome = try await harness().run("--json", "tools", "localhost:1")
        let page = try JSONValue(parsing: outcome.stdout)
        #expect(page["tools"]?.arrayValue?.count == 8)
        #expect(page["resultType"] == "complete")
        #expect(page["ttlMs"] != nil)
        #expect(outcome.stdout.hasSuffix("}\n"))
        #expect(outcome.stderr.isEmpty)
    }

    @Test func aGlobAlsoSelectsInJSON() async throws {
        let outcome = try await harness().run(
            "--json", "--select", ".tools[0].name", "tools", "localhost:1", "x_im*")
        #expect(outcome.stdout == "\"x_image\"\n")
    }

    @Test func allPagesAreShown() async throws {
        var options = ServerOptions()
        options.limits.pageSize = 3
        let harness = CommandHarness(server: try OpsServer.make(options: options))
        #expect(await harness.run("tools", "localhost:1").stderr.hasPrefix("8 tools · "))
        let json = await harness.run("--json", "tools", "localhost:1")
        #expect(json.stdout.split(separator: "\n").count == 3)
    }

    @Test func resources() async throws {
        let outcome = try await harness().run("resources", "localhost:1")
        #expect(
            outcome.stdout == """
                file:///notes.txt   notes.txt   text/plain   6 B
                    Notes.
                file:///logo.png   logo.png   image/png

                """)
        #expect(withoutTime(outcome.stderr) == "2 resources · ops 1.4.0 · 2026-07-28 · TIME\n")
    }

    @Test func aSizeThatCannotBe() async throws {
        let server = MCPServer("s", version: "1")
        try server.register(Resource("file:///a", name: "a", size: -1)) { _ in [] }
        let outcome = await CommandHarness(server: server).run("resources", "localhost:1")
        #expect(outcome.stdout == "file:///a   a\n")
    }

    @Test func templates() async throws {
        let outcome = try await harness().run("templates", "localhost:1")
        #expect(outcome.stdout == "file:///{name}   files\n    A file by name.\n")
    }

    @Test func prompts() async throws {
        let outcome = try await harness().run("prompts", "localhost:1")
        #expect(outcome.stdout == "review(code, style?)\n    Review code.\n")
        #expect(withoutTime(outcome.stderr) == "1 prompt · ops 1.4.0 · 2026-07-28 · TIME\n")
    }

    @Test func info() async throws {
        let outcome = try await harness().run("info", "localhost:1")
        #expect(outcome.code == .ok)
        #expect(outcome.stdout.hasPrefix("ops 1.4.0  (Operations)\n  protocol      2026-07-28"))
        #expect(outcome.stdout.hasSuffix("  instructions\n    Ask before restarting.\n    Read freely.\n"))
        #expect(outcome.stdout.contains("\n  capabilities  "))
        let json = try await harness().run("--json", "info", "localhost:1")
        #expect(try JSONValue(parsing: json.stdout)["supportedVersions"]?[0] == "2026-07-28")
    }

    @Test func infoOfALegacyServer() async throws {
        let outcome = try await harness().run("--protocol", "2025-06-18", "--json", "info", "localhost:1")
        let object = try JSONValue(parsing: outcome.stdout)
        #expect(object["protocolVersion"] == "2025-06-18")
        #expect(object["serverInfo"]?["name"] == "ops")
        #expect(object["instructions"] == "Ask before restarting.\nRead freely.")
    }

    @Test func oneToolInFull() async throws {
        let outcome = try await harness().run("tool", "localhost:1", "unit_restart")
        #expect(
            outcome.stdout == """
                unit_restart(unit: "web"|"worker"|"cron")   destructive
                    Restart one of our services.

                arguments
                  unit  "web"|"worker"|"cron"  required

                hints (claimed by the server, not verified)
                  destructiveHint true

                input schema
                  {
                    "type": "object",
                    "properties": {
                      "unit": {
                        "enum": [
                          "web",
                          "worker",
                          "cron"
                        ]
                      }
                    },
                    "required": [
                      "unit"
                    ],
                    "additionalProperties": false
                  }

                usage: mcp-client call localhost:1 unit_restart unit=<web|worker|cron>

                """)
    }

    @Test func anUnknownToolIsExitFive() async throws {
        let outcome = try await harness().run("tool", "localhost:1", "git_lgo")
        #expect(outcome.code == .protocolError)
        #expect(
            outcome.stderr == """
                error: ops has no tool "git_lgo"
                  did you mean git_log?
                hint: mcp-client tools localhost:1 lists them

                """)
    }

    @Test func ping() async throws {
        let outcome = try await harness().run("ping", "localhost:1")
        #expect(outcome.code == .ok)
        #expect(outcome.stdout.hasSuffix(" ms\n"))
        #expect(outcome.stderr == "server/discover · ops 1.4.0 · 2026-07-28\n")
        let legacy = try await harness().run("--json", "--protocol", "2025-11-25", "ping", "localhost:1")
        #expect(try JSONValue(parsing: legacy.stdout)["method"] == "ping")
    }

    @Test func version() async throws {
        #expect(try await harness().run("version").stdout == "mcp-client 0.1.0\n")
        #expect(try await harness().run("--version").stdout == "mcp-client 0.1.0\n")
        let json = try await harness().run("--json", "version")
        #expect(try JSONValue(parsing: json.stdout)["protocolVersions"]?[0] == "2026-07-28")
    }
}
