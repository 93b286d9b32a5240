/// How a schema is compiled and how much work checking against it may take.
public struct SchemaOptions: Sendable {
    /// Whether `format` is checked. Off by default, as the specification has it: then it is an annotation.
    public var assertFormat: Bool
    /// The dialect of a schema without `$schema`: 2020-12 (MCP SCH-01).
    public var defaultDialect: SchemaDialect
    /// Other schemas that a `$ref` may name, by their absolute URIs. Nothing is ever fetched (MCP SCH-05).
    public var documents: [String: JSONValue]
    /// The bounds on the work.
    public var limits: SchemaLimits

    /// Options with the defaults described at the properties.
    public init(
        assertFormat: Bool = false, defaultDialect: SchemaDialect = .draft202012,
        documents: [String: JSONValue] = [:], limits: SchemaLimits = .init()
    ) {
        self.assertFormat = assertFormat
        self.defaultDialect = defaultDialect
        self.documents = documents
        self.limits = limits
    }
}

/// Bounds on what a schema may cost (MCP SCH-08). A value that passes a bound counts as invalid.
public struct SchemaLimits: Sendable, Hashable {
    /// How deep schemas may be applied inside each other, through references and into values: 192 (at most).
    public var maxDepth: Int
    /// How many steps one check may take: 20,000,000, which is some tenths of a second.
    ///
    /// Every schema applied, every member, element and character of a `pattern` is at least one step. For a
    /// value in bytes, its length times 8 is added, so that size alone does not make it invalid.
    public var maxWork: Int
    /// How many violations are reported: 20.
    public var maxViolations: Int
    /// How many subschemas a schema may have, referenced documents included: 20,000.
    public var maxSubschemas: Int

    /// Limits with the defaults described at the properties.
    public init(
        maxDepth: Int = 192, maxWork: Int = 20_000_000, maxViolations: Int = 20, maxSubschemas: Int = 20_000
    ) {
        self.maxDepth = max(1, min(maxDepth, 192))
        self.maxWork = max(1, min(maxWork, 1 << 40))
        self.maxViolations = max(1, min(maxViolations, 10_000))
        self.maxSubschemas = max(1, min(maxSubschemas, 1_000_000))
    }
}
