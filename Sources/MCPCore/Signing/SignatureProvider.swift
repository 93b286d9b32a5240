/// A provider of public-key signatures: the system's OpenSSL (`OpenSSLSignatures`) or one that a program
/// supplies, for example over the Security framework.
public protocol SignatureProvider: Sendable {
    /// Loads required resources, such as libraries.
    ///
    /// - Throws: `SignatureError` of the kind `.unavailable`.
    func prepare() throws(SignatureError)

    /// Returns a key that verifies signatures.
    ///
    /// The parameters may come from outside. `PublicKey.validate()` checks their sizes; a provider must also
    /// refuse a point that is not on its curve.
    ///
    /// - Throws: `SignatureError` of the kind `.key` if the key cannot be used, or `.unavailable`.
    func verifyingKey(_ parameters: PublicKey) throws(SignatureError) -> any VerifyingKey

    /// Returns the private key of a PEM text, which must not be encrypted.
    ///
    /// - Throws: `SignatureError` of the kind `.key` if the key cannot be used, or `.unavailable`.
    func signingKey(pem: String) throws(SignatureError) -> any SigningKey

    /// Returns the private key that `SigningKey.export()` has returned.
    ///
    /// - Throws: `SignatureError` of the kind `.key` if the key cannot be used, or `.unavailable`.
    func signingKey(exported bytes: [UInt8]) throws(SignatureError) -> any SigningKey

    /// Makes a new key for ES256.
    ///
    /// - Throws: `SignatureError` of the kind `.unavailable`.
    func makeP256Key() throws(SignatureError) -> any SigningKey
}

extension SignatureProvider {
    /// Loads nothing.
    public func prepare() throws(SignatureError) {}

    /// Fails: a provider for servers has to verify and nothing else.
    public func signingKey(pem: String) throws(SignatureError) -> any SigningKey { throw Self.onlyVerifies }

    /// Fails: a provider for servers has to verify and nothing else.
    public func signingKey(exported bytes: [UInt8]) throws(SignatureError) -> any SigningKey {
        throw Self.onlyVerifies
    }

    /// Fails: a provider for servers has to verify and nothing else.
    public func makeP256Key() throws(SignatureError) -> any SigningKey { throw Self.onlyVerifies }

    private static var onlyVerifies: SignatureError {
        SignatureError(.unavailable, "this SignatureProvider verifies signatures and does not make any")
    }
}

/// A public key that verifies signatures, on any thread and on several threads at a time.
public protocol VerifyingKey: Sendable {
    /// Returns whether `signature` is a signature of `message` by `algorithm` with this key.
    ///
    /// Both come from outside. The signature has the form of JOSE: for ES256 the numbers r and s with 32
    /// bytes each (RFC 7518, section 3.4). Anything but a valid signature gives false, also an algorithm that
    /// does not fit the key.
    func isValid(_ signature: [UInt8], of message: [UInt8], by algorithm: SignatureAlgorithm) -> Bool
}

/// A private key that makes signatures, on any thread and on several threads at a time.
public protocol SigningKey: Sendable {
    /// The public key that verifies the signatures.
    var publicKey: PublicKey { get }

    /// Returns a signature of `message` in the form of JOSE.
    ///
    /// - Throws: `SignatureError` of the kind `.signing` if the algorithm does not fit the key.
    func sign(_ message: [UInt8], by algorithm: SignatureAlgorithm) throws(SignatureError) -> [UInt8]

    /// Returns the private key in a form that the same provider reads; the result is a secret.
    ///
    /// - Throws: `SignatureError` of the kind `.signing` if the key cannot be exported.
    func export() throws(SignatureError) -> [UInt8]
}
