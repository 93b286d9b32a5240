import MCPClientCLI
import MCPCore
import Testing

/// What becomes of a server's questions: answers on the command line, a person at the terminal, or nobody.
@Suite struct AskingCommandTests {
    private static let target = "localhost:1"
    private static let revisions = ["2026-07-28", "2025-11-25", "2025-06-18"]

    private func harness(typed: [String]? = nil) throws -> CommandHarness {
        var harness = CommandHarness(server: try AskingServer.make())
        harness.typed = typed
        return harness
    }

    // MARK: The command line

    @Test(arguments: revisions) func answersOfTheCommandLine(revision: String) async throws {
        let outcome = try await harness().run(
            "--protocol", revision, "--answer", "name=Ada", "--answer", "people=3", "--answer",
            "table=Outside", "--answer", "extras=dog,3", "call", Self.target, "book")
        #expect(outcome.code == .ok)
        let text = #"{"table":"out","quiet":false,"name":"Ada","people":3,"extras":["dog","cake"]}"#
        let given = try JSONValue(parsing: String(outcome.stdout.drop { $0 != "{" }))
        #expect(outcome.stdout.hasPrefix("accept "))
        #expect(try given == JSONValue(parsing: text))
    }

    @Test func answersOfAFile() async throws {
        var harness = try harness()
        harness.files["a.json"] = #"{"name":"Ada","people":2}"#
        let outcome = await harness.run(
            "--answers", "a.json", "--answer", "people=4", "call", Self.target, "book")
        #expect(outcome.code == .ok)
        // What stands on the command line wins.
        #expect(outcome.stdout.contains(#""people":4"#))
        harness.files["b.json"] = "[1]"
        let wrong = await harness.run("--answers", "b.json", "call", Self.target, "book")
        #expect(wrong.code == .usage)
        #expect(wrong.stderr.contains("b.json does not contain a JSON object"))
    }

    /// An answer that does not fit is none, nothing of it is sent, and the person is told why.
    @Test(arguments: [
        ("people=13", "  --answer people: "),
        ("people=many", "  --answer people: \"many\" is not a whole number"),
        ("name=A", "  --answer name: "),
    ])
    func answersThatDoNotFit(answer: String, reason: String) async throws {
        for revision in Self.revisions {
            let others = ["name=Ada", "people=3"].filter { !answer.hasPrefix($0.prefix(4)) }
            let outcome = try await harness().run(
                ["--protocol", revision] + (others + [answer]).flatMap { ["--answer", $0] }
                    + ["call", Self.target, "book"])
            #expect(outcome.code == .inputRequired)
            let lines = outcome.stderr.split(separator: "\n")
            #expect(lines.count == 3 && lines[1].hasPrefix(reason), "\(revision): \(outcome.stderr)")
            #expect(lines.last == "hint: nothing was sent; correct the answers and try again")
        }
    }

    /// As with the arguments of a tool: several values are a list where the field takes one.
    @Test(arguments: [
        (["extras=dog", "extras=3"], #"["dog","cake"]"#),
        (["extras=dog,pram", "extras=cake"], #"["dog","pram","cake"]"#),
        (["people=2", "people=3"], nil), (["table=in", "table=out"], nil),
    ])
    func answersToOneField(answers: [String], extras: String?) async throws {
        let others = ["name=Ada", "people=1"].filter { !answers[0].hasPrefix($0.prefix(4)) }
        let outcome = try await harness().run(
            (others + answers).flatMap { ["--answer", $0] } + ["call", Self.target, "book"])
        #expect(outcome.code == (extras == nil ? .inputRequired : .ok), "\(outcome.stderr)")
        if let extras {
            #expect(outcome.stdout.contains(#""extras":\#(extras)"#), "\(outcome.stdout)")
        } else {
            let name = answers[0].prefix { $0 != "=" }
            #expect(
                outcome.stderr.contains("--answer \(name): is given 2 times but accepts one value\n"),
                "\(outcome.stderr)")
        }
    }

    @Test func answersToOtherQuestionsDoNoHarm() async throws {
        let outcome = try await harness().run(
            "--answer", "name=Ada", "--answer", "people=3", "--answer", "other=x", "call", Self.target, "book"
        )
        #expect(outcome.code == .ok)
    }

    @Test func misspelledAnswersAreNamed() async throws {
        let outcome = try await harness().run("--answer", "peple=2", "call", Self.target, "book")
        #expect(outcome.code == .inputRequired)
        #expect(
            outcome.stderr.contains("  the form has no field \"peple\" (did you mean people?)\n"),
            "\(outcome.stderr)")
        #expect(outcome.stderr.contains("  --answer name: missing\n"), "\(outcome.stderr)")
    }

