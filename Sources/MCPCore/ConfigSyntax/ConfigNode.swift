/// A string in the configuration that remembers which of its bytes an expansion produced.
package struct ConfigText: Sendable, Hashable {
    package var value: String
    /// The UTF-8 offsets of expanded text; a `{name}` in it is text, never a placeholder.
    package var expanded: [Range<Int>] = []
    /// Those of them that come from the environment, from another file, or from the user, and may be secret.
    package var foreign: [Range<Int>] = []
    /// Whether the value comes from `--set`; it is then converted to the type that its place requires.
    package var isOverride = false

    package init(
        value: String, expanded: [Range<Int>] = [], foreign: [Range<Int>] = [], isOverride: Bool = false
    ) {
        self.value = value
        self.expanded = expanded
        self.foreign = foreign
        self.isOverride = isOverride
    }

    /// The foreign texts in it.
    package var foreignTexts: [String] {
        let bytes = Array(value.utf8)
        return foreign.map { String(decoding: bytes[$0], as: UTF8.self) }
    }
}

/// A value in the configuration, with its place in the file.
package struct ConfigNode: Sendable {
    package enum Kind: Sendable {
        case null
        case bool(Bool)
        case number(JSONNumber)
        case string(ConfigText)
        case array([ConfigNode])
        case object([ConfigMember])
    }

    package var kind: Kind
    package var position: SourcePosition

    package init(kind: Kind, position: SourcePosition) {
        self.kind = kind
        self.position = position
    }

    /// The kind of the value, for error messages.
    package var kindName: String {
        switch kind {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    package var string: String? {
        if case .string(let text) = kind { text.value } else { nil }
    }

    package var elements: [ConfigNode]? {
        if case .array(let elements) = kind { elements } else { nil }
    }

    package var members: [ConfigMember]? {
        if case .object(let members) = kind { members } else { nil }
    }

    package var isScalar: Bool { elements == nil && members == nil }

    /// The member of an object, or `nil` if there is none.
    package subscript(key: String) -> ConfigNode? { members?.first { $0.key == key }?.value }

    /// The value without positions, in the form that schemas and annotations need.
    package var json: JSONValue {
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
package struct ConfigMember: Sendable {
    package var key: String
    package var keyPosition: SourcePosition
    package var value: ConfigNode

    package init(key: String, keyPosition: SourcePosition, value: ConfigNode) {
        self.key = key
        self.keyPosition = keyPosition
        self.value = value
    }
}
