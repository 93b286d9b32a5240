/// A regular expression of a schema's `pattern`, compiled once: the ECMA-262 subset of JSON Schema 2020-12
/// core 6.4.
///
/// Matching takes time proportional to the text (times the size of the expression), whatever the expression.
/// A match may lie anywhere in the text unless the expression is anchored.
struct Pattern: Sendable {
    /// The expression as written.
    let source: String
    private let program: PatternProgram

    init(_ source: String) throws(PatternError) {
        self.source = source
        program = try PatternProgram(PatternParser.parse(source))
    }

    /// Whether the expression is found in `text`; nil when more than `budget` steps would be needed, or more
    /// memory than `PatternMatcher.maxMarkBytes`.
    ///
    /// `budget` is lowered by the steps that were taken, to 0 when they or the memory did not suffice.
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

/// A condition on a position, which consumes nothing.
enum PatternAssertion: Sendable {
    case start, end, wordBoundary, notWordBoundary
}

/// Why a regular expression is not usable.
struct PatternError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, in words.
    let description: String
    /// Where, counted in Unicode scalars from the start of the expression.
    let offset: Int

    init(_ description: String, at offset: Int) {
        self.description = description
        self.offset = offset
    }
}
