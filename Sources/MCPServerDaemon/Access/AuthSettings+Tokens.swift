import MCPCore

extension AuthSettings {
    /// Whether a text can be a pattern for names. Names have no spaces.
    static func isPattern(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }

    /// Returns the scopes of a token together with all that they imply.
    private func granted(by scopes: [String]) -> Set<String> {
        let implied = impliedScopes
        var granted = Set(scopes)
        var open = scopes
        while let scope = open.popLast() {
            for other in implied[scope] ?? [] where granted.insert(other).inserted { open.append(other) }
        }
        return granted
    }

    /// Returns what is doubtful about a static token: it can do less than its owner may think.
    func doubts(about record: StaticToken) -> [String] {
        var doubts: [String] = []
        let granted = granted(by: record.scopes)
        let missing = required.filter { !granted.contains($0) }
        if !missing.isEmpty {
            doubts.append(
                "every request requires the scopes \(missing.joined(separator: " ")) (auth.required), "
                    + "which the token \(record.name) does not grant: it is refused with 403")
        }
        let known = Set(scopes.map(\.name) + scopes.flatMap(\.implies) + required)
        let unknown = record.scopes.filter { !known.contains($0) }
        if !unknown.isEmpty {
            doubts.append(
                "auth.scopes has no \(unknown.joined(separator: " ")), which the token \(record.name) "
                    + "grants: it allows nothing")
        }
        return doubts
    }
}
