/// A JWS in compact form (RFC 7515, section 7.1): three parts in base64url, separated by dots.
///
/// Its parts come from a client. Nothing about them is trusted, also not the header, until the signature has
/// been verified.
struct CompactJWS: Sendable {
    /// The greatest length of a token.
    static let maxBytes = 16 << 10
    /// The greatest nesting depth of the header and the payload.
    static let maxDepth = 32

    let header: JSONObject
    let payload: JSONObject
    let signature: [UInt8]
    /// The signed bytes: the first two parts as they were sent, with the dot.
    let signingInput: [UInt8]

    /// Reads a token; nil for everything that is not exactly such a text, with JSON objects whose names do
    /// not repeat as header and payload.
    ///
    /// Of two members with one name, another reader might take the other one (AUTH-49; RFC 7515, section 4).
    init?(_ token: String) {
        let text = token.utf8
        guard text.count <= Self.maxBytes else { return nil }
        let parts = text.split(separator: ASCII.point, maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let payload = Self.object(parts[1]),
            let signature = Base64URL.decode(parts[2]), !signature.isEmpty
        else { return nil }
        self.header = header
        self.payload = payload
        self.signature = signature
        // Both parts and the dot between them.
        signingInput = Array(text.prefix(parts[0].count + 1 + parts[1].count))
    }

    private static func object(_ part: Substring.UTF8View) -> JSONObject? {
        guard let bytes = Base64URL.decode(part),
            let raw = try? RawJSON(
                validating: ByteSlice(bytes), limits: JSONLimits(maxDepth: maxDepth, maxBytes: maxBytes)),
            raw.kind == .object, RepeatedNames.first(in: raw) == nil
        else { return nil }
        return raw.value.objectValue
    }
}
