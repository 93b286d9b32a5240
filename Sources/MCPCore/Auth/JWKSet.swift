/// A set of public keys of an authorization server (RFC 7517, section 5).
struct JWKSet: Sendable {
    /// The greatest length of the text.
    static let maxBytes = 256 << 10
    /// The greatest number of keys, those of other types included.
    static let maxKeys = 100
    /// The greatest number of keys that are tried for one token, so that a bad token is cheap to refuse.
    static let maxTrials = 4

    /// The keys that can be used, in order.
    let keys: [JSONWebKey]

    /// The outcome of looking for the key that has made a signature.
    enum Outcome: Sendable, Hashable {
        /// The signature is valid.
        case valid
        /// A key of this name exists, and it has not made the signature.
        case invalid
        /// The key is not in this set; a newer one may have it.
        case unknownKey
    }

    /// Reads a set. A key that cannot be used is left out.
    ///
    /// - Throws: `SignatureError` of the kind `.key` for a text that is not a JWK set or exceeds a limit, and
    ///   `.unavailable`.
    init(_ text: String, _ signatures: some SignatureProvider) throws(SignatureError) {
        let limits = JSONLimits(maxDepth: CompactJWS.maxDepth, maxBytes: Self.maxBytes)
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: text, limits: limits)
        } catch {
            throw SignatureError(.key, "a JWK set cannot be read: \(error)")
        }
        guard let entries = json["keys"]?.arrayValue else {
            throw SignatureError(.key, #"a JWK set has no array "keys""#)
        }
        guard entries.count <= Self.maxKeys else {
            throw SignatureError(.key, "a JWK set has more than \(Self.maxKeys) keys")
        }
        var keys: [JSONWebKey] = []
        for entry in entries {
            if let key = try JSONWebKey(entry, signatures) { keys.append(key) }
        }
        self.keys = keys
    }

    /// Verifies the signature of a token with the key of the name `id`, or with the first keys that allow the
    /// algorithm if the token names none.
    func verify(_ jws: CompactJWS, _ algorithm: SignatureAlgorithm, id: String?) -> Outcome {
        var candidates = keys[...]
        if let id {
            candidates = candidates.filter { $0.id.map { JSONKey.same($0, id) } ?? false }[...]
            if candidates.isEmpty { return .unknownKey }
        }
        for key in candidates.lazy.filter({ $0.allows(algorithm) }).prefix(Self.maxTrials)
        where key.verifier.isValid(jws.signature, of: jws.signingInput, by: algorithm) {
            return .valid
        }
        return id == nil ? .unknownKey : .invalid
    }
}
