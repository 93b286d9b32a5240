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
