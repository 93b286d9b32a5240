import MCPCore
import Testing

@testable import MCPServerDaemon

@Suite struct GlobPatternTests {
    @Test(arguments: [
        ("**/*.md", "a.md", true), ("**/*.md", "x/y/a.md", true), ("**/*.md", "a.mdx", false),
        ("*.md", "x/a.md", false),
        ("docs/**", "docs/a/b", true), ("docs/**", "docs", false), ("docs/**", "docs-evil/a", false),
        ("a?c", "abc", true), ("a?c", "a/c", false), ("a?c", "aéc", true), ("a*c", "a/c", false),
        ("a**c", "axyc", true),
        ("**", "any/thing", true), ("a/**/b", "a/b", true), ("a/**/b", "a/x/y/b", true),
        ("a/**/b", "ab", false),
        ("a/**/b", "a/xb", false), ("?", "é", true), ("??", "é", false), ("a/*", "a/", true),
        ("x", "x", true),
        ("[a]", "[a]", true), ("*.tar.gz", "x.tar.gz", true),
    ])
    func matches(pattern: String, path: String, expected: Bool) throws {
        #expect(try #require(GlobPattern(pattern)).matches(path.utf8) == expected)
    }

    @Test(arguments: ["", "/etc/*", "../x", "a/../b", "a//b", "a/", String(repeating: "x", count: 2_000)])
    func refuses(pattern: String) {
        #expect(GlobPattern(pattern) == nil)
    }

    // A backtracking matcher would not come back from this in a lifetime.
    @Test(
        "Advisory_CVE_2026_0621: time stays proportional, however hostile the pattern",
        .timeLimit(.minutes(5)))
    func isLinear() throws {
        let pattern = try #require(GlobPattern(String(repeating: "*a", count: 100)))
        #expect(!pattern.matches((String(repeating: "a", count: 2_000) + "b").utf8))
    }
}

@Suite struct FileFilterTests {
    private func filter(_ include: [String], _ exclude: [String] = []) -> FileFilter {
        FileFilter(
            include: include.compactMap { GlobPattern($0) }, exclude: exclude.compactMap { GlobPattern($0) })
    }

    @Test func hiddenFilesMustBeNamed() {
        #expect(filter([]).allows("a/b.txt"))
        #expect(!filter([]).allows(".env"))
        #expect(!filter([]).allows(".git/config"))
        #expect(!filter(["**"]).allows(".env"))
        #expect(filter([".env"]).allows(".env"))
        #expect(filter(["**/.github/**"]).allows(".github/workflows/ci.yml"))
        #expect(!filter([".env"]).mayDescend(into: "x/.git") || filter([".env"]).include[0].namesHidden)
        #expect(!filter(["**"]).mayDescend(into: ".git"))
    }

    @Test func excludeWins() {
        let filter = filter(["**/*.md"], ["drafts/**", "**/secret.md"])
        #expect(filter.allows("a.md"))
        #expect(!filter.allows("drafts/a.md"))
        #expect(!filter.allows("x/secret.md"))
        #expect(!filter.allows("a.txt"))
        #expect(!filter.mayDescend(into: "drafts"))
        #expect(filter.mayDescend(into: "x"))
    }
}
