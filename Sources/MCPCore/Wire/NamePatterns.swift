/// Patterns for names.
///
/// A URI that servers may take for another one fits none of them but `*`.
package struct NamePatterns: Sendable {
    private let texts: [String]
    private let globs: [Glob]
    /// Whether every name fits.
    let fitAll: Bool

    init(_ texts: [String]) {
        self.texts = texts
        globs = texts.map { Glob($0) }
        fitAll = texts.contains("*")
    }

    var key: String { texts.joined(separator: " ") }

    /// Whether a text can be a pattern. Names have no spaces, and lists of patterns are separated by them.
    package static func isPattern(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }

    func fit(_ name: String) -> Bool {
        fitAll || globs.contains { $0.matches(name) } && URISpelling(name).isPlain
    }

    /// Returns whether a pattern fits every name that begins with this text.
    func fitAll(beginning: String) -> Bool {
        fitAll
            || texts.contains { text in
                guard text.last == "*" else { return false }
                let start = text.dropLast()
                return !start.contains { "*?[".contains($0) } && beginning.utf8.starts(with: start.utf8)
            }
    }

    /// Returns whether a URI that begins with this text may fit. Only its last part goes on.
    func mayFit(uriBeginning text: String) -> Bool {
        fitAll || mayFit(beginning: text) && URISpelling(text + "-").isPlain
    }

    /// Returns whether a name that begins with this text may fit.
    func mayFit(beginning: String) -> Bool {
        fitAll
            || texts.contains { text in
                let start = text.prefix { !"*?[".contains($0) }
                return start.utf8.starts(with: beginning.utf8) || beginning.utf8.starts(with: start.utf8)
            }
    }
}
