import Testing

@testable import MCPCore

@Suite struct UpstreamNamesTests {
    private func wanted(_ list: (String, String)...) -> [(UpstreamNames.Source, String, Bool)] {
        list.map { (UpstreamNames.Source(server: $0.0, name: $0.1), $0.1, false) }
    }

    private func shown(
        _ names: inout UpstreamNames, _ list: [(UpstreamNames.Source, String, Bool)],
        own: Set<String> = []
    ) -> [String] {
        let result = names.assign(list.map { (source: $0.0, base: $0.1, hasPrefix: $0.2) }, own: own)
        return list.map { result.names[$0.0] ?? "-" }
    }

    @Test func aUniqueNameStays() {
        var names = UpstreamNames()
        #expect(shown(&names, wanted(("a", "one"), ("b", "two"))) == ["one", "two"])
    }

    @Test func aSharedNameHasItsServerInFront() {
        var names = UpstreamNames()
        #expect(shown(&names, wanted(("a", "x"), ("b", "x"))) == ["a_x", "b_x"])
    }

    @Test func theServersOwnNameStays() {
        var names = UpstreamNames()
        #expect(shown(&names, wanted(("a", "x")), own: ["x"]) == ["a_x"])
    }

    /// A name never begins to mean something else because a server goes away.
    @Test func aNameThatWasSharedIsNotReused() {
        var names = UpstreamNames()
        #expect(shown(&names, wanted(("a", "x"))) == ["x"])
        #expect(shown(&names, wanted(("a", "x"), ("b", "x"))) == ["a_x", "b_x"])
        #expect(shown(&names, wanted(("b", "x"))) == ["b_x"])
    }

    @Test func whatIsStillTakenIsRefused() {
        var names = UpstreamNames()
        #expect(shown(&names, wanted(("a", "x"), ("b", "x")), own: ["b_x"]) == ["a_x", "-"])
    }

    @Test func namesFitEveryHost() {
        #expect(UpstreamNames.fitting("a b/ü\u{1B}") == "a_b____")
        #expect(UpstreamNames.fitting("") == "_")
        let long = String(repeating: "x", count: 100)
        let (one, two) = (UpstreamNames.fitting(long + "1"), UpstreamNames.fitting(long + "2"))
        #expect(one.utf8.count == 64 && two.utf8.count == 64 && one != two)
        #expect(UpstreamNames.fitting(String(repeating: "x", count: 64)).utf8.count == 64)
    }
}
