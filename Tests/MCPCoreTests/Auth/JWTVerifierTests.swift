#if !canImport(Darwin)
import TestSupport
import Testing

@testable import MCPCore

/// Good tokens, and the rules that options change (AUTH-41, AUTH-44, AUTH-49).
@Suite struct JWTVerifierTests {
    private func principal(
        _ token: String, _ options: JWTVerifier.Options = .init(), resource: String = JWTMaker.resource
    ) async throws -> Principal {
        try await JWTMaker.verifier(options).verify(PresentedToken(token, resource: resource))
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func acceptsEachAlgorithm(_ algorithm: SignatureAlgorithm) async throws {
        let token = try JWTMaker.good(algorithm)
        let principal = try await principal(token)
        #expect(principal.kind == .oauth)
        #expect(principal.issuer == JWTMaker.issuer)
        #expect(principal.subject == "user-1")
        #expect(principal.clientID == "client-1")
        #expect(principal.scopes == ["files:read", "files:write"])
        #expect(principal.expiresAt == JWTMaker.now + 300)
        #expect(principal.claims["jti"] == "1")
        // Only those that are allowed.
        for other in SignatureAlgorithm.allCases {
            let refusal = try await JWTMaker.verifier(.init(algorithms: [other])).refusal(of: token)
            #expect(refusal == (other == algorithm ? nil : .invalid(.malformed)))
        }
    }

    struct Good: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var header = JWTMaker.header()
        var claims = JWTMaker.claims()
        var options = JWTVerifier.Options()
        var resource = JWTMaker.resource

        init(_ name: String, header: String) {
            testDescription = name
            self.header = JWTMaker.header(header)
        }

        init(
            _ name: String, _ changes: KeyValuePairs<String, String?>,
            options: JWTVerifier.Options = .init(), resource: String = JWTMaker.resource
        ) {
            testDescription = name
            claims = JWTMaker.claims(changes)
            self.options = options
            self.resource = resource
        }
    }

