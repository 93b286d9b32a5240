import MCPCore

/// URLs and command lines without the secrets that they may contain.
enum MaskedText {
    static let mask = "***"

    /// Masks the user and the values of the query and of the fragment of a URL.
    static func url(_ url: String) -> String {
        keepingPlaceholders(in: [url]) { urls in urls.map(plainURL) }[0]
    }

    private static func plainURL(_ url: String) -> String {
        self.url(url, path: { SecretMask.tokens($0, mask: mask) }, value: { plainValue($1) })
    }

    private static func url(
        _ url: String, path hide: (String) -> String, value: (_ name: String, _ text: String) -> String
    ) -> String {
        // What follows # there is the endpoint.
        if url.hasPrefix("unix:") { return url }
        let path = url.prefix { $0 != "?" && $0 != "#" }
        var shown = hide(String(path))
        if let mark = shown.firstRange(of: "://") {
            let authority = shown[mark.upperBound...].prefix { $0 != "/" }
            if let at = authority.lastIndex(of: "@") {
                let user = plainValue(String(shown[mark.upperBound ..< at]))
                shown = shown[..<mark.upperBound] + user + shown[at...]
            }
        }
        let query = url[path.endIndex...].dropFirst()
        guard !query.isEmpty else { return shown }
        let members = query.split(separator: "&").map { member -> String in
            guard let sign = member.firstIndex(of: "=") else { return value("", String(member)) }
            let text = String(member[member.index(after: sign)...])
            return String(member[...sign]) + value(String(member[..<sign]), text)
        }
        return shown + url[path.endIndex ... path.endIndex] + members.joined(separator: "&")
    }

    /// Masks every URL of HTTP in a text.
    static func urls(in text: String) -> String {
        var shown = ""
        var rest = text[...]
        while let mark = rest.firstRange(of: "://") {
            let scheme = rest[..<mark.lowerBound].lowercased()
            guard let word = ["https", "http"].first(where: { scheme.hasSuffix($0) }) else {
                shown += rest[..<mark.upperBound]
                rest = rest[mark.upperBound...]
                continue
            }
            let start = rest.index(mark.lowerBound, offsetBy: -word.count)
            var end = rest[start...].firstIndex { $0.isWhitespace || "\"'<>`⏎".contains($0) } ?? rest.endIndex
            // What ends the sentence is not a part of it.
            while end > mark.upperBound, endsSentence(rest[start ..< end]) { end = rest.index(before: end) }
            shown += rest[..<start] + url(String(rest[start ..< end]))
            rest = rest[end...]
        }
        return shown + rest
    }

    /// Whether the last character of a URL in a text belongs to the text: a bracket does unless the URL has
    /// opened it, as `[::1]` does.
    private static func endsSentence(_ url: Substring) -> Bool {
        func closes(_ opening: Character, _ closing: Character) -> Bool {
            url.count { $0 == closing } > url.count { $0 == opening }
        }
        return switch url.last {
        case ":", ".", ",", ";": true
        case ")": closes("(", ")")
        case "]": closes("[", "]")
        default: false
        }
    }

    // MARK: What a project says

    /// Masks the text of a project's own file only if it is a plain word whose name suggests a secret:
    /// anything else could be what runs.
    static func literal(_ name: String, _ text: String) -> String {
        isPlainWord(text) && isSecretName(name) ? mask : text
    }

    /// Whether a text is neither a path nor a command line nor the name of a module in a package.
    static func isPlainWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "_-+=~".utf8.contains($0) }
    }

    /// Masks the plain words after flags whose names suggest a secret.
    static func literalWords(_ words: [String]) -> [String] {
        keepingPlaceholders(in: words, plainLiteralWords)
    }

    private static func plainLiteralWords(_ words: [String]) -> [String] {
        var flag = ""
        return words.map { word -> String in
            defer { flag = word.hasPrefix("-") && !word.contains("=") ? word : "" }
            if !word.hasPrefix("-") { return literal(flag, word) }
            guard let sign = word.firstIndex(of: "=") else { return word }
            return word[...sign] + literal(String(word[..<sign]), String(word[word.index(after: sign)...]))
        }
    }

    /// Masks the user of a URL, and plain values of its query whose names suggest a secret.
    static func literalURL(_ url: String) -> String {
        keepingPlaceholders(in: [url]) { urls in
            urls.map { self.url($0, path: { $0 }, value: literal) }
        }[0]
    }

    // MARK: Command lines

    /// Masks the values of words whose names suggest a secret, those of URLs, and tokens of known services.
    /// A word that is itself a command line, as after `sh -c`, is masked word by word.
    static func words(_ words: [String]) -> [String] { keepingPlaceholders(in: words, plainWords) }

    private static func plainWords(_ words: [String]) -> [String] {
        var isSecret = false
        return words.map { word in
            defer { isSecret = word.hasPrefix("-") && !word.contains("=") && isSecretName(word) }
            if isSecret, !word.hasPrefix("-") { return plainValue(word) }
            return self.word(word)
        }
    }

    private static func word(_ word: String) -> String {
        let scheme = word.firstRange(of: "://")?.lowerBound ?? word.endIndex
        for sign in [word.firstIndex(of: "="), word.firstIndex(of: ":")] {
            guard let sign, sign < scheme else { continue }
            let name = word[..<sign]
            guard !name.contains(where: \.isWhitespace), isSecretName(name) else { continue }
            return word[...sign] + plainValue(String(word[word.index(after: sign)...]))
        }
        if word.contains(where: \.isWhitespace) { return commandLine(word) }
        return word.contains("://") ? plainURL(word) : SecretMask.tokens(word, mask: mask)
    }

    /// Masks the words of a command line; what separates them stays.
    private static func commandLine(_ text: String) -> String {
        var parts: [(text: String, isWord: Bool)] = []
        var quote: Character?
        for character in text {
            let isBlank = character.isWhitespace || ";|&()".contains(character)
            let isWord = quote != nil || !isBlank
            if quote == character {
                quote = nil
            } else if quote == nil, "'\"".contains(character) {
                quote = character
            }
            if let last = parts.indices.last, parts[last].isWord == isWord {
                parts[last].text.append(character)
            } else {
                parts.append((String(character), isWord))
            }
        }
        // One word alone, such as a text in quotation marks, would be the same text again.
        if parts.count == 1 { return SecretMask.tokens(text, mask: mask) }
        var masked = plainWords(parts.filter(\.isWord).map { unquoted($0.text) })[...]
        return parts.map { part in
            guard part.isWord, let word = masked.popFirst() else { return part.text }
            let plain = unquoted(part.text)
            return plain == word ? part.text : plain == part.text ? word : "\"\(word)\""
        }.joined()
    }

    private static func unquoted(_ word: String) -> String { word.filter { $0 != "'" && $0 != "\"" } }

    /// Whether the name of a flag, a variable or an argument suggests that its value is secret.
    static func isSecretName(_ name: some StringProtocol) -> Bool { SecretWords.name(name) }
}
