/// Percent-encoding of URIs (RFC 3986 section 2.1).
package enum PercentCoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Percent-encodes every byte that is neither unreserved (section 2.3) nor among `kept`.
    package static func encode(_ text: String, keeping kept: String = "") -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if ASCII.isWord(byte) || "-.~".utf8.contains(byte) || kept.utf8.contains(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Returns the text of percent-encoded UTF-8, or nil if it is malformed or contains a NUL.
    package static func decode(_ bytes: some Collection<UInt8>) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var iterator = bytes.makeIterator()
        while let byte = iterator.next() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = iterator.next().flatMap(ASCII.hexValue),
                let low = iterator.next().flatMap(ASCII.hexValue)
            else { return nil }
            decoded.append(high << 4 | low)
        }
        guard !decoded.contains(0) else { return nil }
        return String(validating: decoded, as: UTF8.self)
    }
}
