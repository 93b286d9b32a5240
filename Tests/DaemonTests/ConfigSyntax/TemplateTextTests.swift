import MCPCore
import Testing

@testable import MCPServerDaemon

@Suite struct TemplateTextTests {
    @Test(arguments: [
        ("plain", [TemplateText.Piece.literal("plain")]), ("{a}", [.argument("a")]),
        ("--x={a}.y", [.literal("--x="), .argument("a"), .literal(".y")]),
        ("{a}{b}", [.argument("a"), .argument("b")]), ("{{.Names}}", [.literal("{{.Names}}")]),
        ("{{a}}", [.literal("{a}")]), ("{ print $1 }", [.literal("{ print $1 }")]), ("{}", [.literal("{}")]),
        ("{\"a\": 1}", [.literal("{\"a\": 1}")]), ("{a", [.literal("{a")]), ("a}", [.literal("a}")]),
        ("{1a}", [.literal("{1a}")]), ("{{a}", [.literal("{"), .argument("a")]),
        ("{a-b_2}", [.argument("a-b_2")]), ("", []),
    ])
    func readsPlaceholders(text: String, pieces: [TemplateText.Piece]) throws {
        #expect(try TemplateText(text).pieces == pieces)
    }

    @Test func aSplatIsAWholeElement() throws {
        #expect(try TemplateText("{paths...}").splat == "paths")
        #expect(throws: TemplateText.Flaw.self) { try TemplateText("-x{paths...}") }
        #expect(throws: TemplateText.Flaw.self) { try TemplateText("{paths...}y") }
    }
}
