/// Base64 with padding (RFC 4648, section 4).
package enum Base64 {
    /// The text for `bytes`, padded.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: Base64Alphabet.standard.encode(bytes, isPadded: true), as: UTF8.self)
    }

    /// The bytes of a text; nil unless it is the one canonical encoding of them.
    ///
    /// Whitespace, missing or superfluous padding, and bits set in the unused end are refused (RFC 4648,
    /// section 3).
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        var digits = text.count
        var padding = 0
        for byte in text.suffix(2) { padding = byte == 0x3D ? padding + 1 : 0 }
        digits -= padding
        return Base64Alphabet.standard.decode(text.prefix(digits))
    }

    /// The bytes of a text; nil unless it is the one canonical encoding of them.
    package static func decode(_ text: String) -> [UInt8]? { decode(text.utf8) }
}
