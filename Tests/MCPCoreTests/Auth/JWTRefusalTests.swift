#if !canImport(Darwin)
import TestSupport
import Testing

@testable import MCPCore

/// Tokens that are refused, why, and how often they make the verifier fetch keys (AUTH-49, RFC 8725).
@Suite struct JWTRefusalTests {
    struct Bad: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fault: TokenRefusal.Fault
        /// The number of fetches: the first one, and one more for a key that is not in the set.
        let fetches: Int
        let make: @Sendable () throws -> String

        init(
            _ name: String, _ fault: TokenRefusal.Fault, fetches: Int? = nil,
            _ make: @escaping @Sendable () throws -> String
        ) {
            testDescription = name
            self.fault = fault
            self.fetches = fetches ?? (fault == .malformed ? 0 : 1)
            self.make = make
        }

        /// A token that is signed by a good key.
        static func header(
            _ name: String, _ header: String, _ fault: TokenRefusal.Fault = .malformed, fetches: Int? = nil
        ) -> Bad {
            Bad(name, fault, fetches: fetches) { try JWTMaker.token(header: JWTMaker.header(header)) }
        }

        /// A token that is signed by a good key.
        static func claims(
            _ name: String, _ changes: KeyValuePairs<String, String?>,
            _ fault: TokenRefusal.Fault = .malformed, fetches: Int? = nil, type: String = "at+jwt"
        ) -> Bad {
            Bad(name, fault, fetches: fetches) {
                try JWTMaker.token(
                    header: JWTMaker.header(#""alg":"EdDSA","typ":"\#(type)","kid":"EdDSA""#),
                    claims: JWTMaker.claims(changes))
            }
        }
    }

    /// A good token, changed as text.
    private static func text(
        _ name: String, _ fault: TokenRefusal.Fault = .malformed,
        _ change: @escaping @Sendable (String) -> String
    ) -> Bad {
        Bad(name, fault) { change(try JWTMaker.good(.edDSA)) }
    }

    private static func parts(_ token: String) -> [String] {
        token.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
    }

    // MARK: The form

