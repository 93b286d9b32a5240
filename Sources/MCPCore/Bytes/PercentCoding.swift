/// Percent-encoding of URIs (RFC 3986 section 2.1).
package enum PercentCoding {
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
