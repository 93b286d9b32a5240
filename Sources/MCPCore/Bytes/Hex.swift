/// Hexadecimal text (RFC 4648, section 8), written in lower case and read in either case.
package enum Hex {
    /// Returns the digit for the low four bits of `value`.
    @inline(__always)
    static func digit(_ value: UInt8) -> UInt8 {
        let low = value & 0xF
        return low < 10 ? 0x30 + low : 0x57 + low
    }

    /// Returns two digits for each byte.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.count)
        for byte in bytes {
            text.append(digit(byte >> 4))
            text.append(digit(byte))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes for an even number of digits, or nil for anything else.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        var high: UInt8?
        for character in text {
            guard let value = ASCII.hexValue(character) else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? bytes : nil
    }

    /// Returns the bytes for an even number of digits, or nil for anything else.
    package static func decode(_ text: String) -> [UInt8]? { decode(text.utf8) }
}
