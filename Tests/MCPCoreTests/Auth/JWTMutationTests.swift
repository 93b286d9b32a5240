#if !canImport(Darwin)
import TestSupport
import Testing

@testable import MCPCore

/// Access tokens and keys with random damage: nothing traps, and what was not signed is not believed. Seeded:
/// a failure names the seed with which it comes again.
@Suite("JWT: mutations") struct JWTMutationTests {
    private static let seeds = Mutation.seeds(500)

    private static let tokens: [[UInt8]] =
        [
            ".", "..", "=", "-", "_", "A", "AA", "\"", "\\", "{", "}", "[", "]", ",", ":", "null", "true",
            "1e999", "-1", "9007199254740993", "\\u0000", "\\ud800", "\"alg\":\"none\",",
            "\"alg\":\"HS256\",", "\"kid\":\"../x\",", "\"crit\":[\"exp\"],", "\"aud\":\"x\",", "\"exp\":",
            "\"cnf\":{},", "\"kty\":\"oct\",", "\"k\":\"AA\",", "\"d\":\"AA\",", "\"use\":\"enc\",", "AQAB",
        ].map { Array($0.utf8) } + [[0xFF], [0xC0, 0x80], [0]]

    private static func mutated(_ text: String, _ random: inout SeededRandom) -> String {
        String(decoding: Mutation.mutated(Array(text.utf8), with: tokens, &random), as: UTF8.self)
    }

    /// A token that was changed after it was signed is refused, down to the unused bits of base64url.
    // AUTH-49
    @Test func changedTokens() async throws {
        let verifier = try JWTMaker.verifier()
        let good = try [.edDSA, .es256, .rs256, .ps256].map { try JWTMaker.good($0) }
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            let original = good[random.below(good.count)]
            let text = Self.mutated(original, &random)
            let refusal = await verifier.refusal(of: text)
            #expect((refusal == nil) == (text == original), "seed \(seed): \(text)")
        }
    }

    /// A token that its issuer has signed with damaged contents is accepted only within the rules.
    // AUTH-49
    @Test func signedDamage() async throws {
        let verifier = try JWTMaker.verifier()
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            let isHeader = random.below(3) == 0
            let header = isHeader ? Self.mutated(JWTMaker.header(), &random) : JWTMaker.header()
            let claims = isHeader ? JWTMaker.claims() : Self.mutated(JWTMaker.claims(), &random)
            let token = try JWTMaker.token(header: header, claims: claims)
            guard
                let principal = try? await verifier.verify(
                    PresentedToken(token, resource: JWTMaker.resource))
            else { continue }
            #expect(principal.issuer == JWTMaker.issuer && !principal.subject.isEmpty, "seed \(seed)")
            #expect(principal.expiresAt.map { $0 > JWTMaker.now - 30 } ?? false, "seed \(seed): \(claims)")
            #expect(claims.lowercased().contains("mcp.example.com"), "seed \(seed): \(claims)")
            #expect(!header.contains(#""crit":"#) || !isHeader, "seed \(seed): \(header)")
        }
    }

    /// Damage to a set of keys never makes a key of somebody else good.
    // AUTH-49
    @Test func damagedKeys() throws {
        let foreign = try OpenSSLSignatures.system.makeP256Key()
        let header = JWTMaker.header(#""alg":"ES256","kid":"ES256""#)
        let token = try #require(
            CompactJWS(try JWTMaker.token(header: header, by: .es256, with: foreign)))
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            let text = Self.mutated(JWTMaker.jwks, &random)
            guard let set = try? JWKSet(text, OpenSSLSignatures.system) else { continue }
            #expect(set.keys.count <= JWKSet.maxKeys, "seed \(seed)")
            for key in set.keys {
                #expect((try? key.publicKey.validate()) != nil, "seed \(seed): \(text)")
            }
            for id in ["ES256", nil] {
                #expect(set.verify(token, .es256, id: id) != .valid, "seed \(seed): \(text)")
            }
        }
    }
}
#endif
