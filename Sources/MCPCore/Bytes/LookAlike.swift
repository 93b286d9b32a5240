/// Texts as a reader sees them, for telling names apart: characters that look alike count as one.
///
/// Covered are the look-alikes of ASCII letters, digits and of the punctuation around a name: letters with
/// marks, full-width, mathematical, circled and small-capital forms of Latin letters, and the letters of
/// Cyrillic, Greek, Armenian, Cherokee and Lisu that look like Latin ones. Characters that nobody sees do not
/// count. Two characters that together look like one (`rn` and `m`) are not covered.
package enum LookAlike {
    /// Returns the text in the characters that stand for all that look like them: lowercase letters, `l` for
    /// `i`, `I` and `1`, and `o` for `0`.
    package static func folded(_ text: some StringProtocol) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if let scalar = folded(scalar) { result.unicodeScalars.append(scalar) }
        }
        return result
    }

    /// Returns the character that stands for this one; nil for one that nobody sees.
    package static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch plain(scalar) {
        case "1", "I", "i", "l", "L": "l"
        case "0": "o"
        case let plain: plain.map(lowercase)
        }
    }

    /// Returns whether a reader could take one name for the other.
    ///
    /// In names, a small `i` differs from `l`, and a capital one looks like either.
    package static func areAlike(_ one: String, _ other: String) -> Bool {
        guard folded(one) == folded(other) else { return false }
        return read(one, "i") == read(other, "i") || read(one, "l") == read(other, "l")
    }

    /// Returns the name with this letter for a capital `I`.
    private static func read(_ name: String, _ capital: Unicode.Scalar) -> String {
        var result = ""
        for scalar in name.unicodeScalars {
            switch plain(scalar) {
            case nil: break
            case "I": result.unicodeScalars.append(capital)
            case "1": result += "l"
            case "0": result += "o"
            case let plain?: result.unicodeScalars.append(lowercase(plain))
            }
        }
        return result
    }

    private static func lowercase(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if scalar.isASCII {
            return ("A" ... "Z").contains(scalar) ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar
        }
        return scalar.properties.lowercaseMapping.unicodeScalars.first ?? scalar
    }

    /// Returns the ASCII character that this one looks like, or itself; nil for one that nobody sees.
    private static func plain(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        if scalar.isASCII { return scalar }
        if let letter = letters[scalar] { return letter }
        if (0xFF01 ... 0xFF5E).contains(scalar.value) { return Unicode.Scalar(scalar.value - 0xFEE0) }
        let properties = scalar.properties
        if properties.isDefaultIgnorableCodePoint { return nil }
        if properties.isWhitespace { return " " }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return nil
        case .dashPunctuation: return "-"
        case .connectorPunctuation: return "_"
        default: break
        }
        if properties.numericType == .decimal || properties.numericType == .digit,
            let value = properties.numericValue, (0 ... 9).contains(value)
        {
            return Unicode.Scalar(0x30 + UInt8(value))
        }
        return named(scalar) ?? scalar
    }

    /// Whether the block has variants of Latin and Greek letters, whose names contain the letter.
    private static func hasVariants(_ value: UInt32) -> Bool {
        switch value {
        case 0xC0 ... 0x2FF, 0x370 ... 0x3FF, 0x1F00 ... 0x1FFF, 0x1D00 ... 0x1DBF, 0x1E00 ... 0x1EFF,
            0x2070 ... 0x209F, 0x2100 ... 0x214F,
            0x2460 ... 0x24FF, 0x2C60 ... 0x2C7F, 0xA720 ... 0xA7FF, 0xAB30 ... 0xAB6F, 0x1D400 ... 0x1D7FF,
            0x1F100 ... 0x1F1FF:
            true
        default: false
        }
    }

    /// Returns the letter in a name such as LATIN SMALL LETTER E WITH ACUTE or MATHEMATICAL BOLD CAPITAL K.
    private static func named(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        guard hasVariants(scalar.value), let name = scalar.properties.name else { return nil }
        let words = name.split(separator: " ").prefix { $0 != "WITH" }
        guard let last = words.last else { return nil }
        let isSmall = words.contains("SMALL") && !words.contains("CAPITAL")
        if last.utf8.count == 1, let letter = last.unicodeScalars.first, ("A" ... "Z").contains(letter) {
            return isSmall ? Unicode.Scalar(UInt8(letter.value) | 0x20) : letter
        }
        return (isSmall ? smallGreek : capitalGreek)[String(last)]
    }

    private static let smallGreek: [String: Unicode.Scalar] = [
        "ALPHA": "a", "BETA": "b", "GAMMA": "y", "EPSILON": "e", "ETA": "n", "IOTA": "i", "KAPPA": "k",
        "MU": "u", "NU": "v", "OMICRON": "o", "RHO": "p", "SIGMA": "o", "TAU": "t", "UPSILON": "u",
        "CHI": "x", "ZETA": "z", "OMEGA": "w",
    ]
    private static let capitalGreek: [String: Unicode.Scalar] = [
        "ALPHA": "A", "BETA": "B", "EPSILON": "E", "ZETA": "Z", "ETA": "H", "IOTA": "I", "KAPPA": "K",
        "MU": "M", "NU": "N", "OMICRON": "O", "RHO": "P", "TAU": "T", "UPSILON": "Y", "CHI": "X",
    ]

    /// The letters of other scripts, and punctuation, each above what it looks like.
    private static let pairs: [(String, String)] = [
        // Cyrillic
        ("абвгеёзикмнопрстухьіїјѕүһҽӏԁԍԛԝ", "a6breezukmhonpctyxbiijsyheldgqw"),
        ("АБВЕЁЗИКМНОРСТУХЬІЇЈЅҮҺӀԀԌԚԜ", "A6BEE3NKMHOPCTYXBIIJSYHIDGQW"),
        // Greek, beside those that are found by their names
        ("ςϲϱϳϹϺ", "ccpjCM"),
        // Armenian
        ("աեգզիհյոպսւցքօՏԼՍՕ", "wtqqhhjnwuigpoSLUO"),
        // Cherokee
        (
            "ᎠᎡᎢᎥᎪᎫᎬᎳᎷᎻᎽᏀᏃᏎᏏᏒᏔᏙᏚᏞᏟᏢᏦᏧᏴᏳᏂ",
            "DRTiAJEWMHYGZ4bRWVSLCPKdBGh"
        ),
        // Lisu
        ("ꓐꓑꓒꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ", "BPdDTGKJCZFMNLSRVHWXYAEIOU"),
        // Symbols, Roman numerals, letters with other names
        ("ɑℎℹⅰⅴⅹⅼⅽⅾⅿⅠⅤⅩⅬⅭⅮⅯ\u{212A}\u{212B}", "ahiivxlcdmIVXLCDMKA"), ("ǀ", "l"), ("−⁃", "--"),
        ("：∶ː˸꞉﹕︓׃։܃܄᠃⁚", ":::::::::::::"), ("﹙❨⁽₍﴾﹚❩⁾₎﴿", "((((()))))"),
        ("․．﹒", "..."), ("\u{2800}", " "),
    ]

    private static let letters: [Unicode.Scalar: Unicode.Scalar] = Dictionary(
        uniqueKeysWithValues: pairs.flatMap { zip($0.unicodeScalars, $1.unicodeScalars) })
}
