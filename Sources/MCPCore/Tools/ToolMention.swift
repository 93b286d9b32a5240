/// Finds the tools that a text refers to, so that no source can give orders about the tools of another one.
package struct ToolMention: Sendable {
    /// A tool: the name that its author uses, and the one that the model uses.
    package typealias Name = (name: String, shown: String)

    /// The tools of other sources, and those of the author that the model knows under another name; by the
    /// lowercase form of their names.
    private let foreign, renamed: [String: Name]

    /// - Parameters:
    ///   - all: the names of all tools.
    ///   - own: the tools of the text's author, which it may refer to.
    package init(_ all: some Sequence<String>, own: some Sequence<Name>) {
        var foreign: [String: Name] = [:], renamed: [String: Name] = [:]
        for name in all { foreign[name.lowercased()] = (name, name) }
        for tool in own {
            foreign[tool.name.lowercased()] = nil
            foreign[tool.shown.lowercased()] = nil
            if tool.name != tool.shown { renamed[tool.name.lowercased()] = tool }
        }
        self.foreign = foreign
        self.renamed = renamed
    }

    /// Returns the first tool of another source that the text refers to; nil if there is none.
    ///
    /// A name that is also a word, such as `search`, counts only in quotation marks or beside the word
    /// "tool".
    package func first(in text: String) -> String? {
        Self.mentions(foreign, in: text).first?.tool.name
    }

    /// Returns the first of these attributions, such as `Notes of mail`, that a text imitates, which would
    /// make a part of it look like the words of another author; nil if it imitates none.
    ///
    /// An attribution counts before a colon or a parenthesis, whatever its case, spaces and marks.
    package static func forged(_ attributions: [String], in text: String) -> String? {
        let plain = plain(text)
        return attributions.first { attribution in
            let wanted = Self.plain(attribution)
            return !wanted.isEmpty
                && [":", "(", ")"].contains {
                    plain.contains(wanted + $0) || plain.contains("\(wanted) \($0)")
                }
        }
    }

    /// Returns the text in lowercase as a reader sees it, without marks and with single spaces.
    private static func plain(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if "\\`*_\"'“”‘’«»".unicodeScalars.contains(scalar) { continue }
            if !scalar.isASCII, scalar.properties.isDefaultIgnorableCodePoint { continue }
            if scalar.properties.isWhitespace {
                if result.utf8.last != 0x20 { result.append(" ") }
            } else {
                result += scalar.value == 0xFF1A ? ":" : scalar.properties.lowercaseMapping
            }
        }
        return result
    }

    /// Returns the text with the author's tools under the names that the model uses, so that it does not
    /// refer to another source's tool of the same name.
    package func shown(_ text: String) -> String {
        var result = "", end = text.startIndex
        for (range, tool) in Self.mentions(renamed, in: text) {
            result += text[end ..< range.lowerBound] + tool.shown
            end = range.upperBound
        }
        return result + text[end...]
    }

    private static func mentions(
        _ tools: [String: Name], in text: String
    ) -> [(range: Range<String.Index>, tool: Name)] {
        if tools.isEmpty { return [] }
        let words = words(of: text)
        return words.indices.compactMap { index in
            let word = words[index]
            guard let tool = tools[word.text] else { return nil }
            let isNamed = [index - 1, index + 1].filter(words.indices.contains).contains {
                words[$0].text == "tool" || words[$0].text == "function"
            }
            return word.isQuoted || isNamed || isDistinctive(tool.name) ? (word.range, tool) : nil
        }
    }

    /// Whether a name cannot be taken for a word of a sentence.
    private static func isDistinctive(_ name: String) -> Bool {
        name.utf8.contains { [0x5F, 0x2D, 0x2E].contains($0) || (0x30 ... 0x39).contains($0) }
            || name.utf8.dropFirst().contains { (0x41 ... 0x5A).contains($0) }
    }

    private struct Word {
        /// In lowercase.
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
            words.append(Word(text: word.lowercased(), range: start ..< end, isQuoted: isQuoted))
        }
        for index in text.unicodeScalars.indices {
            let scalar = text.unicodeScalars[index]
            switch scalar {
            case "a" ... "z", "A" ... "Z", "0" ... "9", "_", "-", ".":
                if word.isEmpty { start = index }
                end = text.unicodeScalars.index(after: index)
                word.unicodeScalars.append(scalar)
            case "\\": break
            case _ where !scalar.isASCII && scalar.properties.isDefaultIgnorableCodePoint: break
            default:
                add(scalar)
                before = scalar
            }
        }
        add(" ")
        return words
    }
}
