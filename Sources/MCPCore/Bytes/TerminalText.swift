/// A peer's text, made harmless for a terminal.
///
/// Such text may contain escape sequences that move the cursor, rewrite lines, or set the title or the
/// clipboard, and direction marks that reorder what a person reads.
package enum TerminalText {
    /// The longest line shown on a terminal, in Unicode scalars.
    package static let maxLineLength = 4096

    /// Returns text for one line of ours: line ends and tabs are escaped too, and the text ends after `limit`
    /// scalars.
    package static func inline(_ text: String, limit: Int = 200) -> String {
        var out = ""
        var count = 0
        var before: Unicode.Scalar = " "
        for scalar in text.unicodeScalars {
            if count == limit {
                out += "…"
                break
            }
            count += 1
            appendEscaped(scalar, after: before, to: &out, keepsLines: false)
            before = scalar
        }
        return out
    }

    /// Returns a block of text: line ends and tabs stay, and a line longer than `maxLine` is cut with a note.
    package static func block(_ text: String, maxLine: Int = maxLineLength) -> String {
        var out = ""
        out.reserveCapacity(min(text.utf8.count, 1 << 20))
        var column = 0
        var hidden = 0
        var afterReturn = false
        var before: Unicode.Scalar = " "
        for scalar in text.unicodeScalars {
            if afterReturn, scalar != "\n" { appendEscaped("\r", after: before, to: &out, keepsLines: false) }
            afterReturn = scalar == "\r"
            if afterReturn { continue }
            if scalar == "\n" {
                closeLine(hidden, &out)
                column = 0
                hidden = 0
                out.unicodeScalars.append(scalar)
            } else if column < maxLine {
                column += 1
                appendEscaped(scalar, after: before, to: &out, keepsLines: true)
            } else {
                hidden += 1
            }
            before = scalar
        }
        if afterReturn { appendEscaped("\r", after: before, to: &out, keepsLines: false) }
        closeLine(hidden, &out)
        return out
    }

    /// Returns JSON with the same value whose characters are harmless.
    package static func json(_ text: String) -> String {
        var out = ""
        out.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            // JSON has no control characters in strings, and these three between its values.
            if scalar == "\n" || scalar == "\t" || !isDangerous(scalar.value) {
                out.unicodeScalars.append(scalar)
            } else if scalar == "\r" {
                out += " "
            } else {
                for unit in UTF16.encode(scalar).map({ Array($0) }) ?? [] {
                    let hex = String(unit, radix: 16)
                    out += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
                }
            }
        }
        return out
    }

    /// Returns the text as `inline` does, in quotation marks.
    package static func quoted(_ text: some StringProtocol) -> String { "\"\(inline(String(text)))\"" }

    private static func closeLine(_ hidden: Int, _ out: inout String) {
        if hidden > 0 { out += "… (\(hidden) more characters; a pipe gets all of them)" }
    }

    private static func appendEscaped(
        _ scalar: Unicode.Scalar, after before: Unicode.Scalar, to out: inout String, keepsLines: Bool
    ) {
        switch scalar {
        case "\n", "\t":
            if keepsLines { out.unicodeScalars.append(scalar) } else { out += scalar == "\n" ? "\\n" : "\\t" }
        case "\r": out += "\\r"
        case "\u{1B}": out += "\\e"
        default:
            if isDangerous(scalar.value) || joins(scalar.value) && !belongs(scalar, to: before, keepsLines) {
                out += escape(scalar)
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        "\\u{\(String(scalar.value, radix: 16))}"
    }

    /// Whether a scalar is invisible, but has a meaning inside emoji and the scripts that join letters.
    private static func joins(_ value: UInt32) -> Bool {
        switch value {
        case 0x200C, 0x200D, 0xFE00 ... 0xFE0F: true
        default: false
        }
    }

    /// Whether a scalar that joins follows one that it can have an effect on: a letter of a script with such
    /// forms, a mark such as a virama, or an emoji. Elsewhere it only makes texts differ unseen.
    private static func belongs(
        _ scalar: Unicode.Scalar, to before: Unicode.Scalar, _ isProse: Bool
    ) -> Bool {
        // Such as a digit in a box; in a name, it is a second name that looks the same.
        if before.isASCII { return isProse && scalar.value == 0xFE0F && before.properties.isEmoji }
        // One after another has no effect, but for an emoji of several.
        if joins(before.value) { return scalar.value == 0x200D && before.value == 0xFE0F }
        if scalar.value != 0x200C, before.properties.isEmoji { return true }
        switch before.properties.generalCategory {
        case .otherLetter, .nonspacingMark, .spacingMark: return before.value >= 0x590
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter: return false
        default: return scalar.value >= 0xFE00
        }
    }

    private static func isDangerous(_ value: UInt32) -> Bool {
        switch value {
        case 0x00 ... 0x1F, 0x7F ... 0x9F: true  // C0, DEL, C1
        case 0x061C, 0x200E, 0x200F, 0x202A ... 0x202E, 0x2066 ... 0x2069: true  // direction (UAX 9)
        case 0x2028, 0x2029, 0xFEFF, 0xFFF9 ... 0xFFFB: true  // line separators, invisible marks
        case 0xAD, 0x180E, 0x200B, 0x2060 ... 0x2064, 0x206A ... 0x206F: true  // without width
        case 0x115F, 0x1160, 0x3164, 0xFFA0: true  // fillers, which are letters that look like blanks
        case 0xE0000 ... 0xE01EF: true  // tags and variation selectors, which carry invisible text
        default: false
        }
    }
}
