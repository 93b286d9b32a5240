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
