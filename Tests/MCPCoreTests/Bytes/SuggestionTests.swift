import Testing

@testable import MCPCore

struct SuggestionTests {
    @Test(arguments: [
        ("wrker", ["web", "worker", "cron"], "worker" as String?), ("tolls", ["tools", "tool"], "tools"),
        ("git", ["git_log", "echo"], "git_log"), ("ehco", ["echo", "add"], "echo"),
        ("GIT_LOG", ["git_log"], "git_log"), ("nosuch", ["search", "echo"], nil), ("", ["a"], nil),
        ("x", ["yz"], nil), ("c", ["a"], nil),
        ("completely", ["different"], nil),
    ])
    func theNearestName(word: String, candidates: [String], best: String?) {
        #expect(Suggestion.best(for: word, among: candidates) == best)
    }

    @Test func longWordsAreCheap() {
        let long = String(repeating: "a", count: 1_000_000)
        #expect(Suggestion.best(for: long, among: [long + "b"]) != nil)
    }

    @Test(arguments: [("", "abc", 3), ("abc", "abc", 0), ("ab", "ba", 1), ("kitten", "sitting", 3)])
    func distances(a: String, b: String, distance: Int) {
        #expect(Suggestion.editDistance(Array(a.unicodeScalars), Array(b.unicodeScalars)) == distance)
    }
}
