/// Texts that a browser takes minutes to draw: long rows of marks, long words of scripts that need shaping,
/// and thousands of changes of direction.
///
/// Such texts the page names and breaks where it shows them. What is edited cannot be changed, and is JSON
/// with escapes instead.
enum DenseText {
    /// The marks in a row, the characters of a word and the changes of direction up to which a text is
    /// edited as it is.
    static let maxMarks = 16, maxWord = 300, maxTurns = 3_000

    static func isDense(_ text: String) -> Bool {
        var (marks, word, turns) = (0, 0, 0)
        var wasPlain = true
        for scalar in text.unicodeScalars {
            if scalar.value < 0x100 {
                if scalar == " " || scalar == "\n" { word = 0 }
                (marks, wasPlain) = (0, true)
                continue
            }
            marks = isMark(scalar) ? marks + 1 : 0
            // Chinese, Japanese and Korean have long words.
            word += 0x3000 ... 0x9FFF ~= scalar.value || 0xAC00 ... 0xD7A3 ~= scalar.value ? 0 : 1
            if wasPlain, scalar.value >= 0x590 { turns += 1 }
            wasPlain = false
            if marks > maxMarks || word > maxWord || turns > maxTurns { return true }
        }
        return false
    }

    /// Returns JSON with escapes for all characters beyond ASCII if it is dense.
    static func escaped(_ json: String) -> String {
        guard isDense(json) else { return json }
        var result = ""
        for unit in json.utf16 {
            if unit < 0x80 {
                result.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
            } else {
                let digits = String(unit, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            }
        }
        return result
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isEmojiModifier
        }
    }
}
