/// Texts of peers in which characters that nobody sees, or that change the direction of text, are named: what
/// a person agrees to is all that is sent.
enum VisibleText {
    /// Returns the text with each run of such characters as `⟨U+202E⟩` or `⟨12 hidden characters⟩`.
    ///
    /// Line breaks and tabs stay, and so do joiners and variation selectors that belong to the letter or
    /// emoji before them.
    static func naming(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 0x20 || $0 >= 0x7F }) else { return text }
        var result = String.UnicodeScalarView()
        var hidden: [Unicode.Scalar] = []
        var before: Unicode.Scalar = " "
        func end() {
            guard let first = hidden.first else { return }
            let name =
                hidden.count == 1
                ? "U+" + hex(first.value) : "\(hidden.count) hidden characters"
            result.append(contentsOf: "⟨\(name)⟩".unicodeScalars)
            hidden = []
        }
        for scalar in text.unicodeScalars {
            if isHidden(scalar), !(hidden.isEmpty && belongs(scalar, to: before)) {
                hidden.append(scalar)
            } else {
                end()
                result.append(scalar)
            }
            before = scalar
        }
        end()
        return String(result)
    }

    private static func hex(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "\n" || scalar == "\t" { return false }
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
