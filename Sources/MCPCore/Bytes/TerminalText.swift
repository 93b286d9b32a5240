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
        for scalar in text.unicodeScalars {
            if count == limit {
                out += "…"
                break
            }
            count += 1
            appendEscaped(scalar, to: &out, keepsLines: false)
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
        for scalar in text.unicodeScalars {
            if afterReturn, scalar != "\n" { appendEscaped("\r", to: &out, keepsLines: false) }
            afterReturn = scalar == "\r"
            if afterReturn { continue }
            if scalar == "\n" {
                closeLine(hidden, &out)
                column = 0
                hidden = 0
                out.unicodeScalars.append(scalar)
            } else if column < maxLine {
                column += 1
                appendEscaped(scalar, to: &out, keepsLines: true)
            } else {
                hidden += 1
            }
        }
        if afterReturn { appendEscaped("\r", to: &out, keepsLines: false) }
        closeLine(hidden, &out)
        return out
    }

    /// Returns the text as `inline` does, in quotation marks.
    package static func quoted(_ text: some StringProtocol) -> String { "\"\(inline(String(text)))\"" }

    private static func closeLine(_ hidden: Int, _ out: inout String) {
        if hidden > 0 { out += "… (\(hidden) more characters; a pipe gets all of them)" }
    }

    private static func appendEscaped(_ scalar: Unicode.Scalar, to out: inout String, keepsLines: Bool) {
        switch scalar {
        case "\n", "\t":
            if keepsLines { out.unicodeScalars.append(scalar) } else { out += scalar == "\n" ? "\\n" : "\\t" }
        case "\r": out += "\\r"
        case "\u{1B}": out += "\\e"
        default:
            if isDangerous(scalar.value) {
                out += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
    }

    private static func isDangerous(_ value: UInt32) -> Bool {
        switch value {
        case 0x00 ... 0x1F, 0x7F ... 0x9F: true  // C0, DEL, C1
        case 0x061C, 0x200E, 0x200F, 0x202A ... 0x202E, 0x2066 ... 0x2069: true  // direction (UAX 9)
        case 0x2028, 0x2029, 0xFEFF, 0xFFF9 ... 0xFFFB: true  // line separators, invisible marks
        case 0xE0000 ... 0xE007F: true  // tag characters, which carry invisible text
        default: false
        }
    }
}
