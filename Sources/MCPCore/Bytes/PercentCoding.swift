/// Percent-encoding of URIs (RFC 3986 section 2.1).
package enum PercentCoding {
    /// Returns a text of which every byte that is not unreserved (section 2.3) is percent-encoded.
    static func encode(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            if ASCII.isLetterOrDigit(byte) || "-._~".utf8.contains(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += "%" + Hex.encode([byte]).uppercased()
            }
        }
        return result
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
