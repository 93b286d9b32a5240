import MCPCore

/// Names that servers give themselves, as far as they say by themselves what a reader sees.
enum PlainName {
    /// Returns whether a name has nothing that a reader does not see, or takes for something else: no hidden
    /// characters, none that change the direction of text, no line ends, single spaces between words, no word
    /// in which letters of another script stand for Latin ones, and none of the words and dots with which a
    /// page says who asks.
    static func isPlain(_ name: String) -> Bool {
        guard name.unicodeScalars.allSatisfy(isVisible), !saysWhoAsks(name) else { return false }
        let words = name.unicodeScalars.split(separator: " ", omittingEmptySubsequences: false)
        return words.allSatisfy { word in
            guard let first = word.first, let last = word.last else { return false }
            return !isDot(first) && !isDot(last) && !isDisguised(word)
        }
    }

    /// Returns whether the name continues a line of the page: `bank · asked by you`, `A view of bank asks`.
    private static func saysWhoAsks(_ name: String) -> Bool {
        let read = LookAlike.folded(name)
        let asking = ["asks", "asked"].map { LookAlike.folded($0) }
        return read.unicodeScalars.split { !$0.properties.isAlphabetic }
            .contains { asking.contains(String($0)) } || read.contains(LookAlike.folded("view of"))
    }

    /// Returns whether the character looks like the dot between the parts of a line; within a word, it is one
    /// of its letters.
    private static func isDot(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xB7, 0x387, 0x2022, 0x2027, 0x2219, 0x22C5, 0x2E31, 0x30FB, 0xA78F, 0xFF65: true
        default: false
        }
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
