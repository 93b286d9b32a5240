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
