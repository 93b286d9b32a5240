extension Requirements {
    /// Why a requirement has no test: it does not concern what this package is or offers.
    struct Reason: Sendable {
        let id: String
        let text: String
        /// The rest of the requirement is proved.
        let isPartial: Bool
    }

    static let reasons: [Reason] = reasonText.split(separator: "\n").map { line in
        let parts = line.split(separator: ":", maxSplits: 1)
        let words = parts[0].split(separator: " ")
        return Reason(
            id: String(words[0]), text: parts.count > 1 ? String(parts[1].dropFirst()) : "",
            isPartial: words.count > 1 && words[1] == "partly")
    }
    static let reasonByID = Dictionary(reasons.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })

    /// Features that are being built: their requirements need neither a test nor a reason yet.
    static let underWay: [String] = []

    static func isUnderWay(_ id: String) -> Bool {
        underWay.contains { id == $0 || id.prefix { $0 != "-" } == $0 }
    }

    /// `ID: reason`, or `ID partly: reason` beside tests.
    private static let reasonText = #"""
        """#
}
