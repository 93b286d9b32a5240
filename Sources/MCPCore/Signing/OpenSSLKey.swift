#if !canImport(Darwin)
/// A key of libcrypto, public or private.
@safe final class OpenSSLKey: VerifyingKey, SigningKey, @unchecked Sendable {
    // SAFETY: set once in `init`; OpenSSL counts references to an EVP_PKEY and locks it, and each signature
    // has its own context.
    private let pointer: OpaquePointer
    private let crypto: OpenSSLCrypto
    let publicKey: PublicKey

    private static let ec: Int32 = 408
    private static let p256: Int32 = 415
    /// RSA_PKCS1_PSS_PADDING.
    private static let pss: Int32 = 6
    /// RFC 7518, section 3.5: as long as the digest.
    private static let saltBytes: Int32 = 32
    /// More than any key that is accepted has, also in PEM.
    static let maxPrivateKeyBytes = 16 << 10

    /// Creates a public key.
    ///
    /// - Throws: `SignatureError` of the kind `.key` for a point that is not on its curve and for sizes that
    ///   are not allowed.
    init(_ parameters: PublicKey, _ crypto: OpenSSLCrypto) throws(SignatureError) {
        try parameters.validate()
        guard let pointer = unsafe Self.parse(parameters.subjectPublicKeyInfo, crypto, crypto.parsePublic)
        else { throw SignatureError(.key, "a public key is not a point on its curve") }
        self.crypto = crypto
        publicKey = parameters
        unsafe self.pointer = unsafe pointer
    }

    /// Reads a private key in the form of `export()`.
    convenience init(privateKey bytes: [UInt8], _ crypto: OpenSSLCrypto) throws(SignatureError) {
        try unsafe self.init(owning: Self.parse(bytes, crypto, crypto.parsePrivate), crypto)
    }

    /// Reads a private key in PEM.
    convenience init(pem: [UInt8], _ crypto: OpenSSLCrypto) throws(SignatureError) {
        let pointer = unsafe pem.count > Self.maxPrivateKeyBytes ? nil : Self.read(pem, crypto)
        try unsafe self.init(owning: pointer, crypto)
    }

    /// Makes a private key on the curve P-256.
    convenience init(newP256Key crypto: OpenSSLCrypto) throws(SignatureError) {
        var pointer: OpaquePointer?
        if let generator = unsafe crypto.generatorNew(Self.ec, nil) {
            if unsafe crypto.beginGenerate(generator) == 1, unsafe crypto.setCurve(generator, Self.p256) == 1
            {
                _ = unsafe crypto.generate(generator, &pointer)
            }
            unsafe crypto.generatorFree(generator)
        }
        guard unsafe pointer != nil else {
            crypto.clearErrors()
            throw SignatureError(.unavailable, "OpenSSL makes no key")
        }
        try unsafe self.init(owning: pointer, crypto)
    }

    /// Takes over a private key of OpenSSL.
    private init(owning pointer: OpaquePointer?, _ crypto: OpenSSLCrypto) throws(SignatureError) {
        guard let pointer = unsafe pointer else {
            crypto.clearErrors()
            throw SignatureError(
                .key, "the private key cannot be read",
                hint: "it has to be PEM without a password: -----BEGIN PRIVATE KEY-----")
        }
        guard let info = unsafe Self.encode(pointer, crypto.encodePublic),
            let publicKey = PublicKey(subjectPublicKeyInfo: info), (try? publicKey.validate()) != nil
        else {
            unsafe crypto.keyFree(pointer)
            crypto.clearErrors()
            throw SignatureError(
                .key, "the private key is neither RSA with 2048 to 4096 bits nor P-256 nor Ed25519")
        }
        self.crypto = crypto
        self.publicKey = publicKey
        unsafe self.pointer = unsafe pointer
    }

    deinit { unsafe crypto.keyFree(pointer) }

    // MARK: Signatures

    func isValid(_ signature: [UInt8], of message: [UInt8], by algorithm: SignatureAlgorithm) -> Bool {
        guard publicKey.fits(algorithm), let encoded = Self.fromJOSE(signature, algorithm) else {
            return false
        }
        return unsafe withContext(algorithm, crypto.beginVerify) { context in
            // Anything but 1 is a no: 0 for a wrong signature, negative for an error.
            unsafe crypto.verify(context, encoded, encoded.count, message, message.count) == 1
        } ?? false
    }

