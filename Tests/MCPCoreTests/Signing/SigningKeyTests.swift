import TestSupport
import Testing

@testable import MCPCore

/// Public keys as parameters, as DER and as JWK: no library is needed.
@Suite struct SigningKeyTests {
    static func bytes(_ text: String) -> [UInt8] { Base64URL.decode(text) ?? [] }

    static let rsa = PublicKey.rsa(modulus: bytes(RFCVector.modulus), exponent: [1, 0, 1])
    static let p256 = PublicKey.p256(x: bytes(RFCVector.x), y: bytes(RFCVector.y))
    static let ed25519 = PublicKey.ed25519(bytes(RFCVector.ed25519))
    static let all = [rsa, p256, ed25519]

    // RFC 7638 3.1, RFC 8037 A.3
    @Test func thumbprintsAreThoseOfTheRFCs() {
        let key = PublicKey.rsa(modulus: Self.bytes(RFCVector.thumbprintModulus), exponent: [1, 0, 1])
        #expect(key.thumbprint == RFCVector.thumbprint)
        #expect(Self.ed25519.thumbprint == RFCVector.edThumbprint)
        // A leading zero is not part of the number (RFC 7518, section 2).
        let padded = PublicKey.rsa(
            modulus: [0] + Self.bytes(RFCVector.thumbprintModulus), exponent: [0, 1, 0, 1])
        #expect(padded.thumbprint == RFCVector.thumbprint)
        #expect(
            Self.p256.jsonWebKey
                == #"{"crv":"P-256","kty":"EC","x":"\#(RFCVector.x)","y":"\#(RFCVector.y)"}"#)
    }

    @Test(arguments: all) func theEncodingIsReadBack(_ key: PublicKey) throws {
        let info = key.subjectPublicKeyInfo
        #expect(PublicKey(subjectPublicKeyInfo: info) == key)
        try key.validate()
        for count in 0 ..< info.count {
            #expect(PublicKey(subjectPublicKeyInfo: Array(info.prefix(count))) == nil)
        }
        #expect(PublicKey(subjectPublicKeyInfo: info + [0]) == nil)
    }

    @Test func sizesAreLimited() {
        func rsa(_ modulus: String, _ exponent: [UInt8] = [1, 0, 1]) -> PublicKey {
            .rsa(modulus: Self.bytes(modulus), exponent: exponent)
        }
        func isAccepted(_ key: PublicKey) -> Bool { (try? key.validate()) != nil }
        #expect(isAccepted(rsa(RFCVector.modulus)))
        #expect(isAccepted(rsa(RFCVector.modulus4096)))
        #expect(isAccepted(rsa(RFCVector.modulus, [3])))
        #expect(isAccepted(rsa(RFCVector.modulus, [0xFF, 0xFF, 0xFF, 0xFF])))
        #expect(!isAccepted(rsa(RFCVector.modulus1024)))
        #expect(!isAccepted(rsa(RFCVector.modulus4104)))
        for exponent: [UInt8] in [[], [0], [1], [2], [4], [0, 0, 1], [1, 0, 0, 0, 1]] {
            #expect(!isAccepted(rsa(RFCVector.modulus, exponent)), "\(exponent)")
        }
        // Zeros in front do not make a key larger.
        #expect(!isAccepted(.rsa(modulus: [UInt8](repeating: 0, count: 256) + [1], exponent: [1, 0, 1])))
        let even = Self.bytes(RFCVector.modulus).dropLast() + [2]
        #expect(!isAccepted(.rsa(modulus: Array(even), exponent: [1, 0, 1])))
        #expect(!isAccepted(.p256(x: [UInt8](repeating: 1, count: 31), y: [UInt8](repeating: 1, count: 32))))
        #expect(!isAccepted(.p256(x: [UInt8](repeating: 1, count: 32), y: [UInt8](repeating: 1, count: 33))))
        #expect(!isAccepted(.ed25519([UInt8](repeating: 1, count: 33))))
        #expect(!isAccepted(.ed25519([])))
    }

    @Test func algorithmsBelongToKeyTypes() {
        func fitting(_ key: PublicKey) -> [SignatureAlgorithm] {
            SignatureAlgorithm.allCases.filter { key.fits($0) }
        }
        #expect(fitting(Self.rsa) == [.rs256, .ps256])
        #expect(fitting(Self.p256) == [.es256])
        #expect(fitting(Self.ed25519) == [.edDSA])
        #expect(SignatureAlgorithm.allCases.map(\.rawValue) == ["RS256", "PS256", "ES256", "EdDSA"])
    }

    @Test func integersOfDERAreMinimal() {
        #expect(DER.integer([0, 0, 0]) == [2, 1, 0])
        #expect(DER.integer([0, 0x7F]) == [2, 1, 0x7F])
        #expect(DER.integer([0x80]) == [2, 2, 0, 0x80])
        #expect(DER.bitString([UInt8](repeating: 7, count: 300)).prefix(5) == [3, 0x82, 1, 45, 0])
        #expect(DER.twoIntegers(in: [0x30, 6, 2, 1, 5, 2, 1, 6])?.1.first == 6)
        let bad: [[UInt8]] = [
            [], [0x30], [0x30, 0x80], [0x30, 0x84, 0, 0, 0, 0], [0x30, 6, 2, 1, 5, 2, 1],
            [0x30, 6, 2, 1, 0x85, 2, 1, 6], [0x30, 7, 2, 1, 5, 2, 1, 6, 0], [0x30, 3, 2, 1, 5],
            [0x30, 4, 2, 0, 2, 0], [0x30, 6, 2, 1, 5, 2, 1, 6, 0], [0x30, 0x82, 0xFF, 0xFF, 2, 1],
        ]
        for bytes in bad { #expect(DER.twoIntegers(in: bytes[...]) == nil, "\(bytes)") }
        #expect(DER.bitString(in: [3, 2, 1, 2]) == nil)
        #expect(DER.bitString(in: [3, 0]) == nil)
    }

    /// A provider that has to verify and nothing else says so.
    @Test func aProviderMayOnlyVerify() throws {
        let provider = NoSignatures()
        try provider.prepare()
        let errors = [
            #expect(throws: SignatureError.self) { _ = try provider.makeP256Key() },
            #expect(throws: SignatureError.self) { _ = try provider.signingKey(pem: "") },
            #expect(throws: SignatureError.self) { _ = try provider.signingKey(exported: []) },
        ]
        #expect(errors.map(\.?.kind) == [.unavailable, .unavailable, .unavailable])
    }

    @Test func anErrorSaysAllOfIt() {
        let error = SignatureError(.key, "one", details: ["two"], hint: "three")
        #expect("\(error)" == "one\n  two\nhint: three")
        #expect("\(error.kind)" == "key")
    }
}

/// A provider of a program: every signature is `good`.
struct NoSignatures: SignatureProvider {
    struct Key: VerifyingKey {
        func isValid(_ signature: [UInt8], of message: [UInt8], by algorithm: SignatureAlgorithm) -> Bool {
            signature == Array("good".utf8)
        }
    }

    func verifyingKey(_ parameters: PublicKey) throws(SignatureError) -> any VerifyingKey { Key() }
}
