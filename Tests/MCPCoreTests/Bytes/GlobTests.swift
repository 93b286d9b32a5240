import MCPCore
import Testing

struct GlobTests {
    @Test(arguments: [
        ("git_*", "git_log", true), ("git_*", "xgit_log", false), ("*", "", true), ("*log", "git_log", true),
        ("g?t", "git", true), ("g?t", "gt", false), ("[a-c]x", "bx", true), ("[!a-c]x", "bx", false),
        ("[!a-c]x", "dx", true), ("a*b*c", "a1b2b3c", true), ("a*b*c", "a1b2b3", false), ("[", "[", true),
        ("", "", true), ("", "a", false), ("a[-]b", "a-b", true), ("**", "x", true),
    ])
    func matching(pattern: String, name: String, matches: Bool) {
        #expect(Glob(pattern).matches(name) == matches)
    }

    @Test(
        arguments: [
            ("*", "a/b", true), ("a/*", "a/b", true), ("a/*", "ab", false), ("*/b", "a/b", true),
            ("a*c*e", "abcde", true), ("a*c*e", "abcd", false), ("", "", true), ("", "a", false),
            ("**", "x", true), ("a/b", "a/b", true), ("a/b", "a/bc", false), ("a?", "ab", false),
            ("[a]", "a", false), ("[a]", "[a]", true), ("a/*", "a/\u{301}b", true),
        ] as [(String, String, Bool)])
    func stars(_ pattern: String, _ text: String, _ matches: Bool) {
        #expect(Glob(onlyStars: pattern).matches(text) == matches)
    }

    @Test func manyStarsAreCheap() {
        let text = String(repeating: "*a", count: 30) + "b"
        for pattern in [Glob(text), Glob(onlyStars: text)] {
            var steps = 0
            #expect(!pattern.matches(String(repeating: "a", count: 2000), steps: &steps))
            // With backtracking these would be about 10^60.
            #expect(steps <= 61 * 2001)
        }
    }
}
