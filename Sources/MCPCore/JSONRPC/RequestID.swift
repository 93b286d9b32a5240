/// The id of a request: a string or an integer, kept as it was written (JRPC-02, JRPC-05).
///
/// Two ids are equal if they have the same JSON type and the same value: `1` and `1.0` are the same id, `"1"`
/// is a different one. On the wire, the original spelling is repeated byte for byte.
public struct RequestID: Sendable, Hashable, CustomStringConvertible {
    enum Key: Sendable, Hashable {
        case integer(Int64)
        case string(String)
    }

    let key: Key
    /// The JSON text of the id.
    public let json: RawJSON

    /// Creates a numeric id.
    public init(_ number: Int64) {
        key = .integer(number)
        // Small: Int has 64 bits on all platforms.
        json = RawJSON(JSONValue.number(JSONNumber(Int(number))))
    }

    /// Creates a string id.
    public init(_ text: String) {
        key = .string(text)
        json = RawJSON(JSONValue.string(text))
    }

    /// The maximum length of an id, in bytes of its JSON text without quotes.
    static let maxBytes = 256

    /// Reads an id; nil if it is neither a string of at most 256 bytes nor an integer that fits in 64 bits.
    init?(_ raw: RawJSON) {
        switch raw.kind {
        case .string:
            guard raw.bytes.count <= Self.maxBytes + 2, let text = raw.string else { return nil }
            key = .string(text)
        case .number:
            guard raw.bytes.count <= Self.maxBytes, let number = raw.int64 else { return nil }
            key = .integer(number)
        default: return nil
        }
        json = raw
    }

    /// Whether both identify the same request.
    public static func == (a: RequestID, b: RequestID) -> Bool { a.key == b.key }

    /// Hashes the value, not the spelling.
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }

    /// The id as JSON.
    public var description: String { String(json.bytes) }
}
