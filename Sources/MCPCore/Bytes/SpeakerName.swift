/// Names that stand for a speaker of a conversation, or for the program: who has one speaks for others.
package enum SpeakerName {
    private static let all = [
        "server", "daemon", "host", "agent", "model", "user", "system", "assistant", "developer", "anonymous",
        "you", "mcp host",
    ]

    /// Returns the one that a reader could take the name for; nil for a name of its own.
    package static func imitated(by name: String) -> String? {
        let words = name.split(separator: " ").map(String.init)
        let isArticle = words.first.map { first in
            ["a", "an", "the"].contains { LookAlike.areAlike($0, first) }
        }
        let own = words.dropFirst(isArticle == true ? 1 : 0).joined(separator: " ")
        return all.first { LookAlike.areAlike($0, own) }
    }
}
