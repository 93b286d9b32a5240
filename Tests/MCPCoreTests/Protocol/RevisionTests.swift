import Testing

@testable import MCPCore

@Suite struct RevisionTests {
    // VER-10
    @Test func versions() {
        #expect(
            ProtocolVersion.known.map(\.text)
                == ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
        #expect(ProtocolVersion.known.filter(\.isModern) == [.newest])
        #expect(ProtocolVersion.known.allSatisfy { $0.isKnown })
        let unknown = ProtocolVersion("2031-01-01")
        #expect(!unknown.isKnown && !unknown.isModern && unknown.description == "2031-01-01")
    }

    @Test(arguments: Revision.all) func findsItself(_ revision: Revision) {
        #expect(Revision.all[revision.index] == revision)
        #expect(Revision.named(revision.version.text) == revision)
        #expect(Revision.named(ByteSlice(revision.version.text)) == revision)
    }

    @Test(arguments: ["", "2025-06-1", "2025-06-18 ", "2031-01-01", "draft"]) func unknown(_ text: String) {
        #expect(Revision.named(text) == nil)
        #expect(Revision.named(ByteSlice(text)) == nil)
    }

    /// Table 3 of the requirements, as far as the core implements it.
    @Test func whatExistsInWhichRevision() {
        func having(_ feature: Revision.Features) -> [String] {
            Revision.all.filter { $0.has(feature) }.map(\.version.text)
        }
        let all = Revision.all.map(\.version.text)
        #expect(having(.batches) == ["2025-03-26"])
        #expect(having(.annotations) == Array(all[1...]))
        #expect(having(.structured) == Array(all[2...]))
        #expect(having(.icons) == Array(all[3...]))
        #expect(having(.argumentErrorsAreResults) == Array(all[3...]))
        #expect(having(.errorIDMayBeAbsent) == Array(all[3...]))
        #expect(having(.anyStructured) == ["2026-07-28"])
        #expect(having(.stampedResults) == ["2026-07-28"])
        #expect(Revision.all.map(\.resourceNotFound) == [-32002, -32002, -32002, -32002, -32602])
        #expect(Revision.all.map(\.isModern) == [false, false, false, false, true])
    }
}
