/// A tree that represents any JSON value.
///
/// Numbers keep their exact text and objects keep the order of their members, so that reading and writing a
/// value gives the same text, except for whitespace, optional escapes and repeated names. Equality is
/// semantic: numbers are compared by value, strings by code points, and objects in any order.
public enum JSONValue: Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, with its exact text.
    case number(JSONNumber)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object, with its members in order.
    case object(JSONObject)

    /// Creates `true` or `false`.
    public init(_ value: Bool) { self = .bool(value) }

    /// Creates an integral number.
    public init(_ value: some BinaryInteger) { self = .number(JSONNumber(value)) }

    /// Creates a number in its shortest form, or `null` for infinities and NaN, which JSON lacks.
    public init(_ value: Double) { self = JSONValue(finite: value) ?? .null }

    /// Creates a number in its shortest form, or `null` for infinities and NaN, which JSON lacks.
    ///
    /// Beside the case `number`, so that `.number(1.5)`, `.number(3)` and `.number(count)` can be written.
    public static func number(_ value: Double) -> JSONValue { JSONValue(value) }

    /// Creates an integral number.
    public static func number(_ value: some BinaryInteger) -> JSONValue { JSONValue(value) }

    /// Creates a number in its shortest form; nil for infinities and NaN, so that a member can be omitted.
    package init?(finite value: Double) {
        guard let number = JSONNumber(value) else { return nil }
        self = .number(number)
    }

    /// Creates a string.
    public init(_ value: String) { self = .string(value) }

    /// The kind of the value.
    public var kind: JSONKind {
        switch self {
        case .null: .null
        case .bool: .bool
        case .number: .number
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }
}

/// Parsing and serialization.
extension JSONValue {
    /// Reads one JSON text.
    ///
    /// - Throws: ``JSONError`` with the byte at which the text is invalid or a limit is exceeded.
    public init(parsing text: String, limits: JSONLimits = .init()) throws(JSONError) {
        var text = text
        let result: Result<JSONValue, JSONError> = text.withUTF8 { bytes in
            Result { () throws(JSONError) in unsafe try JSONTreeReader.read(bytes, limits) }
        }
        self = try result.get()
    }

    /// Reads one JSON text in UTF-8.
    ///
    /// - Throws: ``JSONError`` with the byte at which the text is invalid or a limit is exceeded.
    public init(parsing bytes: ByteSlice, limits: JSONLimits = .init()) throws(JSONError) {
        self = unsafe try bytes.withBytes { bytes throws(JSONError) in
            unsafe try JSONTreeReader.read(bytes, limits)
        }
    }

    /// Reads one JSON text in UTF-8.
    ///
    /// - Throws: ``JSONError`` with the byte at which the text is invalid or a limit is exceeded.
    public init(parsing bytes: [UInt8], limits: JSONLimits = .init()) throws(JSONError) {
        self = unsafe try bytes.withUnsafeBufferPointer { bytes throws(JSONError) in
            unsafe try JSONTreeReader.read(bytes, limits)
        }
    }

    /// Returns the value as JSON text, on one line or indented by two spaces per level.
    ///
    /// Containers nested deeper than 128 levels, which cannot result from reading a text, are written as
    /// `null`.
    public func serialized(pretty: Bool = false) -> String {
        let bytes = RawJSON(self).bytes
        return String(pretty ? JSONPretty.format(bytes) : bytes)
    }

    /// Writes the value.
    @inline(__always)
    func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension JSONValue: CustomStringConvertible {
    /// The value as JSON text on one line.
    public var description: String { serialized() }
}

extension JSONValue: Hashable {
    /// Whether both represent the same value.
    public static func == (a: JSONValue, b: JSONValue) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.bool(let x), .bool(let y)): x == y
        case (.number(let x), .number(let y)): x == y
        case (.string(let x), .string(let y)): JSONKey.same(x, y)
        case (.array(let x), .array(let y)): x == y
        case (.object(let x), .object(let y)): x == y
        default: false
        }
    }

    /// Hashes the value, not the spelling.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        switch self {
        case .null: break
        case .bool(let value): hasher.combine(value)
        case .number(let number): hasher.combine(number)
        case .string(let string): hasher.combine(JSONKey(name: string))
        case .array(let elements): hasher.combine(elements)
        case .object(let object): hasher.combine(object)
        }
    }
}
