/// Lines of text that are no wider than a terminal, broken at blanks.
enum TextWrap {
    /// Breaks one line at blanks so that no part is wider than `width` columns; a longer word stays whole.
    /// The parts after the first one have the indentation of the line, and `hanging` blanks more.
    static func lines(_ line: String, width: Int, hanging: Int = 0) -> [String] {
        guard width > 8, columns(of: line) > width else { return [line] }
        let indent = line.prefix { $0 == " " }
        let margin = indent + String(repeating: " ", count: hanging)
        var lines: [String] = []
        var current = String(indent)
        var used = indent.count
        var isEmpty = true
        for word in line.dropFirst(indent.count).split(separator: " ", omittingEmptySubsequences: false) {
            let size = columns(of: word)
            if !isEmpty, used + 1 + size > width {
                lines.append(current)
                (current, used, isEmpty) = (String(margin), margin.count, true)
                // The blanks at which a line is broken are left out.
                if word.isEmpty { continue }
            }
            if !isEmpty {
                current += " "
                used += 1
            }
            current += word
            used += size
            isEmpty = false
        }
        return lines + [current]
    }

    /// Joins words to lines of at most `width` columns.
    static func joined(_ words: [String], separator: String = " ", width: Int) -> [String] {
        var lines: [String] = []
        var current = ""
        for word in words {
            if !current.isEmpty, columns(of: current) + separator.count + columns(of: word) > width {
                lines.append(current)
                current = word
            } else {
                current += (current.isEmpty ? "" : separator) + word
            }
        }
        return current.isEmpty ? lines : lines + [current]
    }

    /// Returns how many columns of a terminal a text takes: two for wide characters, none for marks that
    /// combine with the one before.
    static func columns(of text: some StringProtocol) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + columns(of: $1) }
    }

    /// Returns the longest beginning of a text that takes at most `width` columns.
    static func prefix(of text: String, width: Int) -> String {
        var used = 0
        return String(
            text.prefix { character in
                used += columns(of: character)
                return used <= width
            })
    }

    static func columns(of character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        switch first.value {
        case 0 ..< 0x300: return 1
        case 0x1100 ... 0x115F, 0x2E80 ... 0x303E, 0x3041 ... 0xA4CF, 0xA960 ... 0xA97F, 0xAC00 ... 0xD7A3,
            0xF900 ... 0xFAFF, 0xFE30 ... 0xFE6F, 0xFF00 ... 0xFF60, 0xFFE0 ... 0xFFE6,
            0x1F300 ... 0x1F64F, 0x1F680 ... 0x1F6FF, 0x1F900 ... 0x1FAFF, 0x20000 ... 0x3FFFD:
            return 2
        default:
            let category = first.properties.generalCategory
            return [.nonspacingMark, .enclosingMark, .format].contains(category) ? 0 : 1
        }
    }
}
