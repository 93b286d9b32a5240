/// Searching for a text by its bytes. For texts, these are chosen over the functions of the library for
/// regular expressions, which would link an engine of 1 MB, and compare characters: a combining mark behind
/// a secret or a path would hide it from them.
extension StringProtocol {
    /// Returns whether the text contains another; every text contains the empty one.
    package func contains(_ text: String) -> Bool { firstRange(of: text) != nil }

    /// Returns the range of the first occurrence of another text; nil if there is none.
    package func firstRange(of text: String) -> Range<Index>? {
        let wanted = text.utf8
        guard let first = wanted.first else { return startIndex ..< startIndex }
        var rest = Substring(self).utf8[...]
        while let start = rest.firstIndex(of: first) {
            rest = rest[start...]
            if rest.starts(with: wanted) { return start ..< rest.index(start, offsetBy: wanted.count) }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// Returns the text with every occurrence of another text replaced; an empty one occurs nowhere.
    package func replacing(_ text: String, with replacement: String) -> String {
        let parts: [Substring] = split(separator: text, omittingEmptySubsequences: false)
        return parts.joined(separator: replacement)
    }

    /// Returns the parts of the text between the occurrences of another text; the whole text if that is
    /// empty. A separator of one character is split at by the standard library.
    @_disfavoredOverload
    package func split(
        separator: String, maxSplits: Int = .max, omittingEmptySubsequences: Bool = true
    ) -> [Substring] {
        var parts: [Substring] = []
        var rest = Substring(self)
        while parts.count < maxSplits, !separator.isEmpty, let found = rest.firstRange(of: separator) {
            if found.lowerBound > rest.startIndex || !omittingEmptySubsequences {
                parts.append(rest[..<found.lowerBound])
            }
            rest = rest[found.upperBound...]
        }
        if !rest.isEmpty || !omittingEmptySubsequences { parts.append(rest) }
        return parts
    }
}
