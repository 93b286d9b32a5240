#if !canImport(Darwin)
import TestSupport
import Testing

@testable import MCPCore

@Suite("OAuth: keys of clients")
struct BoundTokenTests {
    private static let dpop = ["DPoP algs=\"ES256\""]

    private func refused(
        _ fixture: OAuthFixture, _ challenges: [String], nonce: String? = nil
    ) async throws -> Bool {
        let current = try await fixture.authorizer.authorization(for: fixture.request()).generation
        return try await fixture.authorizer.respond(
            to: AuthorizationRefusal(
                request: fixture.request(), status: 401, challenges: challenges, dpopNonce: nonce,
                generation: current))
    }

    // AUTH-57
    @Test("bound tokens, with a proof for each request and the nonces of both servers")
    func binds() async throws {
        try await OAuthFixture.with(OAuthFixture.knobs { $0.bindsTokens = true }) { (server) async throws in
            let fixture = OAuthFixture(server)
            #expect(try await refused(fixture, Self.dpop))
            // The same code with another proof.
            let requests = server.grants("authorization_code")
            #expect(requests.count == 2 && requests[0].members["code"] == requests[1].members["code"])
            let proofs = requests.compactMap { $0.proof.flatMap { CompactJWS($0) } }
            #expect(proofs.map { $0.payload["nonce"] } == [nil, "nonce-of-as"])
            #expect(proofs[0].payload["jti"] != proofs[1].payload["jti"])
            #expect(proofs[1].payload["htu"] == .string(server.origin + "/token"))
            #expect(proofs[1].header["typ"] == "dpop+jwt" && proofs[1].header["alg"] == "ES256")
            #expect(proofs[1].header["jwk"]?["d"] == nil)

            let url = server.url + "?x=y"
            let request = AuthorizedRequest(httpMethod: "GET", url: url)
            let fields = try await fixture.authorizer.authorization(for: request).fields
            let token = try #require(fields.first?.value.dropFirst("DPoP ".count))
            #expect(fields.map(\.name) == ["Authorization", "DPoP"] && fields[0].value.hasPrefix("DPoP "))
            let proof = try #require(CompactJWS(fields[1].value))
            #expect(proof.payload["htm"] == "GET" && proof.payload["htu"] == .string(server.url))
            let digest = Base64URL.encode(SHA256.hash(Array(token.utf8)).bytes)
            #expect(proof.payload["ath"] == .string(digest))
            #expect(try Self.isValid(proof))

            // A nonce of the server is no login.
            let before = server.log.count
            #expect(try await refused(fixture, ["DPoP error=\"use_dpop_nonce\""], nonce: "nonce-of-rs"))
            let again = try await fixture.authorizer.authorization(for: request).fields
            #expect(CompactJWS(again[1].value)?.payload["nonce"] == "nonce-of-rs")
            #expect(server.log.count == before)
        }
    }

    private static func isValid(_ proof: CompactJWS) throws -> Bool {
        func part(_ name: String) -> [UInt8] {
            proof.header["jwk"]?[name]?.stringValue.flatMap { Base64URL.decode($0) } ?? []
        }
        let key = try OpenSSLSignatures.system.verifyingKey(.p256(x: part("x"), y: part("y")))
        return key.isValid(proof.signature, of: proof.signingInput, by: .es256)
    }

    @Test("bound tokens are renewed with the same key, also by another process")
    func renews() async throws {
        try await OAuthFixture.with(OAuthFixture.knobs { $0.bindsTokens = true }) { (server) async throws in
            let fixture = OAuthFixture(server)
            #expect(try await refused(fixture, Self.dpop))
            let key = try #require(fixture.store.entries.values.first?.tokens?.dpopKey)
            fixture.clock.advance(by: .seconds(3_600))
            let other = OAuthFixture(server, store: fixture.store, clock: fixture.clock)
            #expect(try await other.authorizer.authorization(for: other.request()).fields.count == 2)
            #expect(other.store.entries.values.first?.tokens?.dpopKey == key)
            #expect(server.grants("refresh_token").allSatisfy { $0.proof != nil })
        }
    }

