/// Base64 with padding (RFC 4648, section 4).
package enum Base64 {
    /// Returns the padded encoding of `bytes`.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: Base64Alphabet.standard.encode(bytes, isPadded: true), as: UTF8.self)
    }

    /// Returns the decoded bytes, or nil if the text is not their one canonical encoding.
    ///
    /// Whitespace, missing or superfluous padding, and nonzero unused bits at the end are refused (RFC 4648,
    /// section 3).
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        var digits = text.count
        var padding = 0
        for byte in text.suffix(2) { padding = byte == 0x3D ? padding + 1 : 0 }
        digits -= padding
        return Base64Alphabet.standard.decode(text.prefix(digits))
    }

    /// Returns the decoded bytes, or nil if the text is not their one canonical encoding.
    package static func decode(_ text: String) -> [UInt8]? { decode(text.utf8) }
}

/// Base64 with the alphabet for URLs and without padding (RFC 4648, section 5; RFC 7515, section 2).
package enum Base64URL {
    /// Returns the encoding of `bytes`.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: Base64Alphabet.url.encode(bytes, isPadded: false), as: UTF8.self)
    }

    /// Returns the decoded bytes, or nil if the text is not their one canonical encoding without padding.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? { Base64Alphabet.url.decode(text) }

    /// Returns the decoded bytes, or nil if the text is not their one canonical encoding without padding.
    package static func decode(_ text: String) -> [UInt8]? { decode(text.utf8) }
}

/// The 64 digits of one of the two Base64 alphabets, which differ in the last two.
struct Base64Alphabet {
    private let digit62: UInt8
    private let digit63: UInt8

    static let standard = Base64Alphabet(digit62: 0x2B, digit63: 0x2F)
    static let url = Base64Alphabet(digit62: 0x2D, digit63: 0x5F)

    @inline(__always)
    private func digit(_ value: UInt32) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value & 0x3F)
        switch value {
        case 0 ..< 26: return 0x41 + value
        case 26 ..< 52: return 0x61 + (value - 26)
        case 52 ..< 62: return 0x30 + (value - 52)
        default: return value == 62 ? digit62 : digit63
        }
    }

    @inline(__always)
    private func value(_ digit: UInt8) -> UInt32? {
        switch digit {
        case 0x41 ... 0x5A: return UInt32(digit - 0x41)
        case 0x61 ... 0x7A: return UInt32(digit - 0x61) + 26
        case 0x30 ... 0x39: return UInt32(digit - 0x30) + 52
        default: return digit == digit62 ? 62 : digit == digit63 ? 63 : nil
        }
    }

    func encode(_ bytes: some Collection<UInt8>, isPadded: Bool) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 1
            guard count == 3 else { continue }
            for place in 0 ..< 4 { text.append(digit(bits >> UInt32(18 - 6 * place))) }
            bits = 0
            count = 0
        }
        guard count > 0 else { return text }
        bits <<= UInt32(8 * (3 - count))
        for place in 0 ... count { text.append(digit(bits >> UInt32(18 - 6 * place))) }
        if isPadded { text.append(contentsOf: repeatElement(0x3D, count: 3 - count)) }
        return text
    }

    /// Returns the bytes for digits without padding, or nil for other characters, an impossible length or
    /// nonzero unused bits.
    func decode(_ digits: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3 + 2)
        var bits: UInt32 = 0
        var count = 0
        for character in digits {
            guard let value = value(character) else { return nil }
            bits = bits << 6 | value
            count += 1
            guard count == 4 else { continue }
            bytes.append(UInt8(truncatingIfNeeded: bits >> 16))
            bytes.append(UInt8(truncatingIfNeeded: bits >> 8))
            bytes.append(UInt8(truncatingIfNeeded: bits))
            bits = 0
            count = 0
        }
        switch count {
        case 0: return bytes
        case 2 where bits & 0xF == 0:
            bytes.append(UInt8(truncatingIfNeeded: bits >> 4))
            return bytes
        case 3 where bits & 0x3 == 0:
            bytes.append(UInt8(truncatingIfNeeded: bits >> 10))
            bytes.append(UInt8(truncatingIfNeeded: bits >> 2))
            return bytes
        default: return nil
        }
    }
}
