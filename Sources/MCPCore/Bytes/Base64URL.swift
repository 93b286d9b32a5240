/// Base64 with the alphabet for URLs and without padding (RFC 4648, section 5; RFC 7515, section 2).
package enum Base64URL {
    /// The text for `bytes`.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: Base64Alphabet.url.encode(bytes, isPadded: false), as: UTF8.self)
    }

    /// The bytes of a text; nil unless it is the one canonical encoding of them, without padding.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? { Base64Alphabet.url.decode(text) }

    /// The bytes of a text; nil unless it is the one canonical encoding of them, without padding.
    static func decode(_ text: String) -> [UInt8]? { decode(text.utf8) }
}
