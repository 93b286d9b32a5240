/// An error in a JSON text, or in a value that does not fit the type it is decoded into.
public struct JSONError: Error, Sendable, Hashable {
    /// The kind of error.
    public var reason: Reason
    /// The position of the error in bytes from the start of the text; 0 for encoding errors.
    public var offset: Int
    /// The JSON pointer (RFC 6901) of the value that does not fit; nil for syntax errors, `""` for the whole
    /// text.
    public var path: String?

    init(_ reason: Reason, offset: Int = 0, path: String? = nil) {
        self.reason = reason
        self.offset = offset
        self.path = path
    }

    /// The reasons for which a JSON text or value can be refused.
    public enum Reason: Sendable, Hashable {
        /// A byte is not allowed by the grammar at this position.
        case unexpectedCharacter(UInt8)
        /// The text ends in the middle of a value or contains no value at all.
        case unexpectedEnd
        /// The text starts with a byte order mark (RFC 8259 section 8.1 forbids sending one).
        case byteOrderMark
        /// A string is not UTF-8: a stray or missing continuation byte, an overlong form, an encoded
        /// surrogate, or a code point above U+10FFFF.
        case invalidUTF8
        /// A `\u` escape specifies half of a surrogate pair.
        case loneSurrogate
        /// A backslash is followed by something that is not an escape.
        case invalidEscape
        /// A string contains an unescaped character below U+0020.
        case controlCharacter
        /// A number does not follow the grammar, such as `01`, `1.` or `.5`.
        case invalidNumber
        /// Arrays and objects are nested deeper than the given limit.
        case depthExceeded(Int)
        /// The text is longer than the given limit in bytes.
        case tooLarge(Int)
        /// Something other than whitespace follows the value.
        case trailingContent
        /// A value has a type other than the requested one.
        case typeMismatch(expected: String, found: JSONKind)
        /// An object lacks a required member.
        case missingMember(String)
        /// An array is shorter than the type requires.
        case missingElement
        /// A number does not fit the given type.
        case numberOutOfRange(String)
        /// A value has the right type but is refused nonetheless, for the given reason.
        case invalidValue(String)
    }
}

extension JSONError: CustomStringConvertible {
    /// One sentence for a reader, with the path or the byte offset where applicable.
    public var description: String {
        guard let path else {
            switch reason {
            case .tooLarge, .invalidValue: return text
            default: return "\(text) (at byte \(offset))"
            }
        }
        return path.isEmpty ? text : "\(path): \(text)"
    }

    /// The description of the error without its position.
    var text: String {
        switch reason {
        case .unexpectedCharacter(let byte): "unexpected \(Self.name(of: byte)) in JSON"
        case .unexpectedEnd: "the JSON text ends unexpectedly"
        case .byteOrderMark: "a JSON text must not start with a byte order mark"
        case .invalidUTF8: "invalid UTF-8 in a JSON string"
        case .loneSurrogate: "an escape in a JSON string specifies half of a surrogate pair"
        case .invalidEscape: "unknown escape in a JSON string"
        case .controlCharacter: "a JSON string contains an unescaped control character"
        case .invalidNumber: "malformed number in JSON"
        case .depthExceeded(let limit): "JSON is nested deeper than \(limit) levels"
        case .tooLarge(let limit): "the JSON text is longer than \(limit) bytes"
        case .trailingContent: "unexpected content after the end of the JSON value"
        case .typeMismatch(let expected, let found): "expected \(expected), found \(found.noun)"
        case .missingMember(let name): "the member \"\(name)\" is missing"
        case .missingElement: "the array has too few elements"
        case .numberOutOfRange(let type): "the number does not fit in \(type)"
        case .invalidValue(let text): text
        }
    }

    private static func name(of byte: UInt8) -> String {
        switch byte {
        case 0x21 ... 0x7E: "character '\(Character(Unicode.Scalar(byte)))'"
        default: "byte 0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
    }
}

/// Limits on the cost of reading a JSON text.
public struct JSONLimits: Sendable, Hashable {
    /// The greatest depth that can be requested; the scanner's stack of open containers has this many bits.
    static let greatestDepth = 128

    /// The maximum nesting depth of arrays and objects: 64 by default, at most 128.
    ///
    /// A deeper container causes ``JSONError/Reason/depthExceeded(_:)``.
    public var maxDepth: Int { didSet { maxDepth = Self.clamped(maxDepth) } }

    /// The maximum length of a text in bytes; no limit by default. A longer text causes
    /// ``JSONError/Reason/tooLarge(_:)``.
    public var maxBytes: Int

    /// Creates limits; a depth outside `0...128` is replaced with the nearest value in that range.
    public init(maxDepth: Int = 64, maxBytes: Int = .max) {
        self.maxDepth = Self.clamped(maxDepth)
        self.maxBytes = maxBytes
    }

    private static func clamped(_ depth: Int) -> Int { min(max(depth, 0), greatestDepth) }
}
