/// Access to the contents of a value; each accessor is nil if the value is of another kind.
extension JSONValue {
    /// Whether the value is `null`.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The truth value of `true` or `false`.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The text of a string.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The number with its exact text.
    public var numberValue: JSONNumber? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The value of an integral number in range, including spellings such as `1.0` or `1e2`.
    public var int64Value: Int64? { numberValue?.int64 }

    /// The value of an integral number in range, including spellings such as `1.0` or `1e2`.
    public var intValue: Int? { numberValue?.int64.flatMap { Int(exactly: $0) } }

    /// The nearest `Double` of a number; infinite for a number out of range.
    public var doubleValue: Double? { numberValue?.double }

    /// The elements of an array.
    public var arrayValue: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members of an object.
    public var objectValue: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// A member of an object; nil if there is none or this is not an object.
    public subscript(key: String) -> JSONValue? { objectValue?[key] }

    /// An element of an array; nil if there is none or this is not an array.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Creates `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Creates `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an integral number.
    public init(integerLiteral value: Int) { self.init(value) }
    /// Creates a number in its shortest form.
    public init(floatLiteral value: Double) { self.init(value) }
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object; the last one counts for repeated names.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements.lazy.map { (key: $0.0, value: $0.1) }))
    }
}
