import MCPCore

/// The removal of secrets from messages before they are written to a recording.
///
/// Values of members whose names suggest a secret, with everything in them, and texts that are known to be
/// secret, also in names, with their lines and what base64 makes of them, are replaced, also in a text that
/// is itself JSON, as results are that repeat their structured content. In a schema, such a member defines an
/// argument and is kept. Null, true and false are no secrets, and a number is one only under a name such as
/// `pin` or `password`. A secret in a text under another name stays: a recording may hold personal data, and
/// is a private file.
struct MessageMask: Sendable {
    static let mask = KnownSecrets.mask

    private static let names = SecretNames.patterns.map { Glob($0) }
    /// Patterns of names under which a number is not a secret.
    private static let texts: Set<String> = [
        "*token*", "*authorization*", "cookie*", "*session*id*", "auth", "bearer", "jwt",
    ]
    private static let numbers = SecretNames.patterns.filter { !texts.contains($0) }.map { Glob($0) }
    /// Members that match and are no secrets: counts of tokens, and places in lists. In lower case, without
    /// `_` and `-`.
    private static let harmless: Set<String> = [
        "progresstoken", "maxtokens", "mintokens", "inputtokens", "outputtokens", "totaltokens",
        "prompttokens", "completiontokens", "reasoningtokens", "cachedtokens", "cachereadinputtokens",
        "cachecreationinputtokens", "maxinputtokens", "maxoutputtokens", "maxcompletiontokens",
        "maxnewtokens", "numtokens", "tokencount", "tokenlimit", "tokenbudget", "tokenusage", "pagetoken",
        "nextpagetoken", "prevpagetoken", "previouspagetoken", "nexttoken", "continuationtoken",
    ]

    /// Members whose value is a schema.
    private static let schemas: Set<String> = ["inputSchema", "outputSchema", "requestedSchema"]

    private let known: KnownSecrets
    /// Their lines, and what base64 makes of them.
    private let forms: UpstreamSecrets
    /// What knows its tokens, also those to come.
    private let login: (any RequestAuthorizer)?

    init(_ secrets: [String] = [], login: (any RequestAuthorizer)? = nil) {
        known = KnownSecrets(secrets)
        forms = UpstreamSecrets(secrets, mask: Self.mask, minBytes: KnownSecrets.minBytes)
        self.login = login
    }

    /// Returns the message as it is written down.
    func masked(_ message: RawJSON) -> RawJSON {
        let value = message.value
        let masked = self.masked(value, depth: 0)
        return masked == value ? message : RawJSON(masked)
    }

    func masked(_ value: JSONValue, depth: Int = 0) -> JSONValue {
        masked(value, depth: depth, isSchema: false)
    }

    private func masked(_ value: JSONValue, depth: Int, isSchema: Bool) -> JSONValue {
        guard depth < 128 else { return value }
        switch value {
        case .string(let text):
            return .string(Self.withoutUsers(masked(text: maskedJSON(text, depth))))
        case .array(let elements):
            return .array(elements.map { masked($0, depth: depth + 1, isSchema: isSchema) })
        case .object(let members):
            return .object(
                JSONObject(
                    members.map { member in
                        let (key, value) = (masked(text: member.key), member.value)
                        // The definition of an argument is not its value.
                        if Self.isSecret(member.key), !isSchema || value.objectValue == nil {
                            let areSecret = Self.isSecretNumber(member.key)
                            return (key: key, value: hidden(value, depth, numbersAreSecret: areSecret))
                        }
                        let isInSchema = isSchema || Self.schemas.contains(key)
                        return (key: key, value: masked(value, depth: depth + 1, isSchema: isInSchema))
                    }))
        default: return value
        }
    }

    /// Masks the texts that are known to be secret.
    func masked(text: String) -> String {
        let text = forms.mask(known.mask(text))
        return login?.masking(text) ?? text
    }

    /// Masks a value whose name suggests a secret. Values that cannot be secret stay.
    private func hidden(_ value: JSONValue, _ depth: Int, numbersAreSecret: Bool) -> JSONValue {
        switch value {
        case .null, .bool: value
        case .number where !numbersAreSecret: value
        case .array(let elements) where !numbersAreSecret && elements.allSatisfy { $0.kind == .number }: value
        case .object(let members) where depth < 128:
            .object(
                JSONObject(
                    members.map {
                        (
                            key: masked(text: $0.key),
                            value: hidden($0.value, depth + 1, numbersAreSecret: numbersAreSecret)
                        )
                    }))
        default: .string(Self.mask)
        }
    }

    /// Masks a text that is an object or an array; one without secrets stays as it is written.
    private func maskedJSON(_ text: String, _ depth: Int) -> String {
        guard let value = Self.json(in: text) else { return text }
        let masked = masked(value, depth: depth + 1)
        return masked == value ? text : masked.serialized()
    }

    /// Returns the object or the array that a text is.
    private static func json(in text: String) -> JSONValue? {
        guard let first = text.utf8.first(where: { !" \t\r\n".utf8.contains($0) }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        else { return nil }
        return try? JSONValue(parsing: text)
    }

    /// Masks user and password in the URLs of a text.
    private static func withoutUsers(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let mark = rest.firstRange(of: "://") {
            result += rest[..<mark.upperBound]
            rest = rest[mark.upperBound...]
            let authority = rest.prefix { !" \t\n\"'<>/?#".contains($0) }
            guard let at = authority.lastIndex(of: "@"), authority[..<at].contains(":") else { continue }
            result += mask
            rest = rest[at...]
        }
        return result + rest
    }

    static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        if harmless.contains(name.filter { $0 != "_" && $0 != "-" }) { return false }
        return names.contains { $0.matches(name) }
    }

    /// Whether a number under the name of a secret is one: a PIN or a code, and not a count of tokens.
    private static func isSecretNumber(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.contains("token") && !name.contains("tokens") || numbers.contains { $0.matches(name) }
    }

    /// Whether a value, or one in it, is what a recording has in the place of a secret.
    static func hasMask(_ value: JSONValue, depth: Int = 0) -> Bool {
        // Nothing deeper is masked.
        guard depth < 130 else { return false }
        switch value {
        case .string(let text):
            if text == mask { return true }
            return json(in: text).map { hasMask($0, depth: depth + 1) } ?? false
        case .array(let elements): return elements.contains { hasMask($0, depth: depth + 1) }
        case .object(let members): return members.contains { hasMask($0.value, depth: depth + 1) }
        case .null, .bool, .number: return false
        }
    }
}
