import MCPCore

/// Names that servers give themselves, as far as they say by themselves what a reader sees.
enum PlainName {
    /// The maximum number of characters, and of code points of one character.
    static let maxCharacters = 64
    private static let maxMarks = 4

    /// Returns whether a name has nothing that a reader does not see, or takes for something else: at most
    /// 64 characters, none hidden, none that change the direction of text, no line ends, single spaces
    /// between words, no word in which letters of another script stand for Latin ones, no quotation marks,
    /// none of the words and dots with which a page says who asks, no name of a speaker, and no address.
    static func isPlain(_ name: String) -> Bool {
        guard isShort(name), name.unicodeScalars.allSatisfy(isVisible), !saysWhoAsks(name),
            SpeakerName.imitated(by: name) == nil, !isAddress(name)
        else { return false }
        let words = name.unicodeScalars.split(separator: " ", omittingEmptySubsequences: false)
        return words.allSatisfy { !$0.isEmpty && !hasDot($0) && !isDisguised($0) }
    }

    private static func isShort(_ name: String) -> Bool {
        name.utf8.count <= maxCharacters * maxMarks * 4 && name.count <= maxCharacters
            && name.allSatisfy { $0.unicodeScalars.count <= maxMarks }
    }

    /// Returns whether the name continues a line of the page: `bank · asked by you`, `A view of bank asks`.
    private static func saysWhoAsks(_ name: String) -> Bool {
        let read = LookAlike.folded(name)
        let asking = ["asks", "asked", "asking", "requested", "requesting"]
            .map { LookAlike.folded($0) }
        return read.unicodeScalars.split { !$0.properties.isAlphabetic }
            .contains { asking.contains(String($0)) }
            || ["view of", "by you", "for you"].contains { read.contains(LookAlike.folded($0)) }
    }

    /// Returns whether the name could be the address of another server: what has no name is shown by that.
    private static func isAddress(_ name: String) -> Bool {
        if name.contains("://") || name.contains("/") && name.hasPrefix(".") { return true }
        guard let first = name.unicodeScalars.first, !"/~".unicodeScalars.contains(first) else { return true }
        if first == "[" { return name.contains(":") }
        let place = name.utf8.prefix { $0 != UInt8(ascii: "/") }
        let host = String(Substring(place.prefix { $0 != UInt8(ascii: ":") }))
        if place.count > host.utf8.count {
            return place.dropFirst(host.utf8.count + 1).allSatisfy { (0x30 ... 0x39).contains($0) }
        }
        guard let read = WebHost(host) else { return false }
        if read.isNumeric { return host.contains(".") || host.utf8.count > 5 }
        // Many a package has points in its name; the last part of a host's name consists of letters.
        let last = host.utf8.reversed().prefix { $0 != UInt8(ascii: ".") }
        let isHost =
            host == name && last.count < host.utf8.count && last.allSatisfy { ($0 | 0x20) &- 0x61 < 26 }
        return isHost || host.lowercased() == "localhost"
    }

    /// Returns whether a word has a dot like those between the parts of a line, but as a letter of a word, as
    /// in `Col·lecció` and in names of Japanese.
    private static func hasDot(_ word: Substring.UnicodeScalarView) -> Bool {
        var before: Unicode.Scalar?
        var rest = word
        while let scalar = rest.popFirst() {
            defer { before = scalar }
            guard isDot(scalar) else { continue }
            guard let before, let after = rest.first else { return true }
            switch scalar.value {
            case 0xB7 where "lL".unicodeScalars.contains(before) && "lL".unicodeScalars.contains(after):
                continue
            case 0x30FB, 0xFF65:
                if !isOfEastAsia(before) || !isOfEastAsia(after) { return true }
            default: return true
            }
        }
        return false
    }

    private static func isOfEastAsia(_ scalar: Unicode.Scalar) -> Bool {
        (0x3040 ... 0x9FFF).contains(scalar.value) || (0xFF66 ... 0xFF9F).contains(scalar.value)
    }

    /// Returns whether the character looks like the dot between the parts of a line, or is a quotation mark.
    private static func isDot(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xB7, 0x387, 0x5C5, 0x701 ... 0x702, 0x1427, 0x16EB, 0x2022 ... 0x2024, 0x2027, 0x2043, 0x204C,
            0x204D, 0x2032 ... 0x2037, 0x2219, 0x22C4 ... 0x22C6, 0x2758, 0x275B ... 0x2760, 0x2981,
            0x2E30 ... 0x2E34, 0x30FB, 0xA78F, 0xFF65,
            0x25A0 ... 0x25FF, 0x2B1B ... 0x2B2F, 0x2B51 ... 0x2B52, 0x26AA ... 0x26AC, 0x23FA,
            0xF0B ... 0xF14, 0x2BA ... 0x2BD, 0x2EE, 0x3003, 0x301D ... 0x301F, 0x5F3 ... 0x5F4,
            0x10101, 0x10A50, 0x1BC9F:
            return true
        default: break
        }
        switch scalar.properties.generalCategory {
        case .initialPunctuation, .finalPunctuation: return scalar != "\u{2019}"
        default: return scalar == "\"" || (0x201A ... 0x201F).contains(scalar.value)
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
