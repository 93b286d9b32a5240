import MCPCore

/// A string in the configuration that remembers which of its bytes an expansion produced.
struct ConfigText: Sendable, Hashable {
    var value: String
    /// The UTF-8 offsets of expanded text; a `{name}` in it is text, never a placeholder.
    var expanded: [Range<Int>] = []
    /// Whether the value comes from `--set`; it is then converted to the type that its place requires.
    var isOverride = false
}

/// A value in the configuration, with its place in the file.
struct ConfigNode: Sendable {
    enum Kind: Sendable {
        case null
        case bool(Bool)
        case number(JSONNumber)
        case string(ConfigText)
        case array([ConfigNode])
        case object([ConfigMember])
    }

    var kind: Kind
    var position: SourcePosition

    /// The kind of the value, for error messages.
    var kindName: String {
        switch kind {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    var string: String? {
        if case .string(let text) = kind { text.value } else { nil }
    }

    var elements: [ConfigNode]? {
        if case .array(let elements) = kind { elements } else { nil }
    }

    var members: [ConfigMember]? {
        if case .object(let members) = kind { members } else { nil }
    }

    var isScalar: Bool { elements == nil && members == nil }

    /// The member of an object, or `nil` if there is none.
    subscript(key: String) -> ConfigNode? { members?.first { $0.key == key }?.value }

    /// The value without positions, in the form that schemas and annotations need.
    var json: JSONValue {
        switch kind {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .number(let number): return .number(number)
        case .string(let text): return .string(text.value)
        case .array(let elements): return .array(elements.map(\.json))
        case .object(let members):
            var object = JSONObject()
            for member in members { object[member.key] = member.value.json }
            return .object(object)
        }
    }
}

/// One key of an object, with its value.
struct ConfigMember: Sendable {
    var key: String
    var keyPosition: SourcePosition
    var value: ConfigNode
}
