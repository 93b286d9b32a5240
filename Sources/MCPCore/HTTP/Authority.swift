/// The syntax `HOST` or `HOST:PORT` (RFC 9110, section 7.2; RFC 3986, section 3.2.2), without user
/// information.
enum Authority {
    /// Whether the bytes at `range` are a nonempty host, with an optional port that is in range.
    static func isValid(_ view: ByteView, _ range: Range<Int>) -> Bool {
        guard let hostEnd = endOfHost(view, range), hostEnd > range.lowerBound else { return false }
        guard hostEnd < range.upperBound else { return true }
        guard view[hostEnd] == ASCII.colon else { return false }
        var port = 0
        for index in hostEnd + 1 ..< range.upperBound {
            guard ASCII.isDigit(view[index]) else { return false }
            // Small: a digit; the port is at most 65,535 before it is added.
            port = port * 10 + Int(view[index] - 0x30)
            if port > 65535 { return false }
        }
        return true
    }

    /// Returns the host without brackets, and the port of a valid authority; nil for port 0.
    static func split(_ authority: String, defaultPort: UInt16) -> (host: String, port: UInt16)? {
        let end = authority.lastIndex(of: "]").map { authority.index(after: $0) } ?? authority.startIndex
        let colon = authority[end...].firstIndex(of: ":")
        let host = authority[..<(colon ?? authority.endIndex)].filter { $0 != "[" && $0 != "]" }
        let digits = colon.map { authority[authority.index(after: $0)...] } ?? ""
        if digits.isEmpty { return (host, defaultPort) }
        // Small: nil for text that is not a port.
        guard let port = UInt16(digits), port > 0 else { return nil }
        return (host, port)
    }

    /// Returns the offset after the host, or nil if its syntax is wrong.
    private static func endOfHost(_ view: ByteView, _ range: Range<Int>) -> Int? {
        var index = range.lowerBound
        guard index < range.upperBound else { return nil }
        if view[index] == 0x5B {  // "["
            index += 1
            let start = index
            while index < range.upperBound, view[index] != 0x5D {
                let byte = view[index]
                guard ASCII.hexValue(byte) != nil || byte == ASCII.colon || byte == 0x2E else { return nil }
                index += 1
            }
            return index < range.upperBound && index - start >= 2 ? index + 1 : nil
        }
        while index < range.upperBound, view[index] != ASCII.colon {
            if view[index] == 0x25 {  // "%" and two hexadecimal digits
                guard index + 2 < range.upperBound, ASCII.hexValue(view[index + 1]) != nil,
                    ASCII.hexValue(view[index + 2]) != nil
                else { return nil }
                index += 3
            } else {
                guard ASCII.isRegisteredName(view[index]) else { return nil }
                index += 1
            }
        }
        return index
    }
}
