#if !canImport(Darwin)
import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// JWK sets of authorization servers, whose content is not trusted.
@Suite struct JWKSetTests {
    private func set(_ keys: String...) throws -> JWKSet {
        try JWKSet(#"{"keys":[\#(keys.joined(separator: ","))]}"#, OpenSSLSignatures.system)
    }

    @Test func keysOfAllTypesAreRead() throws {
        let set = try set(JWTMaker.rsaJWK, JWTMaker.p256JWK, JWTMaker.ed25519JWK)
        #expect(set.keys.map(\.publicKey) == SigningKeyTests.all)
        #expect(set.keys.map(\.id) == ["RS256", "ES256", "EdDSA"])
        #expect(set.keys.map(\.algorithm) == [nil, .es256, nil])
    }

    static let rsa = SigningKeyTests.rsa
    static let p256 = SigningKeyTests.p256

    /// Each is left out, and the key behind it is read.
    static let bad: [String] = [
        "1", "null", #""key""#, "[]", "{}", #"{"kty":"RSA"}"#, #"{"kty":1}"#, #"{"kty":"oct","k":"AAAA"}"#,
        #"{"kty":"RSA","n":"\#(RFCVector.modulus)"}"#, #"{"kty":"RSA","e":"AQAB"}"#,
        #"{"kty":"RSA","n":"\#(RFCVector.modulus)","e":"AQAB="}"#,
        #"{"kty":"RSA","n":"\#(RFCVector.modulus)","e":65537}"#,
        #"{"kty":"RSA","n":"\#(RFCVector.modulus)","e":""}"#,
        #"{"kty":"RSA","n":"\#(RFCVector.modulus)","e":"AQ"}"#,
        #"{"kty":"RSA","n":"\#(RFCVector.modulus)","e":"AQAAAAE"}"#,
        #"{"kty":"RSA","n":"\#(RFCVector.modulus1024)","e":"AQAB"}"#,
        #"{"kty":"RSA","n":"\#(RFCVector.modulus4104)","e":"AQAB"}"#,
        #"{"kty":"RSA","n":"\#(String(repeating: "_", count: 20_000))","e":"AQAB"}"#,
        #"{"kty":"rsa","n":"\#(RFCVector.modulus)","e":"AQAB"}"#,
        #"{"kty":"EC","x":"\#(RFCVector.x)","y":"\#(RFCVector.y)"}"#,
        #"{"kty":"EC","crv":"P-256","x":"\#(RFCVector.x)","y":"\#(RFCVector.x)"}"#,
        #"{"kty":"EC","crv":"P-256","x":"\#(RFCVector.x)"}"#,
        #"{"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}"#,
        #"{"kty":"EC","crv":"P-384","x":"\#(RFCVector.x)","y":"\#(RFCVector.y)"}"#,
        #"{"kty":"EC","crv":"secp256k1","x":"\#(RFCVector.x)","y":"\#(RFCVector.y)"}"#,
        #"{"kty":"OKP","crv":"Ed448","x":"\#(RFCVector.ed25519)"}"#,
        #"{"kty":"OKP","crv":"X25519","x":"\#(RFCVector.ed25519)"}"#,
        #"{"kty":"OKP","crv":"Ed25519","x":"AAAA"}"#,
        RFCVector.a4Key,
        JWTMaker.jwk(rsa, #""use":"enc""#), JWTMaker.jwk(rsa, #""use":1"#),
        JWTMaker.jwk(rsa, #""key_ops":["sign"]"#), JWTMaker.jwk(rsa, #""key_ops":"verify""#),
        JWTMaker.jwk(rsa, #""key_ops":[]"#), JWTMaker.jwk(rsa, #""alg":"RSA-OAEP""#),
        JWTMaker.jwk(rsa, #""alg":"HS256""#), JWTMaker.jwk(rsa, #""alg":"none""#),
        JWTMaker.jwk(rsa, #""alg":"RS512""#), JWTMaker.jwk(rsa, #""alg":"ES256""#),
        JWTMaker.jwk(p256, #""alg":"RS256""#), JWTMaker.jwk(rsa, #""alg":1"#),
        JWTMaker.jwk(rsa, #""alg":null"#),
        JWTMaker.jwk(rsa, #""kid":1"#), JWTMaker.jwk(rsa, #""kid":null"#),
        // Its private part is no secret any more.
        JWTMaker.jwk(p256, #""d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI""#),
    ]

    @Test(arguments: bad) func aBadKeyIsLeftOut(_ key: String) throws {
        let set = try set(key, JWTMaker.ed25519JWK)
        #expect(set.keys.map(\.id) == ["EdDSA"])
    }

    @Test func aKeyMayHaveMore() throws {
        let set = try set(
            JWTMaker.jwk(
                Self.rsa,
                #""kid":"a","alg":"PS256","use":"sig","key_ops":["verify","x"],"x5c":["MII"],"x5u":"http://x","exp":1"#
            ))
        let key = try #require(set.keys.first)
        #expect(key.algorithm == .ps256)
        #expect(SignatureAlgorithm.allCases.filter { key.allows($0) } == [.ps256])
    }

    /// Glewlwyd leaves out leading zeros of a coordinate, others add one as a sign.
    @Test func coordinatesMayLackLeadingZeros() throws {
        let full = [
            ("AFVDiUrz0A7X10Cr29dclrBod7eH219w7qeLkKjXwAo", "u0yFo9jqKe-q-iRAaRLdhNWxTcMr9lbvbGvVil2UP5I"),
            ("mGriUG8f8QTQQjCGHY9LSY9LxMbQCbMPdUTcEpuC0o0", "ADzMwKZGDgrjKKTZfTx7YdhvxiicGJ8lJREMRBuwfpc"),
        ]
        for (x, y) in full {
            let numbers = try [x, y].map { try #require(Base64URL.decode($0)) }
            let keys = [numbers, numbers.map { Array($0.drop { $0 == 0 }) }, numbers.map { [0] + $0 }].map {
                #"{"kty":"EC","crv":"P-256","x":"\#(Base64URL.encode($0[0]))","y":"\#(Base64URL.encode($0[1]))"}"#
            }
            #expect(
                try set(keys[0], keys[1], keys[2]).keys.map(\.publicKey)
                    == Array(repeating: .p256(x: numbers[0], y: numbers[1]), count: 3))
        }
    }

    @Test func keysAreFoundByTheBytesOfTheirName() throws {
        let jws = try #require(CompactJWS("\(RFCVector.a2Input).\(RFCVector.a2Signature)"))
        // Two spellings of one character are two names.
        let set = try set(JWTMaker.jwk(Self.rsa, #""kid":"\u00e9""#))
        #expect(set.verify(jws, .rs256, id: "\u{E9}") == .valid)
        #expect(set.verify(jws, .rs256, id: "e\u{301}") == .unknownKey)
    }

    /// Keys of one name and of different types, as RFC 7517, section 4.5 allows.
    @Test func namesMayRepeat() throws {
        let jws = try #require(CompactJWS("\(RFCVector.a2Input).\(RFCVector.a2Signature)"))
        let set = try set(
            JWTMaker.jwk(Self.p256, #""kid":"a""#), JWTMaker.jwk(Self.rsa, #""kid":"a","alg":"PS256""#),
            JWTMaker.jwk(Self.rsa, #""kid":"a""#))
        #expect(set.verify(jws, .rs256, id: "a") == .valid)
        #expect(set.verify(jws, .es256, id: "a") == .invalid)
    }

    /// A token without a name is compared with four keys that fit, and no more.
    @Test func fewKeysAreTried() throws {
        let (trials, limit) = (CountedTrials(), JWKSet.maxTrials)
        let jws = try #require(CompactJWS("\(RFCVector.a2Input).\(RFCVector.a2Signature)"))
        let keys = (0 ..< limit + 3).map { JWTMaker.jwk(Self.rsa, #""kid":"\#($0)""#) } + [JWTMaker.p256JWK]
        let set = try JWKSet(#"{"keys":[\#(keys.joined(separator: ","))]}"#, trials)
        #expect(set.verify(jws, .rs256, id: nil) == .unknownKey)
        #expect(trials.count == limit)
        #expect(set.verify(jws, .rs256, id: "5") == .invalid)
        #expect(trials.count == limit + 1)
        #expect(set.verify(jws, .edDSA, id: nil) == .unknownKey)
        #expect(trials.count == limit + 1)
    }

    @Test func aMissingLibraryIsNotABadKey() {
        let error = #expect(throws: SignatureError.self) {
            try JWKSet(
                #"{"keys":[\#(JWTMaker.rsaJWK)]}"#,
                OpenSSLSignatures(library: "libcrypto-that-is-missing.so.3"))
        }
        #expect(error?.kind == .unavailable)
    }

    @Test func resourcesDifferByMoreThanTheCaseOfTheHost() {
        func same(_ a: String, _ b: String) -> Bool { ResourceIdentifier.same(a, b) }
        #expect(same("HTTPS://A.b:8443/C?D", "https://a.B:8443/C?D"))
        #expect(same("https://A", "https://a") && same("https://A?X", "https://a?X"))
        #expect(same("https://A#X", "https://a#X") && same("", "") && same("urn:a", "urn:a"))
        #expect(!same("https://a/C", "https://a/c") && !same("https://a?C", "https://a?c"))
        #expect(!same("https://a", "https://a/") && !same("https://a", "http://a"))
        #expect(!same("urn:A", "urn:a") && !same("a", "A") && !same("://", ":") && !same("a/://B", "a/://b"))
        // Canonically equivalent and not equal.
        #expect(!same("https://a/\u{E9}", "https://a/e\u{301}"))
    }
}

/// Counts the signatures that are verified; none is valid.
final class CountedTrials: SignatureProvider {
    struct Key: VerifyingKey {
        let trials: CountedTrials

        func isValid(_ signature: [UInt8], of message: [UInt8], by algorithm: SignatureAlgorithm) -> Bool {
            trials.number.withLock { $0 += 1 }
            return false
        }
    }

    fileprivate let number = Mutex(0)

    var count: Int { number.withLock { $0 } }

    func verifyingKey(_ parameters: PublicKey) throws(SignatureError) -> any VerifyingKey {
        Key(trials: self)
    }
}
#endif
