import TestSupport
import Testing

@testable import MCPCore

extension LimitProofs {
    #if canImport(Darwin)
    /// Signatures need a provider of the program there.
    private static let needsOpenSSL: @Sendable () async throws -> Void = {}
    private static let token = needsOpenSSL
    private static let sets = needsOpenSSL
    private static let trials = needsOpenSSL
    private static let fetchTime = needsOpenSSL
    private static let refetches = needsOpenSSL
    private static let retries = needsOpenSSL
    private static let staleness = needsOpenSSL
    private static let skew = needsOpenSSL
    private static let introspection = needsOpenSSL
    #endif

    static let accessTokens: [LimitProof] = {
        let options = JWTVerifier.Options()
        let bits = PublicKey.rsaBits
        return [
            LimitProof("access token in the form of a JWT", LimitText.bytes(CompactJWS.maxBytes), token),
            LimitProof("depth of its JSON", "\(CompactJWS.maxDepth)", depth),
            LimitProof("JWK set", "\(LimitText.bytes(JWKSet.maxBytes)), \(JWKSet.maxKeys) keys", sets),
            LimitProof("size of RSA keys", "\(bits.lowerBound) to \(bits.upperBound) bits", keySizes),
            LimitProof("keys tried for a token", "\(JWKSet.maxTrials)", trials),
            LimitProof("one fetch of a JWK set", LimitText.seconds(JWKSource.fetchTimeout), fetchTime),
            LimitProof(
                "fetches because of unknown keys", "1 in \(LimitText.seconds(JWKSource.refetchInterval))",
                refetches),
            LimitProof(
                "rest after a fetch has failed", LimitText.seconds(JWKSource.retryInterval), retries),
            LimitProof(
                "time fetched keys are used",
                "\(LimitText.seconds(options.keyLifetime)) (300 s to 86400 s), and \(LimitText.seconds(JWKSource.staleTime)) more while fetches fail",
                staleness),
            LimitProof(
                "failures of an introspection in a row",
                "\(IntrospectionVerifier.maxFailures), then a rest of \(LimitText.seconds(IntrospectionVerifier.restTime))",
                introspection),
            LimitProof(
                "difference of clocks",
                "\(LimitText.seconds(options.skew)) (\(LimitText.seconds(JWTVerifier.Options.maxSkew)) at most)",
                skew),
        ]
    }()

    @Sendable private static func depth() async throws {
        func token(_ depth: Int) -> String {
            let nested =
                String(repeating: #"{"a":"#, count: depth - 1) + "{}"
                + String(repeating: "}", count: depth - 1)
            let part = Base64URL.encode(Array(nested.utf8))
            return "\(part).\(part).AAAA"
        }
        #expect(CompactJWS(token(CompactJWS.maxDepth)) != nil)
        #expect(CompactJWS(token(CompactJWS.maxDepth + 1)) == nil)
    }

    @Sendable private static func keySizes() async throws {
        SigningKeyTests().sizesAreLimited()
    }

    #if !canImport(Darwin)
    @Sendable private static func introspection() async throws {
        try await VerifierHTTPTests.anAuthorizationServerThatFails(0)
    }
    @Sendable private static func token() async throws {
        let verifier = try JWTMaker.verifier()
        // The padding of a claim adds four digits for three characters.
        func token(_ padding: Int) throws -> String {
            let text = String(repeating: "x", count: padding)
            return try JWTMaker.token(claims: JWTMaker.claims(["x": "\"\(text)\""]))
        }
        var padding = 12_000
        while try token(padding + 1).utf8.count <= CompactJWS.maxBytes { padding += 1 }
        while try token(padding).utf8.count > CompactJWS.maxBytes { padding -= 1 }
        #expect(await verifier.refusal(of: try token(padding)) == nil)
        #expect(await verifier.refusal(of: try token(padding + 1)) == .invalid(.malformed))
    }

    @Sendable private static func sets() async throws {
        func set(keys: Int, bytes: Int) throws -> JWKSet {
            let start =
                #"{"keys":[\#(repeatElement(JWTMaker.ed25519JWK, count: keys).joined(separator: ","))],"x":""#
            let rest = max(0, bytes - start.utf8.count - 2)
            return try JWKSet(start + String(repeating: "x", count: rest) + "\"}", OpenSSLSignatures.system)
        }
        #expect(try set(keys: JWKSet.maxKeys, bytes: 0).keys.count == JWKSet.maxKeys)
        #expect(throws: SignatureError.self) { try set(keys: JWKSet.maxKeys + 1, bytes: 0) }
        #expect(try set(keys: 1, bytes: JWKSet.maxBytes).keys.count == 1)
        #expect(throws: SignatureError.self) { try set(keys: 1, bytes: JWKSet.maxBytes + 1) }
    }

    @Sendable private static func trials() async throws { try JWKSetTests().fewKeysAreTried() }
    @Sendable private static func fetchTime() async throws {
        try await JWKSourceTests().aFetchHasATimeLimit()
    }
    @Sendable private static func refetches() async throws {
        try await JWKSourceTests().aFloodOfNamesCausesTwoFetches()
    }
    @Sendable private static func retries() async throws {
        try await JWKSourceTests().withoutKeysNobodyKnows()
    }
    @Sendable private static func staleness() async throws {
        try await JWKSourceTests().oldKeysStayForADay()
        JWTVerifierTests().optionsStayInRange()
    }
    @Sendable private static func skew() async throws {
        try await JWTVerifierTests().aTokenLivesUntilItsBorder()
        JWTVerifierTests().optionsStayInRange()
    }
    #endif
}
