/// A single check of one value. Recursion is bounded by `SchemaLimits.maxDepth`, all work by
/// `SchemaLimits.maxWork`.
struct SchemaValidator {
    let program: SchemaProgram
    let limits: SchemaLimits
    /// Whether violations are collected; otherwise the check stops at the first one.
    var isReporting: Bool
    var violations: [SchemaViolation] = []
    /// The number of steps left; at 0 everything counts as invalid.
    var work: Int
    private var depth = 0
    private var isTooDeep = false
    /// The schema resources entered on the way here, outermost first.
    private var scope: [Int]
    private var path: [PathStep] = []

    enum PathStep {
        case member(String)
        case element(Int)
    }

    init(_ program: SchemaProgram, limits: SchemaLimits, work: Int, isReporting: Bool) {
        self.program = program
        self.limits = limits
        self.work = work
        self.isReporting = isReporting
        scope = [program.rootResource]
    }

    /// Checks a whole value; also returns false when a limit was reached.
    mutating func run(_ value: JSONValue) -> Bool {
        var evaluated = EvaluatedParts(isTracking: false)
        let isValid = apply(program.root, to: value, &evaluated)
        guard work <= 0 || isTooDeep else { return isValid }
        let reason =
            isTooDeep
            ? "schemas are applied to it more than \(limits.maxDepth) levels deep"
            : "it is too large, or its schema is too complex"
        violations = [
            SchemaViolation(
                instancePath: "", keyword: "", message: "the check was stopped: \(reason)", schemaPath: "#")
        ]
        return false
    }

    // MARK: Nodes

    /// Applies a node to a value and adds what it evaluates to `evaluated` (which counts only if the value is
    /// valid).
    mutating func apply(_ number: Int, to value: JSONValue, _ evaluated: inout EvaluatedParts) -> Bool {
        guard work > 0, !isTooDeep else { return false }
        guard depth < limits.maxDepth else {
            isTooDeep = true
            return false
        }
        work -= 1
        depth += 1
        defer { depth -= 1 }
        let node = program.nodes[number]
        if let verdict = node.verdict {
            if !verdict { report("false", "must not be present", node) }
            return verdict
        }
        let entersResource = program.usesDynamicScope && scope.last != node.resource
        if entersResource { scope.append(node.resource) }
        defer { if entersResource { scope.removeLast() } }
        guard node.needsEvaluated else { return applyKeywords(of: node, to: value, &evaluated) }
        return applyTracked(node, to: value, &evaluated)
    }

    /// Applies a node that must not see what was evaluated outside it, but the outer schemas see what it
    /// evaluates.
    private mutating func applyTracked(
        _ node: SchemaNode, to value: JSONValue, _ evaluated: inout EvaluatedParts
    ) -> Bool {
        var own = EvaluatedParts(isTracking: true)
        let isValid = applyKeywords(of: node, to: value, &own)
        evaluated.formUnion(own)
        return isValid
    }

    /// The way from here to the next level is cut into small functions: in a debug build a function reserves
    /// room for all its branches, and the stack of a thread of Dispatch on Apple platforms has 512 KiB.
    private mutating func applyKeywords(
        of node: SchemaNode, to value: JSONValue, _ evaluated: inout EvaluatedParts
    ) -> Bool {
        var isValid = checkValue(value, node)
        guard isValid || isReporting else { return false }
        isValid = checkScalar(value, node) && isValid
        guard isValid || isReporting else { return false }
        isValid = applyApplicators(of: node, to: value, &evaluated) && isValid
        guard isValid || isReporting else { return false }
        return checkParts(of: value, node, &evaluated) && isValid
    }

    private mutating func checkScalar(_ value: JSONValue, _ node: SchemaNode) -> Bool {
        switch value {
        case .number(let number):
            if let rules = node.number { return check(number, rules, node) }
        case .string(let text): if let rules = node.string { return check(text, rules, node) }
        default: break
        }
        return true
    }

    private mutating func checkParts(
        of value: JSONValue, _ node: SchemaNode, _ evaluated: inout EvaluatedParts
    ) -> Bool {
        switch value {
        case .array(let elements):
            if let rules = node.array { return check(elements, rules, node, &evaluated) }
        case .object(let members):
            if let rules = node.object { return check(members, rules, node, &evaluated) }
        default: break
        }
        return true
    }

    // MARK: Violations

    /// Records a violation and returns false.
    @discardableResult
    mutating func report(
        _ keyword: String, _ message: @autoclosure () -> String, _ node: SchemaNode, member: String? = nil
    ) -> Bool {
        guard isReporting else { return false }
        let violation = SchemaViolation(
            instancePath: instancePath, keyword: keyword, message: message(),
            schemaPath: keyword == "false" ? node.location : "\(node.location)/\(keyword)", member: member)
        // Alternatives keep their violations until one alternative matches, so recorded violations count as
        // work to bound their memory.
        work -= violation.byteCount
        if work > 0 { add(violation) }
        return false
    }

    mutating func add(_ violation: SchemaViolation) {
        guard isReporting else { return }
        violations.append(violation)
        // There are enough violations to report, so the rest is checked as fast as possible.
        if violations.count >= limits.maxViolations { isReporting = false }
    }

    var instancePath: String {
        var result = ""
        for step in path {
            switch step {
            case .member(let name): result = JSONPointer.appending(name, to: result)
            case .element(let index): result += "/\(index)"
            }
        }
        return result
    }

    /// Applies a node to a part of the value.
    mutating func apply(_ number: Int, to part: JSONValue, at step: @autoclosure () -> PathStep) -> Bool {
        var evaluated = EvaluatedParts(isTracking: false)
        guard isReporting else { return apply(number, to: part, &evaluated) }
        path.append(step())
        defer { path.removeLast() }
        return apply(number, to: part, &evaluated)
    }

    /// Applies a node without reporting violations.
    mutating func fits(_ number: Int, _ value: JSONValue, _ evaluated: inout EvaluatedParts) -> Bool {
        let wasReporting = isReporting
        isReporting = false
        defer { isReporting = wasReporting }
        return apply(number, to: value, &evaluated)
    }

    /// Applies a node and returns its violations separately.
    mutating func attempt(
        _ number: Int, _ value: JSONValue, _ evaluated: inout EvaluatedParts
    ) -> (isValid: Bool, violations: [SchemaViolation]) {
        let outer = violations
        let wasReporting = isReporting
        violations = []
        let isValid = apply(number, to: value, &evaluated)
        defer {
            violations = outer
            isReporting = wasReporting
        }
        return (isValid, violations)
    }

    /// Returns the node that a `$dynamicRef` resolves to here: that of the outermost resource with such an
    /// anchor.
    func target(ofAnchor anchor: Int, fallback: Int) -> Int {
        for resource in scope where resource < program.dynamicAnchors.count {
            if let node = program.dynamicAnchors[resource][anchor] { return node }
        }
        return fallback
    }
}
