/// The fields of a form: a flat object of strings, numbers, Booleans and choices (client/elicitation
/// "Requested Schema").
///
/// ```swift
/// ElicitationSchema([
///     .string("name", title: "Your name", required: true),
///     .choice("color", [.init("r", title: "Red"), .init("g", title: "Green")], default: "r"),
/// ])
/// ```
public struct ElicitationSchema: WireType {
    /// One option to choose from.
    public struct Choice: Sendable, Hashable {
        /// The value that is sent.
        public let value: String
        /// The title that the user sees; if nil, the value is shown.
        public let title: String?

        /// Creates an option.
        public init(_ value: String, title: String? = nil) {
            self.value = value
            self.title = title
        }
    }

    /// One field of a form.
    public struct Field: Sendable, Hashable {
        let name: String
        let schema: JSONObject
        let isRequired: Bool
    }

    /// The JSON Schema of the form's content.
    public let json: JSONValue

    /// Creates a form with these fields.
    public init(_ fields: [Field]) {
        var properties = JSONObject()
        for field in fields { properties[field.name] = .object(field.schema) }
        var object: JSONObject = ["type": "object", "properties": .object(properties)]
        let required = fields.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { object["required"] = .array(required) }
        json = .object(object)
    }

    /// Reads a schema.
    ///
    /// It must be flat: an object whose properties are strings, numbers, Booleans or choices (ELIC-05,
    /// ELIC-07).
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "requestedSchema")
        guard json["type"]?.stringValue == "object" else {
            throw JSONError(.typeMismatch(expected: "\"object\"", found: .string), path: "/type")
        }
        for (name, schema) in try members.optionalObject("properties") ?? [:] {
            guard Self.isPrimitive(schema) else {
                throw JSONError(
                    .typeMismatch(expected: "a string, a number, a Boolean or a choice", found: schema.kind),
                    path: "/properties/\(name)")
            }
        }
        _ = try members.strings("required")
        self.json = json
    }

    private static func isPrimitive(_ schema: JSONValue) -> Bool {
        switch schema["type"]?.stringValue {
        case "string", "number", "integer", "boolean": true
        case "array":
            schema["items"]?["enum"]?.arrayValue != nil || schema["items"]?["anyOf"]?.arrayValue != nil
        default: schema["enum"]?.arrayValue != nil || schema["oneOf"]?.arrayValue != nil
        }
    }

    /// The fields by name, as JSON Schemas, in order.
    public var properties: JSONObject { json["properties"]?.objectValue ?? [:] }

    /// The names of the fields that must be filled in.
    public var required: [String] { json["required"]?.arrayValue?.compactMap(\.stringValue) ?? [] }

    /// Returns the content of the form before the user has changed anything (ELIC-09).
    public func defaults() -> JSONObject {
        var content = JSONObject()
        for (name, schema) in properties {
            if let value = schema["default"] { content[name] = value }
        }
        return content
    }

    /// Returns the violations of the form's schema; empty if the content fits. An unusable schema is also a
    /// violation.
    public func violations(of content: JSONObject) -> [SchemaViolation] {
        do {
            return try CompiledSchema(json, options: SchemaOptions(assertFormat: true)).validate(
                .object(content))
        } catch {
            return [
                SchemaViolation(
                    instancePath: "", keyword: "", message: "the form cannot be used: \(error)",
                    schemaPath: "")
            ]
        }
    }
}

extension ElicitationSchema.Field {
    private typealias Schema = JSONObject

    private static func make(
        _ name: String, _ type: String, _ title: String?, _ description: String?, _ required: Bool,
        _ members: [(String, JSONValue?)]
    ) -> Self {
        var schema: JSONObject = ["type": .string(type)]
        if let title { schema["title"] = .string(title) }
        if let description { schema["description"] = .string(description) }
        for case (let key, let value?) in members { schema[key] = value }
        return Self(name: name, schema: schema, isRequired: required)
    }

