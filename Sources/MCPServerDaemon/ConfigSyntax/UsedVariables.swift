import MCPCore

/// The variables of the environment that a configuration uses.
///
/// `Expansion` replaces them and reports those that are missing; this only finds their names.
final class UsedVariables {
    /// Whether each variable is needed: one that has a default everywhere is not.
    private(set) var names: [String: Bool] = [:]

    /// Finds the variables in all strings of a tree that is not expanded yet.
    func add(_ node: ConfigNode) {
        switch node.kind {
        case .string(let text): add(text.value)
        case .array(let elements): elements.forEach(add)
        case .object(let members): members.forEach { add($0.value) }
        case .null, .bool, .number: break
        }
    }

    private func add(_ text: String) {
        if let name = text.dropping(prefix: "$env:") { return note(name[...], isNeeded: true) }
        var rest = text[...]
        while let start = rest.firstIndex(of: "$") {
            let after = rest[start...]
            if after.hasPrefix("$${") {
                rest = after.dropFirst(3)
                continue
            }
            guard after.hasPrefix("${"), let end = after.firstIndex(of: "}") else {
                rest = after.dropFirst()
                continue
            }
            var name = after[after.index(start, offsetBy: 2) ..< end]
            rest = after[after.index(after: end)...]
            if name.hasPrefix("env:") { name = name.dropFirst(4) }
            let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            note(parts[0], isNeeded: parts.count == 1 || !parts[1].hasPrefix("-"))
        }
    }

    private func note(_ name: Substring, isNeeded: Bool) {
        guard !name.isEmpty, name.utf8.allSatisfy(ASCII.isWord),
            !["configDir", "userHome", "file"].contains(name)
        else { return }
        names[String(name)] = names[String(name)] == true || isNeeded
    }
}
