/// A complete, validated JSON value, kept as the bytes in which it was written.
///
/// The value refers to the text it was taken from and copies nothing. Looking up a member costs one pass over
/// the object; if you need many members, decode a type or use the tree. Equality compares the bytes.
public struct RawJSON: Sendable, Hashable {
    /// The text, in UTF-8, without whitespace around it.
    public let bytes: ByteSlice

    /// Creates a value from bytes that the scanner has validated.
    @inline(__always)
    init(unchecked bytes: ByteSlice) { self.bytes = bytes }

    /// Validates one JSON text without copying it; surrounding whitespace is dropped.
    ///
    /// - Throws: ``JSONError`` with the byte at which the text is invalid or a limit is exceeded.
    public init(validating text: ByteSlice, limits: JSONLimits = .init()) throws(JSONError) {
        let range = unsafe try text.withBytes { bytes throws(JSONError) in
            guard bytes.count <= limits.maxBytes else { throw JSONError(.tooLarge(limits.maxBytes)) }
            var scanner = unsafe JSONScanner(bytes, limits: limits)
            scanner.skipWhitespace()
            let start = scanner.position
            try scanner.scanValue(depth: 0)
            let end = scanner.position
            try scanner.finish()
            return start ..< end
        }
        bytes = text[range]
    }

    /// Validates one JSON text; surrounding whitespace is dropped.
    ///
    /// - Throws: ``JSONError`` with the byte at which the text is invalid or a limit is exceeded.
    public init(validating text: String, limits: JSONLimits = .init()) throws(JSONError) {
        try self.init(validating: ByteSlice(text), limits: limits)
    }

    /// Writes a tree as text. Containers nested deeper than 128 levels are written as `null`.
    public init(_ value: JSONValue) {
        var writer = JSONWriter()
        writer.value(value)
        bytes = writer.finish()
    }

    /// `null`.
    public static var null: RawJSON { RawJSON(unchecked: ByteSlice("null")) }

    /// The kind of the value.
    public var kind: JSONKind { @inline(__always) get { JSONKind(firstByte: bytes.isEmpty ? 0 : bytes[0]) } }

    /// The value as a tree; the last value of a repeated name counts.
    public var value: JSONValue {
        scan { scanner in (try? JSONTreeReader.read(&scanner, depth: 0)) ?? .null }
    }

    /// Calls `body` with a scanner at the start of the value. Validated values are at most 128 levels deep.
    @inline(__always)
    func scan<R, E: Error>(_ body: (inout JSONScanner) throws(E) -> R) throws(E) -> R {
        unsafe try bytes.withBytes { bytes throws(E) in
            var scanner = unsafe JSONScanner(bytes, limits: JSONLimits(maxDepth: JSONLimits.greatestDepth))
            return try body(&scanner)
        }
    }
}

extension RawJSON: CustomStringConvertible {
    /// The text.
    public var description: String { String(bytes) }
}
