extension String {
    /// Returns the text without control characters, those that change the direction of text, and those
    /// that nobody sees (U+200B, tags and others, which can hide a text in a text), truncated to the limit
    /// between two characters.
    package func cleaned(maxBytes: Int) -> String {
        var result = ""
        var bytes = 0
        for scalar in unicodeScalars {
            switch scalar.value {
            case 0x09, 0x0A: break
            case 0 ..< 0x20, 0x7F ... 0x9F, 0x202A ... 0x202E, 0x2066 ... 0x2069: continue
            case 0x200B, 0x2060 ... 0x2065, 0xFEFF, 0xE0000 ... 0xE007F: continue
            default: break
            }
            bytes += UTF8.width(scalar)
            guard bytes <= maxBytes else { break }
            result.unicodeScalars.append(scalar)
        }
        return result
    }

    /// Returns the text on one line, truncated, without control characters.
    func cleanedLine(maxBytes: Int) -> String {
        var line = String.UnicodeScalarView()
        line.append(contentsOf: unicodeScalars.map { $0.value < 0x20 ? " " : $0 })
        return String(line).cleaned(maxBytes: maxBytes)
    }
}
