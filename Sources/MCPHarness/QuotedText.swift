import MCPCore

/// A text of somebody else as a model reads it: each line is quoted, so that the text cannot end itself and
/// speak for others. Characters that nobody sees are left out, and the marks of speakers and of templates are
/// words in parentheses (`RoleMarker`).
package struct QuotedText: Sendable {
    /// The text without what is left out or changed.
    let plain: String
    /// Whether it contained marks of speakers or of templates.
    let isChanged: Bool

    /// - Parameters:
    ///   - maxBytes: the size from which the text is cut off.
    ///   - isOwn: whether it is this program's own, which may name speakers.
    init(_ text: String, maxBytes: Int, isOwn: Bool = false) {
        let clean = text.cleaned(maxBytes: maxBytes)
        plain = isOwn ? clean : RoleMarker.neutralized(clean)
        isChanged = plain != clean
    }

    /// The lines that are not blank.
    var lines: [String] {
        plain.split(whereSeparator: \.isNewline).map(String.init).filter { !$0.allSatisfy(\.isWhitespace) }
    }

    static func quoted(_ line: String) -> String { "\n> \(line)" }

    /// Returns the name of a source as headings show it: its id, and its display name if that can neither be
    /// taken for another source nor speak for anybody.
    ///
    /// - Parameters:
    ///   - others: the ids and display names of other sources.
    ///   - attribution: what stands before the names of sources in headings, such as `Notes of`.
    static func name(
        _ id: String, _ displayName: String, others: [String], attribution: String
    ) -> String {
        let name = inOneLine(displayName)
        let isShown =
            !name.isEmpty && name != id && !others.contains { LookAlike.areAlike($0, name) }
            && ToolMention.forged(others.map { "\(attribution) \($0)" }, in: name) == nil
            && RoleMarker.neutralized(name) == name
        return isShown ? "\(id) (\(name))" : id
    }

    private static let maxNameBytes = 128

    static func inOneLine(_ name: String) -> String { words(name).cleaned(maxBytes: maxNameBytes) }

    static func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
