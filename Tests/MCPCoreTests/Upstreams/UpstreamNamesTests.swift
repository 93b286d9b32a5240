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
        let result = names.assign(
            list.map { (source: $0.0, base: $0.1, hasPrefix: $0.2, isChosen: $0.2) },
            of: Set(list.map(\.0.server)), own: own)
        return list.map { result[$0.0] ?? "-" }
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

    @Test func whatIsStillTakenHasADigest() {
        var names = UpstreamNames()
        let shown = shown(&names, wanted(("a", "x"), ("b", "x")), own: ["b_x"])
        #expect(shown[0] == "a_x")
        #expect(shown[1].wholeMatch(of: /b_x_[0-9a-f]{8}/) != nil, "\(shown)")
    }

    /// No server takes the name of another one, in whatever order they come.
    @Test(arguments: [false, true]) func theNameOfAnotherServer(_ isReversed: Bool) {
        let list = wanted(("evil", "read"), ("evil", "docs_read"), ("docs", "read"))
        let expected = ["evil_read", "evil_docs_read", "docs_read"]
        var names = UpstreamNames()
        #expect(
            shown(&names, isReversed ? list.reversed() : list)
                == (isReversed ? expected.reversed() : expected))
        // Also while the other one offers nothing of the kind.
        var others = UpstreamNames()
        #expect(
            shown(&others, wanted(("evil", "docs_read"), ("docs", "other"))) == ["evil_docs_read", "other"])
    }

    /// Names of servers can make two names the same: both differ then.
    @Test func longNamesThatAreTheSame() {
        var names = UpstreamNames()
        let list = wanted(("a", "b_c"), ("x", "b_c"), ("a_b", "c"), ("x", "c"))
        let shown = shown(&names, list)
        #expect(Set(shown).count == 4)
        #expect(shown[0].hasPrefix("a_b_c_") && shown[2].hasPrefix("a_b_c_"), "\(shown)")
        var others = UpstreamNames()
        #expect(Set(self.shown(&others, list.reversed())) == Set(shown))
    }

    /// A server that offers other names at each reading.
    @Test func namesThatNobodyOffersAreForgotten() {
        var names = UpstreamNames()
        for round in 0 ..< 20 {
            let list = (0 ..< 500).map { ("a", "t\(round)-\($0)") }
            _ = shown(&names, list.map { (UpstreamNames.Source(server: $0.0, name: $0.1), $0.1, false) })
            #expect(names.rememberedCount <= 500 + UpstreamNames.maxOldNames)
        }
        #expect(shown(&names, wanted(("a", "t19-0"), ("b", "t0-0"))) == ["t19-0", "t0-0"])
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
