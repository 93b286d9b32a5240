import Testing

@testable import MCPClientCLI

/// Command lines as shells split them, and words as they are inserted.
struct ShellLineTests {
    private static let breaks = " \t\n\"'@><=;|&(:"

    @Test(arguments: [
        ("mcp-client call x ", ["mcp-client", "call", "x"], ""),
        ("mcp-client call 'my ser", ["mcp-client", "call"], "my ser"),
        ("mcp-client call my\\ server \"a b\" c", ["mcp-client", "call", "my server", "a b"], "c"),
        ("mcp-client '' x", ["mcp-client", ""], "x"),
        ("cd /tmp; mcp-client to", ["mcp-client"], "to"),
        ("echo $(mcp-client $(x `y` to", ["x", "`y`"], "to"),
        ("mcp-client \"a\\\"b\\x\" ", ["mcp-client", "a\"b\\x"], ""),
    ])
    func wordsAreSplitAndNothingIsEvaluated(line: String, words: [String], current: String) {
        let read = ShellLine(line)
        #expect(read.words == words)
        #expect(read.current == current)
    }

    @Test(arguments: [
        ("p ", "a b", "a\\ b "), ("p ", "$(x)", "\\$\\(x\\) "), ("p '", "$(x)", "$(x)"),
        ("p \"", "$(x)`y`\"", "\\$(x)\\`y\\`\\\""), ("p ", "~root", "\\~root "), ("p ", "a;b", "a\\;b "),
        ("p unit=w", "unit=web", "web "), ("p localhost:", "localhost:3000", "3000 "),
        ("p 'unit=w", "unit=web", "unit=web"), ("p ", "-x", "-x "), ("p ", "é!", "é\\! "),
    ])
    func wordsAreQuotedForTheirPlace(line: String, value: String, inserted: String) {
        let read = ShellLine(line, breaks: Self.breaks)
        #expect(read.insertion(of: Candidate(value: value)) == inserted)
    }

    @Test func whatCannotBeQuotedIsNotProposed() {
        #expect(ShellLine("p '").insertion(of: Candidate(value: "it's")) == nil)
        #expect(ShellLine("p \"").insertion(of: Candidate(value: "a!b")) == nil)
        for value in ["", "a\nb", "a\u{1B}[2J", "a\u{202E}b", "a\tb", String(repeating: "x", count: 513)] {
            #expect(!Candidate(value: value).isHarmless, "\(value)")
        }
    }

    @Test func moreOfAWordMayFollow() {
        let line = ShellLine("p ")
        #expect(line.insertion(of: Candidate(value: "limit=", isPartial: true)) == "limit=")
        #expect(line.insertion(of: Candidate(value: "~/a b/", isPartial: true, isPath: true)) == "~/a\\ b/")
    }
}
