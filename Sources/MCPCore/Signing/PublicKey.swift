/// The parameters of a public key, all of them as big-endian bytes.
public enum PublicKey: Sendable, Hashable {
    /// An RSA key for RS256 and PS256.
    case rsa(modulus: [UInt8], exponent: [UInt8])
    /// A point on the curve P-256 for ES256; both coordinates have 32 bytes.
    case p256(x: [UInt8], y: [UInt8])
    /// A key of 32 bytes on the curve Ed25519 for EdDSA.
    case ed25519([UInt8])

    /// The sizes of RSA keys that are accepted, in bits (AUTH-49).
    public static let rsaBits = 2048 ... 4096
    /// The number of bytes of a coordinate and of an Ed25519 key.
    static let fieldBytes = 32
    /// The greatest size of a public exponent. A larger one only makes verification slow.
    static let maxExponentBits = 32

    /// Whether signatures of `algorithm` are made with keys of this type.
    public func fits(_ algorithm: SignatureAlgorithm) -> Bool {
        switch (self, algorithm) {
        case (.rsa, .rs256), (.rsa, .ps256), (.p256, .es256), (.ed25519, .edDSA): true
        case (.rsa, _), (.p256, _), (.ed25519, _): false
        }
    }

    /// Checks the sizes: RSA keys of 2048 to 4096 bits with an odd exponent from 3 to 2^32 - 1, and 32 bytes
    /// for everything else.
    ///
    /// Whether a point is on its curve is found out by the provider.
    ///
    /// - Throws: `SignatureError` of the kind `.key`.
    public func validate() throws(SignatureError) {
        switch self {
        case .rsa(let modulus, let exponent):
            let bits = Self.bitCount(modulus)
            guard Self.rsaBits.contains(bits), Self.isOdd(modulus) else {
                throw SignatureError(.key, "an RSA key of \(bits) bits is not one of 2048 to 4096 bits")
            }
            let exponentBits = Self.bitCount(exponent)
            guard exponentBits >= 2, exponentBits <= Self.maxExponentBits, Self.isOdd(exponent) else {
                throw SignatureError(.key, "the public exponent of an RSA key is out of range")
            }
        case .p256(let x, let y):
            guard x.count == Self.fieldBytes, y.count == Self.fieldBytes else {
                throw SignatureError(.key, "a coordinate of a P-256 key does not have 32 bytes")
            }
        case .ed25519(let bytes):
            guard bytes.count == Self.fieldBytes else {
                throw SignatureError(.key, "an Ed25519 key does not have 32 bytes")
            }
        }
    }

    private static func bitCount(_ number: [UInt8]) -> Int {
        let digits = number.drop { $0 == 0 }
        guard let first = digits.first else { return 0 }
        // Small: eight times the number of bytes of a text.
        return digits.count * 8 - first.leadingZeroBitCount
    }

    private static func isOdd(_ number: [UInt8]) -> Bool { number.last.map { $0 & 1 == 1 } ?? false }
}

// MARK: JWK

extension PublicKey {
    /// The key as a JWK with only its required members, in the order and the form of RFC 7638, section 3.
    public var jsonWebKey: String {
        switch self {
        case .rsa(let modulus, let exponent):
            let (n, e) = (Self.unsigned(modulus), Self.unsigned(exponent))
            return #"{"e":"\#(e)","kty":"RSA","n":"\#(n)"}"#
        case .p256(let x, let y):
            let (x, y) = (Base64URL.encode(x), Base64URL.encode(y))
            return #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
        case .ed25519(let bytes):
            return #"{"crv":"Ed25519","kty":"OKP","x":"\#(Base64URL.encode(bytes))"}"#
        }
    }

    /// The JWK thumbprint: the SHA-256 digest of `jsonWebKey` in base64url (RFC 7638).
    public var thumbprint: String { Base64URL.encode(SHA256.hash(Array(jsonWebKey.utf8)).bytes) }

    /// Base64urlUInt (RFC 7518, section 2): without leading zeros.
    private static func unsigned(_ number: [UInt8]) -> String {
        Base64URL.encode(Array(number.drop { $0 == 0 }))
    }
}
