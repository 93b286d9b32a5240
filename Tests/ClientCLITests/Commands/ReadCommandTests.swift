import MCPClientCLI
import MCPCore
import Testing

struct ReadCommandTests {
    private func harness() throws -> CommandHarness { CommandHarness(server: try OpsServer.make()) }

    @Test func textAndBytes() async throws {
        #expect(try await harness().run("read", "localhost:1", "file:///notes.txt").stdout == "hello\n")
        #expect(
            try await harness().run("read", "localhost:1", "file:///logo.png").stdout
                == "[image/png, 5 B; save it with -o FILE]\n")
        #expect(
            try await harness().run("--raw", "read", "localhost:1", "file:///logo.png").stdoutBytes
                == [0x89, 0x50, 0x4E, 0x47, 0xFF])
    }

    @Test func severalResourcesStandUnderTheirNames() async throws {
        let outcome = try await harness().run("read", "localhost:1", "file:///notes.txt", "file:///logo.png")
        #expect(
            outcome.stdout == """
                ==> file:///notes.txt <==
                hello

                ==> file:///logo.png <==
                [image/png, 5 B; save it with -o FILE]

                """)
    }

    @Test(arguments: ["2026-07-28", "2025-11-25"])
    func aMissingResource(revision: String) async throws {
        let outcome = try await harness().run("--protocol", revision, "read", "localhost:1", "file:///none")
        #expect(outcome.code == .protocolError)
        #expect(outcome.stderr.hasPrefix("error: the server refused: Resource not found (-32"))
        #expect(outcome.stderr.contains("\n  sent: resources/read file:///none\n"))
        #expect(
            outcome.stderr.hasSuffix(
                "hint: mcp-client --protocol \(revision) resources localhost:1 lists resources\n"))
    }

    @Test func aPrompt() async throws {
        let outcome = try await harness().run("prompt", "localhost:1", "review", "code=x = 1")
        #expect(outcome.stdout == "[user]\nReview x = 1\n\n[assistant]\nSure.\n")
        let number = try await harness().run(
            "--select", ".messages[0].content.text", "prompt", "localhost:1", "review", "code=1")
        #expect(number.stdout == "Review 1\n")
    }

    @Test func aPromptWithoutItsArgument() async throws {
        let outcome = try await harness().run("prompt", "localhost:1", "review", "cod=1")
        #expect(outcome.code == .usage)
        #expect(
            outcome.stderr == """
                error: the arguments do not match the schema of review (nothing was sent)
                  cod   no such argument        did you mean code?
                  code  is missing (string)
                usage: mcp-client prompt localhost:1 review code=<string> [style=<string>]

                """)
    }

    @Test func anUnknownPrompt() async throws {
        let outcome = try await harness().run("prompt", "localhost:1", "reviw")
        #expect(outcome.code == .protocolError)
        #expect(outcome.stderr.hasPrefix("error: ops has no prompt \"reviw\"\n  did you mean review?\n"))
    }

    @Test func raw() async throws {
        let params = #"{"name":"git_log","arguments":{"repo":"web"}}"#
        let outcome = try await harness().run("raw", "localhost:1", "tools/call", params)
        #expect(try JSONValue(parsing: outcome.stdout)["isError"] != true)
        #expect(outcome.stdout.contains("a1b2c3d"))
        var harness = try harness()
        harness.files = ["/p.json": params]
        #expect(await harness.run("raw", "localhost:1", "tools/call", "@/p.json").stdout == outcome.stdout)
        harness.stdin = params
        #expect(await harness.run("raw", "localhost:1", "tools/call", "@-").stdout == outcome.stdout)
    }

    @Test(arguments: [("{", "the params are not JSON"), ("[]", "the params are not a JSON object")])
    func rawParamsAreCheckedFirst(json: String, message: String) async throws {
        let outcome = try await harness().run("raw", "localhost:1", "tools/list", json)
        #expect(outcome.code == .usage)
        #expect(outcome.stderr.hasPrefix("error: \(message)\n"))
    }

    @Test func anUnknownMethod() async throws {
        let outcome = try await harness().run("raw", "localhost:1", "no/such")
        #expect(outcome.code == .protocolError)
        #expect(outcome.stderr.contains("(-32601)"))
        #expect(outcome.stderr.hasSuffix("hint: mcp-client info localhost:1 shows what the server offers\n"))
    }
}
