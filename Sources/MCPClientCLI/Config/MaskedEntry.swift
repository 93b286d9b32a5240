import MCPCore

/// What may be shown of a server's configuration: everything but the values that may be secret.
enum MaskedEntry {
    static let mask = "***"

    /// Returns an entry as JSON whose secrets are masked.
    static func json(_ node: ConfigNode) -> JSONValue {
        guard case .object(var object) = node.json else { return node.json }
        for key in ["env", "headers"] {
            guard case .object(var members)? = object[key] else { continue }
            for (name, value) in members {
                if let text = value.stringValue { members[name] = .string(masked(text)) }
            }
            object[key] = .object(members)
        }
        if let words = object["args"]?.arrayValue {
            object["args"] = .array(arguments(words.map { $0.stringValue ?? "" }).map { .string($0) })
        }
        for key in ServerEntry.urlNames {
            if let address = object[key]?.stringValue { object[key] = .string(url(address)) }
        }
        return .object(object)
    }

    /// Returns one line: the program or the URL.
    static func line(_ node: ConfigNode) -> String {
        if let program = node["command"]?.string {
            let words = node["args"]?.elements?.map { $0.string ?? "" } ?? []
            return inlineText(([program] + arguments(words)).map(ShellWord.quote).joined(separator: " "))
        }
        let address = ServerEntry.urlNames.lazy.compactMap { node[$0]?.string }.first
        return address.map { inlineText(url($0)) } ?? "(neither command nor url)"
    }

    /// A text that consists of placeholders reveals nothing; any other value may be a secret.
    static func masked(_ text: String) -> String {
        var rest = text[...]
        var shown = ""
        while let start = rest.firstRange(of: "${"), let end = rest[start.upperBound...].firstIndex(of: "}") {
            // A default value is as good as a value.
            if rest[start.upperBound ..< end].contains(":-") { return mask }
            if !rest[..<start.lowerBound].isEmpty { shown += mask }
            shown += rest[start.lowerBound ... end]
            rest = rest[rest.index(after: end)...]
        }
        if shown.isEmpty { return text.hasPrefix("$env:") ? text : mask }
        return rest.isEmpty ? shown : shown + mask
    }

    /// Masks the user and the values of the query of a URL.
    static func url(_ text: String) -> String {
        let path = text.prefix { $0 != "?" && $0 != "#" }
        var shown = String(path)
        if let mark = path.firstRange(of: "://") {
            let authority = path[mark.upperBound...].prefix { $0 != "/" }
            if let at = authority.lastIndex(of: "@") {
                shown = path[..<mark.upperBound] + mask + path[at...]
            }
        }
        let query = text[path.endIndex...].dropFirst()
        guard !query.isEmpty else { return shown }
        let members = query.split(separator: "&").map { member -> String in
            guard let sign = member.firstIndex(of: "=") else { return masked(String(member)) }
            return member[...sign] + masked(String(member[member.index(after: sign)...]))
        }
        return shown + "?" + members.joined(separator: "&")
    }

    private static let secretWords = ["token", "secret", "password", "passwd", "key", "auth", "credential"]

    /// Masks the values of arguments whose names suggest a secret.
    private static func arguments(_ words: [String]) -> [String] {
        var isSecret = false
        return words.map { word in
            defer { isSecret = word.hasPrefix("-") && !word.contains("=") && names(word) }
            if isSecret, !word.hasPrefix("-") { return masked(word) }
            if let sign = word.firstIndex(of: "="), names(String(word[..<sign])) {
                return word[...sign] + masked(String(word[word.index(after: sign)...]))
            }
            return word.contains("://") ? url(word) : word
        }
    }

    private static func names(_ word: String) -> Bool {
        let word = word.lowercased()
        return secretWords.contains { word.contains($0) }
    }
}
