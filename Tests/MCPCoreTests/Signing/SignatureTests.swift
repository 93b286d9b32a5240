#if !canImport(Darwin)
import TestSupport
import Testing

@testable import MCPCore

/// Signatures by the system's libcrypto.
@Suite struct SignatureTests {
    private static let provider = OpenSSLSignatures.system

    struct Vector: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let key: PublicKey
        let algorithm: SignatureAlgorithm
        let input: String
        let signature: String
    }

    static let vectors = [
        Vector(
            testDescription: "RFC 7515 A.2", key: SigningKeyTests.rsa, algorithm: .rs256,
            input: RFCVector.a2Input, signature: RFCVector.a2Signature),
        Vector(
            testDescription: "PS256", key: SigningKeyTests.rsa, algorithm: .ps256, input: RFCVector.psInput,
            signature: RFCVector.psSignature),
        Vector(
            testDescription: "RFC 7515 A.3", key: SigningKeyTests.p256, algorithm: .es256,
            input: RFCVector.a3Input, signature: RFCVector.a3Signature),
        Vector(
            testDescription: "RFC 8037 A.4", key: SigningKeyTests.ed25519, algorithm: .edDSA,
            input: RFCVector.edInput, signature: RFCVector.edSignature),
    ]

    @Test(arguments: vectors) func verifies(_ vector: Vector) throws {
        let key = try Self.provider.verifyingKey(vector.key)
        let (message, signature) = (Array(vector.input.utf8), SigningKeyTests.bytes(vector.signature))
        #expect(key.isValid(signature, of: message, by: vector.algorithm))
        // Not one bit may differ, and no other algorithm takes it.
        for place in Set([0, 1, signature.count / 2, signature.count - 1]) {
            var wrong = signature
            wrong[place] ^= 1
            #expect(!key.isValid(wrong, of: message, by: vector.algorithm))
        }
        #expect(!key.isValid(signature, of: message + [0x2E], by: vector.algorithm))
        #expect(!key.isValid(signature, of: [], by: vector.algorithm))
        for other in SignatureAlgorithm.allCases where other != vector.algorithm {
            #expect(!key.isValid(signature, of: message, by: other))
        }
        let bad: [[UInt8]] = [
            [], [0], signature.dropLast(), signature + [0], [0] + signature, [0] + signature.dropLast(),
            [UInt8](repeating: 0, count: signature.count), [UInt8](repeating: 0xFF, count: signature.count),
            [UInt8](repeating: 0x30, count: 100_000),
        ]
        for wrong in bad { #expect(!key.isValid(wrong, of: message, by: vector.algorithm)) }
    }

    /// RFC 7518, section 3.4: not DER; section 3.5: a salt of 32 bytes and MGF1 with SHA-256.
    @Test func refusesOtherForms() throws {
        let p256 = try Self.provider.verifyingKey(SigningKeyTests.p256)
        let signature = SigningKeyTests.bytes(RFCVector.a3Signature)
        let der = DER.sequence(DER.integer(signature.prefix(32)), DER.integer(signature.suffix(32)))
        #expect(!p256.isValid(der, of: Array(RFCVector.a3Input.utf8), by: .es256))
        let rsa = try Self.provider.verifyingKey(SigningKeyTests.rsa)
        for other in [RFCVector.psShortSalt, RFCVector.psOtherMask] {
            #expect(
                !rsa.isValid(SigningKeyTests.bytes(other), of: Array(RFCVector.psInput.utf8), by: .ps256))
        }
    }

    @Test func refusesPointsOffTheCurve() {
        let good = SigningKeyTests.bytes(RFCVector.x)
        for y: [UInt8] in [good, [UInt8](repeating: 0, count: 32), [UInt8](repeating: 0xFF, count: 32)] {
            let error = #expect(throws: SignatureError.self) {
                try Self.provider.verifyingKey(.p256(x: good, y: y))
            }
            #expect(error?.kind == .key)
        }
        let error = #expect(throws: SignatureError.self) {
            try Self.provider.verifyingKey(
                .rsa(modulus: SigningKeyTests.bytes(RFCVector.modulus1024), exponent: [1, 0, 1]))
        }
        #expect(error?.message == "an RSA key of 1024 bits is not one of 2048 to 4096 bits")
    }

    // MARK: Signing

    /// RS256 and Ed25519 are deterministic: the signatures are those of the RFCs.
    @Test func signsAsTheRFCs() throws {
        let rsa = try Self.provider.signingKey(pem: RFCVector.rsaPEM)
        #expect(rsa.publicKey == SigningKeyTests.rsa)
        #expect(
            try Base64URL.encode(rsa.sign(Array(RFCVector.a2Input.utf8), by: .rs256))
                == RFCVector.a2Signature)
        let ed25519 = try Self.provider.signingKey(pem: RFCVector.ed25519PEM)
        #expect(ed25519.publicKey == SigningKeyTests.ed25519)
        #expect(
            try Base64URL.encode(ed25519.sign(Array(RFCVector.edInput.utf8), by: .edDSA))
                == RFCVector.edSignature)
    }

    @Test(arguments: [
        (RFCVector.rsaPEM, SignatureAlgorithm.rs256), (RFCVector.rsaPEM, .ps256), (RFCVector.p256PEM, .es256),
        (RFCVector.p256TraditionalPEM, .es256), (RFCVector.ed25519PEM, .edDSA),
    ])
    func whatIsSignedIsVerified(_ pem: String, _ algorithm: SignatureAlgorithm) throws {
        let key = try Self.provider.signingKey(pem: pem)
        let again = try Self.provider.signingKey(exported: key.export())
        #expect(again.publicKey == key.publicKey)
        let verifier = try Self.provider.verifyingKey(key.publicKey)
        for number in 0 ..< 20 {
            let message = Array("message \(number)".utf8)
            let signature = try (number.isMultiple(of: 2) ? key : again).sign(message, by: algorithm)
            #expect(verifier.isValid(signature, of: message, by: algorithm))
            if algorithm == .es256 { #expect(signature.count == 64) }
        }
        for other in SignatureAlgorithm.allCases where !key.publicKey.fits(other) {
            let error = #expect(throws: SignatureError.self) { try key.sign([1], by: other) }
            #expect(error?.kind == .signing)
        }
    }

    /// In one of 128 signatures, r or s has a zero in front, which DER leaves out and JOSE keeps.
    @Test func makesKeys() throws {
        let key = try Self.provider.makeP256Key()
        #expect(try Self.provider.makeP256Key().publicKey != key.publicKey)
        #expect(try Self.provider.signingKey(exported: key.export()).publicKey == key.publicKey)
        let verifier = try Self.provider.verifyingKey(key.publicKey)
        var shortOnes = 0
        for number in 0 ..< 600 {
            let message = Array("\(number)".utf8)
            let signature = try key.sign(message, by: .es256)
            #expect(signature.count == 64)
            if signature[0] == 0 || signature[32] == 0 { shortOnes += 1 }
            #expect(verifier.isValid(signature, of: message, by: .es256))
        }
        // The chance of none is 1 %; then more are made.
        if shortOnes == 0 { #expect(try retries(key, verifier)) }
    }

    private func retries(_ key: any SigningKey, _ verifier: any VerifyingKey) throws -> Bool {
        for number in 0 ..< 10_000 {
            let message = Array("again \(number)".utf8)
            let signature = try key.sign(message, by: .es256)
            guard signature[0] == 0 || signature[32] == 0 else { continue }
            return verifier.isValid(signature, of: message, by: .es256)
        }
        return false
    }

    @Test(arguments: [
        "", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", RFCVector.p256EncryptedPEM,
        RFCVector.p384PEM, RFCVector.rsa1024PEM,
        String(repeating: "A", count: OpenSSLKey.maxPrivateKeyBytes + 1),
        RFCVector.p256PEM.replacing("MIGH", with: "MIGI"),
    ])
    func badPrivateKeysAreRefused(_ pem: String) {
        let error = #expect(throws: SignatureError.self) { try Self.provider.signingKey(pem: pem) }
        #expect(error?.kind == .key)
        // Nothing of a key is in an error.
        #expect(error.map { !"\($0)".contains("MIG") } ?? false)
    }

    @Test func exportedKeysAreAllOfTheBytes() throws {
        let bytes = try Self.provider.signingKey(pem: RFCVector.p256PEM).export()
        for bad in [[], Array(bytes.dropLast()), bytes + [0], [UInt8](repeating: 0x30, count: 1 << 20)] {
            let error = #expect(throws: SignatureError.self) { try Self.provider.signingKey(exported: bad) }
            #expect(error?.kind == .key)
        }
    }

    // MARK: The library

    @Test(arguments: ["libcrypto-that-is-missing.so.3", "libc.so.6"])
    func aMissingLibraryIsNamed(_ name: String) {
        let provider = OpenSSLSignatures(library: name)
        let error = #expect(throws: SignatureError.self) { try provider.prepare() }
        #expect(error?.kind == .unavailable)
        #expect(error?.message.hasPrefix("a signature requires OpenSSL 3, but \(name) ") == true)
        #expect(error?.hint != nil)
        // The daemon does not start without it.
        let start = #expect(throws: SignatureError.self) {
            try JWTVerifier(issuer: "https://id", options: .init(signatures: provider)) { "" }
        }
        #expect(start?.kind == .unavailable)
    }

    @Test func keysServeManyThreads() async throws {
        let key = try Self.provider.signingKey(pem: RFCVector.p256PEM)
        let verifier = try Self.provider.verifyingKey(key.publicKey)
        try await withThrowingTaskGroup { group in
            for worker in 0 ..< 16 {
                group.addTask { @concurrent in
                    for number in 0 ..< 20 {
                        let message = Array("\(worker) \(number)".utf8)
                        let signature = try key.sign(message, by: .es256)
                        #expect(verifier.isValid(signature, of: message, by: .es256))
                        #expect(!verifier.isValid(signature, of: message + [0], by: .es256))
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
#endif
