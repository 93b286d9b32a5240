import MCPCore

/// A word that completion proposes.
struct Candidate: Sendable, Hashable {
    /// The largest number of proposals, and the longest one in bytes.
    static let maxCount = 1_000
    static let maxBytes = 512

    /// The whole word, without quotation marks.
    let value: String
    /// What it is, for shells that show that.
    var note = ""
    /// Whether more of the word follows, so that no blank is inserted after it.
    var isPartial = false
    /// Whether a `~` at the start is the home directory.
    var isPath = false

    /// Whether the word may be shown and inserted as it is: no control characters, direction marks or line
    /// ends. A server chooses such names only to deceive.
    var isHarmless: Bool {
        !value.isEmpty && value.utf8.count <= Self.maxBytes
            && TerminalText.inline(value, limit: Self.maxBytes) == value
            && !value.unicodeScalars.contains { $0.properties.generalCategory == .format }
    }

    /// The note as one short line.
    var shortNote: String {
        let line = note.trimmingWhitespace().split(separator: "\n").first.map(String.init) ?? ""
        return TextWrap.prefix(of: TerminalText.inline(line, limit: 60), width: 60)
    }
}
