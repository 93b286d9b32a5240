/// The supported dialects of JSON Schema; any other is rejected with a ``SchemaError`` (MCP SCH-02).
public enum SchemaDialect: String, Sendable, Hashable, CaseIterable {
    /// JSON Schema 2020-12, the dialect of a schema without `$schema`.
    case draft202012 = "https://json-schema.org/draft/2020-12/schema"
    /// JSON Schema draft-07.
    case draft07 = "http://json-schema.org/draft-07/schema#"

    /// Creates the dialect with the URI from a `$schema`, with or without an empty fragment.
    init?(uri: String) {
        let plain = uri.hasSuffix("#") ? String(uri.dropLast()) : uri
        switch plain {
        case "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft/2020-12/schema":
            self = .draft202012
        case "http://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema":
            self = .draft07
        default: return nil
        }
    }
}

/// The groups of keywords that a meta-schema's `$vocabulary` can turn on or off (2020-12 core 8.1.2).
struct SchemaVocabularies: OptionSet, Sendable {
    let rawValue: UInt8

    init(rawValue: UInt8) { self.rawValue = rawValue }

    static let applicator = SchemaVocabularies(rawValue: 1)
    static let unevaluated = SchemaVocabularies(rawValue: 2)
    static let validation = SchemaVocabularies(rawValue: 4)
    static let formatAssertion = SchemaVocabularies(rawValue: 8)

    static let standard: SchemaVocabularies = [.applicator, .unevaluated, .validation]

    /// Creates the vocabulary with a URI; nil when it is unknown, empty when it contains annotations only.
    init?(uri: String) {
        let prefix = "https://json-schema.org/draft/2020-12/vocab/"
        guard uri.hasPrefix(prefix) else { return nil }
        switch uri.dropFirst(prefix.count) {
        case "applicator": self = .applicator
        case "unevaluated": self = .unevaluated
        case "validation": self = .validation
        case "format-assertion": self = .formatAssertion
        case "core", "meta-data", "format-annotation", "content": self = []
        default: return nil
        }
    }
}
