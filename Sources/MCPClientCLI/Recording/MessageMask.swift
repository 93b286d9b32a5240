import MCPCore

/// The removal of secrets from messages before they are written to a recording.
///
/// Values of members whose names suggest a secret, and texts that are known to be secret, are replaced, also
/// in a text that is itself JSON, as results are that repeat their structured content. A secret in a text
/// under another name stays: a recording may hold personal data, and is a private file.
struct MessageMask: Sendable {
    static let mask = KnownSecrets.mask

    private static let names = SecretNames.patterns.map { Glob($0) }
    /// Members of the protocol that match and are no secrets.
    private static let harmless: Set<String> = ["progressToken", "maxTokens", "inputTokens", "outputTokens"]

    private let known: KnownSecrets

    init(_ secrets: [String] = []) { known = KnownSecrets(secrets) }

    /// Returns the message as it is written down.
    func masked(_ message: RawJSON) -> RawJSON {
        let value = message.value
        let masked = self.masked(value, depth: 0)
        return masked == value ? message : RawJSON(masked)
    }

    func masked(_ value: JSONValue, depth: Int = 0) -> JSONValue {
        guard depth < 128 else { return value }
        switch value {
        case .string(let text): return .string(Self.withoutUsers(known.mask(maskedJSON(text, depth))))
        case .array(let elements): return .array(elements.map { masked($0, depth: depth + 1) })
        case .object(let members):
            return .object(
                JSONObject(
                    members.map { member in
                        // The definition of an argument is not its value.
                        let isSecret =
                            Self.isSecret(member.key) && member.value.objectValue == nil
                            && member.value.boolValue == nil
                        return (
                            key: member.key,
                            value: isSecret ? .string(Self.mask) : masked(member.value, depth: depth + 1)
                        )
                    }))
        default: return value
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
