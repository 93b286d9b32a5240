/// Why a JSON text was refused, or why a value does not fit the type it is decoded into.
public struct JSONError: Error, Sendable, Hashable {
    /// What is wrong.
    public var reason: Reason
    /// Where it is wrong: bytes from the start of the text. 0 for errors of encoding.
    public var offset: Int
    /// Which value does not fit, as a JSON pointer (RFC 6901); nil for errors of syntax, `""` for the whole
    /// text.
    public var path: String?

    init(_ reason: Reason, offset: Int = 0, path: String? = nil) {
        self.reason = reason
        self.offset = offset
        self.path = path
    }

    /// The ways in which a JSON text can be wrong.
    public enum Reason: Sendable, Hashable {
        /// A byte that the grammar does not allow here.
        case unexpectedCharacter(UInt8)
        /// The text ends in the middle of a value, or holds no value at all.
        case unexpectedEnd
        /// The text starts with a byte order mark (RFC 8259 section 8.1 forbids to send one).
        case byteOrderMark
        /// A string is not UTF-8: a stray or missing continuation byte, an overlong form, an encoded
        /// surrogate, or a code point above U+10FFFF.
        case invalidUTF8
        /// A `\u` escape names half of a surrogate pair.
        case loneSurrogate
        /// A backslash is followed by something that is no escape.
        case invalidEscape
        /// A string holds a character below U+0020 that is not escaped.
        case controlCharacter
        /// A number does not follow the grammar, such as `01`, `1.` or `.5`.
        case invalidNumber
        /// Arrays and objects are nested deeper than the limit, which is given.
        case depthExceeded(Int)
        /// The text is longer than the limit, which is given in bytes.
        case tooLarge(Int)
        /// Something other than whitespace follows the value.
        case trailingContent
        /// A value has another type than the one asked for.
        case typeMismatch(expected: String, found: JSONKind)
        /// An object lacks a member that is needed.
        case missingMember(String)
        /// An array is shorter than the type asks for.
        case missingElement
        /// A number does not fit the named type.
        case numberOutOfRange(String)
        /// A value has the right type and is refused all the same, with a text that says why.
        case invalidValue(String)
    }
}

extension JSONError: CustomStringConvertible {
    /// One sentence for a person, with the path or the byte where it applies.
    public var description: String {
        guard let path else {
            switch reason {
            case .tooLarge, .invalidValue: return text
            default: return "\(text) (at byte \(offset))"
            }
        }
        return path.isEmpty ? text : "\(path): \(text)"
    }

    /// What is wrong, without the place.
    var text: String {
        switch reason {
        case .unexpectedCharacter(let byte): "unexpected \(Self.name(of: byte)) in JSON"
        case .unexpectedEnd: "the JSON text ends too early"
        case .byteOrderMark: "a JSON text must not start with a byte order mark"
        case .invalidUTF8: "invalid UTF-8 in a JSON string"
        case .loneSurrogate: "an escape in a JSON string names half of a surrogate pair"
        case .invalidEscape: "unknown escape in a JSON string"
        case .controlCharacter: "a JSON string holds a control character that is not escaped"
        case .invalidNumber: "malformed number in JSON"
        case .depthExceeded(let limit): "JSON is nested deeper than \(limit) levels"
        case .tooLarge(let limit): "the JSON text is longer than \(limit) bytes"
        case .trailingContent: "something follows the end of the JSON value"
        case .typeMismatch(let expected, let found): "expected \(expected), found \(found.noun)"
        case .missingMember(let name): "the member \"\(name)\" is missing"
        case .missingElement: "the array has too few elements"
        case .numberOutOfRange(let type): "the number does not fit \(type)"
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

/// What a JSON text may cost to read.
public struct JSONLimits: Sendable, Hashable {
    /// The greatest depth that can be asked for; the scanner's stack of open containers has this many bits.
    static let greatestDepth = 128

    /// How many arrays and objects may be open inside one another: 64 by default, at most 128.
    ///
    /// One container too many is ``JSONError/Reason/depthExceeded(_:)``.
    public var maxDepth: Int { didSet { maxDepth = Self.clamped(maxDepth) } }

    /// How many bytes a text may have; no limit by default. A longer text is
    /// ``JSONError/Reason/tooLarge(_:)``.
    public var maxBytes: Int

    /// Limits; a depth outside `0...128` becomes the nearest value inside.
    public init(maxDepth: Int = 64, maxBytes: Int = .max) {
        self.maxDepth = Self.clamped(maxDepth)
        self.maxBytes = maxBytes
    }

    private static func clamped(_ depth: Int) -> Int { min(max(depth, 0), greatestDepth) }
}
