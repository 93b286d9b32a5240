import Synchronization

/// A provider of signatures that uses the system's libcrypto (OpenSSL 3), loaded when the first key is used.
///
/// It needs `libcrypto.so.3`. Apple platforms have no system OpenSSL, so a program must supply its own
/// `SignatureProvider`.
public final class OpenSSLSignatures: SignatureProvider {
    /// The provider with the system's library.
    public static let system = OpenSSLSignatures()

    #if canImport(Darwin)
    /// Creates a provider.
    public init() {}

    /// Always fails on this platform.
    /// - Throws: `SignatureError` of the kind `.unavailable`.
    public func prepare() throws(SignatureError) { throw Self.nothingHere }

    /// Always fails on this platform.
    /// - Throws: `SignatureError` of the kind `.unavailable`.
    public func verifyingKey(_ parameters: PublicKey) throws(SignatureError) -> any VerifyingKey {
        throw Self.nothingHere
    }

    /// Always fails on this platform.
    /// - Throws: `SignatureError` of the kind `.unavailable`.
    public func signingKey(pem: String) throws(SignatureError) -> any SigningKey { throw Self.nothingHere }

    /// Always fails on this platform.
    /// - Throws: `SignatureError` of the kind `.unavailable`.
    public func signingKey(exported bytes: [UInt8]) throws(SignatureError) -> any SigningKey {
        throw Self.nothingHere
    }

    /// Always fails on this platform.
    /// - Throws: `SignatureError` of the kind `.unavailable`.
    public func makeP256Key() throws(SignatureError) -> any SigningKey { throw Self.nothingHere }

    private static let nothingHere = SignatureError(
        .unavailable, "a signature needs a SignatureProvider of the program on this platform",
        hint: "give one to JWTVerifier.Options.signatures")
    #else
    private let name: String
    private let crypto = Mutex<OpenSSLCrypto?>(nil)

    /// Creates a provider.
    public convenience init() { self.init(library: OpenSSLLibrary.Names().crypto) }

    init(library name: String) { self.name = name }

    /// Loads libcrypto, once.
    ///
    /// - Throws: `SignatureError` of the kind `.unavailable` if the library is missing or another one.
    public func prepare() throws(SignatureError) { _ = try loaded() }

    /// Returns a key that verifies signatures.
    ///
    /// - Throws: `SignatureError` of the kind `.key` if a size is not allowed or a point is not on its curve,
    ///   or `.unavailable`, as `prepare()` does.
    public func verifyingKey(_ parameters: PublicKey) throws(SignatureError) -> any VerifyingKey {
        try OpenSSLKey(parameters, try loaded())
    }

    /// Returns the private key of a PEM text, which must not be encrypted: RSA of 2048 to 4096 bits, P-256 or
    /// Ed25519.
    ///
    /// - Throws: `SignatureError` of the kind `.key` if it is not such a key, or `.unavailable`.
    public func signingKey(pem: String) throws(SignatureError) -> any SigningKey {
        try OpenSSLKey(pem: Array(pem.utf8), try loaded())
    }

    /// Returns the private key that `SigningKey.export()` has returned.
    ///
    /// - Throws: `SignatureError` of the kind `.key` if it is not such a key, or `.unavailable`.
    public func signingKey(exported bytes: [UInt8]) throws(SignatureError) -> any SigningKey {
        try OpenSSLKey(privateKey: bytes, try loaded())
    }

    /// Makes a new key for ES256.
    ///
    /// - Throws: `SignatureError` of the kind `.unavailable`.
    public func makeP256Key() throws(SignatureError) -> any SigningKey {
        try OpenSSLKey(newP256Key: try loaded())
    }

    private func loaded() throws(SignatureError) -> OpenSSLCrypto {
        try crypto.withLock { (crypto) throws(SignatureError) in
            if let crypto { return crypto }
            do throws(TLSError) {
                let new = try OpenSSLCrypto(name)
                crypto = new
                return new
            } catch {
                throw SignatureError(
                    .unavailable, error.message, details: error.details, hint: error.hint)
            }
        }
    }
    #endif
}
