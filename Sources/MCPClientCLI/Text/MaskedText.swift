/// URLs and command lines without the secrets that they may contain.
enum MaskedText {
    static let mask = "***"

    /// Masks the user and the values of the query and of the fragment of a URL.
    static func url(_ url: String) -> String {
        // What follows # there is the endpoint.
        if url.hasPrefix("unix:") { return url }
        let path = url.prefix { $0 != "?" && $0 != "#" }
        var shown = String(path)
        if let mark = path.firstRange(of: "://") {
            let authority = path[mark.upperBound...].prefix { $0 != "/" }
            if let at = authority.lastIndex(of: "@") {
                shown = path[..<mark.upperBound] + mask + path[at...]
            }
        }
        let query = url[path.endIndex...].dropFirst()
        guard !query.isEmpty else { return shown }
        let members = query.split(separator: "&").map { member -> String in
            guard let sign = member.firstIndex(of: "=") else { return value(String(member)) }
            return member[...sign] + value(String(member[member.index(after: sign)...]))
        }
        return shown + url[path.endIndex ... path.endIndex] + members.joined(separator: "&")
    }

    /// A text that consists of placeholders reveals nothing; any other value may be a secret.
    static func value(_ text: String) -> String {
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

    private static let secretWords = ["token", "secret", "password", "passwd", "key", "auth", "credential"]

    /// Masks the values of words whose names suggest a secret, and those of URLs.
    static func words(_ words: [String]) -> [String] {
        var isSecret = false
        return words.map { word in
            defer { isSecret = word.hasPrefix("-") && !word.contains("=") && names(word) }
            if isSecret, !word.hasPrefix("-") { return value(word) }
            let scheme = word.firstRange(of: "://")?.lowerBound ?? word.endIndex
            if let sign = word.firstIndex(of: "="), sign < scheme, names(String(word[..<sign])) {
                return word[...sign] + value(String(word[word.index(after: sign)...]))
            }
            if let colon = word.firstIndex(of: ":"), colon < scheme,
                names(String(word[..<colon]))
            {
                return word[...colon] + value(String(word[word.index(after: colon)...]))
            }
            return word.contains("://") ? url(word) : word
        }
    }

    private static func names(_ word: String) -> Bool {
        let word = word.lowercased()
        return secretWords.contains { word.contains($0) }
    }
}
