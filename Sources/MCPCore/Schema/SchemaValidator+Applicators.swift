/// The keywords that apply schemas to the same value.
extension SchemaValidator {
    mutating func applyApplicators(
        of node: SchemaNode, to value: JSONValue, _ evaluated: inout EvaluatedParts
    ) -> Bool {
        var isValid = true
        for applicator in node.applicators {
            isValid = apply(applicator, of: node, to: value, &evaluated) && isValid
            guard isValid || isReporting else { return false }
        }
        return isValid
    }

    private mutating func apply(
        _ applicator: SchemaApplicator, of node: SchemaNode, to value: JSONValue,
        _ evaluated: inout EvaluatedParts
    ) -> Bool {
        switch applicator {
        case .reference(let target): apply(target, to: value, &evaluated)
        case .dynamicReference(let anchor, let fallback):
            apply(target(ofAnchor: anchor, fallback: fallback), to: value, &evaluated)
        case .allOf(let branches): applyAll(branches, value, &evaluated)
        case .anyOf(let branches): applyAny(branches, node, value, &evaluated)
        case .oneOf(let branches): applyOne(branches, node, value, &evaluated)
        case .not(let schema): applyNot(schema, node, value)
        case .conditional(let condition, let then, let otherwise):
            applyConditional(condition, then, otherwise, value, &evaluated)
        }
    }

    private mutating func applyAll(
        _ branches: [Int], _ value: JSONValue, _ evaluated: inout EvaluatedParts
    ) -> Bool {
        var isValid = true
        for branch in branches {
            isValid = apply(branch, to: value, &evaluated) && isValid
            guard isValid || isReporting else { return false }
        }
        return isValid
    }

    private mutating func applyNot(_ schema: Int, _ node: SchemaNode, _ value: JSONValue) -> Bool {
        var inner = EvaluatedParts(isTracking: false)
        guard fits(schema, value, &inner) else { return true }
        return report("not", "\(SchemaText.brief(value)) has a form that is not allowed", node)
    }

    private mutating func applyConditional(
        _ condition: Int, _ then: Int?, _ otherwise: Int?, _ value: JSONValue,
        _ evaluated: inout EvaluatedParts
    ) -> Bool {
        var inner = EvaluatedParts(isTracking: evaluated.isTracking)
        let holds = fits(condition, value, &inner)
        if holds { evaluated.formUnion(inner) }
        guard let next = holds ? then : otherwise else { return true }
        return apply(next, to: value, &evaluated)
    }

    private mutating func applyAny(
        _ branches: [Int], _ node: SchemaNode, _ value: JSONValue, _ evaluated: inout EvaluatedParts
    ) -> Bool {
        var failures: [[SchemaViolation]] = []
        var isValid = false
        for branch in branches {
            var inner = EvaluatedParts(isTracking: evaluated.isTracking)
            let outcome = attempt(branch, value, &inner)
            if outcome.isValid {
                isValid = true
                evaluated.formUnion(inner)
                // Further branches matter only for the parts that they evaluate.
                if !evaluated.isTracking { return true }
            } else {
                failures.append(outcome.violations)
            }
        }
        return isValid || reportNone("anyOf", failures, node, value)
    }

    private mutating func applyOne(
        _ branches: [Int], _ node: SchemaNode, _ value: JSONValue, _ evaluated: inout EvaluatedParts
    ) -> Bool {
        var failures: [[SchemaViolation]] = []
        var fitting: [Int] = []
        for (place, branch) in branches.enumerated() {
            var inner = EvaluatedParts(isTracking: evaluated.isTracking)
            let outcome = attempt(branch, value, &inner)
            if outcome.isValid {
                fitting.append(place)
                evaluated.formUnion(inner)
                if fitting.count > 1 { break }
            } else {
                failures.append(outcome.violations)
            }
        }
        if fitting.count == 1 { return true }
        guard fitting.count > 1 else { return reportNone("oneOf", failures, node, value) }
        return reportSeveral(fitting, of: branches.count, node)
    }

    private mutating func reportSeveral(_ fitting: [Int], of count: Int, _ node: SchemaNode) -> Bool {
        let which = fitting.map { "\($0 + 1)" }.joined(separator: " and ")
        return report("oneOf", "matches alternatives \(which) of \(count), not exactly one", node)
    }

    /// Reports why no alternative matches, using the violations of the intended alternative if it can be
    /// determined.
    private mutating func reportNone(
        _ keyword: String, _ failures: [[SchemaViolation]], _ node: SchemaNode, _ value: JSONValue
    ) -> Bool {
        guard isReporting else { return false }
        let path = instancePath
        // If only one alternative has the right type, the others were not intended.
        let close = failures.filter { found in
            !found.contains { $0.keyword == "type" && $0.instancePath == path }
        }
        if close.count == 1 {
            for violation in close[0] { add(violation) }
            return false
        }
        let messages = failures.compactMap { found in
            found.first.map { $0.instancePath == path ? $0.message : $0.description }
        }
        let prefix = "expected "
        let suffix = ", found " + Self.typeName(of: value)
        if close.isEmpty, messages.allSatisfy({ $0.hasPrefix(prefix) && $0.hasSuffix(suffix) }) {
            let names = messages.map { $0.dropFirst(prefix.count).dropLast(suffix.count) }
            return report(keyword, prefix + names.joined(separator: " or ") + suffix, node)
        }
        var unique: [String] = []
        for message in messages where unique.count <= 3 && !unique.contains(message) {
            unique.append(message)
        }
        let shown = unique.prefix(3).joined(separator: "; or ") + (unique.count > 3 ? "; …" : "")
        return report(keyword, "matches none of the \(failures.count) alternatives: \(shown)", node)
    }
}
