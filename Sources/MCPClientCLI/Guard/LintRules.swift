import MCPCore

/// One thing in the definitions of a server that its users will stumble over.
struct LintFinding: Sendable {
    enum Level: String, Sendable { case error, warning }

    let level: Level
    /// The name of the rule, as in docs/checks.md.
    let rule: String
    /// Such as `tool add, argument a`.
    let place: String
    let text: String

    var json: JSONValue {
        [
            "level": .string(level.rawValue), "rule": .string(rule), "place": .string(place),
            "text": .string(text),
        ]
    }
}

/// The rules of `lint`. Each looks at the definitions of one server.
struct LintRules {
    /// The longest name that hosts accept, with the prefix that they add.
    static let maxNameLength = 64
    /// The tokens of one definition from which a model pays too much for it.
    static let maxTokens = 2000
    /// The steps of a check of one default, and of all together: a nasty pattern must not take seconds.
    static let maxSteps = 100_000
    static let maxAllSteps = 2_000_000

    private(set) var findings: [LintFinding] = []
    /// The steps that are left for checks of defaults.
    private var steps = Self.maxAllSteps

    /// The name and the level of each rule.
    static let all: [(name: String, level: LintFinding.Level)] = [
        ("argument-description", .warning), ("argument-type", .warning), ("default-invalid", .error),
        ("description-long", .warning), ("description-missing", .warning), ("entry-unreadable", .error),
        ("hidden-characters", .error),
        ("hints-contradict", .error), ("hints-missing", .warning), ("name-characters", .error),
        ("name-length", .warning), ("names-similar", .warning), ("required-unknown", .error),
        ("schema-invalid", .error), ("schema-not-object", .error),
    ]

    static func findings(in snapshot: ServerSnapshot) -> [LintFinding] {
        var rules = LintRules()
        for kind in ServerSnapshot.Kind.allCases {
            let definitions = snapshot.definitions[kind] ?? [:]
            for (name, definition) in definitions.sorted(by: { $0.key < $1.key }) {
                let place = "\(kind.noun) \(inlineText(name))"
                if kind == .tools || kind == .prompts { rules.name(name, place) }
                rules.description(definition, place)
                if kind == .tools { rules.tool(definition, place) }
                if kind == .prompts { rules.arguments(definition, place) }
            }
            if kind == .tools { rules.similar(definitions.keys.sorted()) }
            for text in snapshot.unreadable[kind] ?? [] {
                rules.add("entry-unreadable", "\(kind.noun)s", "\(text); clients leave it out, or fail")
            }
        }
        if let instructions = snapshot.instructions, SnapshotComparison.hidden(instructions) {
            rules.add("hidden-characters", "instructions", "the instructions contain invisible characters")
        }
        return rules.findings
    }

    private mutating func add(_ rule: String, _ place: String, _ text: String) {
        let level = Self.all.first { $0.name == rule }?.level ?? .warning
        findings.append(LintFinding(level: level, rule: rule, place: place, text: text))
    }

    // MARK: Names and texts

    private mutating func name(_ name: String, _ place: String) {
        let isPlain =
            !name.isEmpty && name.utf8.allSatisfy { $0.isASCIIAlphanumeric || "_-./".utf8.contains($0) }
        if !isPlain || name.utf8.count > 128 {
            add("name-characters", place, "a name is 1 to 128 of A-Z a-z 0-9 _ - . /")
        }
        // Hosts add `mcp__SERVER__`; 20 characters are a usual length of that.
        if name.utf8.count > Self.maxNameLength - 20 {
            add(
                "name-length", place,
                "\(name.utf8.count) characters; with the prefix of a host more than \(Self.maxNameLength)")
        }
    }

