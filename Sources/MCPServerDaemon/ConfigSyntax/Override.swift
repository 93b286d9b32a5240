import MCPCore

/// A `--set path=value` on the command line.
struct Override: Sendable, Hashable {
    var path: String
    var value: String

    /// Parses an override, or returns `nil` if the text is not `path=value`.
    init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty,
            !parts[0].split(separator: ".", omittingEmptySubsequences: false)
                .contains("")
        else { return nil }
        path = String(parts[0])
        value = String(parts[1])
    }

    /// The override as it is written behind `--set`.
    var text: String { "\(path)=\(value)" }

    var position: SourcePosition { SourcePosition(file: "--set \(text)") }
}

extension ConfigNode {
    /// Returns the configuration with one scalar replaced or added.
    ///
    /// Whether the path is a valid one is not known here: an unknown one is later reported as an unknown key.
    func applying(_ override: Override, diagnostics: Diagnostics) -> ConfigNode {
        let keys = override.path.split(separator: ".").map(String.init)
        return setting(keys[...], override, diagnostics)
    }

    private func setting(_ keys: ArraySlice<String>, _ override: Override, _ diagnostics: Diagnostics)
        -> ConfigNode
    {
        guard !keys.isEmpty else {
            guard isScalar else {
                diagnostics.error(
                    "\(override.path) is \(kindName), and --set replaces only scalars",
                    at: override.position)
                return self
            }
            return Self.scalar(override)
        }
        var result = self
        switch kind {
        case .object(var members):
            // A key may contain dots (`tools.git.log.timeout`): the longest one that exists is used.
            for count in stride(from: keys.count, through: 1, by: -1) {
                let key = keys.prefix(count).joined(separator: ".")
                guard let index = members.firstIndex(where: { $0.key == key }) else { continue }
                members[index].value = members[index].value.setting(
                    keys.dropFirst(count), override, diagnostics)
                result.kind = .object(members)
                return result
            }
            let empty = ConfigNode(kind: .object([]), position: override.position)
            let value =
                keys.count == 1
                ? Self.scalar(override) : empty.setting(keys.dropFirst(), override, diagnostics)
            members.append(
                ConfigMember(key: keys[keys.startIndex], keyPosition: override.position, value: value))
            result.kind = .object(members)
        case .array(var elements):
            guard let index = keys.first.flatMap({ Int($0) }), elements.indices.contains(index) else {
                let last = elements.count - 1
                diagnostics.error(
                    "\(override.path): the indices of the array are 0 to \(last)", at: override.position)
                return self
            }
            elements[index] = elements[index].setting(keys.dropFirst(), override, diagnostics)
            result.kind = .array(elements)
        case .null, .bool, .number, .string:
            diagnostics.error("\(override.path): the path leads through \(kindName)", at: override.position)
        }
        return result
    }

    private static func scalar(_ override: Override) -> ConfigNode {
        ConfigNode(
            kind: .string(ConfigText(value: override.value, isOverride: true)), position: override.position)
    }
}