    /// Creates a text field.
    ///
    /// - Parameter format: `email`, `uri`, `date` or `date-time`.
    public static func string(
        _ name: String, title: String? = nil, description: String? = nil, minLength: Int? = nil,
        maxLength: Int? = nil, format: String? = nil, default value: String? = nil, required: Bool = false
    ) -> Self {
        make(
            name, "string", title, description, required,
            [
                ("minLength", minLength.map { JSONValue($0) }),
                ("maxLength", maxLength.map { JSONValue($0) }),
                ("format", format.map(JSONValue.string)), ("default", value.map(JSONValue.string)),
            ])
    }

    /// Creates a field for an integer.
    public static func integer(
        _ name: String, title: String? = nil, description: String? = nil, minimum: Int? = nil,
        maximum: Int? = nil, default value: Int? = nil, required: Bool = false
    ) -> Self {
        make(
            name, "integer", title, description, required,
            [
                ("minimum", minimum.map { JSONValue($0) }), ("maximum", maximum.map { JSONValue($0) }),
                ("default", value.map { JSONValue($0) }),
            ])
    }

    /// Creates a field for a number.
    public static func number(
        _ name: String, title: String? = nil, description: String? = nil, minimum: Double? = nil,
        maximum: Double? = nil, default value: Double? = nil, required: Bool = false
    ) -> Self {
        make(
            name, "number", title, description, required,
            [
                ("minimum", minimum.flatMap(JSONValue.init(finite:))),
                ("maximum", maximum.flatMap(JSONValue.init(finite:))),
                ("default", value.flatMap(JSONValue.init(finite:))),
            ])
    }

    /// Creates a field for a Boolean.
    public static func boolean(
        _ name: String, title: String? = nil, description: String? = nil, default value: Bool? = nil,
        required: Bool = false
    ) -> Self {
        make(name, "boolean", title, description, required, [("default", value.map(JSONValue.bool))])
    }

    /// Creates a field for one of several options.
    ///
    /// - Parameter legacyNames: writes the titles as `enumNames`, which clients of 2025-06-18 understand.
    public static func choice(
        _ name: String, _ choices: [ElicitationSchema.Choice], title: String? = nil,
        description: String? = nil, default value: String? = nil, legacyNames: Bool = false,
        required: Bool = false
    ) -> Self {
        let values = JSONValue.array(choices.map { .string($0.value) })
        let hasTitles = choices.contains { $0.title != nil }
        return make(
            name, "string", title, description, required,
            [
                ("enum", hasTitles && !legacyNames ? .none : values),
                ("enumNames", legacyNames ? .array(choices.map { .string($0.title ?? $0.value) }) : .none),
                ("oneOf", hasTitles && !legacyNames ? titled(choices) : .none),
                ("default", value.map(JSONValue.string)),
            ])
    }

    /// Creates a field for any number of several options (2025-11-25 and later).
    public static func choices(
        _ name: String, _ choices: [ElicitationSchema.Choice], title: String? = nil,
        description: String? = nil, minItems: Int? = nil, maxItems: Int? = nil,
        default values: [String]? = nil, required: Bool = false
    ) -> Self {
        let hasTitles = choices.contains { $0.title != nil }
        let items: JSONValue =
            hasTitles
            ? ["anyOf": titled(choices)]
            : ["type": "string", "enum": .array(choices.map { .string($0.value) })]
        return make(
            name, "array", title, description, required,
            [
                ("minItems", minItems.map { JSONValue($0) }), ("maxItems", maxItems.map { JSONValue($0) }),
                ("items", items), ("default", values.map { .array($0.map(JSONValue.string)) }),
            ])
    }

    private static func titled(_ choices: [ElicitationSchema.Choice]) -> JSONValue {
        .array(choices.map { ["const": .string($0.value), "title": .string($0.title ?? $0.value)] })
    }
}
