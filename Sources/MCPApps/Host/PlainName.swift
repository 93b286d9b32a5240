import MCPCore

/// Names that servers give themselves, as far as they say by themselves what a reader sees.
enum PlainName {
    /// Returns whether a name has nothing that a reader does not see, or takes for something else: no hidden
    /// characters, none that change the direction of text, no line ends, single spaces between words, and no
    /// word in which letters of another script stand for Latin ones.
    static func isPlain(_ name: String) -> Bool {
        guard name.unicodeScalars.allSatisfy(isVisible) else { return false }
        let words = name.unicodeScalars.split(separator: " ", omittingEmptySubsequences: false)
        return words.allSatisfy { !$0.isEmpty && !isDisguised($0) }
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == " " { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .privateUse, .unassigned, .spaceSeparator, .lineSeparator,
            .paragraphSeparator:
            return false
        default: return !scalar.properties.isDefaultIgnorableCodePoint && scalar != "\u{2800}"
        }
    }

    /// Returns whether letters of another script, or variants of letters, stand for Latin ones in a word: a
    /// Cyrillic `a` in `bank`.
    private static func isDisguised(_ word: Substring.UnicodeScalarView) -> Bool {
        let foreign = word.filter { !isLatin($0) && LookAlike.folded($0)?.isASCII == true }
        return word.contains { isLatin($0) && $0.properties.isAlphabetic } && !foreign.isEmpty
            || foreign.contains { $0.value >= 0x2000 }
    }

    private static func isLatin(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x250 || (0x1E00 ... 0x1EFF).contains(scalar.value)
    }
}
