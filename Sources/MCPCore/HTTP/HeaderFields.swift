/// An ordered list of header fields whose names are compared case-insensitively.
///
/// Stored fields are always valid: a name is a token and a value contains no control characters, so that no
/// field can smuggle in another line (RFC 9110, sections 5.1 and 5.5).
public struct HeaderFields: Sendable, Hashable {
    /// One field line.
    public struct Field: Sendable, Hashable {
        /// The name as it was given.
        public let name: String
        /// The value without surrounding whitespace.
        public let value: String
    }

    /// A name or a value that cannot be sent.
    public struct InvalidField: Error, Sendable, Hashable, CustomStringConvertible {
        /// The name of the field.
        public let name: String
        /// A description of the fault.
        public let description: String
    }

    private var fields: [Field] = []

    /// Creates an empty list.
    public init() {}

    /// Creates a list of the given fields in the given order.
    /// - Throws: `InvalidField` for a name that is not a token, or a value that contains a control character.
    public init(_ pairs: KeyValuePairs<String, String>) throws(InvalidField) {
        for (name, value) in pairs { try append(name, value) }
    }

    /// The value of the first field called `name`, or nil.
    public subscript(name: String) -> String? { fields.first { Self.same($0.name, name) }?.value }

    /// Returns the values of all fields called `name`, in order.
    public func values(of name: String) -> [String] {
        fields.compactMap { Self.same($0.name, name) ? $0.value : nil }
    }

    /// Adds a field after the others, even if the name is already present.
    /// - Throws: `InvalidField` for a name that is not a token, or a value that contains a control character.
    public mutating func append(_ name: String, _ value: String) throws(InvalidField) {
        guard !name.isEmpty, Self.allBytes(of: name, ASCII.isToken) else {
            throw InvalidField(
                name: name, description: "a header field name must be a token (RFC 9110, 5.6.2)")
        }
        fields.append(Field(name: name, value: try Self.checked(value, of: name)))
    }

    /// Returns whether a text can be the value of a field: it has no control characters.
    static func isValue(_ text: String) -> Bool { allBytes(of: text, isValueByte) }

    /// Returns a value without surrounding whitespace.
    /// - Throws: `InvalidField` for a value that contains a control character.
    static func checked(_ value: String, of name: @autoclosure () -> String) throws(InvalidField) -> String {
        guard isValue(value) else {
            let name = name()
            throw InvalidField(name: name, description: "the value of \(name) contains a control character")
        }
        return trimmed(value)
    }

    /// Returns whether all bytes of a text belong to a class; in place, without the indices of a string.
    @inline(__always)
    private static func allBytes(of text: String, _ isMember: (UInt8) -> Bool) -> Bool {
        unsafe text.utf8.withContiguousStorageIfAvailable { unsafe $0.allSatisfy(isMember) }
            ?? text.utf8.allSatisfy(isMember)
    }

    /// Replaces all fields called `name` with a single one at the position of the first.
    /// - Throws: `InvalidField` for a name that is not a token, or a value that contains a control character.
    public mutating func set(_ name: String, to value: String) throws(InvalidField) {
        var replacement = HeaderFields()
        try replacement.append(name, value)
        let place = fields.firstIndex { Self.same($0.name, name) } ?? fields.endIndex
        removeAll(name)
        fields.insert(contentsOf: replacement.fields, at: place)
    }

    /// Removes all fields called `name`.
    public mutating func removeAll(_ name: String) { fields.removeAll { Self.same($0.name, name) } }

    /// Adds a field of this package's own; each byte that a value cannot contain becomes a space.
    mutating func append(sanitizing name: StaticString, _ value: String) {
        let bytes = value.utf8.map { Self.isValueByte($0) ? $0 : ASCII.space }
        let clean = Self.trimmed(String(decoding: bytes, as: UTF8.self))
        fields.append(Field(name: name.description, value: clean))
    }

    /// Adds the fields of another list after the others.
    mutating func append(contentsOf other: HeaderFields) { fields += other.fields }

    private static func same(_ a: String, _ b: String) -> Bool { ASCII.equalsIgnoringCase(a.utf8, b.utf8) }

    private static func isValueByte(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7F || byte == ASCII.tab
    }

    private static func trimmed(_ value: String) -> String {
        let bytes = value.utf8
        if let first = bytes.first, let last = value.lastByte, !ASCII.isBlank(first), !ASCII.isBlank(last) {
            return value
        }
        guard let first = bytes.firstIndex(where: { !ASCII.isBlank($0) }),
            let last = bytes.lastIndex(where: { !ASCII.isBlank($0) })
        else { return "" }
        return String(value[first ... last])
    }
}

extension HeaderFields: RandomAccessCollection {
    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of field lines.
    public var endIndex: Int { fields.count }
    /// The field line at `position`.
    public subscript(position: Int) -> Field { fields[position] }
}
