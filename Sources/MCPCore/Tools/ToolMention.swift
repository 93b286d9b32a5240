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
    /// What the parameters of the author's own tools look like.
    private let parameters: Set<String>

    /// - Parameters:
    ///   - all: the names of all tools.
    ///   - own: the tools of the text's author, which it may refer to.
    ///   - schemas: the input schemas of these tools; their properties are the author's words.
    package init(_ all: some Sequence<String>, own: some Sequence<Name>, schemas: [JSONValue] = []) {
        var foreign: [String: [Name]] = [:], renamed: [String: [Name]] = [:], names: Set<String> = []
        for tool in own {
            names.formUnion([tool.name, tool.shown])
            if tool.name != tool.shown { renamed[LookAlike.folded(tool.name), default: []].append(tool) }
        }
        for name in all where !names.contains(name) { foreign[LookAlike.folded(name)] = [(name, name)] }
        self.foreign = foreign
        self.renamed = renamed
        self.own = names
        parameters = Set(
            schemas.flatMap { schema in
                (schema["properties"]?.objectValue ?? [:]).map { LookAlike.folded($0.key) }
            })
    }

    /// Returns the first tool of another source that the text names; nil if it names none.
    ///
    /// A name that can be taken for a word, such as `search` or `read-only`, counts only in quotation marks,
    /// and none counts that is a parameter of the author's own tools: else the name of a tool would silence
    /// the texts of others. `shown` says that such a word is not the tool.
    package func first(in text: String) -> String? {
        foreignMentions(in: text).first { $0.isCertain }?.tool.name
    }

    private func foreignMentions(in text: String) -> [Mention] {
        mentions(foreign, in: text).filter { !own.contains(String(text[$0.range])) }
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

    /// What stands behind a word that could be taken for another source's tool.
    private static let remark = " (not the tool of this name)"

    /// Returns the text with the author's tools under the names that the model uses, so that it does not
    /// refer to another source's tool of the same name. Behind a word that could be taken for one, it says
    /// once that it is not.
    package func shown(_ text: String) -> String {
        var remarked: Set<String> = []
        let remarks = foreignMentions(in: text).filter { remarked.insert($0.tool.name).inserted }
            .map { (range: $0.end ..< $0.end, text: Self.remark) }
        let names = mentions(renamed, in: text).map { (range: $0.range, text: $0.tool.shown) }
        var result = "", end = text.startIndex
        for change in (remarks + names).sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            result += text[end ..< change.range.lowerBound] + change.text
            end = change.range.upperBound
        }
        return result + text[end...]
    }

    private struct Mention {
        let range: Range<String.Index>
        /// Behind the word and its quotation mark.
        let end: String.Index
        let tool: Name
        /// Whether it can mean only the tool.
        let isCertain: Bool
    }

    private func mentions(_ tools: [String: [Name]], in text: String) -> [Mention] {
        if tools.isEmpty { return [] }
        let words = Self.words(of: text)
        return words.indices.compactMap { index in
            let word = words[index]
            let named = tools[word.text]
            // Of one author's tools that look alike, the one that is written so.
            guard let tool = named?.first(where: { $0.name == text[word.range] }) ?? named?.first else {
                return nil
            }
            let neighbors = [index - 1, index + 1].filter(words.indices.contains).map { words[$0].text }
            let isCertain = word.isQuoted || Self.isIdentifier(tool.name)
            guard isCertain || neighbors.contains(where: Self.nouns.contains) else { return nil }
            return Mention(
                range: word.range, end: word.end, tool: tool,
                isCertain: isCertain && !parameters.contains(word.text))
        }
    }

    private static let nouns = Set(
        ["tool", "function", "call", "calls", "calling"].map { LookAlike.folded($0) })

    /// Whether a name cannot be taken for a word of a sentence: one with `_`, or as `sendMail`. `GitHub`,
    /// `macOS`, `utf8`, `read-only` and `e.g` can.
    private static func isIdentifier(_ name: String) -> Bool {
        let letters = Array(name.utf8)
        func isSmall(_ letter: UInt8) -> Bool { (0x61 ... 0x7A).contains(letter) }
        if letters.contains(0x5F) { return letters.contains { $0 != 0x5F } }
        guard letters.count > 3, letters.allSatisfy({ isSmall($0 | 0x20) || (0x30 ... 0x39).contains($0) })
        else { return false }
        return isSmall(letters[0]) && isSmall(letters[1])
            && zip(letters, letters.dropFirst()).contains { (0x41 ... 0x5A).contains($0) && isSmall($1) }
    }

    private struct Word {
        /// What it looks like (`LookAlike`).
        let text: String
        let range: Range<String.Index>
        /// Behind it and a quotation mark.
        let end: String.Index
        let isQuoted: Bool
    }

    /// Returns the words as a reader sees them: characters that cannot be seen, and backslashes of Markdown,
    /// do not divide a word.
    private static func words(of text: String) -> [Word] {
        let marks = "`'\"“”‘’«»".unicodeScalars
        var words: [Word] = []
        var word = "", start = text.startIndex, end = text.startIndex
        var before: Unicode.Scalar = " "
        func add(_ after: Unicode.Scalar, at index: String.Index) {
            defer { word = "" }
            while word.last == "." || word.last == "-" {
                word.removeLast()
                text.unicodeScalars.formIndex(before: &end)
            }
            if word.isEmpty { return }
            let isQuoted = marks.contains(before) && marks.contains(after)
            let behind = isQuoted ? text.unicodeScalars.index(after: index) : end
            words.append(Word(text: word, range: start ..< end, end: behind, isQuoted: isQuoted))
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
                add(scalar, at: index)
                before = scalar
            }
        }
        add(" ", at: text.endIndex)
        return words
    }
}