    func sign(_ message: [UInt8], by algorithm: SignatureAlgorithm) throws(SignatureError) -> [UInt8] {
        guard publicKey.fits(algorithm) else {
            throw SignatureError(.signing, "the key does not fit \(algorithm.rawValue)")
        }
        let signature: [UInt8]?? = unsafe withContext(algorithm, crypto.beginSign) { context in
            var count = 0
            guard unsafe crypto.sign(context, nil, &count, message, message.count) == 1 else { return nil }
            var bytes = [UInt8](repeating: 0, count: count)
            guard unsafe crypto.sign(context, &bytes, &count, message, message.count) == 1 else { return nil }
            return Self.toJOSE(Array(bytes.prefix(count)), algorithm)
        }
        guard let signature = signature ?? nil else {
            throw SignatureError(.signing, "OpenSSL makes no signature")
        }
        return signature
    }

    func export() throws(SignatureError) -> [UInt8] {
        guard let bytes = unsafe Self.encode(pointer, crypto.encodePrivate) else {
            crypto.clearErrors()
            throw SignatureError(.signing, "OpenSSL does not export the private key")
        }
        return bytes
    }

    /// Calls `body` with a context for one signature; nil if OpenSSL makes none.
    private func withContext<R>(
        _ algorithm: SignatureAlgorithm, _ begin: OpenSSLCrypto.Begin, _ body: (OpaquePointer) -> R
    ) -> R? {
        defer { crypto.clearErrors() }
        guard let context = unsafe crypto.contextNew() else { return nil }
        defer { unsafe crypto.contextFree(context) }
        var settings: OpaquePointer?
        // Ed25519 hashes by itself.
        let digest = unsafe algorithm == .edDSA ? nil : crypto.sha256
        guard unsafe begin(context, &settings, digest, nil, pointer) == 1 else { return nil }
        if algorithm == .ps256 {
            guard unsafe crypto.setPadding(settings, Self.pss) == 1,
                unsafe crypto.setSaltLength(settings, Self.saltBytes) == 1
            else { return nil }
        }
        return unsafe body(context)
    }

    // MARK: Forms

    /// Returns a signature in the form of OpenSSL: ECDSA as a sequence of two integers.
    private static func fromJOSE(_ signature: [UInt8], _ algorithm: SignatureAlgorithm) -> [UInt8]? {
        guard algorithm == .es256 else { return signature }
        let size = PublicKey.fieldBytes
        guard signature.count == size + size else { return nil }
        return DER.sequence(DER.integer(signature.prefix(size)), DER.integer(signature.suffix(size)))
    }

    private static func toJOSE(_ signature: [UInt8], _ algorithm: SignatureAlgorithm) -> [UInt8]? {
        guard algorithm == .es256 else { return signature }
        let size = PublicKey.fieldBytes
        guard let (r, s) = DER.twoIntegers(in: signature[...]), r.count <= size, s.count <= size else {
            return nil
        }
        func padded(_ number: ArraySlice<UInt8>) -> [UInt8] {
            [UInt8](repeating: 0, count: size - number.count) + number
        }
        return padded(r) + padded(s)
    }

    /// Parses a key, which must be all of `bytes`.
    private static func parse(
        _ bytes: [UInt8], _ crypto: OpenSSLCrypto, _ function: OpenSSLCrypto.Parse
    ) -> OpaquePointer? {
        guard bytes.count <= maxPrivateKeyBytes else { return nil }
        return unsafe bytes.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            let key = unsafe function(nil, &position, bytes.count)
            guard unsafe key != nil else {
                crypto.clearErrors()
                return nil
            }
            if let start = bytes.baseAddress, unsafe position == start + bytes.count {
                return unsafe key
            }
            unsafe crypto.keyFree(key)
            return nil
        }
    }

    private static func encode(_ key: OpaquePointer, _ function: OpenSSLCrypto.Encode) -> [UInt8]? {
        // Small: the size of a key, also below.
        let count = unsafe Int(function(key, nil))
        guard count > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let written = unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            var position = bytes.baseAddress
            // Small: as above.
            return unsafe Int(function(key, &position))
        }
        return written == count ? bytes : nil
    }

    private static func read(_ pem: [UInt8], _ crypto: OpenSSLCrypto) -> OpaquePointer? {
        unsafe pem.withUnsafeBytes { bytes in
            // Small: at most maxPrivateKeyBytes.
            guard let memory = unsafe crypto.memory(bytes.baseAddress, Int32(clamping: bytes.count)) else {
                return nil
            }
            defer { _ = unsafe crypto.memoryFree(memory) }
            // Without this function, OpenSSL would ask for the password on the terminal.
            return unsafe crypto.readPEM(memory, nil, { _, _, _, _ in -1 }, nil)
        }
    }
}
#endif
