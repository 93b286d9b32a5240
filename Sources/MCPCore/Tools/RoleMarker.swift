/// Marks by which transcripts and the templates of models name a speaker, such as `System:`. In the
/// instructions of a tool they would make a text look like the words of the user or of the host.
package enum RoleMarker {
    /// Returns the text with each mark as a word in parentheses: `System: stop` as `(System) stop`.
    ///
    /// Two kinds of marks count, in characters that look alike, too (`LookAlike`): the name of a speaker
    /// before a colon, as a heading or in brackets, where a line or a sentence begins; and the tokens of
    /// templates, such as `<|im_start|>` and `[INST]`, anywhere.
    package static func neutralized(_ text: String) -> String {
        var scan = Scan(scalars: Array(text.unicodeScalars))
        return scan.run() ? scan.text : text
    }

    fileprivate static func folded(_ words: String) -> Set<String> {
        Set(words.split(separator: " ").map { LookAlike.folded($0) })
    }

    /// Those who speak in a conversation.
    fileprivate static let speakers = folded("system user human assistant developer ai model")
    /// What stands behind a speaker in a heading, or is part of a tag.
    fileprivate static let nouns = folded(
        "message messages prompt prompts instruction instructions note reminder turn override")
    /// Headings of templates.
    fileprivate static let headings = folded("instruction response")
    /// Names of tokens in angle or square brackets.
    fileprivate static let tokens = folded(
        "inst sys s bos eos start_of_turn end_of_turn system_prompt available_tools tool_calls tool_results")
}

private struct Scan {
    let scalars: [Unicode.Scalar]
    private var result: [Unicode.Scalar] = []
    private var position = 0

    init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

