extension String {
    /// Returns the text without control characters and without those that change the direction of text,
    /// truncated to the limit between two characters.
    package func cleaned(maxBytes: Int) -> String {
        var result = ""
        var bytes = 0
        for scalar in unicodeScalars {
            switch scalar.value {
            case 0x09, 0x0A: break
            case 0 ..< 0x20, 0x7F ... 0x9F, 0x202A ... 0x202E, 0x2066 ... 0x2069: continue
            default: break
            }
            bytes += UTF8.width(scalar)
            guard bytes <= maxBytes else { break }
            result.unicodeScalars.append(scalar)
        }
        return result
    }
}
