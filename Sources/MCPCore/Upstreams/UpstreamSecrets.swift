/// The secrets of a server behind this one, and the removal of them from its errors.
///
/// The results of calls that succeed stay as they are: they are what the caller asked for.
struct UpstreamSecrets: Sendable {
    /// The bytes of the shortest text that is removed.
    private static let minBytes = 4
    /// The bytes of the shortest line that is removed of a secret with several lines, such as a key.
    private static let minLineBytes = 8
    private let known: KnownSecrets

    init(_ secrets: [String] = []) {
        var rules = KnownSecrets.Rules()
        rules.mask = "•••"
        rules.maxCount = .max
        rules.minBytes = Self.minBytes
        // The word in front of a token is part of the secret, and no secret.
        rules.masksParts = false
        // A program writes lines.
        let lines = secrets.flatMap { secret in
            secret.split(whereSeparator: \.isNewline).map(String.init).filter {
                $0 != secret && $0.utf8.count >= Self.minLineBytes
            }
        }
        known = KnownSecrets(secrets + lines, rules: rules)
    }

    /// Returns a text without the secrets.
    func mask(_ text: String) -> String { known.mask(text) }

    /// Returns an error without the secrets.
    func mask(_ error: MCPError) -> MCPError {
        if known.isEmpty { return error }
        var copy = error
        copy.message = mask(error.message)
        copy.data = error.data.map { masked($0) }
        return copy
    }

    /// Returns a result without the secrets if it reports a failure (`isError`).
    func mask(failed result: RawJSON) -> RawJSON {
        guard !known.isEmpty, result["isError"]?.value == .bool(true) else { return result }
        // Nearly all have none, and stay as their server wrote them.
        let text = String(decoding: result.bytes, as: UTF8.self)
        return mask(text) == text ? result : RawJSON(masked(result.value))
    }

    private func masked(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): return .string(mask(text))
        case .array(let elements): return .array(elements.map { masked($0) })
        case .object(let members):
            var copy = JSONObject()
            for (key, value) in members { copy[mask(key)] = masked(value) }
            return .object(copy)
        default: return value
        }
    }
}
