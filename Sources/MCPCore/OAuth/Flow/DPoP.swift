import Synchronization

/// Proofs that the client holds the key of its tokens (RFC 9449).
final class DPoPProofs: Sendable {
    /// The greatest number of servers whose nonces are kept.
    private static let maxNonces = 64

    private let clock: any TimeSource
    /// The latest nonce of each origin.
    private let nonces = Mutex<[String: String]>([:])

    init(clock: any TimeSource) { self.clock = clock }

    /// Remembers the nonce that a server demands or announces; it is a visible text without quotes.
    func remember(_ nonce: String?, of url: String) {
        guard let nonce, let origin = WebURL(url)?.origin, (1 ... 1_024).contains(nonce.utf8.count),
            nonce.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != ASCII.quote && $0 != ASCII.backslash })
        else { return }
        nonces.withLock { nonces in
            if nonces.count >= Self.maxNonces, nonces[origin] == nil { nonces = [:] }
            nonces[origin] = nonce
        }
    }

    /// Returns a new proof for one request (RFC 9449, section 4.2).
    ///
    /// - Parameter accessToken: the token that the request presents; nil at the token endpoint.
    func proof(
        _ method: String, _ url: String, accessToken: String?, key: any SigningKey
    ) throws(AuthorizationError) -> String {
        var claims: JSONObject = [
            "jti": .string(Base64URL.encode(SystemRandom().bytes(16))), "htm": .string(method),
            "htu": .string(String(url.prefix { $0 != "?" && $0 != "#" })),
            "iat": JSONValue(clock.wallTime.secondsSinceEpoch),
        ]
        if let accessToken {
            claims["ath"] = .string(Base64URL.encode(SHA256.hash(Array(accessToken.utf8)).bytes))
        }
        if let origin = WebURL(url)?.origin, let nonce = nonces.withLock({ $0[origin] }) {
            claims["nonce"] = .string(nonce)
        }
        let publicKey = (try? JSONValue(parsing: key.publicKey.jsonWebKey)) ?? [:]
        return try ClientAssertion.sign(
            header: ["typ": "dpop+jwt", "jwk": publicKey], .object(claims), key)
    }
}

/// The key of one token request.
struct DPoPKey: Sendable {
    let key: any SigningKey
    let proofs: DPoPProofs
    /// Whether tokens that are not bound to the key are refused.
    let isRequired: Bool

    /// Makes a new key.
    static func make(
        _ signatures: any SignatureProvider, _ proofs: DPoPProofs, isRequired: Bool
    ) throws(AuthorizationError) -> DPoPKey {
        do throws(SignatureError) {
            try signatures.prepare()
            return DPoPKey(key: try signatures.makeP256Key(), proofs: proofs, isRequired: isRequired)
        } catch {
            throw AuthorizationError(
                .usage, "no key for bound tokens can be made: \(error.message)", details: error.details,
                hint: error.hint)
        }
    }

    /// Reads a stored key.
    static func read(
        _ bytes: [UInt8], _ signatures: any SignatureProvider, _ proofs: DPoPProofs
    ) throws(AuthorizationError) -> DPoPKey {
        do throws(SignatureError) {
            try signatures.prepare()
            return DPoPKey(key: try signatures.signingKey(exported: bytes), proofs: proofs, isRequired: true)
        } catch {
            throw AuthorizationError(
                .store, "the stored key of the tokens cannot be used: \(error.message)",
                details: error.details, hint: "log in again")
        }
    }

    /// The key for the store.
    func exported() throws(AuthorizationError) -> [UInt8] {
        do throws(SignatureError) { return try key.export() } catch {
            throw AuthorizationError(.usage, "the key of the tokens cannot be stored: \(error.message)")
        }
    }
}
