import MCPCore
import Testing

/// At a terminal, a tool that says it may destroy something runs only after a question.
struct DestructiveCallTests {
    private func call(_ typed: [String]?, _ flags: [String] = [], tool: String = "unit_restart") async throws
        -> CommandOutcome
    {
        var harness = CommandHarness(server: try OpsServer.make())
        harness.typed = typed
        let words = tool == "unit_restart" ? ["unit=web"] : ["repo=web"]
        return await harness.run(flags + ["call", "localhost:1", tool] + words)
    }

    @Test func itRunsWhenThePersonAgrees() async throws {
        let outcome = try await call(["y"])
        #expect(outcome.code == .ok && outcome.stdout == "restarted\n")
        #expect(
            outcome.stderr
                == "unit_restart may change or delete something, possibly irreversibly; call it? [y]es, [N]o: "
        )
    }

    @Test(arguments: [[""], ["n"], ["whatever"], ["yesterday"], ["y y"], []])
    func anythingElseIsARefusal(typed: [String]) async throws {
        let outcome = try await call(typed)
        #expect(outcome.code == .inputRequired && outcome.stdout.isEmpty)
        #expect(
            outcome.stderr.hasSuffix(
                "unit_restart was not called\n  nothing was sent\nhint: --yes calls it without a question\n"))
    }

    @Test func scriptsAndFlagsAreNotAsked() async throws {
        for (typed, flags) in [(nil, []), (["n"], ["--yes"]), (["n"], ["-y"]), (["n"], ["--no-input"])]
            as [([String]?, [String])]
        {
            let outcome = try await call(typed, flags)
            #expect(outcome.code == .ok && outcome.stderr.isEmpty, "\(flags)")
        }
    }

    @Test func harmlessToolsAreNotAskedAbout() async throws {
        let outcome = try await call([], tool: "git_log")
        #expect(outcome.code == .ok && outcome.stderr.isEmpty)
    }
}