    private mutating func similar(_ names: [String]) {
        var seen: [String: String] = [:]
        for name in names {
            let plain = name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != "." }
            if let other = seen[plain] {
                add(
                    "names-similar", "tool \(inlineText(name))",
                    "differs from \(inlineText(other)) only in case or separators")
            }
            seen[plain] = name
        }
    }

    private mutating func description(_ definition: JSONValue, _ place: String) {
        let text = definition["description"]?.stringValue ?? ""
        if text.trimmingWhitespace().isEmpty {
            add("description-missing", place, "a model sees nothing but the name")
        } else if text.utf8.count / 4 > Self.maxTokens {
            add("description-long", place, "about \(text.utf8.count / 4) tokens in each conversation")
        }
        for key in ["title", "description"] {
            if let text = definition[key]?.stringValue, SnapshotComparison.hidden(text) {
                add(
                    "hidden-characters", place,
                    "\(key) contains characters that people do not see and models read")
            }
        }
    }

    // MARK: Tools

    private mutating func tool(_ tool: JSONValue, _ place: String) {
        schema(tool["inputSchema"] ?? .null, "\(place), arguments")
        if let output = tool["outputSchema"] { schema(output, "\(place), result") }
        properties(tool["inputSchema"] ?? .null, place)
        let hints = tool["annotations"]
        if hints?["readOnlyHint"] == nil, hints?["destructiveHint"] == nil {
            add("hints-missing", place, "neither readOnlyHint nor destructiveHint: hosts assume the worst")
        }
        if hints?["readOnlyHint"]?.boolValue == true, hints?["destructiveHint"]?.boolValue == true {
            add("hints-contradict", place, "readOnlyHint and destructiveHint are both true")
        }
    }

    private mutating func schema(_ schema: JSONValue, _ place: String) {
        guard schema["type"]?.stringValue == "object" else {
            return add("schema-not-object", place, "the schema's type is not \"object\"")
        }
        do { _ = try CompiledSchema(schema) } catch {
            add("schema-invalid", place, TerminalText.inline("\(error)", limit: 200))
        }
    }

    private mutating func properties(_ schema: JSONValue, _ place: String) {
        let properties = schema["properties"]?.objectValue ?? [:]
        for name in (schema["required"]?.arrayValue ?? []).compactMap(\.stringValue)
        where properties[name] == nil {
            add("required-unknown", place, "requires \(quoted(name)), which is not defined")
        }
        for (name, property) in properties {
            let place = "\(place), argument \(inlineText(name))"
            let text = property["description"]?.stringValue ?? ""
            if text.isEmpty, property["title"] == nil || property["enum"] == nil, property["$ref"] == nil {
                add("argument-description", place, "has no description")
            }
            if SnapshotComparison.hidden(text) {
                add("hidden-characters", place, "the description contains characters that people do not see")
            }
            let members = property.objectValue ?? [:]
            let typing = ["type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"]
            if property.boolValue == nil, !typing.contains(where: { members[$0] != nil }) {
                add("argument-type", place, "has no type: anything is accepted")
            }
            if let value = members["default"], !value.isNull, members["$ref"] == nil {
                checkDefault(value, property, place)
            }
        }
    }

    private mutating func checkDefault(_ value: JSONValue, _ schema: JSONValue, _ place: String) {
        // The size of a value is added to the steps of its check: large ones are left out.
        let text = value.serialized()
        guard steps > 0, text.utf8.count <= Self.maxSteps / 8 else { return }
        let options = SchemaOptions(limits: SchemaLimits(maxWork: Self.maxSteps))
        guard let compiled = try? CompiledSchema(schema, options: options) else { return }
        let violations = compiled.validate(value)
        // A check that was stopped has not found anything.
        let isStopped = violations.first?.keyword.isEmpty == true
        steps -= isStopped ? Self.maxSteps : Self.maxSteps / 100
        if isStopped || violations.isEmpty { return }
        add(
            "default-invalid", place,
            "the default \(TerminalText.inline(text, limit: 60)) does not fit")
    }

    private mutating func arguments(_ prompt: JSONValue, _ place: String) {
        for argument in prompt["arguments"]?.arrayValue ?? [] {
            let name = argument["name"]?.stringValue ?? ""
            if argument["description"]?.stringValue?.isEmpty ?? true {
                add("argument-description", "\(place), argument \(inlineText(name))", "has no description")
            }
        }
    }
}

/// `lint`: looks for defects in the definitions of a server.
struct LintCommand {
    let session: Session
    private var console: Console { session.console }

    func run() async throws(Failure) -> ExitCode {
        let snapshot = try await ServerSnapshot.read(
            session, ServerSnapshot.Kind.allCases, notesNameless: true)
        let findings = LintRules.findings(in: snapshot)
        let errors = findings.count { $0.level == .error }
        if console.isJSON {
            console.json(RawJSON(["findings": .array(findings.map(\.json))]))
        } else {
            for finding in findings {
                let label =
                    finding.level.rawValue + String(repeating: " ", count: 9 - finding.level.rawValue.count)
                let shown = finding.level == .error ? console.style.red(label) : console.style.bold(label)
                console.line("\(shown)\(finding.place): \(finding.text)  [\(finding.rule)]")
            }
            let warnings = findings.count - errors
            console.note(
                "\(errors) error\(errors == 1 ? "" : "s"), \(warnings) warning\(warnings == 1 ? "" : "s")"
                    + " · \(session.identity)")
        }
        let fails = errors > 0 || session.options.checks.isStrict && !findings.isEmpty
        return fails ? .checkFailed : .ok
    }
}