    /// An answer that does not fit does not make one for a later question a mistake.
    @Test func answersForLaterQuestionsAreNoMistakes() async throws {
        let outcome = try await harness().run(
            "--answer", "name=Ada", "--answer", "people=200", "--answer", "sure=true", "call", Self.target,
            "book")
        #expect(outcome.code == .inputRequired && outcome.stderr.contains("--answer people: "))
        #expect(!outcome.stderr.contains("the form has no field"), "\(outcome.stderr)")
    }

    @Test(arguments: revisions) func nobodyAnswers(revision: String) async throws {
        let outcome = try await harness().run("--protocol", revision, "call", Self.target, "book")
        #expect(outcome.code == .inputRequired)
        #expect(outcome.stdout.isEmpty)
        let lines = outcome.stderr.split(separator: "\n")
        #expect(
            lines.first?.hasPrefix("input required: book asks \"A table for whom?\" (fields name: string")
                == true,
            "\(outcome.stderr)")
        #expect(lines.last == "hint: --answer name=… --answer people=…")
    }

    @Test func noInputMeansNobody() async throws {
        let outcome = try await harness(typed: ["Ada"]).run("--no-input", "call", Self.target, "book")
        #expect(outcome.code == .inputRequired)
        #expect(!outcome.stderr.contains("book asks: "))
    }

    // MARK: The person

    // ELIC-09
    @Test(arguments: revisions) func aPersonFillsInTheForm(revision: String) async throws {
        let outcome = try await harness(typed: ["", "A", "Ada", "lots", "13", "3", "2", "yes", "", "y"]).run(
            "--protocol", revision, "call", Self.target, "book")
        #expect(outcome.code == .ok, "\(outcome.stderr)")
        #expect(outcome.stdout.hasPrefix("accept "))
        for part in [#""name":"Ada""#, #""people":3"#, #""table":"out""#, #""quiet":true"#] {
            #expect(outcome.stdout.contains(part))
        }
        for part in [
            "book asks: A table for whom?", "an answer is required", "the answer must be: whole number",
            "Outside",
        ] {
            #expect(outcome.stderr.contains(part), "\(part)")
        }
        // ELIC-16: what leaves is shown before.
        #expect(outcome.stderr.contains("  people: 3\n"))
    }

    /// The form may be gone over again, be declined and be cancelled; the end of the input cancels.
    @Test(
        arguments: [
            (["Ada", "3", "", "", "", "e", "", "4", "", "", "", "y"], "accept"),
            (["Ada", "3", "", "", "", "d"], "decline"),
            (["Ada", "3", "", "", "", "c"], "cancel"), (["Ada"], "cancel"), ([], "cancel"),
            // D5: the end of the input at the last prompt; a held Enter; another word.
            (["Ada", "3", "", "", ""], "cancel"), (["Ada", "3", "", "", "", "", "", ""], "cancel"),
            (["Ada", "3", "", "", "", "yikes"], "cancel"), (["Ada", "3", "", "", "", "", "yes"], "accept"),
        ] as [([String], String)])
    func endsOfAForm(typed: [String], action: String) async throws {
        let outcome = try await harness(typed: typed).run("call", Self.target, "book")
        #expect(outcome.stdout.hasPrefix(action), "\(outcome.stderr)")
        if typed.contains("e") { #expect(outcome.stdout.contains(#""people":4"#)) }
    }

    /// Consent is given in words: neither an empty line nor the end of the input is a yes.
    @Test(
        arguments: [
            (["y"], "accept"), (["YES"], "accept"), ([""], "decline"), (["n"], "decline"),
            (["yes please"], "decline"), ([], "cancel"),
        ] as [([String], String)])
    func aQuestionWithoutFields(typed: [String], action: String) async throws {
        let outcome = try await harness(typed: typed).run("call", Self.target, "leave")
        #expect(outcome.stdout == action + "\n", "\(outcome.stderr)")
        #expect(outcome.stderr.contains("leave asks: Leave without paying?"))
    }

    @Test(arguments: revisions) func consentOfAFile(revision: String) async throws {
        var harness = try harness()
        harness.files["yes.json"] = "{}"
        harness.files["other.json"] = #"{"name":"Ada"}"#
        let words = ["--protocol", revision, "call", Self.target, "leave"]
        #expect(await harness.run(["--answers", "yes.json"] + words).stdout == "accept\n")
        #expect(await harness.run(["--answers", "other.json"] + words).code == .inputRequired)
        #expect(await harness.run(words).code == .inputRequired)
    }

    // ELIC-14, ELIC-17, ELIC-18, ELIC-19
    @Test(
        arguments: [
            (["y"], "accept"), (["d"], "decline"), ([""], "cancel"), ([], "cancel"), (["yet"], "cancel"),
        ] as [([String], String)])
    func aPageToVisit(typed: [String], action: String) async throws {
        let outcome = try await harness(typed: typed).run("call", Self.target, "pay")
        #expect(outcome.stdout == action + "\n")
        #expect(outcome.stderr.contains("https://xn--pypal-4ve.example/bill?id=7"))
        #expect(outcome.stderr.contains("on the host xn--pypal-4ve.example"))
        #expect(outcome.stderr.contains("caution: the host name contains letters of another script"))
    }

    @Test func aPageNobodyVisits() async throws {
        let outcome = try await harness().run("call", Self.target, "pay")
        #expect(outcome.code == .inputRequired)
        #expect(outcome.stderr.contains("\"Pay the bill\""))
    }

    // MARK: Log messages and completion

    @Test(arguments: ["2026-07-28", "2025-11-25", "2024-11-05"]) func logMessages(revision: String)
        async throws
    {
        let all = try await harness().run(
            "--protocol", revision, "--log-level", "debug", "call", Self.target, "talk")
        #expect(all.stdout == "said\n")
        #expect(all.stderr.contains("[info] inn: a word\n"))
        #expect(all.stderr.contains("[warning] "))
        #expect(!all.stderr.contains("\u{1B}"))
        let some = try await harness().run(
            "--protocol", revision, "--log-level", "warning", "call", Self.target, "talk")
        #expect(!some.stderr.contains("a word"))
        #expect(some.stderr.contains("[warning] "))
    }

    @Test func aLevelThatIsNone() async throws {
        let outcome = try await harness().run("--log-level", "loud", "call", Self.target, "talk")
        #expect(outcome.code == .usage)
        #expect(outcome.stderr.contains("loud"))
    }

    @Test(arguments: ["2026-07-28", "2024-11-05"]) func completes(revision: String) async throws {
        let outcome = try await harness().run(
            "--protocol", revision, "complete", Self.target, "prompt:menu", "dish", "r")
        #expect(outcome.code == .ok)
        #expect(outcome.stdout == "Rösti\nRaclette\n")
        #expect(outcome.stderr.hasPrefix("2 · inn 1 · "), "\(outcome.stderr)")
        let json = try await harness().run("--json", "complete", Self.target, "prompt:menu", "dish", "f")
        #expect(try JSONValue(parsing: json.stdout)["completion"]?["values"] == ["Fondue"])
    }

    @Test func completionOfWhatIsNotThere() async throws {
        let outcome = try await harness().run("complete", Self.target, "prompt:none", "dish", "f")
        #expect(outcome.code.rawValue == 5)
        #expect(outcome.stdout.isEmpty)
    }

    /// What a server says while its question is open is no part of that line, and the question is asked again.
    @Test func aLogMessageWhileAQuestionIsOpen() async throws {
        let (asked, said) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
        let server = MCPServer("inn", version: "1")
        try server.register(Tool("leave")) { _, context in
            async let answer = context.elicit("Leave?", ElicitationSchema([]), key: "sure")
            for await _ in asked.stream { break }
            await context.log(.warning, "the kitchen is open")
            return .text(try await answer.action.rawValue)
        }
        var harness = CommandHarness(server: server)
        harness.typed = ["y"]
        harness.hearStderr = { if $0.contains("the kitchen") { said.continuation.yield() } }
        harness.whileAsked = {
            asked.continuation.yield()
            for await _ in said.stream { break }
        }
        let outcome = await harness.run(
            "--protocol", "2025-11-25", "--log-level", "info", "call", Self.target, "leave")
        #expect(outcome.code == .ok && outcome.stdout == "accept\n", "\(outcome.stdout)")
        let question = "accept? [y]es, [N]o: "
        #expect(
            outcome.stderr.hasSuffix("\n\(question)\n[warning] the kitchen is open\n\(question)"),
            "\(outcome.stderr)")
    }
}
