import Testing

@testable import MCPClientCLI

struct GlobPatternTests {
    @Test(arguments: [
        ("git_*", "git_log", true), ("git_*", "xgit_log", false), ("*", "", true), ("*log", "git_log", true),
        ("g?t", "git", true), ("g?t", "gt", false), ("[a-c]x", "bx", true), ("[!a-c]x", "bx", false),
        ("[!a-c]x", "dx", true), ("a*b*c", "a1b2b3c", true), ("a*b*c", "a1b2b3", false), ("[", "[", true),
        ("", "", true), ("", "a", false), ("a[-]b", "a-b", true), ("**", "x", true),
    ])
    func matching(pattern: String, name: String, matches: Bool) {
        #expect(GlobPattern(pattern).matches(name) == matches)
    }

    @Test func manyStarsAreCheap() {
        let pattern = GlobPattern(String(repeating: "*a", count: 30) + "b")
        var steps = 0
        #expect(!pattern.matches(String(repeating: "a", count: 2000), steps: &steps))
        // With backtracking these would be about 10^60.
        #expect(steps <= 61 * 2001)
    }
}
