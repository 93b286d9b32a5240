extension StringProtocol {
    /// Returns the text without spaces and tabs at both ends.
    func trimmingSpaces() -> String {
        trimming { $0 == " " || $0 == "\t" }
    }

    /// Returns the text without white space and line ends at both ends.
    func trimmingWhitespace() -> String {
        trimming { $0.isWhitespace }
    }

    private func trimming(_ isRemoved: (Character) -> Bool) -> String {
        var rest = self[...]
        while let first = rest.first, isRemoved(first) { rest = rest.dropFirst() }
        while let last = rest.last, isRemoved(last) { rest = rest.dropLast() }
        return String(rest)
    }
}