    static let good = [
        Good("media type", header: #""alg":"EdDSA","typ":"application/at+jwt","kid":"EdDSA""#),
        Good("upper case", header: #""alg":"EdDSA","typ":"AT+JWT","kid":"EdDSA""#),
        Good("plain JWT", header: #""alg":"EdDSA","typ":"JWT","kid":"EdDSA""#),
        Good("no type", header: #""alg":"EdDSA","kid":"EdDSA""#),
        Good("no kid", header: #""alg":"EdDSA","typ":"at+jwt""#),
        Good("unknown members", header: #""alg":"EdDSA","kid":"EdDSA","x":{"alg":"none"},"cty":"x""#),
        Good(
            "addresses and keys in the header are not used",
            header: #""alg":"EdDSA","kid":"EdDSA","jku":"https://evil.example","x5u":7,"jwk":{},"x5c":[]"#),
        Good("white space", header: " \r\n\t\"alg\" : \"EdDSA\" , \"kid\" : \"E\\u0064DSA\" "),
        Good("audiences", ["aud": #"["https://other","\#(JWTMaker.resource)"]"#]),
        Good("audience in upper case", ["aud": #""HTTPS://MCP.Example.COM/mcp""#]),
        Good("resource in upper case", [:], resource: "HTTPS://MCP.EXAMPLE.COM/mcp"),
        Good("configured audience", ["aud": #""api://1""#], options: .init(audiences: ["x", "api://1"])),
        Good("configured audience, no URI", ["aud": #""Client""#], options: .init(audiences: ["Client"])),
        Good("expired within the skew", ["exp": "\(JWTMaker.now - 29)"]),
        Good("begins within the skew", ["nbf": "\(JWTMaker.now + 30)"]),
        Good("issued within the skew", ["iat": "\(JWTMaker.now + 30)"]),
        Good(
            "the greatest skew", ["exp": "\(JWTMaker.now - 299)", "iat": "\(JWTMaker.now + 300)"],
            options: .init(skew: .seconds(9_999))),
        Good("fractions", ["exp": "\(JWTMaker.now + 1).9", "nbf": "\(JWTMaker.now).5", "iat": "1e9"]),
        Good("no iat", ["iat": nil]),
        Good("the last time", ["exp": "9007199254740992"]),
        Good("nonce in an at+jwt", ["nonce": #""1""#]),
        Good("equal names in different objects", ["act": #"{"sub":"a","act":{"sub":"a"}}"#]),
    ]

    @Test(arguments: good) func accepts(_ good: Good) async throws {
        let token = try JWTMaker.token(header: good.header, claims: good.claims)
        let principal = try await principal(token, good.options, resource: good.resource)
        #expect(principal.subject == "user-1")
    }

    @Test func strictTypesAreThoseOfTheRFC() async throws {
        let verifier = try JWTMaker.verifier(.init(strictType: true))
        for (type, isGood) in [
            (#""typ":"at+jwt","#, true), (#""typ":"application/at+JWT","#, true), (#""typ":"JWT","#, false),
            ("", false),
        ] {
            let token = try JWTMaker.token(header: JWTMaker.header(#"\#(type)"alg":"EdDSA","kid":"EdDSA""#))
            #expect(await verifier.refusal(of: token) == (isGood ? nil : .invalid(.malformed)), "\(type)")
        }
    }

    @Test func scopesHaveThreeForms() async throws {
        for (changes, scopes) in [
            (["scope": #""a b""#], ["a", "b"]), (["scope": #""  ""#], []), (["scope": nil], []),
            (["scope": nil, "scp": #""a b""#], ["a", "b"]),
            (["scope": nil, "scp": #"["a","b"]"#], ["a", "b"]),
            (["scope": #""a""#, "scp": #""b""#], ["a"]), (["scope": "[]"], []),
        ] as [(KeyValuePairs<String, String?>, Set<String>)] {
            let token = try JWTMaker.token(claims: JWTMaker.claims(changes))
            #expect(try await principal(token).scopes == scopes, "\(changes)")
        }
    }

    @Test func theClientHasTwoNames() async throws {
        for (changes, client) in [
            (["client_id": nil], nil), (["client_id": nil, "azp": #""b""#], "b"),
            (["azp": #""b""#], "client-1"),
        ] as [(KeyValuePairs<String, String?>, String?)] {
            let token = try JWTMaker.token(claims: JWTMaker.claims(changes))
            #expect(try await principal(token).clientID == client, "\(changes)")
        }
    }

    /// A fraction of a second never makes a token live longer.
    @Test func expiryIsRoundedDown() async throws {
        let token = try JWTMaker.token(claims: JWTMaker.claims(["exp": "\(JWTMaker.now + 9).99"]))
        #expect(try await principal(token).expiresAt == JWTMaker.now + 9)
    }

    @Test func aTokenLivesUntilItsBorder() async throws {
        let clock = JWTMaker.clock()
        let verifier = try JWTMaker.verifier(clock: clock)
        let token = try JWTMaker.good(.edDSA, ["nbf": "\(JWTMaker.now + 40)"])
        func step(_ duration: Duration) async -> TokenRefusal? {
            clock.advance(by: duration)
            return await verifier.refusal(of: token)
        }
        #expect(await step(.zero) == .invalid(.early))
        #expect(await step(.milliseconds(9_999)) == .invalid(.early))
        #expect(await step(.milliseconds(1)) == nil)
        #expect(await step(.milliseconds(319_999)) == nil)
        #expect(await step(.milliseconds(1)) == .invalid(.expired))
    }

    @Test func optionsStayInRange() {
        var options = JWTVerifier.Options(skew: .seconds(-1), keyLifetime: .zero)
        #expect(options.skew == .zero && options.keyLifetime == .seconds(300))
        options.skew = .seconds(301)
        options.keyLifetime = .seconds(Int64.max)
        #expect(options.skew == .seconds(300) && options.keyLifetime == .seconds(86_400))
        let defaults = JWTVerifier.Options()
        #expect(defaults.skew == .seconds(30) && defaults.keyLifetime == .seconds(3_600))
        #expect(defaults.algorithms.count == 4 && !defaults.strictType && defaults.audiences.isEmpty)
    }

    @Test func fixedKeysMustBeUsable() {
        let other = JWTMaker.jwk(SigningKeyTests.rsa, #""use":"enc""#)
        for text in ["", "{}", #"{"keys":{}}"#, #"{"keys":[]}"#, #"{"keys":[\#(other)]}"#, RFCVector.a4Key] {
            let error = #expect(throws: SignatureError.self) {
                try JWTVerifier(issuer: JWTMaker.issuer, keys: text)
            }
            #expect(error?.kind == .key, "\(text)")
        }
    }

    /// The public initializers, with the clocks of the system.
    @Test func theClockIsThatOfTheSystem() async throws {
        let now = WallTime.now.secondsSinceEpoch
        let good = try JWTMaker.good(.es256, ["exp": "\(now + 1_000)", "iat": "\(now)"])
        let old = try JWTMaker.good(.es256, ["exp": "\(now - 1_000)", "iat": "\(now - 2_000)"])
        for verifier in [
            try JWTVerifier(issuer: JWTMaker.issuer, keys: JWTMaker.jwks),
            try JWTVerifier(issuer: JWTMaker.issuer) { JWTMaker.jwks },
        ] {
            #expect(verifier.issuer == JWTMaker.issuer)
            #expect(await verifier.refusal(of: good) == nil)
            #expect(await verifier.refusal(of: old) == .invalid(.expired))
        }
    }

    /// RFC 7515, appendix A: good signatures, and no access tokens.
    @Test func theTokensOfTheRFCAreRead() throws {
        let jws = try #require(CompactJWS("\(RFCVector.a2Input).\(RFCVector.a2Signature)"))
        let set = try JWKSet(JWTMaker.jwks, OpenSSLSignatures.system)
        #expect(set.verify(jws, .rs256, id: nil) == .valid)
        #expect(set.verify(jws, .rs256, id: "RS256") == .valid)
        #expect(set.verify(jws, .rs256, id: "ES256") == .invalid)
        #expect(set.verify(jws, .rs256, id: "other") == .unknownKey)
        #expect(jws.payload["iss"] == "joe")
        // Its payload is not JSON.
        #expect(CompactJWS(RFCVector.a4Token) == nil)
        #expect(try JWKSet(#"{"keys":[\#(RFCVector.a4Key)]}"#, OpenSSLSignatures.system).keys.isEmpty)
    }

    @Test func aVerifierKnowsItsTokens() throws {
        let verifier = try JWTMaker.verifier()
        func decides(_ token: String) -> Bool {
            verifier.decides(about: PresentedToken(token, resource: JWTMaker.resource))
        }
        let good = try JWTMaker.good(.edDSA)
        #expect(decides(good) && decides(good + "AAAA"))
        #expect(!decides("") && !decides("mcps_1") && !decides("\(good).x"))
        #expect(!decides(try JWTMaker.token(claims: JWTMaker.claims(["iss": #""https://other""#]))))
        #expect(!decides(try JWTMaker.token(claims: JWTMaker.claims(["iss": nil]))))
    }

    @Test func aProgramMayVerifyByItself() async throws {
        let options = JWTVerifier.Options(signatures: NoSignatures())
        let verifier = try JWTMaker.verifier(options)
        let input = "\(JWTMaker.encode(JWTMaker.header())).\(JWTMaker.encode(JWTMaker.claims()))"
        #expect(await verifier.refusal(of: "\(input).\(JWTMaker.encode("good"))") == nil)
        #expect(await verifier.refusal(of: "\(input).\(JWTMaker.encode("bad"))") == .invalid(.unknown))
    }
}
#endif
