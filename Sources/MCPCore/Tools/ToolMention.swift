/// Finds the tools that a text refers to, so that no source can give orders about the tools of another one.
package struct ToolMention: Sendable {
    /// The names of tools of other sources, by their lowercase form.
    private let foreign: [String: String]

    /// - Parameters:
    ///   - all: the names of all tools.
    ///   - own: the names of the tools of the text's author, which it may refer to.
    package init(_ all: some Sequence<String>, own: some Sequence<String>) {
        let own = Set(own.lazy.map { $0.lowercased() })
        var foreign: [String: String] = [:]
        for name in all where !own.contains(name.lowercased()) { foreign[name.lowercased()] = name }
        self.foreign = foreign
    }

    /// Returns the first tool of another source that the text refers to; nil if there is none.
    ///
    /// A name that is also a word, such as `search`, counts only in quotation marks or beside the word
    /// "tool".
    package func first(in text: String) -> String? {
        if foreign.isEmpty { return nil }
        let words = Self.words(of: text)
        for (index, word) in words.enumerated() {
            guard let name = foreign[word.text] else { continue }
            let neighbors = [index - 1, index + 1].filter(words.indices.contains).map { words[$0].text }
            let isNamed = neighbors.contains { $0 == "tool" || $0 == "function" }
            if word.isQuoted || isNamed || Self.isDistinctive(name) { return name }
        }
        return nil
    }

    /// Whether a name cannot be taken for a word of a sentence.
    private static func isDistinctive(_ name: String) -> Bool {
        name.utf8.contains { [0x5F, 0x2D, 0x2E].contains($0) || (0x30 ... 0x39).contains($0) }
            || name.utf8.dropFirst().contains { (0x41 ... 0x5A).contains($0) }
    }

    private struct Word {
        let text: String
        let isQuoted: Bool
    }

    private static func words(of text: String) -> [Word] {
        var words: [Word] = []
        var word = ""
        var before: Unicode.Scalar = " "
        func end(_ after: Unicode.Scalar) {
            defer { word = "" }
            while word.last == "." || word.last == "-" { word.removeLast() }
            if word.isEmpty { return }
            let marks = "`'\"“”‘’«»"
            let isQuoted = marks.unicodeScalars.contains(before) && marks.unicodeScalars.contains(after)
            words.append(Word(text: word.lowercased(), isQuoted: isQuoted))
        }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a" ... "z", "A" ... "Z", "0" ... "9", "_", "-", ".": word.unicodeScalars.append(scalar)
            default:
                end(scalar)
                before = scalar
            }
        }
        end(" ")
        return words
    }
}
