import MCPCore
import Testing

struct SuggestionTests {
    @Test(arguments: [
        ("wrker", ["web", "worker", "cron"], "worker" as String?), ("tolls", ["tools", "tool"], "tools"),
        ("git", ["git_log", "echo"], "git_log"), ("ehco", ["echo", "add"], "echo"),
        ("GIT_LOG", ["git_log"], "git_log"), ("nosuch", ["search", "echo"], nil), ("", ["a"], nil),
        ("x", ["yz"], nil), ("c", ["a"], nil),
        ("completely", ["different"], nil), ("gen", ["agent"], nil), ("--import", ["--port"], nil),
        ("--tokens", ["--open"], nil), ("--demo", ["--deny"], nil), ("--systmd", ["--systemd"], "--systemd"),
    ])
    func theNearestName(word: String, candidates: [String], best: String?) {
        #expect(Suggestion.best(for: word, among: candidates) == best)
    }

    @Test func longWordsAreCheap() {
        // Only the beginnings are compared: what differs behind them is not even looked at, or the two would
        // be too different to be a slip.
        let beginning = String(repeating: "a", count: 64)
        let typed = beginning + String(repeating: "x", count: 1_000)
        let meant = beginning + String(repeating: "y", count: 1_000)
        #expect(Suggestion.best(for: typed, among: [meant]) == meant)
    }

    @Test(arguments: [("", "abc", 3), ("abc", "abc", 0), ("ab", "ba", 1), ("kitten", "sitting", 3)])
    func distances(a: String, b: String, distance: Int) {
        #expect(Suggestion.editDistance(Array(a.unicodeScalars), Array(b.unicodeScalars)) == distance)
    }
}
