/// The six kinds of JSON value (RFC 8259 section 3).
public enum JSONKind: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool
    /// A number.
    case number
    /// A string.
    case string
    /// An array.
    case array
    /// An object.
    case object

    /// Creates the kind of a valid value that starts with `byte`.
    @inline(__always)
    init(firstByte byte: UInt8) {
        switch byte {
        case 0x7B: self = .object
        case 0x5B: self = .array
        case 0x22: self = .string
        case 0x74, 0x66: self = .bool
        case 0x6E: self = .null
        default: self = .number
        }
    }

    /// The kind with its article, for messages.
    var noun: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
