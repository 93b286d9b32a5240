/// A reader for `Content-Type` values, to the extent that MCP needs.
enum MediaType {
    /// Whether a `Content-Type` is JSON in UTF-8: `application/json`, with an optional `charset` of `utf-8`.
    static func isJSON(_ contentType: ByteSlice) -> Bool {
        unsafe contentType.withBytes { (unsafe ByteView($0)).isType("application/json") }
    }

    /// Whether a `Content-Type` is an event stream.
    static func isEventStream(_ contentType: ByteSlice) -> Bool {
        unsafe contentType.withBytes { (unsafe ByteView($0)).isType("text/event-stream") }
    }
}

extension ByteView {
    /// Whether the whole value is the media type `type`, and any `charset` is `utf-8` (RFC 9110, section
    /// 8.3.1).
    fileprivate func isType(_ type: StaticString) -> Bool {
        if equals(0 ..< count, type) { return true }
        var isFirst = true
        var matches = false
        forEachElement(0 ..< count, separator: 0x3B) { part in
            if isFirst {
                matches = equals(part, type)
                isFirst = false
            } else if let (name, value) = parameter(part) {
                if equals(name, "charset"), !equals(value, "utf-8") {
                    matches = false
                }
            } else if !part.isEmpty {
                matches = false
            }
        }
        return matches
    }

    /// Returns the name and the unquoted value of `name=value`, or nil if the part does not have that form.
    func parameter(_ part: Range<Int>) -> (name: Range<Int>, value: Range<Int>)? {
        guard let equals = part.first(where: { self[$0] == 0x3D }), equals > part.lowerBound else {
            return nil
        }
        let name = part.lowerBound ..< equals
        var value = equals + 1 ..< part.upperBound
        guard name.allSatisfy({ ASCII.isToken(self[$0]) }) else { return nil }
        if value.count >= 2, self[value.lowerBound] == 0x22, self[value.upperBound - 1] == 0x22 {
            value = value.lowerBound + 1 ..< value.upperBound - 1
        } else {
            guard !value.isEmpty, value.allSatisfy({ ASCII.isToken(self[$0]) }) else { return nil }
        }
        return (name, value)
    }
}
