/// Finds the tools that a text refers to, so that no source can give orders about the tools of another one.
package struct ToolMention: Sendable {
    /// A tool: the name that its author uses, and the one that the model uses.
    package typealias Name = (name: String, shown: String)

    /// The tools of other sources, and those of the author that the model knows under another name; by what
    /// their names look like.
    private let foreign, renamed: [String: [Name]]
    /// The names of the author's own tools, exactly: one that only looks like another source's tool does not
    /// entitle to speak about that.
    private let own: Set<String>

    /// - Parameters:
    ///   - all: the names of all tools.
    ///   - own: the tools of the text's author, which it may refer to.
    package init(_ all: some Sequence<String>, own: some Sequence<Name>) {
        var foreign: [String: [Name]] = [:], renamed: [String: [Name]] = [:], names: Set<String> = []
        for tool in own {
            names.formUnion([tool.name, tool.shown])
            if tool.name != tool.shown { renamed[LookAlike.folded(tool.name), default: []].append(tool) }
        }
        for name in all where !names.contains(name) { foreign[LookAlike.folded(name)] = [(name, name)] }
        self.foreign = foreign
        self.renamed = renamed
        self.own = names
    }

    /// Returns the first tool of another source that the text refers to; nil if there is none.
    ///
    /// A name that is also a word, such as `search`, counts only in quotation marks or beside the word
    /// "tool".
    package func first(in text: String) -> String? {
        mentions(foreign, in: text).first { !own.contains(String(text[$0.range])) }?.tool.name
    }

    /// Returns the first of these attributions, such as `Notes of mail`, that a text imitates, which would
    /// make a part of it look like the words of another author; nil if it imitates none.
    ///
    /// An attribution counts before a colon, a parenthesis, an equals sign, a dash or the end, whatever its
    /// case, spaces and marks, and in characters that look alike (`LookAlike`).
    package static func forged(_ attributions: [String], in text: String) -> String? {
        let plain = plain(text)
        return attributions.first { attribution in
            let wanted = Self.plain(attribution).trimmed
            return !wanted.isEmpty
                && (plain.trimmed.hasSuffix(wanted)
                    || [":", " :", "(", " (", ")", " )", "=", " =", " -"].contains {
                        plain.contains(wanted + $0)
                    })
        }
    }

    /// Returns the text as a reader sees it, without the marks of Markdown and with single spaces.
    private static func plain(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if "\\`*_~#[]<>\"'“”‘’«»".unicodeScalars.contains(scalar) { continue }
            guard let folded = LookAlike.folded(scalar) else { continue }
            if folded.properties.isWhitespace {
                if result.utf8.last != 0x20 { result.append(" ") }
            } else {
                result.unicodeScalars.append(folded)
            }
        }
        return result
    }

    /// Returns the text with the author's tools under the names that the model uses, so that it does not
    /// refer to another source's tool of the same name.
    package func shown(_ text: String) -> String {
        var result = "", end = text.startIndex
        for (range, tool) in mentions(renamed, in: text) {
            result += text[end ..< range.lowerBound] + tool.shown
            end = range.upperBound
        }
        return result + text[end...]
    }

    private func mentions(
        _ tools: [String: [Name]], in text: String
    ) -> [(range: Range<String.Index>, tool: Name)] {
        if tools.isEmpty { return [] }
        let words = Self.words(of: text)
        return words.indices.compactMap { index in
            let word = words[index]
            let named = tools[word.text]
            // Of one author's tools that look alike, the one that is written so.
            guard let tool = named?.first(where: { $0.name == text[word.range] }) ?? named?.first else {
                return nil
            }
            let isNamed = [index - 1, index + 1].filter(words.indices.contains).contains {
                Self.nouns.contains(words[$0].text)
            }
            return word.isQuoted || isNamed || Self.isDistinctive(tool.name) ? (word.range, tool) : nil
        }
    }

    private static let nouns = Set(["tool", "function"].map { LookAlike.folded($0) })

    /// Whether a name cannot be taken for a word of a sentence.
    private static func isDistinctive(_ name: String) -> Bool {
        name.utf8.contains { [0x5F, 0x2D, 0x2E].contains($0) || (0x30 ... 0x39).contains($0) }
            || name.utf8.dropFirst().contains { (0x41 ... 0x5A).contains($0) }
    }

    private struct Word {
        /// What it looks like (`LookAlike`).
        let text: String
        let range: Range<String.Index>
        let isQuoted: Bool
    }

    /// Returns the words as a reader sees them: characters that cannot be seen, and backslashes of Markdown,
    /// do not divide a word.
    private static func words(of text: String) -> [Word] {
        let marks = "`'\"“”‘’«»".unicodeScalars
        var words: [Word] = []
        var word = "", start = text.startIndex, end = text.startIndex
        var before: Unicode.Scalar = " "
        func add(_ after: Unicode.Scalar) {
            defer { word = "" }
            while word.last == "." || word.last == "-" {
                word.removeLast()
                text.unicodeScalars.formIndex(before: &end)
            }
            if word.isEmpty { return }
            let isQuoted = marks.contains(before) && marks.contains(after)
            words.append(Word(text: word, range: start ..< end, isQuoted: isQuoted))
        }
        for index in text.unicodeScalars.indices {
            let scalar = text.unicodeScalars[index]
            guard scalar != "\\", let folded = LookAlike.folded(scalar) else { continue }
            switch folded {
            case "a" ... "z", "0" ... "9", "_", "-", ".":
                if word.isEmpty { start = index }
                end = text.unicodeScalars.index(after: index)
                word.unicodeScalars.append(folded)
            default:
                add(scalar)
                before = scalar
            }
        }
        add(" ")
        return words
    }
}