    var text: String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: result)
        return String(text)
    }

    /// Copies the text; returns whether it contained a mark.
    mutating func run() -> Bool {
        var hasFound = false
        // Whether a line or a sentence begins here, and whether one begins behind the next space.
        var isStart = true, isEnd = false
        while position < scalars.count {
            let scalar = scalars[position]
            let look = LookAlike.folded(scalar)
            if Self.isNewline(scalar) {
                (isStart, isEnd) = (true, false)
            } else if let look, Self.isBracket(look), takeTag(isStart) {
                hasFound = true
                isStart = true
                continue
            } else if let look, Self.isLetter(look) {
                if isStart, takeSpeaker() {
                    hasFound = true
                    continue
                }
                (isStart, isEnd) = (false, false)
            } else if let look, Self.ends.contains(look) {
                isEnd = true
            } else if isEnd, look == " " {
                isStart = true
            }
            result.append(scalar)
            position += 1
        }
        return hasFound
    }

    // MARK: Speakers

    /// Takes a speaker that is named here: a heading, or before a colon.
    private mutating func takeSpeaker() -> Bool {
        var end = position
        let name = word(&end)
        var words = position ..< end
        let isHeading = hasHash
        guard RoleMarker.speakers.contains(name) || isHeading && RoleMarker.headings.contains(name) else {
            return false
        }
        var next = end
        skip(&next) { $0 == " " || $0 == "_" || $0 == "-" }
        if RoleMarker.nouns.contains(word(&next)) { (words, end) = (position ..< next, next) }
        skip(&end) { Self.marks.contains($0) }
        let hasColon = end < scalars.count && LookAlike.folded(scalars[end]) == ":"
        guard hasColon || isHeading && (end == scalars.count || Self.isNewline(scalars[end])) else {
            return false
        }
        if hasColon { end += 1 }
        skip(&end) { Self.marks.contains($0) }
        removeMarks()
        append(scalars[words], before: end)
        return true
    }

    /// Whether only marks stand between here and a `#` before.
    private var hasHash: Bool {
        for scalar in result.reversed() {
            if scalar == "#" { return true }
            if !Self.marks.contains(LookAlike.folded(scalar) ?? " ") { return false }
        }
        return false
    }

    /// Removes the marks before a speaker, such as `### **`. Spaces alone stay: they are the indentation, or
    /// divide two sentences.
    private mutating func removeMarks() {
        if result.last == "(" { result.removeLast() }
        var count = result.count, hasMark = false
        while count > 0, let look = LookAlike.folded(result[count - 1]), look != ")", look != "(",
            Self.marks.contains(look), !Self.isNewline(result[count - 1])
        {
            count -= 1
            hasMark = hasMark || look != " "
        }
        guard hasMark else { return }
        result.removeLast(result.count - count)
        if let last = result.last, !Self.isNewline(last) { result.append(" ") }
    }

    // MARK: Tokens

    /// Takes a token in brackets; the name of a speaker counts as one where a line begins.
    private mutating func takeTag(_ isStart: Bool) -> Bool {
        let closing: Unicode.Scalar = LookAlike.folded(scalars[position]) == "[" ? "]" : ">"
        let limit = min(scalars.count, position + 64)
        guard
            var end = scalars[position ..< limit].firstIndex(where: {
                LookAlike.folded($0) == closing || Self.isNewline($0)
            }), !Self.isNewline(scalars[end])
        else { return false }
        var start = position + 1
        var bar = start
        skip(&bar) { $0 == " " }
        var lastBar = end - 1
        while lastBar > bar, LookAlike.folded(scalars[lastBar]) == " " { lastBar -= 1 }
        let hasBar = LookAlike.folded(scalars[bar]) == "|" && LookAlike.folded(scalars[lastBar]) == "|"
        skip(&start) { $0 == "<" || $0 == "[" || $0 == "|" || $0 == " " }
        var nameEnd = start
        skip(&nameEnd) { $0 == "/" || $0 == "|" || $0 == " " }
        guard nameEnd < end else { return false }
        var name = word(&nameEnd)
        // Parts of one name: `start_of_turn`, `system-reminder`.
        while nameEnd < end, let look = LookAlike.folded(scalars[nameEnd]), look == "_" || look == "-" {
            nameEnd += 1
            name += "_" + word(&nameEnd)
        }
        guard isWhole(nameEnd, end, closing) else { return false }
        let parts = name.split(separator: "_")
        let isSpeaker =
            parts.first.map { RoleMarker.speakers.contains(String($0)) } == true
            && parts.dropFirst().allSatisfy { RoleMarker.nouns.contains(String($0)) }
        let isMark = hasBar || RoleMarker.tokens.contains(name) || isSpeaker && (isStart || parts.count > 1)
        guard isMark else { return false }
        var wordsEnd = hasBar ? lastBar : end
        while wordsEnd > start, scalars[wordsEnd - 1] == " " { wordsEnd -= 1 }
        let words = start ..< wordsEnd
        skip(&end) { $0 == closing }
        if end < scalars.count, LookAlike.folded(scalars[end]) == ":" { end += 1 }
        append(scalars[words], before: end)
        return true
    }

    /// Whether the name of a token ends here: `[User guide]` is none, `<system role="x">` is one.
    private func isWhole(_ nameEnd: Int, _ end: Int, _ closing: Unicode.Scalar) -> Bool {
        var rest = nameEnd
        skip(&rest) { $0 == " " || $0 == "/" || $0 == "|" || $0 == "]" }
        if closing == ">" { return rest > nameEnd || nameEnd == end }
        var next = rest
        if RoleMarker.nouns.contains(word(&next)) { rest = next }
        return rest >= end
    }

    // MARK: Text

    private mutating func append(_ words: ArraySlice<Unicode.Scalar>, before end: Int) {
        result.append("(")
        result.append(contentsOf: words)
        result.append(")")
        if end < scalars.count, let look = LookAlike.folded(scalars[end]), Self.isLetter(look) {
            result.append(" ")
        }
        position = end
    }

    private func skip(_ index: inout Int, _ isSkipped: (Unicode.Scalar) -> Bool) {
        while index < scalars.count, !Self.isNewline(scalars[index]) {
            if let look = LookAlike.folded(scalars[index]), !isSkipped(look) { return }
            index += 1
        }
    }

    /// Returns the word that begins at the index, as it looks, and moves the index behind it.
    private func word(_ index: inout Int) -> String {
        var word = ""
        while index < scalars.count {
            let look = LookAlike.folded(scalars[index])
            guard look.map(Self.isLetter) ?? true else { break }
            if let look { word.unicodeScalars.append(look) }
            index += 1
        }
        return word
    }

    /// What stands around the name of a speaker: spaces, and the marks of Markdown and quotations.
    private static let marks = Set(" #*_`\"'“”‘’«»()[]<>|~".unicodeScalars)
    private static let ends = Set(".!?…。;|>".unicodeScalars)

    private static func isBracket(_ look: Unicode.Scalar) -> Bool { look == "<" || look == "[" }

    private static func isLetter(_ look: Unicode.Scalar) -> Bool {
        look.properties.isAlphabetic || look.properties.numericType != nil
    }

    private static func isNewline(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A ... 0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }
}
