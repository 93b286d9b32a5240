/// A signature algorithm with a public and a private key, under its name in JOSE (RFC 7518, RFC 8037).
///
/// Algorithms with a shared secret (`HS256`) and `none` do not exist here.
public enum SignatureAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// RSASSA-PSS with SHA-256 and a salt of 32 bytes.
    case ps256 = "PS256"
    /// ECDSA on the curve P-256 with SHA-256.
    case es256 = "ES256"
    /// EdDSA on the curve Ed25519.
    case edDSA = "EdDSA"
}
