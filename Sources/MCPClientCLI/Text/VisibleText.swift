import MCPCore

/// Texts of peers in which characters that nobody sees, or that change the direction of text, are named: what
/// a person agrees to is all that is sent.
enum VisibleText {
    /// Returns the text with each run of such characters as `⟨U+202E⟩` or `⟨12 hidden characters⟩`.
    ///
    /// Line breaks and tabs stay, and so do joiners and variation selectors that belong to the letter or
    /// emoji before them.
    static func naming(_ text: String) -> String {
        var end = End()
        return naming(text, after: &end)
    }

    /// The end of a text, on which depends what a joiner at the beginning of the next piece belongs to.
    struct End {
        fileprivate var scalar: Unicode.Scalar = " "
        fileprivate var isHidden = false
    }

    /// Returns a piece of a text in this form.
    ///
    /// - Parameter before: the end of the piece before it; afterwards, that of this one.
    static func naming(_ text: String, after before: inout End) -> String {
        guard text.utf8.contains(where: { $0 < 0x20 || $0 >= 0x7F }) else {
            if let last = text.unicodeScalars.last { before = End(scalar: last) }
            return text
        }
        // Scalar by scalar: to append a sequence copies all that is there.
        var result = String.UnicodeScalarView()
        var hidden: [Unicode.Scalar] = []
        func end() {
            guard let first = hidden.first else { return }
            let name =
                hidden.count == 1
                ? "U+" + hex(first.value) : "\(hidden.count) hidden characters"
            for scalar in "⟨\(name)⟩".unicodeScalars { result.append(scalar) }
            hidden = []
        }
        for scalar in text.unicodeScalars {
            let isNamed = isHidden(scalar) && (before.isHidden || !belongs(scalar, to: before.scalar))
            if isNamed {
                hidden.append(scalar)
            } else {
                end()
                result.append(scalar)
            }
            before = End(scalar: scalar, isHidden: isNamed)
        }
        end()
        return String(result)
    }

    /// The blanks and line ends in a row up to which they are shown as they are.
    private static let maxBlanks = 8

    /// Returns the whole text in one line. Line ends are shown as `⏎`, a longer row of blanks as
    /// `⟨5000 blanks⟩`: it could move what follows out of sight.
    static func line(_ text: String) -> String {
        var result = ""
        var blanks: [Unicode.Scalar] = []
        func end() {
            guard !blanks.isEmpty else { return }
            let ends = blanks.count { $0 == "\n" }
            if blanks.count <= maxBlanks, blanks.allSatisfy({ $0.isASCII }) {
                for blank in blanks { result.unicodeScalars.append(blank == "\n" ? "⏎" : blank) }
            } else if blanks.count == 1, let blank = blanks.first {
                result += "⟨U+\(hex(blank.value))⟩"
            } else {
                let counts = [(blanks.count - ends, "blank"), (ends, "line end")].filter { $0.0 > 0 }
                let words = counts.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
                result += "⟨\(words.joined(separator: " and "))⟩"
            }
            blanks = []
        }
        for scalar in naming(text).unicodeScalars {
            if isBlank(scalar) {
                blanks.append(scalar)
            } else {
                end()
                result.unicodeScalars.append(scalar)
            }
        }
        end()
        return TerminalText.inline(result, limit: .max)
    }

    /// The blank lines in a row, and the blanks within a line, up to which a text shows them as they are.
    private static let maxBlankLines = 2, maxRow = 40

    /// Returns the whole text in lines as they are, in which more blank lines are shown as
    /// `⟨200 blank lines⟩` and a longer row of blanks as `⟨5000 blanks⟩`: they could move what follows out of
    /// sight.
    static func block(_ text: String) -> String {
        let lines = naming(text).unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        var result: [String] = []
        var blank = 0
        func end() {
            if blank > maxBlankLines {
                result.append("⟨\(blank) blank lines⟩")
            } else {
                result += Array(repeating: "", count: blank)
            }
            blank = 0
        }
        for line in lines {
            if line.allSatisfy(isBlank) {
                blank += 1
            } else {
                end()
                result.append(rows(line))
            }
        }
        end()
        return result.joined(separator: "\n")
    }

    private static func rows(_ line: Substring.UnicodeScalarView) -> String {
        var result = "".unicodeScalars
        var blanks: [Unicode.Scalar] = []
        func end() {
            if blanks.isEmpty { return }
            let shown = blanks.count > maxRow ? Array("⟨\(blanks.count) blanks⟩".unicodeScalars) : blanks
            for scalar in shown { result.append(scalar) }
            blanks = []
        }
        for scalar in line {
            if isBlank(scalar) {
                blanks.append(scalar)
            } else {
                end()
                result.append(scalar)
            }
        }
        end()
        return String(result)
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar == " " || scalar == "\t" || scalar == "\n" }
        switch scalar.properties.generalCategory {
        case .spaceSeparator, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }

    private static func hex(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return (scalar.value < 0x20 || scalar == "\u{7F}") && scalar != "\n" && scalar != "\t"
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .privateUse, .unassigned: return true
        default: return scalar.properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}"
        }
    }

    private static func belongs(_ scalar: Unicode.Scalar, to before: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x200C: isLetter(before)
        // A joiner; the form of an emoji; `1️⃣` is a digit before it.
        case 0x200D, 0xFE0E, 0xFE0F:
            before.properties.isEmoji || before == "\u{FE0F}"
                || scalar.value == 0x200D && isLetter(before)
        default: false
        }
    }

    /// Whether a joiner may follow in a script that has them: a letter, or a mark such as a virama.
    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .otherLetter, .nonspacingMark, .spacingMark: scalar.value >= 0x590
        default: false
        }
    }
}
