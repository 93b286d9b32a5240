import MCPCore

/// The check of the finished arguments against the schema before anything is sent, and the wording of its
/// report.
struct ArgumentCheck {
    /// The required arguments of a usage line.
    private static let maxUsageWords = 32

    let name: String
    let schema: JSONValue
    private let view: SchemaView

    init(name: String, schema: JSONValue) {
        self.name = name
        self.schema = schema
        view = SchemaView(schema)
    }

    /// Returns the rows of the report: first the problems in the words, then the violations of the schema.
    ///
    /// The rows follow the order of the words; missing arguments come last.
    ///
    /// - Throws: when the schema itself cannot be used; then the server decides.
    func problems(
        _ object: JSONObject, words: [ArgumentProblem], order: [String] = []
    ) throws(SchemaError) -> [ArgumentProblem] {
        let compiled = try CompiledSchema(schema)
        // A server may have any number of arguments: nothing here looks through all of them for each one.
        let required = view.required
        let isRequired = Set(required)
        var problems = words
        var seen = Set(words)
        let known = Set(words.map(\.name))
        for violation in compiled.validate(.object(object)) {
            if violation.instancePath.isEmpty, let member = violation.member, isRequired.contains(member) {
                continue
            }
            for problem in rows(violation, object) where !known.contains(problem.name) {
                if seen.insert(problem).inserted { problems.append(problem) }
            }
        }
        let places = Dictionary(order.enumerated().map { ($1, $0) }, uniquingKeysWith: min)
        problems = problems.enumerated().map { index, problem in
            (rank: Self.rank(problem, places) ?? order.count, index: index, problem: problem)
        }.sorted { ($0.rank, $0.index) < ($1.rank, $1.index) }.map(\.problem)
        for name in required where object[name] == nil && !known.contains(name) {
            let type = view.property(name).map { " (\(TypeText.signature($0)))" } ?? ""
            problems.append(ArgumentProblem(name: name, message: "is missing\(type)"))
        }
        suggestTheMissingOne(object, &problems)
        return problems
    }

    /// Returns the place of the word that a problem is about: one that names the argument, or one above it.
    private static func rank(_ problem: ArgumentProblem, _ places: [String: Int]) -> Int? {
        if places.isEmpty { return nil }
        let name = problem.name
        let dots = name.indices.filter { name[$0] == "." }.prefix(64)
        return ([name] + dots.map { String(name[..<$0]) }).compactMap { places[$0] }.min()
    }

    /// Suggests the only argument that is missing for the only one that does not exist, if one name contains
    /// the other, as in `filepath` for `path`.
    private func suggestTheMissingOne(_ object: JSONObject, _ problems: inout [ArgumentProblem]) {
        let missing = view.required.filter { object[$0] == nil }
        let unknown = problems.indices.filter { problems[$0].message == ArgumentProblem.unknown }
        guard missing.count == 1, unknown.count == 1, problems[unknown[0]].suggestion == nil else { return }
        let (wanted, given) = (missing[0].lowercased(), problems[unknown[0]].name.lowercased())
        guard wanted.count > 2, given.count > 2, given.contains(wanted) || wanted.contains(given) else {
            return
        }
        problems[unknown[0]].suggestion = inlineText(missing[0])
    }

    private func rows(
        _ violation: SchemaViolation, _ object: JSONObject
    ) -> [ArgumentProblem] {
        let tokens = Self.tokens(violation.instancePath)
        if let member = violation.member {
            return [memberProblem(violation, tokens + [member])]
        }
        guard !tokens.isEmpty else {
            return [ArgumentProblem(name: "arguments", message: inlineText(violation.message))]
        }
        let (place, value) = look(tokens, in: object)
        var suggestion: String?
        if violation.keyword == "enum" || violation.keyword == "const", let place, let value {
            suggestion = ArgumentBuilder.nearestChoice(value, place)
        }
        let name = tokens.joined(separator: ".")
        return [ArgumentProblem(name: name, message: inlineText(violation.message), suggestion: suggestion)]
    }

    /// Returns the row for a member that is missing or that the schema does not allow.
    private func memberProblem(_ violation: SchemaViolation, _ path: [String]) -> ArgumentProblem {
        let name = path.joined(separator: ".")
        if violation.keyword == "required" || violation.keyword == "dependentRequired" {
            return ArgumentProblem(name: name, message: "is missing")
        }
        let (parent, _) = look(Array(path.dropLast()), in: [:])
        let best = Suggestion.best(for: path.last ?? "", among: parent?.propertyNames ?? [])
        let full = best.map { inlineText((path.dropLast() + [$0]).joined(separator: ".")) }
        return ArgumentProblem(name: name, message: ArgumentProblem.unknown, suggestion: full)
    }

    /// Returns the schema and the value at a path.
    private func look(_ path: [String], in object: JSONObject) -> (SchemaView?, JSONValue?) {
        var place: SchemaView? = view
        var value: JSONValue? = .object(object)
        for token in path {
            if let index = Int(token), place?.types.contains("array") ?? false {
                value = value?[index]
                place = place?.items
            } else {
                value = value?[token]
                place = place?.property(token)
            }
        }
        return (place, value)
    }

    private static func tokens(_ pointer: String) -> [String] {
        guard pointer.hasPrefix("/") else { return [] }
        return pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { token in
            token.split(separator: "~1", omittingEmptySubsequences: false).map { part in
                part.split(separator: "~0", omittingEmptySubsequences: false).joined(separator: "~")
            }.joined(separator: "/")
        }
    }

    /// Returns the failure that reports these problems and that nothing was sent.
    func failure(_ problems: [ArgumentProblem], usage: String) -> Failure {
        Failure(
            code: .usage, kind: .invalidArguments,
            message: "the arguments do not match the schema of \(inlineText(name)) (nothing was sent)",
            details: ArgumentProblem.rows(problems), usage: "usage: \(usage)")
    }

    /// Returns the words of a usage line, such as `unit=<web|worker|cron> [now=<bool>]`.
    func usageWords() -> [String] {
        let required = Set(view.required)
        func word(_ name: String) -> String {
            "\(inlineText(name))=<\(view.property(name).map(TypeText.usage) ?? "any")>"
        }
        let names = view.propertyNames
        let needed = names.filter(required.contains)
        var words = needed.prefix(Self.maxUsageWords).map(word)
        if needed.count > Self.maxUsageWords { return words + ["… \(needed.count - words.count) more"] }
        let optional = names.filter { !required.contains($0) }
        words += optional.prefix(8).map { "[\(word($0))]" }
        if optional.count > 8 { words.append("[…]") }
        return words
    }
}
