/// ASCII characters that have a meaning in a grammar, classes of them, and comparisons that ignore case.
package enum ASCII {
    static let tab: UInt8 = 0x09
    static let lf: UInt8 = 0x0A
    static let cr: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let quote: UInt8 = 0x22
    static let plus: UInt8 = 0x2B
    static let comma: UInt8 = 0x2C
    static let minus: UInt8 = 0x2D
    static let point: UInt8 = 0x2E
    static let zero: UInt8 = 0x30
    static let colon: UInt8 = 0x3A
    static let openBracket: UInt8 = 0x5B
    static let backslash: UInt8 = 0x5C
    static let closeBracket: UInt8 = 0x5D
    static let openBrace: UInt8 = 0x7B
    static let closeBrace: UInt8 = 0x7D

    /// Whether `byte` may appear in a token (RFC 9110, section 5.6.2).
    @inline(__always)
    static func isToken(_ byte: UInt8) -> Bool {
        isMember(byte, low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE)
    }

    /// Whether `byte` may appear unescaped in a registered host name (RFC 3986, section 3.2.2).
    @inline(__always)
    static func isRegisteredName(_ byte: UInt8) -> Bool {
        isMember(byte, low: 0x2BFF_7FD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
    }

    /// Looks up `byte` in a set of ASCII codes, given as a bitmap of two words.
    @inline(__always)
    private static func isMember(_ byte: UInt8, low: UInt64, high: UInt64) -> Bool {
        let word = byte & 0x40 == 0 ? low : high
        return byte < 0x80 && (word &>> UInt64(byte & 0x3F)) & 1 != 0
    }

    @inline(__always)
    package static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }

    @inline(__always)
    package static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

    @inline(__always)
    static func isLetterOrDigit(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }

    /// Whether `byte` is a letter, a digit or `_`.
    @inline(__always)
    package static func isWord(_ byte: UInt8) -> Bool { isLetterOrDigit(byte) || byte == 0x5F }

    /// Whether `byte` is a space or a tab.
    @inline(__always)
    package static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    /// Returns `byte`, converted to lower case if it is an upper-case letter.
    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    /// Returns the value of a hexadecimal digit in either case, or nil.
    @inline(__always)
    static func hexValue(_ byte: UInt8) -> UInt8? {
        let digit = byte &- 0x30
        if digit < 10 { return digit }
        let letter = (byte | 0x20) &- 0x61
        return letter < 6 ? letter + 10 : nil
    }

    /// Whether two byte sequences are equal when the case of ASCII letters is ignored.
    static func equalsIgnoringCase(_ a: some Collection<UInt8>, _ b: some Collection<UInt8>) -> Bool {
        a.count == b.count && zip(a, b).allSatisfy { lowercased($0) == lowercased($1) }
    }
}
