#if !canImport(Darwin)
import TestSupport
import Testing

import MCPCore

/// Makes tokens, good and bad ones, of an authorization server with three keys.
enum JWTMaker {
    static let issuer = "https://id.example.com"
    static let resource = "https://mcp.example.com/mcp"
    /// 2026-11-22.
    static let now: Int64 = 1_795_300_000

    static func clock() -> ManualClock { ManualClock(wallTime: WallTime(secondsSinceEpoch: now)) }

    /// The verifier of the tests: the rules of the options, and the clock at `now`.
    static func verifier(
        _ options: JWTVerifier.Options = .init(), keys: String = jwks, clock: ManualClock = clock()
    ) throws -> JWTVerifier {
        try JWTVerifier(issuer: issuer, keys: keys, options: options, clock: clock)
    }

    // MARK: Keys

    /// Public, with the names of the algorithms as `kid`; `RS256` has no `alg` and is good for PS256 too.
    static let jwks = #"{"keys":[\#(rsaJWK),\#(p256JWK),\#(ed25519JWK)]}"#
    static let rsaJWK = jwk(SigningKeyTests.rsa, #""kid":"RS256","use":"sig""#)
    static let p256JWK = jwk(SigningKeyTests.p256, #""kid":"ES256","alg":"ES256","key_ops":["verify"]"#)
    static let ed25519JWK = jwk(SigningKeyTests.ed25519, #""kid":"EdDSA""#)

    /// A key with more members.
    static func jwk(_ key: PublicKey, _ members: String) -> String {
        key.jsonWebKey.dropLast() + (members.isEmpty ? "}" : ",\(members)}")
    }

    static func key(_ algorithm: SignatureAlgorithm) throws -> any SigningKey {
        let pem =
            switch algorithm {
            case .rs256, .ps256: RFCVector.rsaPEM
            case .es256: RFCVector.p256PEM
            case .edDSA: RFCVector.ed25519PEM
            }
        return try OpenSSLSignatures.system.signingKey(pem: pem)
    }

    // MARK: Parts

    static func header(_ members: String = #""alg":"EdDSA","typ":"at+jwt","kid":"EdDSA""#) -> String {
        "{\(members)}"
    }

    /// The claims of a good token, with these in their place or added; `nil` leaves one out.
    static func claims(_ changes: KeyValuePairs<String, String?> = [:]) -> String {
        var members: [(String, String)] = [
            ("iss", "\"\(issuer)\""), ("sub", #""user-1""#), ("aud", "\"\(resource)\""),
            ("exp", "\(now + 300)"), ("iat", "\(now)"), ("jti", #""1""#), ("client_id", #""client-1""#),
            ("scope", #""files:read files:write""#),
        ]
        for (name, value) in changes {
            let place = members.firstIndex { $0.0 == name }
            if let place { members.remove(at: place) }
            if let value { members.insert((name, value), at: place ?? members.count) }
        }
        return "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }

    static func encode(_ text: String) -> String { Base64URL.encode(Array(text.utf8)) }

    /// A token with a valid signature over whatever is given.
    static func token(
        header: String = header(), claims: String = claims(), by algorithm: SignatureAlgorithm = .edDSA,
        with key: (any SigningKey)? = nil
    ) throws -> String {
        try sign("\(encode(header)).\(encode(claims))", by: algorithm, with: key)
    }

    static func sign(
        _ input: String, by algorithm: SignatureAlgorithm = .edDSA, with key: (any SigningKey)? = nil
    ) throws -> String {
        let key = try key ?? self.key(algorithm)
        return try "\(input).\(Base64URL.encode(key.sign(Array(input.utf8), by: algorithm)))"
    }

    /// A good token of an algorithm.
    static func good(_ algorithm: SignatureAlgorithm, _ changes: KeyValuePairs<String, String?> = [:]) throws
        -> String
    {
        let kid = algorithm == .ps256 ? "RS256" : algorithm.rawValue
        let header = header(#""alg":"\#(algorithm.rawValue)","typ":"at+jwt","kid":"\#(kid)""#)
        return try token(header: header, claims: claims(changes), by: algorithm)
    }
}

extension JWTVerifier {
    /// The refusal of a token; nil if it is accepted.
    func refusal(of token: String, resource: String = JWTMaker.resource) async -> TokenRefusal? {
        do throws(TokenRefusal) {
            _ = try await verify(PresentedToken(token, resource: resource))
            return nil
        } catch {
            return error
        }
    }
}
#endif
