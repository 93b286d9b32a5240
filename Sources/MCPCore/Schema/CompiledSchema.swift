/// A JSON Schema that is compiled once and can then be used for any number of checks, from any thread.
///
/// JSON Schema 2020-12 and draft-07 are supported. Nothing is fetched: a `$ref` must lead to the schema
/// itself, to ``SchemaOptions/documents`` or to a meta-schema of these dialects. The work of a check is
/// bounded by ``SchemaLimits``; regular expressions are matched in linear time.
public final class CompiledSchema: Sendable {
    /// The dialect that the schema is written in.
    public let dialect: SchemaDialect
    /// The names under `properties` of the schema itself, in order (even if the schema is only a `$ref`).
    public let topLevelPropertyNames: [String]

    private let program: SchemaProgram
    private let limits: SchemaLimits
    private let flat: FlatSchema?

    /// Compiles a schema.
    ///
    /// - Throws: ``SchemaError`` when a keyword has a value that the dialect does not allow, the dialect is
    ///   not supported, a `$ref` cannot be resolved, or a limit is exceeded (MCP SCH-02, SCH-04, SCH-07,
    ///   SCH-08).
    public convenience init(_ schema: JSONValue, options: SchemaOptions = .init()) throws(SchemaError) {
        let (program, dialect) = try SchemaCompiler.compile(schema, options: options)
        self.init(program: program, dialect: dialect, limits: options.limits)
    }

    private init(program: SchemaProgram, dialect: SchemaDialect, limits: SchemaLimits) {
        self.program = program
        self.dialect = dialect
        self.limits = limits
        flat = FlatSchema(program)
        let rules = program.nodes[program.root].object?.parts
        topLevelPropertyNames =
            rules.map { parts in
                parts.names.indices.filter { parts.properties[$0] != nil }.map { parts.names[$0] }
            } ?? []
    }

    /// Checks a value and returns at most `maxViolations` violations; the result is empty if the value is
    /// valid.
    public func validate(_ instance: JSONValue) -> [SchemaViolation] {
        violations(of: instance, work: work(for: instance))
    }

    /// Whether a value is valid.
    public func isValid(_ instance: JSONValue) -> Bool {
        holds(instance, work: work(for: instance))
    }

    /// Checks a value given as bytes, as ``validate(_:)-(JSONValue)`` does.
    ///
    /// In addition, a name that the schema lists under `properties` must not be repeated within an object: of
    /// two different values, one would go unchecked.
    public func validate(_ raw: RawJSON) -> [SchemaViolation] {
        if flat?.check(raw) == .valid { return [] }
        if let repeated = RepeatedNames.first(in: raw, of: program.listedNames) {
            let name = SchemaText.quoted(repeated.name)
            return [
                SchemaViolation(
                    instancePath: repeated.path, keyword: "properties",
                    message: "member \(name) appears twice",
                    schemaPath: "#", member: repeated.name)
            ]
        }
        return violations(of: raw.value, work: work(for: raw))
    }

    /// Whether a value given as bytes has no violation.
    ///
    /// For common schemas, the check allocates no memory and takes about 50 ns.
    public func isValid(_ raw: RawJSON) -> Bool {
        if let flat {
            switch flat.check(raw) {
            case .valid: return true
            case .invalid: return false
            case .unknown: break
            }
        }
        guard RepeatedNames.first(in: raw, of: program.listedNames) == nil else { return false }
        return holds(raw.value, work: work(for: raw))
    }

    private func work(for raw: RawJSON) -> Int {
        // Small: the limit is cut to 2^40, and no text has 2^59 bytes.
        min(limits.maxWork, 1 << 40) + 8 * raw.bytes.count
    }

    /// A value of a tree counts as two bytes, and its text as what it has.
    private func work(for tree: JSONValue) -> Int {
        var weight = 1 << 40
        tree.weigh(against: &weight)
        // Small: what was weighed is between 0 and 2^40.
        return min(limits.maxWork, 1 << 40) + 16 * 8 * ((1 << 40) - weight)
    }

    private func holds(_ instance: JSONValue, work: Int) -> Bool {
        var validator = SchemaValidator(program, limits: limits, work: work, isReporting: false)
        return validator.run(instance)
    }

    private func violations(of instance: JSONValue, work: Int) -> [SchemaViolation] {
        guard !holds(instance, work: work) else { return [] }
        // Only an invalid value pays for the messages. The second check differs from the first only in that
        // it does not stop early.
        var validator = SchemaValidator(program, limits: limits, work: work, isReporting: true)
        _ = validator.run(instance)
        return validator.violations
    }
}
