/// A public key of a JWK set (RFC 7517) that verifies signatures of tokens.
struct JSONWebKey: Sendable {
    /// The name that tokens refer to the key by; it is only compared (AUTH-49).
    let id: String?
    /// The only algorithm of the key, if it has one.
    let algorithm: SignatureAlgorithm?
    let publicKey: PublicKey
    let verifier: any VerifyingKey

    /// Reads a key; nil for a key of another type or purpose, a malformed or too weak one, and one whose
    /// private part is in the set.
    ///
    /// Certificates and addresses in it (`x5c`, `x5u`) are not used.
    ///
    /// - Throws: `SignatureError` of the kind `.unavailable`.
    init?(_ json: JSONValue, _ signatures: some SignatureProvider) throws(SignatureError) {
        guard let members = json.objectValue, members["d"] == nil, Self.isForVerification(members),
            let publicKey = Self.publicKey(members), (try? publicKey.validate()) != nil
        else { return nil }
        if let algorithm = members["alg"] {
            guard let name = algorithm.stringValue, let known = SignatureAlgorithm(rawValue: name),
                publicKey.fits(known)
            else { return nil }
            self.algorithm = known
        } else {
            algorithm = nil
        }
        if let id = members["kid"] {
            guard let id = id.stringValue else { return nil }
            self.id = id
        } else {
            id = nil
        }
        do throws(SignatureError) {
            verifier = try signatures.verifyingKey(publicKey)
        } catch {
            if error.kind == .unavailable { throw error }
            return nil
        }
        self.publicKey = publicKey
    }

    /// Whether the key may verify signatures of `algorithm`.
    func allows(_ algorithm: SignatureAlgorithm) -> Bool {
        publicKey.fits(algorithm) && (self.algorithm ?? algorithm) == algorithm
    }

    /// RFC 7517, sections 4.2 and 4.3.
    private static func isForVerification(_ members: JSONObject) -> Bool {
        if let use = members["use"], use.stringValue != "sig" { return false }
        guard let operations = members["key_ops"] else { return true }
        return operations.arrayValue?.contains("verify") ?? false
    }

    /// RFC 7518, section 6, and RFC 8037, section 2.
    private static func publicKey(_ members: JSONObject) -> PublicKey? {
        func bytes(_ name: String) -> [UInt8]? { members[name]?.stringValue.flatMap { Base64URL.decode($0) } }
        switch (members["kty"]?.stringValue, members["crv"]?.stringValue) {
        case ("RSA", _):
            guard let modulus = bytes("n"), let exponent = bytes("e") else { return nil }
            return .rsa(modulus: modulus, exponent: exponent)
        case ("EC", "P-256"):
            guard let x = bytes("x"), let y = bytes("y") else { return nil }
            return .p256(x: coordinate(x), y: coordinate(y))
        case ("OKP", "Ed25519"):
            guard let x = bytes("x") else { return nil }
            return .ed25519(x)
        default: return nil
        }
    }

    /// A coordinate with all of its 32 bytes: some authorization servers leave out leading zeros, which one
    /// of 128 keys has, or add one (RFC 7518, section 6.2.1.2).
    private static func coordinate(_ bytes: [UInt8]) -> [UInt8] {
        let digits = bytes.drop { $0 == 0 }
        return [UInt8](repeating: 0, count: max(0, PublicKey.fieldBytes - digits.count)) + digits
    }
}