    @Test("a binding that is required and cannot be had ends the login")
    func downgrade() async throws {
        try await OAuthFixture.with { (server) async throws in
            let fixture = OAuthFixture(server)
            let unsupported = await fixture.failure { _ = try await refused(fixture, Self.dpop) }
            #expect(unsupported?.kind == .tokenRefused)
            #expect(server.requests("/authorize").isEmpty)
            server.set { ($0.bindsTokens, $0.dropsBinding) = (true, true) }
            let other = OAuthFixture(server)
            let dropped = await other.failure { _ = try await refused(other, Self.dpop) }
            #expect(dropped?.message.contains("not bound") == true)
            #expect(try await other.token() == nil)
            var settings = OAuthSettings()
            settings.dpop = .never
            let never = OAuthFixture(server, settings)
            #expect(try await refused(never, Self.dpop))
            #expect(try await never.token() != nil)
        }
    }

    // AUTH-55
    @Test("an assertion by the client's key instead of a secret")
    func privateKey() async throws {
        try await OAuthFixture.with { (server) async throws in
            let key = try OpenSSLSignatures.system.makeP256Key()
            var settings = OAuthSettings()
            settings.grant = .clientCredentials
            settings.clientKey = key
            settings.identity = .registered(OAuthClientIdentity(clientID: "id"))
            let fixture = OAuthFixture(
                server, settings, clock: ManualClock(wallTime: WallTime(secondsSinceEpoch: 1_000)))
            try await fixture.unauthorized()
            let members = try #require(server.requests("/token").first).members
            #expect(members["client_id"] == nil && members["client_secret"] == nil)
            #expect(
                members["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
            let assertion = try #require(CompactJWS(members["client_assertion"] ?? ""))
            let claims = assertion.payload
            #expect(claims["iss"] == "id" && claims["sub"] == "id" && claims["aud"] == .string(server.issuer))
            #expect(claims["iat"] == 1_000 && claims["exp"] == 1_300 && claims["jti"]?.stringValue != nil)
            let verifier = try OpenSSLSignatures.system.verifyingKey(key.publicKey)
            #expect(verifier.isValid(assertion.signature, of: assertion.signingInput, by: .es256))
        }
    }

    // AUTH-56
    @Test("an identity provider exchanges its token for an assertion")
    func enterprise() async throws {
        try await OAuthFixture.with { (server) async throws in
            server.addClient("at-as", secret: "s2")
            var settings = OAuthSettings()
            settings.identity = .registered(OAuthClientIdentity(clientID: "at-as", clientSecret: "s2"))
            settings.grant = .enterprise(
                OAuthSettings.IdentityProvider(
                    tokenEndpoint: server.origin + "/idp/token",
                    client: OAuthClientIdentity(clientID: "at-idp")
                ) { "id-token" })
            let fixture = OAuthFixture(server, settings, hasUser: false)
            try await fixture.unauthorized()
            let first = try #require(server.requests("/idp/token").first).members
            #expect(first["grant_type"] == "urn:ietf:params:oauth:grant-type:token-exchange")
            #expect(first["requested_token_type"] == "urn:ietf:params:oauth:token-type:id-jag")
            #expect(first["audience"] == server.issuer && first["resource"] == server.url)
            #expect(first["subject_token"] == "id-token" && first["client_id"] == "at-idp")
            #expect(first["subject_token_type"] == "urn:ietf:params:oauth:token-type:id_token")
            let second = try #require(server.requests("/token").first)
            #expect(second.members["assertion"] == "assertion-of-idp" && second.authorization != nil)
            #expect(try await fixture.token() != nil)

            server.set { $0.issuedTokenType = "urn:ietf:params:oauth:token-type:access_token" }
            let other = OAuthFixture(server, settings, hasUser: false)
            #expect(await other.failure { try await other.unauthorized() }?.kind == .malformed)
            #expect(server.requests("/token").count == 1)
        }
    }
}
#endif
