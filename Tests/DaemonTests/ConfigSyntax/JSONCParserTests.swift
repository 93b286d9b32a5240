import MCPCore
import Testing

@testable import MCPServerDaemon

@Suite struct JSONCParserTests {
    private func parse(_ text: String) -> (root: ConfigNode?, report: [String]) {
        let diagnostics = Diagnostics()
        let root = JSONCParser.parse(SourceText(name: "c", text: text), into: diagnostics)
        return (root, diagnostics.sorted.map(\.rendered))
    }

    @Test func acceptsCommentsAndTrailingCommas() throws {
        let (root, report) = parse(
            """
            // first
            { "a": [1, 2,], /* in between, with * and / */ "b": { "c": "x // no comment", }, "d": null, // end
            }
            /* last */
            """)
        #expect(report == [])
        #expect(root?["a"]?.elements?.count == 2)
        #expect(root?["b"]?["c"]?.string == "x // no comment")
    }

    @Test(.timeLimit(.minutes(5))) func aLongLineIsReadInTimeThatGrowsWithItsLength() throws {
        let count = 20_000
        let members = (0 ..< count).map { #""ü\#($0)":\#($0)"# }
        let (root, report) = parse("{" + members.joined(separator: ",") + #","ü0":1}"#)
        let text = members.joined(separator: ",")
        #expect(root?["ü\(count - 1)"] != nil)
        #expect(report == ["c:1:\(text.count + 3): error: duplicate key \"ü0\" (first on line 1)"])
    }

    @Test func knowsLineAndColumnInCharacters() throws {
        let (root, _) = parse("{\n  \"größe\": \"ü\", \"b\": true }")
        let position = try #require(root?["b"]?.position)
        #expect(position.description == "c:2:22")
    }

    // Fault row 94.
    @Test(arguments: [
        ("", "c:1:1: error: the file ends where a value is expected"),
        ("{", "c:1:1: error: this { has no closing }"),
        ("{ \"a\": [1, 2 ", "c:1:8: error: this [ has no closing ]"),
        ("{ \"a\" 1 }", "c:1:7: error: expected : after the key \"a\""),
        ("{ a: 1 }", "c:1:3: error: expected a key in double quotes or }"),
        ("{ \"a\": 'x' }", "c:1:8: error: strings must be in double quotes"),
        (
            "{ \"a\": tru }",
            "c:1:8: error: tru is not a JSON value; strings must be in double quotes (did you mean true?)"
        ),
        ("{ \"a\": 01 }", "c:1:8: error: 01 is not a JSON value; strings must be in double quotes"),
        ("{ \"a\": 1,, }", "c:1:10: error: a value is missing between two commas"),
        ("{ \"a\": \"x\n\" }", "c:1:8: error: this string has no closing quotation mark"),
        ("/* x", "c:1:1: error: this comment has no closing */"),
        ("{} {}", "c:1:4: error: only comments may follow the configuration's object"),
        ("{ \"a\": [1} }", "c:1:10: error: expected ] to close the bracket that line 1 opens"),
    ])
    func reportsTheFirstSyntaxError(text: String, expected: String) {
        let (root, report) = parse(text)
        #expect(report.count == 1)
        #expect(report.first?.hasPrefix(expected) == true, "\(report)")
        #expect(root == nil)
    }

    @Test func reportsDuplicateKeysAndForgottenCommasTogether() {
        let (root, report) = parse("{\n\"a\": 1\n\"b\": 2,\n\"a\": 3 }")
        #expect(
            report == [
                "c:2:7: error: a comma is missing",
                "c:4:1: error: duplicate key \"a\" (first on line 2)",
            ])
        #expect(root != nil)
    }

    @Test func refusesStringsThatAreNoJSON() {
        #expect(parse(#"{ "a": "\ud800" }"#).report.first?.hasPrefix("c:1:") == true)
        #expect(parse("{ \"a\": \"\u{1}\" }").report.count == 1)
        #expect(parse(#"{ "a": "\q" }"#).report.count == 1)
    }

    @Test func boundsTheDepth() {
        let (root, report) = parse(String(repeating: "[", count: 100_000))
        #expect(root == nil)
        #expect(report == ["c:1:65: error: nested deeper than 64 levels"])
    }

    @Test func neverTrapsOnBrokenText() {
        let text = Array(#"{"a": [1, "x\u00e9", {"b": /* c */ null}], // d"#.utf8)
        for end in 0 ... text.count {
            let diagnostics = Diagnostics()
            _ = JSONCParser.parse(SourceText(name: "c", bytes: Array(text[..<end])), into: diagnostics)
            for index in 0 ..< end {
                var broken = Array(text[..<end])
                broken[index] = 0xFF
                _ = JSONCParser.parse(SourceText(name: "c", bytes: broken), into: Diagnostics())
            }
            #expect(diagnostics.hasErrors || end == text.count)
        }
    }
}
