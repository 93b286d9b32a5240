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

    /// A prefix is its server's also while that server offers nothing; the longest one counts.
    @Test func theNameWithThePrefixOfAnother() {
        typealias Source = UpstreamNames.Source
        let prefixes = ["docs": "kb_", "more": "kb_more_", "odd": "evil_"]
        func shown(_ server: String, _ name: String) -> String? {
            var names = UpstreamNames()
            let source = Source(server: server, name: name)
            let prefix = prefixes[server] ?? ""
            let entry = (source: source, base: prefix + name, hasPrefix: !prefix.isEmpty, isChosen: false)
            return names.assign(
                [entry], of: ["docs", "more", "odd", "evil", "clock"], prefixes: prefixes, own: [])[source]
        }
        #expect(shown("clock", "kb_search") == "clock_kb_search")
        #expect(shown("clock", "k_search") == "k_search")
        #expect(shown("docs", "search") == "kb_search")
        #expect(shown("docs", "more_search") == "docs_kb_more_search")
        #expect(shown("more", "search") == "kb_more_search")
        // In front of it is what another server has as its prefix.
        #expect(shown("evil", "kb_search")?.wholeMatch(of: /evil_kb_search_[0-9a-f]{32}/) != nil)
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

    private func digest(_ server: String, _ name: String, _ count: Int = 4) -> String {
        Hex.encode(SHA256.hash("\(server)\u{0}\(name)".utf8).bytes.prefix(count))
    }

    /// A server whose third tool has the name that the first one gets.
    @Test(arguments: [false, true]) func aNameWithTheDigestOfAnother(_ isReversed: Bool) {
        let taken = "a_b_" + digest("s", "a b")
        let list = wanted(("s", "a b"), ("s", "a_b"), ("s", taken), ("s", "other"))
        let expected = [
            "a_b_" + digest("s", "a b", 16), "a_b_" + digest("s", "a_b"),
            String(taken.prefix(31)) + "_" + digest("s", taken, 16), "other",
        ]
        var names = UpstreamNames()
        for _ in 0 ..< 2 {
            #expect(
                shown(&names, isReversed ? list.reversed() : list)
                    == (isReversed ? expected.reversed() : expected))
        }
        #expect(names.notes["s"]?.count == 3, "\(names.notes)")
    }

    /// Another server gets no name with a digest, whichever of them was there first.
    @Test(arguments: [0, 1, 2]) func aNameWithTheDigestOfAnotherServer(_ first: Int) {
        let taken = "a_b_" + digest("good", "a b")
        let good = wanted(("good", "a b"), ("good", "a_b"))
        let evil = wanted(("evil", taken))
        let both = good + evil
        var names = UpstreamNames()
        switch first {
        case 1: #expect(shown(&names, good)[0] == taken)
        case 2: #expect(shown(&names, evil)[0] == taken)
        default: break
        }
        let expected = [
            "a_b_" + digest("good", "a b", 16), "a_b_" + digest("good", "a_b"), "evil_" + taken,
        ]
        #expect(shown(&names, both) == expected)
        #expect(shown(&names, both.reversed()) == expected.reversed())
        #expect(shown(&names, good) == Array(expected.prefix(2)))
        #expect(shown(&names, evil) == ["evil_" + taken])
    }

    /// This server's own name stays, and no other one is the same.
    @Test func ownNamesWithADigest() {
        let taken = "a_b_" + digest("s", "a b")
        var names = UpstreamNames()
        #expect(
            shown(&names, wanted(("s", "a b"), ("s", "a_b")), own: [taken])
                == ["a_b_" + digest("s", "a b", 16), "a_b_" + digest("s", "a_b")])
        // The longer end is for this server's names only.
        let long = "x_" + digest("s", "y", 16)
        #expect(shown(&names, wanted(("s", long))) == [String(long.prefix(31)) + "_" + digest("s", long, 16)])
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
