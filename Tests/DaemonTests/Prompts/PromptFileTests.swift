import MCPCore
import Testing

@testable import MCPServerDaemon

@Suite struct PromptFileTests {
    private func parse(_ text: String) -> (prompt: PromptDefinition?, report: [String]) {
        let diagnostics = Diagnostics()
        let prompt = PromptFile.parse(
            SourceText(name: "p.md", text: text), defaultName: "p", into: diagnostics)
        return (prompt, diagnostics.sorted.map(\.rendered))
    }

    private static let review = """
        ---
        name: review
        title: Code review
        description: Finds faults: all of them.
        arguments:
          code: The code
          style?: How strict
        ---

        Review {{code}} {{ style }}.
        {{not a placeholder}} {single}

        """

    @Test func readsHeaderAndText() throws {
        let (prompt, report) = parse(Self.review)
        #expect(report == [])
        let definition = try #require(prompt)
        #expect(definition.name == "review")
        #expect(definition.title == "Code review")
        #expect(definition.description == "Finds faults: all of them.")
        #expect(
            definition.arguments == [
                .init(name: "code", description: "The code", isRequired: true),
                .init(name: "style", description: "How strict", isRequired: false),
            ])
        #expect(
            try definition.render(["code": "{{style}} $x", "style": "hard"])
                == "Review {{style}} $x hard.\n{{not a placeholder}} {single}")
        #expect(try definition.render(["code": "x"]).hasPrefix("Review x ."))
    }

    @Test func missingAndUnknownArgumentsAreInvalidParams() throws {
        let definition = try #require(parse(Self.review).prompt)
        for arguments in [[:], ["style": "x"], ["code": "x", "stlye": "y"]] {
            let error = #expect(throws: MCPError.self) { try definition.render(arguments) }
            #expect(error?.code == -32602)
        }
    }

    @Test func aFileWithoutHeaderIsAllText() throws {
        let prompt = try #require(parse("Just text.\n").prompt)
        #expect(prompt.name == "p")
        #expect(try prompt.render([:]) == "Just text.")
    }

    @Test(arguments: [
        ("---\nname: x\n", "p.md:1:1: error: the header is never closed with ---"),
        ("---\nnmae: x\n---\nt", "p.md:2:1: error: unknown key \"nmae\" in the header (did you mean name?)"),
        ("\u{FEFF}---\nname: x\n---\nt", "p.md:1:1: error: the file begins with a byte order mark: save it"),
        ("---\nname\n---\nt", "p.md:2:1: error: a line of the header must have the form \"key: value\""),
        ("---\n  code: x\n---\nt", "p.md:2:1: error: only lines under arguments may be indented"),
        ("---\narguments:\n  a b: x\n---\nt", "p.md:3:1: error: \"a b\" is not an argument name"),
        (
            "---\narguments:\n  a: x\n---\n\n {{b}}{{a}}",
            "p.md:6:2: error: placeholder {{b}} is not in \"arguments\""
        ),
        ("---\nname: x\n---\n", "p.md:4:1: error: the prompt has no text"),
        ("---\narguments:\n  a: x\n---\nt", "p.md:1:1: warning: argument a is not used"),
    ])
    func reportsFlaws(text: String, expected: String) {
        let report = parse(text).report
        #expect(report.contains { $0.hasPrefix(expected) }, "\(report)")
    }

    @Test func placeholdersAreFoundInLinearTime() {
        let text = String(repeating: "{{", count: 20_000)
        var looks = 0
        #expect(PromptTemplate(text, looks: &looks).placeholders.isEmpty)
        #expect(looks > 0 && looks <= 100 * text.utf8.count)
    }
}
