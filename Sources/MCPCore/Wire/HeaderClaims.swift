/// The claims that the headers of an HTTP request make about the message in its body.
///
/// The body is authoritative; the headers are only compared with it (DUAL-04). The values are ranges in
/// `bytes`, the head of the request, without optional white space around them.
struct HeaderClaims: Sendable {
    let bytes: ByteSlice
    /// The value of `MCP-Protocol-Version`.
    var version: Range<Int>?
    /// The value of `Mcp-Method`.
    var method: Range<Int>?
    /// The value of `Mcp-Name`.
    var name: Range<Int>?
    /// The value of `traceparent`; nil if there are several.
    var trace: Range<Int>?
    /// Whether one of the first three appeared twice.
    var isRepeated = false

    init(bytes: ByteSlice) { self.bytes = bytes }

    @inline(__always)
    func equals(_ range: Range<Int>, _ literal: StaticString) -> Bool {
        guard range.count == literal.utf8CodeUnitCount else { return false }
        return unsafe memoryEquals(bytes.base + range.lowerBound, literal.utf8Start, range.count)
    }

    /// Returns whether the value at `range` equals the content of a JSON string without escapes.
    @inline(__always)
    func equals(_ range: Range<Int>, content quoted: ByteSlice) -> Bool {
        guard quoted.count == range.count + 2 else { return false }
        return unsafe memoryEquals(bytes.base + range.lowerBound, quoted.base + 1, range.count)
    }

    /// Returns whether a value could be in the Base64 form, judged by its first byte.
    @inline(__always)
    func mayBeEncoded(_ range: Range<Int>) -> Bool {
        !range.isEmpty && bytes[range.lowerBound] == UInt8(ascii: "=")
    }

    func text(_ range: Range<Int>?) -> String? { range.map { String(bytes[$0]) } }
}

extension HeaderClaims {
    /// Calls `body` with the name and value of each field line, in order.
    ///
    /// For the few tools that mirror arguments; it reads the head again. The head has already been parsed, so
    /// a line without a colon does not occur and a field never continues on the next line.
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

    /// Returns the position of the next line feed, or the end of the head.
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
