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
