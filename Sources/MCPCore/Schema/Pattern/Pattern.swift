/// A regular expression from a schema's `pattern`, compiled once: the ECMA-262 subset of JSON Schema 2020-12
/// core 6.4.
///
/// Matching takes time proportional to the length of the text (times the size of the expression), whatever
/// the expression. A match may occur anywhere in the text unless the expression is anchored.
struct Pattern: Sendable {
    /// The expression as written.
    let source: String
    private let program: PatternProgram

    init(_ source: String) throws(PatternError) {
        self.source = source
        program = try PatternProgram(PatternParser.parse(source))
    }

    /// Whether the expression matches somewhere in `text`.
    ///
    /// The result is nil when the search would need more than `budget` steps, or more memory than
    /// `PatternMatcher.maxMarkBytes`. `budget` is reduced by the number of steps taken, and set to 0 when the
    /// steps or the memory did not suffice.
    func isFound(in text: String, budget: inout Int) -> Bool? {
        guard budget > 0 else { return nil }
        var matcher = PatternMatcher(program, text: text.unicodeScalars.map(\.value), budget: budget)
        return matcher.search(left: &budget)
    }
}

/// A parsed regular expression.
indirect enum PatternNode: Sendable {
    case empty
    case set(ScalarSet)
    case assertion(PatternAssertion)
    case sequence([PatternNode])
    case alternation([PatternNode])
    case repeated(PatternNode, minimum: Int, maximum: Int?)
    case look(PatternNode, ahead: Bool, isNegated: Bool)
}

/// A condition on a position that consumes no input.
enum PatternAssertion: Sendable {
    case start, end, wordBoundary, notWordBoundary
}

/// An error that explains why a regular expression cannot be used.
struct PatternError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A human-readable description of the problem.
    let description: String
    /// The position of the problem, counted in Unicode scalars from the start of the expression.
    let offset: Int

    init(_ description: String, at offset: Int) {
        self.description = description
        self.offset = offset
    }
}
