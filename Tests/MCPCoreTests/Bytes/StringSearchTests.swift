import MCPCore
import Testing

/// Texts are found by their bytes, wherever the standard library would search for characters.
struct StringSearchTests {
    @Test(
        arguments: [
            ("", "", 0), ("", "a", nil), ("a", "", 0), ("abc", "abc", 0), ("abc", "abcd", nil),
            ("aab", "ab", 1), ("use_dpop_nonce", "nonce", 9), ("…→…", "→", 3), ("abc", "C", nil),
        ] as [(String, String, Int?)])
    func firstOccurrence(_ text: String, _ other: String, _ offset: Int?) {
        let found = text.firstRange(of: other)
        #expect(found.map { text.utf8.distance(from: text.startIndex, to: $0.lowerBound) } == offset)
        #expect(found.map { String(text[$0]) } == offset.map { _ in other })
        #expect(text.contains(other) == (offset != nil))
        #expect(("x" + text + "x").dropFirst().dropLast().contains(other) == (offset != nil))
    }

    @Test(
        arguments: [
            ("a--b--c", "--", "+", "a+b+c"), ("aaa", "aa", "b", "ba"), ("abc", "", "x", "abc"),
            ("", "a", "b", ""), ("%2e%2e", "%2e", ".", ".."),
        ])
    func replaced(_ text: String, _ other: String, _ replacement: String, _ result: String) {
        #expect(text.replacing(other, with: replacement) == result)
    }

    @Test func parts() {
        #expect("a, b, , c".split(separator: ", ") == ["a", "b", "c"])
        #expect("~1a~1".split(separator: "~1", omittingEmptySubsequences: false) == ["", "a", ""])
        #expect("a::b::c".split(separator: "::", maxSplits: 1) == ["a", "b::c"])
        #expect("abc".split(separator: "") == ["abc"])
        #expect("".split(separator: "::") == [])
    }

    /// A character ends behind its combining marks, a text does not.
    @Test func aCombiningMarkHidesNothing() {
        #expect("token=abc\u{301}".contains("token=abc"))
        #expect("token=abc\u{301}".replacing("abc", with: "•••") == "token=•••\u{301}")
        #expect("docs/%2e\u{301}".replacing("%2e", with: ".") == "docs/.\u{301}")
    }
}
