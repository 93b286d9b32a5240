import MCPCore

/// The removal of secrets from messages before they are written to a recording.
///
/// Values of members whose names suggest a secret, with everything in them, and texts that are known to be
/// secret, are replaced, also in a text that is itself JSON, as results are that repeat their structured
/// content. In a schema, such a member defines an argument and is kept. A secret in a text
/// under another name stays: a recording may hold personal data, and is a private file.
struct MessageMask: Sendable {
    static let mask = KnownSecrets.mask

    private static let names = SecretNames.patterns.map { Glob($0) }
    /// Members of the protocol that match and are no secrets.
    private static let harmless: Set<String> = ["progressToken", "maxTokens", "inputTokens", "outputTokens"]

    /// Members whose value is a schema.
    private static let schemas: Set<String> = ["inputSchema", "outputSchema", "requestedSchema"]

    private let known: KnownSecrets

    init(_ secrets: [String] = []) { known = KnownSecrets(secrets) }

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
        case .string(let text): return .string(Self.withoutUsers(known.mask(maskedJSON(text, depth))))
        case .array(let elements):
            return .array(elements.map { masked($0, depth: depth + 1, isSchema: isSchema) })
        case .object(let members):
            return .object(
                JSONObject(
                    members.map { member in
                        let (key, value) = (member.key, member.value)
                        // The definition of an argument is not its value.
                        if Self.isSecret(key), !isSchema || value.objectValue == nil {
                            return (key: key, value: Self.hidden(value, depth))
                        }
                        let isInSchema = isSchema || Self.schemas.contains(key)
                        return (key: key, value: masked(value, depth: depth + 1, isSchema: isInSchema))
                    }))
        default: return value
        }
    }

    /// Returns a value under the name of a secret: an object keeps its names, and true and false stay.
    private static func hidden(_ value: JSONValue, _ depth: Int) -> JSONValue {
        switch value {
        case .bool: value
        case .object(let members) where depth < 128:
            .object(JSONObject(members.map { (key: $0.key, value: hidden($0.value, depth + 1)) }))
        default: .string(mask)
        }
    }

    /// Masks a text that is an object or an array; one without secrets stays as it is written.
    private func maskedJSON(_ text: String, _ depth: Int) -> String {
        guard let first = text.utf8.first(where: { !" \t\r\n".utf8.contains($0) }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            let value = try? JSONValue(parsing: text)
        else { return text }
        let masked = masked(value, depth: depth + 1)
        return masked == value ? text : masked.serialized()
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
        if harmless.contains(name) { return false }
        let name = name.lowercased()
        return names.contains { $0.matches(name) }
    }
}
