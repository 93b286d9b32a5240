/// What the headers of an HTTP request say about the message in its body.
///
/// The body decides; the headers are only compared with it (DUAL-04). Values lie in `bytes`, which is the
/// head of the request, trimmed of optional white space.
struct HeaderClaims: Sendable {
    let bytes: ByteSlice
    /// `MCP-Protocol-Version`.
    var version: Range<Int>?
    /// `Mcp-Method`.
    var method: Range<Int>?
    /// `Mcp-Name`.
    var name: Range<Int>?
    /// One of the three stood twice.
    var isRepeated = false

    init(bytes: ByteSlice) { self.bytes = bytes }

    @inline(__always)
    func equals(_ range: Range<Int>, _ literal: StaticString) -> Bool {
        guard range.count == literal.utf8CodeUnitCount else { return false }
        return unsafe memoryEquals(bytes.base + range.lowerBound, literal.utf8Start, range.count)
    }

    /// Whether the value at `range` equals the content of a JSON string without escapes.
    @inline(__always)
    func equals(_ range: Range<Int>, content quoted: ByteSlice) -> Bool {
        guard quoted.count == range.count + 2 else { return false }
        return unsafe memoryEquals(bytes.base + range.lowerBound, quoted.base + 1, range.count)
    }

    /// Whether a value could be in the base64 form, judged by its first byte.
    @inline(__always)
    func mayBeEncoded(_ range: Range<Int>) -> Bool {
        !range.isEmpty && bytes[range.lowerBound] == UInt8(ascii: "=")
    }

    func text(_ range: Range<Int>?) -> String? { range.map { String(bytes[$0]) } }
}

extension HeaderClaims {
    /// Calls `body` with the name and the value of each field line, in order.
    ///
    /// For the few tools that mirror arguments; it reads the head anew. The head was parsed before, so a line
    /// without a colon does not occur and a field never goes on in the next line.
    func forEachField(_ body: (_ name: ByteSlice, _ value: ByteSlice) -> Void) {
        var start = lineEnd(from: 0) + 1
        while start < bytes.count {
            let end = lineEnd(from: start)
            var last = min(end, bytes.count)
            if last > start, bytes[last - 1] == UInt8(ascii: "\r") { last -= 1 }
            guard last > start else { return }
            var colon = start
            while colon < last, bytes[colon] != UInt8(ascii: ":") { colon += 1 }
            if colon < last { body(bytes[start ..< colon], bytes[trimmed(colon + 1 ..< last)]) }
            start = end + 1
        }
    }

    /// The next line feed, or the end of the head.
    private func lineEnd(from start: Int) -> Int {
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
        return end
    }

    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, ASCII.isBlank(bytes[start]) { start += 1 }
        while end > start, ASCII.isBlank(bytes[end - 1]) { end -= 1 }
        return start ..< end
    }
}
