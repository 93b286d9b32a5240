import Testing

@testable import MCPCore

@Suite struct NameTableTests {
    @Test(arguments: [0, 1, 2, 7, 8, 9, 1000]) func findsEveryName(_ count: Int) {
        let names = (0 ..< count).map { "tool-\($0)" }
        let table = NameTable(names)
        for (place, name) in names.enumerated() { #expect(table.index(of: name) == place) }
        for name in ["", "tool-", "tool", "TOOL-0", "tool-\(count)", "tool-0 "] {
            #expect(table.index(of: name) == nil)
        }
    }

    @Test func namesWithACommonStart() {
        let names = ["a", "aa", "aaa", "ä", "a/b", "mem://a", "mem://a/"]
        let table = NameTable(names)
        #expect(names.map { table.index(of: $0) } == Array(0 ..< names.count))
    }
}