    static let forms: [Bad] = [
        Bad("empty", .malformed) { "" },
        Bad("dots", .malformed) { ".." },
        Bad("no dots", .malformed) { "token" },
        Bad("a token of another kind", .malformed) { "mcps_0123456789" },
        text("one part") { parts($0)[0] },
        text("two parts") { parts($0)[0 ... 1].joined(separator: ".") },
        text("four parts") { "\($0).e30" },
        text("five parts, as JWE has") { "\($0).e30.e30" },
        text("empty fourth part") { "\($0)." },
        text("empty header") { ".\(parts($0)[1]).\(parts($0)[2])" },
        text("empty payload") { "\(parts($0)[0])..\(parts($0)[2])" },
        text("empty signature") { "\(parts($0)[0]).\(parts($0)[1])." },
        text("padded header") { "\(parts($0)[0])==.\(parts($0)[1]).\(parts($0)[2])" },
        text("padded signature") { "\($0)==" },
        text("white space behind") { "\($0) " },
        text("line break behind") { "\($0)\n" },
        text("NUL behind") { "\($0)\0" },
        text("space in front") { " \($0)" },
        text("scheme in front") { "Bearer \($0)" },
        text("the other alphabet") { "\(parts($0)[0]).\(parts($0)[1]).+/\(parts($0)[2].dropFirst(2))" },
        text("no ASCII") { "\($0)é" },
        // 86 digits for 64 bytes: the last one has four unused bits.
        text("unused bits in the signature") { token in
            let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
            let last = token.last.flatMap { digits.firstIndex(of: $0) } ?? 0
            return token.dropLast() + String(digits[last ^ 1])
        },
        Bad("header is not JSON", .malformed) { try JWTMaker.token(header: "alg=EdDSA") },
        Bad("header is an array", .malformed) { try JWTMaker.token(header: #"[{"alg":"EdDSA"}]"#) },
        Bad("header is a string", .malformed) { try JWTMaker.token(header: #""EdDSA""#) },
        Bad("something follows the header", .malformed) {
            try JWTMaker.token(header: "\(JWTMaker.header()){}")
        },
        Bad("byte order mark", .malformed) { try JWTMaker.token(header: "\u{FEFF}\(JWTMaker.header())") },
        Bad("claims are not JSON", .malformed) { try JWTMaker.token(claims: "Payload") },
        Bad("claims are null", .malformed) { try JWTMaker.token(claims: "null") },
        Bad("claims are an array", .malformed) { try JWTMaker.token(claims: "[]") },
        Bad("claims are empty", .malformed) { try JWTMaker.token(claims: "{}") },
        Bad("claims are not UTF-8", .malformed) {
            try JWTMaker.sign("\(JWTMaker.encode(JWTMaker.header())).\(Base64URL.encode([0x7B, 0x22, 0xFF]))")
        },
        Bad("claims are too deep", .malformed) {
            let deep = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
            return try JWTMaker.token(claims: JWTMaker.claims(["x": deep]))
        },
        Bad("longer than 16 KiB", .malformed) {
            try JWTMaker.token(claims: JWTMaker.claims(["x": "\"\(String(repeating: "x", count: 12_100))\""]))
        },
        Bad("1 MiB", .malformed) { String(repeating: "a.b.", count: 1 << 18) },
        Bad("1 MiB of dots", .malformed) { String(repeating: ".", count: 1 << 20) },
    ]

    // MARK: The header

    static let headers: [Bad] = [
        Bad("none", .malformed) {
            "\(JWTMaker.encode(#"{"alg":"none"}"#)).\(JWTMaker.encode(JWTMaker.claims()))."
        },
        .header("none with a signature", #""alg":"none","typ":"at+jwt""#),
        .header("None", #""alg":"None""#), .header("NONE", #""alg":"NONE""#),
        .header("no alg", #""typ":"at+jwt","kid":"EdDSA""#),
        .header("empty alg", #""alg":"""#), .header("alg is null", #""alg":null"#),
        .header("alg is a list", #""alg":["EdDSA"]"#), .header("alg is a number", #""alg":1"#),
        .header("lower case", #""alg":"eddsa","kid":"EdDSA""#),
        .header("RS512", #""alg":"RS512","kid":"RS256""#), .header("ES384", #""alg":"ES384","kid":"ES256""#),
        .header("RS1", #""alg":"RS1","kid":"RS256""#),
        .header("alg twice", #""alg":"none","alg":"EdDSA","kid":"EdDSA""#),
        .header("alg twice, once escaped", #""alg":"EdDSA","\u0061lg":"EdDSA","kid":"EdDSA""#),
        .header("kid twice", #""alg":"EdDSA","kid":"EdDSA","kid":"x""#),
        .header("a name twice, deep", #""alg":"EdDSA","kid":"EdDSA","x":[{"a":{"b":1,"b":1}}]"#),
        .header("crit", #""alg":"EdDSA","kid":"EdDSA","crit":["exp"],"exp":1"#),
        .header("crit is empty", #""alg":"EdDSA","kid":"EdDSA","crit":[]"#),
        .header("crit is null", #""alg":"EdDSA","kid":"EdDSA","crit":null"#),
        .header("b64 (RFC 7797)", #""alg":"EdDSA","kid":"EdDSA","b64":false,"crit":["b64"]"#),
        .header("kid is a number", #""alg":"EdDSA","kid":1"#),
        .header("kid is null", #""alg":"EdDSA","kid":null"#),
        .header("typ of a proof", #""alg":"EdDSA","typ":"dpop+jwt","kid":"EdDSA""#),
        .header("typ of an assertion", #""alg":"EdDSA","typ":"oauth-id-jag+jwt","kid":"EdDSA""#),
        .header("typ of a logout", #""alg":"EdDSA","typ":"logout+jwt","kid":"EdDSA""#),
        .header("typ of an event", #""alg":"EdDSA","typ":"secevent+jwt","kid":"EdDSA""#),
        .header("typ is empty", #""alg":"EdDSA","typ":"","kid":"EdDSA""#),
        .header("typ is a list", #""alg":"EdDSA","typ":["at+jwt"],"kid":"EdDSA""#),
        .header("typ is null", #""alg":"EdDSA","typ":null,"kid":"EdDSA""#),
        .header("typ with a parameter", #""alg":"EdDSA","typ":"at+jwt; x","kid":"EdDSA""#),
        .header("typ with a space", #""alg":"EdDSA","typ":" at+jwt","kid":"EdDSA""#),
        // The name of a key is compared and nothing else.
        .header("kid is a path", #""alg":"EdDSA","kid":"../../../dev/null""#, .unknown, fetches: 2),
        .header("kid is SQL", #""alg":"EdDSA","kid":"x' UNION SELECT 'key' --""#, .unknown, fetches: 2),
        .header("kid is an address", #""alg":"EdDSA","kid":"http://169.254.169.254/""#, .unknown, fetches: 2),
        .header("kid in another case", #""alg":"EdDSA","kid":"eddsa""#, .unknown, fetches: 2),
        .header("kid is empty", #""alg":"EdDSA","kid":"""#, .unknown, fetches: 2),
        .header("kid with NUL", #""alg":"EdDSA","kid":"EdDSA\u0000""#, .unknown, fetches: 2),
    ]

    // MARK: Keys

    /// With a key of the attacker's, named or contained in the header.
    private static func ownKey(
        _ name: String, fetches: Int = 1, _ members: @escaping @Sendable (String) -> String
    )
        -> Bad
    {
        Bad(name, .unknown, fetches: fetches) {
            let key = try OpenSSLSignatures.system.makeP256Key()
            return try JWTMaker.token(
                header: JWTMaker.header(
                    #""alg":"ES256","typ":"at+jwt",\#(members(key.publicKey.jsonWebKey))"#),
                by: .es256, with: key)
        }
    }

    static let keys: [Bad] = [
        ownKey("another key") { _ in #""kid":"ES256""# },
        ownKey("another key without a name", fetches: 2) { _ in #""x":1"# },
        ownKey("jwk") { #""kid":"ES256","jwk":\#($0)"# },
        ownKey("jwk without a name", fetches: 2) { #""jwk":\#($0)"# },
        ownKey("jku") { _ in #""kid":"ES256","jku":"https://evil.example/jwks""# },
        ownKey("x5u", fetches: 2) { _ in #""kid":"evil","x5u":"https://evil.example/cert""# },
        ownKey("x5c", fetches: 2) { _ in #""x5c":["MIIB"]"# },
        // CVE-2015-9256 and its relatives: the public key, in each of its forms, as the secret of an HMAC.
        Bad("HS256 with the modulus", .malformed) { try hmac(SigningKeyTests.bytes(RFCVector.modulus)) },
        Bad("HS256 with the encoded key", .malformed) { try hmac(SigningKeyTests.rsa.subjectPublicKeyInfo) },
        Bad("HS256 with the JWK", .malformed) { try hmac(Array(SigningKeyTests.rsa.jsonWebKey.utf8)) },
        Bad("HS256 with an empty secret", .malformed) { try hmac([]) },
        Bad("HS256 called RS256", .unknown) {
            try hmac(SigningKeyTests.rsa.subjectPublicKeyInfo, as: "RS256")
        },
        Bad("alg of another key type", .unknown) {
            try JWTMaker.token(header: JWTMaker.header(#""alg":"RS256","kid":"EdDSA""#))
        },
        Bad("kid of another key type", .unknown) {
            try JWTMaker.token(header: JWTMaker.header(#""alg":"EdDSA","kid":"RS256""#))
        },
        Bad("PS256 called RS256", .unknown) {
            try JWTMaker.token(header: JWTMaker.header(#""alg":"RS256","kid":"RS256""#), by: .ps256)
        },
        Bad("RS256 called PS256", .unknown) {
            try JWTMaker.token(header: JWTMaker.header(#""alg":"PS256","kid":"RS256""#), by: .rs256)
        },
        Bad("ES256 in DER", .unknown) {
            let token = try JWTMaker.good(.es256)
            let signature = SigningKeyTests.bytes(parts(token)[2])
            let der = DER.sequence(DER.integer(signature.prefix(32)), DER.integer(signature.suffix(32)))
            return "\(parts(token)[0]).\(parts(token)[1]).\(Base64URL.encode(der))"
        },
        Bad("ES256 with zeros (CVE-2022-21449)", .unknown) {
            let token = try JWTMaker.good(.es256)
            let zeros = Base64URL.encode([UInt8](repeating: 0, count: 64))
            return "\(parts(token)[0]).\(parts(token)[1]).\(zeros)"
        },
        Bad("signature of another token", .unknown) {
            let (one, two) = (try JWTMaker.good(.edDSA), try JWTMaker.good(.edDSA, ["sub": #""admin""#]))
            return "\(parts(two)[0]).\(parts(two)[1]).\(parts(one)[2])"
        },
        Bad("header changed", .unknown) {
            let other = JWTMaker.encode(JWTMaker.header(#""alg":"EdDSA","kid":"EdDSA""#))
            let token = parts(try JWTMaker.good(.edDSA))
            return "\(other).\(token[1]).\(token[2])"
        },
        Bad("signature too long", .unknown) { try JWTMaker.good(.edDSA) + "AAAA" },
        Bad("short signature", .unknown) {
            parts(try JWTMaker.good(.edDSA))[0 ... 1].joined(separator: ".") + ".AA"
        },
    ]

    private static func hmac(_ secret: [UInt8], as name: String = "HS256") throws -> String {
        let header = JWTMaker.header(#""alg":"\#(name)","typ":"at+jwt","kid":"RS256""#)
        let input = "\(JWTMaker.encode(header)).\(JWTMaker.encode(JWTMaker.claims()))"
        let code = HMACSHA256.authenticate(Array(input.utf8), key: secret)
        return "\(input).\(Base64URL.encode(code.bytes))"
    }

    // MARK: Claims

    static let identities: [Bad] = [
        .claims("no iss", ["iss": nil]), .claims("iss is a list", ["iss": #"["\#(JWTMaker.issuer)"]"#]),
        .claims("iss with a slash", ["iss": #""\#(JWTMaker.issuer)/""#], .unknown, fetches: 0),
        .claims("iss in upper case", ["iss": #""HTTPS://id.example.com""#], .unknown, fetches: 0),
        .claims("another iss", ["iss": #""https://evil.example""#], .unknown, fetches: 0),
        .claims("a prefix of iss", ["iss": #""https://id.example.co""#], .unknown, fetches: 0),
        .claims("empty iss", ["iss": #""""#], .unknown, fetches: 0),
        .claims("no sub", ["sub": nil]), .claims("sub is empty", ["sub": #""""#]),
        .claims("sub is a number", ["sub": "1"]), .claims("sub is null", ["sub": "null"]),
        .claims("no aud", ["aud": nil], .audience), .claims("empty list of aud", ["aud": "[]"], .audience),
        .claims("another aud", ["aud": #""https://other.example/mcp""#], .audience),
        .claims("other audiences", ["aud": #"["https://a","https://b"]"#], .audience),
        .claims("aud with a slash", ["aud": #""\#(JWTMaker.resource)/""#], .audience),
        .claims("aud is a prefix", ["aud": #""https://mcp.example.com""#], .audience),
        .claims("path of aud in upper case", ["aud": #""https://mcp.example.com/MCP""#], .audience),
        .claims("port of aud", ["aud": #""https://mcp.example.com:444/mcp""#], .audience),
        .claims("list in a string", ["aud": #""[\"\#(JWTMaker.resource)\"]""#], .audience),
        .claims("aud is empty", ["aud": #""""#], .audience),
        .claims("aud is null", ["aud": "null"]), .claims("aud is a number", ["aud": "1"]),
        .claims("aud is an object", ["aud": #"{"\#(JWTMaker.resource)":1}"#]),
        .claims("number among audiences", ["aud": #"["\#(JWTMaker.resource)",1]"#]),
        .claims("list among audiences", ["aud": #"[["\#(JWTMaker.resource)"]]"#]),
        .claims("scope is a number", ["scope": "1"]), .claims("scope is null", ["scope": "null"]),
        .claims("numbers as scp", ["scope": nil, "scp": "[1]"]),
        .claims("client_id is a number", ["client_id": "1"]),
        .claims("azp is a list", ["client_id": nil, "azp": "[]"]),
        .claims(
            "bound to a certificate", ["cnf": #"{"x5t#S256":"bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2"}"#]),
        .claims("bound to a key", ["cnf": #"{"jkt":"0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}"#]),
        .claims("nonce of an ID token", ["nonce": #""1""#], type: "JWT"),
        .claims("at_hash of an ID token", ["at_hash": #""1""#], type: "JWT"),
        .claims("c_hash of an ID token", ["c_hash": "null"], type: "jwt"),
        Bad("ID token without a type", .malformed) {
            try JWTMaker.token(
                header: JWTMaker.header(#""alg":"EdDSA","kid":"EdDSA""#),
                claims: JWTMaker.claims(["nonce": #""1""#]))
        },
        Bad("sub twice", .malformed) {
            try JWTMaker.token(claims: #"{"sub":"admin",\#(JWTMaker.claims().dropFirst())"#)
        },
        Bad("aud twice", .malformed) {
            try JWTMaker.token(claims: JWTMaker.claims().dropLast() + #","aud":"https://x"}"#)
        },
        Bad("exp twice, once escaped", .malformed) {
            try JWTMaker.token(claims: JWTMaker.claims().dropLast() + #","e\u0078p":9999999999}"#)
        },
    ]

    static let times: [Bad] = [
        .claims("no exp", ["exp": nil]), .claims("exp is a string", ["exp": "\"\(JWTMaker.now + 300)\""]),
        .claims("exp is null", ["exp": "null"]), .claims("exp is true", ["exp": "true"]),
        .claims("exp is 1e400", ["exp": "1e400"]), .claims("exp is -1e400", ["exp": "-1e400"]),
        .claims("exp is 2^63", ["exp": "9223372036854775808"]),
        .claims("exp is 2^63 - 1", ["exp": "9223372036854775807"]),
        .claims("exp is 2^53 + 2", ["exp": "9007199254740994"]), .claims("exp is 1e19", ["exp": "1e19"]),
        .claims("exp is negative", ["exp": "-\(JWTMaker.now)"]),
        .claims("exp with 10,000 digits", ["exp": String(repeating: "9", count: 10_000)]),
        .claims("exp is 0", ["exp": "0"], .expired), .claims("exp is -0", ["exp": "-0"], .expired),
        .claims("exp is 1e-400", ["exp": "1e-400"], .expired),
        .claims("expired by the skew", ["exp": "\(JWTMaker.now - 30)"], .expired),
        .claims("expired, with a fraction", ["exp": "\(JWTMaker.now - 30).999"], .expired),
        .claims("long expired", ["exp": "1300819380"], .expired),
        .claims("nbf behind the skew", ["nbf": "\(JWTMaker.now + 31)"], .early),
        .claims("nbf with a fraction", ["nbf": "\(JWTMaker.now + 30).001"], .early),
        .claims("iat behind the skew", ["iat": "\(JWTMaker.now + 31)"], .early),
        .claims("iat in milliseconds", ["iat": "\(JWTMaker.now)000"], .early),
        .claims("nbf is a string", ["nbf": "\"0\""]),
        .claims("iat is a string", ["iat": "\"\(JWTMaker.now)\""]),
        .claims("nbf is 1e400", ["nbf": "1e400"]), .claims("iat is null", ["iat": "null"]),
        .claims("iat is negative", ["iat": "-1"]),
    ]

    @Test func thereAreManyOfThem() {
        let all = Self.forms + Self.headers + Self.keys + Self.identities + Self.times
        #expect(all.count >= 150)
        #expect(Set(all.map(\.testDescription)).count == all.count)
    }

    @Test(arguments: forms + headers + keys + identities + times)
    func isRefused(_ bad: Bad) async throws {
        let token = try bad.make()
        let server = KeyServer(JWTMaker.jwks)
        let verifier = try JWTVerifier(
            issuer: JWTMaker.issuer, options: .init(), clock: JWTMaker.clock(), fetchKeys: server.fetch)
        #expect(await verifier.refusal(of: token) == .invalid(bad.fault))
        #expect(server.fetches == bad.fetches)
        // The same by keys that do not change.
        #expect(try await JWTMaker.verifier().refusal(of: token) == .invalid(bad.fault))
    }

    /// Each byte of a good token, changed: no way to another token that is good.
    @Test func noByteMayDiffer() async throws {
        let verifier = try JWTMaker.verifier()
        let token = Array(try JWTMaker.good(.edDSA).utf8)
        for place in token.indices {
            var changed = token
            changed[place] = changed[place] == 0x41 ? 0x42 : 0x41
            #expect(await verifier.refusal(of: String(decoding: changed, as: UTF8.self)) != nil, "\(place)")
            #expect(await verifier.refusal(of: String(decoding: token[..<place], as: UTF8.self)) != nil)
        }
        #expect(await verifier.refusal(of: String(decoding: token, as: UTF8.self)) == nil)
    }

    /// Nothing of a token is in a refusal (AUTH-43).
    @Test func aRefusalSaysNothingAboutTheToken() {
        let refusal = TokenRefusal.invalid(.audience)
        #expect("\(refusal)" == "invalid(MCPCore.TokenRefusal.Fault.audience)")
        #expect("\(PresentedToken("secret", resource: "https://x"))" == "(a token)")
    }
}
#endif
