/// Options for compiling a schema, and bounds on the work of checking against it.
public struct SchemaOptions: Sendable {
    /// Whether `format` is checked. Off by default, as in the specification; `format` is then an annotation.
    public var assertFormat: Bool
    /// The dialect of a schema without `$schema`: 2020-12 (MCP SCH-01).
    public var defaultDialect: SchemaDialect
    /// Other schemas that a `$ref` may refer to, keyed by their absolute URIs. Nothing is ever fetched (MCP
    /// SCH-05).
    public var documents: [String: JSONValue]
    /// The bounds on the work.
    public var limits: SchemaLimits

    /// Creates options with the defaults described at the properties.
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

/// Bounds on the cost of a schema (MCP SCH-08). A value that exceeds a bound counts as invalid.
public struct SchemaLimits: Sendable, Hashable {
    /// The maximum depth to which schemas are applied inside each other, through references and into values:
    /// 128, which is also the upper limit. More would not fit into 512 KiB, the stack of a thread of Dispatch
    /// on Apple platforms.
    public var maxDepth: Int
    /// The maximum number of steps in one check: 1,000,000, which takes some hundredths of a second.
    ///
    /// Every schema that is applied, every member, every element and every character matched against a
    /// `pattern` costs at least one step. The size of a value is added, 8 steps for each byte, so that size
    /// alone does not make it invalid.
    public var maxWork: Int
    /// The maximum number of violations that are reported: 20.
    public var maxViolations: Int
    /// The maximum number of subschemas in a schema, including referenced documents: 20,000.
    public var maxSubschemas: Int

    /// Creates limits with the defaults described at the properties.
    public init(
        maxDepth: Int = 128, maxWork: Int = 1_000_000, maxViolations: Int = 20, maxSubschemas: Int = 20_000
    ) {
        self.maxDepth = max(1, min(maxDepth, 128))
        self.maxWork = max(1, min(maxWork, 1 << 40))
        self.maxViolations = max(1, min(maxViolations, 10_000))
        self.maxSubschemas = max(1, min(maxSubschemas, 1_000_000))
    }
}
