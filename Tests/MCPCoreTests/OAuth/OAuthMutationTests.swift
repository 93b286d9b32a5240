import TestSupport
import Testing

@testable import MCPCore

/// What servers send to a client of OAuth, with random damage: nothing traps, and whatever is read keeps its
/// rules. Seeded: a failure names the seed with which it comes again.
@Suite("OAuth: mutations") struct OAuthMutationTests {
    private static let seeds = Mutation.seeds(4_000)

    private static let tokens: [[UInt8]] =
        [
            "\"", "\\", "{", "}", "[", "]", ",", ":", "null", "true", "1e999", "-1", "\\u0000", "\\ud800",
            "=",
            "Bearer ", "DPoP ", "Basic abc==, ", "scope=", "error=\"", "https://", "http://", "javascript:",
            "//", "@", "#", "?", "&", "%", "%00", "\"issuer\":", "\"error\":\"x\",", "iss=", "code=",
            "state=",
        ].map { Array($0.utf8) } + [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0]]

    private static func mutants(of texts: [String], _ check: (String, UInt64) throws -> Void) rethrows {
        for (text, seed) in allMutants(of: texts) { try check(text, seed) }
    }

    private static func allMutants(
        of texts: [String]
    ) -> LazyMapSequence<Range<UInt64>, (text: String, seed: UInt64)> {
        seeds.lazy.map { seed in
            var random = SeededRandom(seed: seed)
            let text = texts[random.below(texts.count)]
            let bytes = Mutation.mutated(Array(text.utf8), with: tokens, &random)
            return (String(decoding: bytes, as: UTF8.self), seed)
        }
    }

    // AUTH-05
    @Test func challenges() {
        let rows = AuthenticationChallengeTests.rows.compactMap(\.fields.first).filter { !$0.isEmpty }
        Self.mutants(of: rows) { text, seed in
            let challenges = AuthenticationChallenge.parse([text, text])
            #expect(challenges.count <= AuthenticationChallenge.maxCount, "seed \(seed)")
            let challenge = OAuthChallenge([text])
            for scope in challenge.scopes ?? [] { #expect(ScopeSyntax.isScope(scope), "seed \(seed)") }
        }
    }

    // AUTH-10
    @Test func metadata() {
        let issuer = "https://id.example.com/t"
        let good: JSONValue = [
            "issuer": .string(issuer), "authorization_endpoint": .string(issuer + "/authorize?a=b"),
            "token_endpoint": .string(issuer + "/token"),
            "registration_endpoint": .string(issuer + "/register"),
            "revocation_endpoint": .string(issuer + "/revoke"), "jwks_uri": .string(issuer + "/keys"),
            "code_challenge_methods_supported": ["S256"], "scopes_supported": ["a", "b"],
            "token_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": true,
        ]
        Self.mutants(of: [good.serialized()]) { text, seed in
            guard let members = OAuthHTTPResponse(status: 200, body: Array(text.utf8)).object,
                let metadata = try? AuthorizationServerMetadata(members)
            else { return }
            let endpoints = [
                metadata.tokenEndpoint, metadata.registrationEndpoint, metadata.revocationEndpoint,
                metadata.jwksURI,
            ]
            for endpoint in endpoints.compactMap({ $0 }) {
                #expect(WebURL(endpoint)?.isConfidential == true, "seed \(seed): \(endpoint)")
            }
            guard
                let request = try? AuthorizationRequest(
                    metadata, client: "c", redirectURI: "http://127.0.0.1:1/callback", scopes: ["a"],
                    resource: "https://mcp.example.com/mcp")
            else { return }
            let page = AuthorizationUser.Page(url: request.url, issuer: issuer, timeout: .seconds(1))
            #expect(page.problem == nil, "seed \(seed): \(request.url)")
            let query = SchemaURI(request.url).query.flatMap { FormCoding.decode($0) } ?? []
            for name in ["state", "client_id", "redirect_uri", "code_challenge", "scope", "resource"] {
                #expect(query.count { $0.name == name } == 1, "seed \(seed): \(name) in \(request.url)")
            }
        }
    }

    // AUTH-06
    @Test func resources() throws {
        let server = try #require(WebURL("https://mcp.example.com/team/mcp"))
        let good: JSONValue = [
            "resource": "https://mcp.example.com/team/mcp",
            "authorization_servers": ["https://id.example.com"], "scopes_supported": ["a"],
        ]
        Self.mutants(of: [good.serialized()]) { text, seed in
            guard let members = OAuthHTTPResponse(status: 200, body: Array(text.utf8)).object,
                let metadata = try? ProtectedResourceMetadata(members),
                ResourceURI.covers(metadata.resource, server)
            else { return }
            let resource = WebURL(metadata.resource)
            #expect(resource?.hasSameOrigin(as: server) == true, "seed \(seed): \(metadata.resource)")
            #expect("/team/mcp/".hasPrefix(resource?.path ?? "-"), "seed \(seed): \(metadata.resource)")
        }
    }

    // AUTH-22, AUTH-24
    @Test func redirects() throws {
        var metadata = AuthorizationServerMetadata(defaultsOf: "https://id.example.com")
        metadata.sendsIssuer = true
        let request = try AuthorizationRequest(
            metadata, client: "c", redirectURI: "http://127.0.0.1:1/callback", scopes: nil, resource: nil)
        let good = "\(request.redirectURI)?code=abc&state=\(request.state)&iss=https%3A%2F%2Fid.example.com"
        Self.mutants(of: [good]) { text, seed in
            guard let code = try? request.code(in: text) else { return }
            // Damage may also spell a character of the state as `%33`, which is the same state.
            let members = SchemaURI(text).query.flatMap { FormCoding.decode($0) } ?? []
            let states = members.filter { $0.name == "state" }.map(\.value)
            #expect(!code.isEmpty && states == [request.state], "seed \(seed)")
        }
    }

    /// HTTP that answers with one text.
    private struct Answer: OAuthHTTP {
        let text: String
        func send(_ request: OAuthHTTPRequest) async throws(AuthorizationError) -> OAuthHTTPResponse {
            OAuthHTTPResponse(status: 200, body: Array(text.utf8))
        }
    }

    // AUTH-13
    @Test func registrations() async throws {
        let good =
            #"{"client_id":"c","client_secret":"s","client_secret_expires_at":0,"#
            + #""token_endpoint_auth_method":"client_secret_basic","error":null}"#
        var metadata = AuthorizationServerMetadata(defaultsOf: "https://id.example.com")
        metadata.registrationEndpoint = "https://id.example.com/register"
        let target = OAuthFlow.Target(
            metadata: metadata, resource: nil,
            key: TokenKey(issuer: metadata.issuer, resource: "https://mcp.example.com/mcp"),
            scopes: ["a"], registeredScopes: ["a", "b"], dpop: nil)
        for (text, seed) in Self.allMutants(of: [good]) {
            let registration = DynamicRegistration(
                target: target, settings: OAuthSettings(), http: Answer(text: text))
            let outcome = try? await registration.register(redirectURI: "http://127.0.0.1:1/callback")
            guard let identity = outcome?.identity else { continue }
            #expect(!identity.clientID.isEmpty, "seed \(seed)")
            #expect(identity.secretExpiresAt.map { $0 > 0 } ?? true, "seed \(seed)")
        }
    }

    // AUTH-50
    @Test func introspections() async throws {
        let resource = "https://mcp.example.com/mcp"
        let good =
            #"{"active":true,"iss":"https://id.example.com","aud":["\#(resource)"],"exp":2000,"nbf":900,"#
            + #""sub":"ada","client_id":"c","scope":"a b"}"#
        for (text, seed) in Self.allMutants(of: [good]) {
            let verifier = IntrospectionVerifier(
                issuer: "https://id.example.com", endpoint: "https://id.example.com/introspect",
                clientID: "c", clientSecret: "s", options: .init(), http: Answer(text: text),
                clock: ManualClock(wallTime: WallTime(secondsSinceEpoch: 1_000)))
            let token = PresentedToken("abc", resource: resource)
            guard let principal = try? await verifier.verify(token) else { continue }
            let members = OAuthHTTPResponse(status: 200, body: Array(text.utf8)).object
            #expect(members?["active"] == .bool(true), "seed \(seed): \(text)")
            #expect(text.lowercased().contains("mcp.example.com"), "seed \(seed): \(text)")
            #expect(principal.expiresAt.map { $0 > 970 } ?? true, "seed \(seed): \(text)")
            #expect(!principal.subject.isEmpty, "seed \(seed): \(text)")
        }
    }

    // AUTH-52
    @Test func tokenResponses() async throws {
        let good =
            #"{"access_token":"abc","token_type":"Bearer","expires_in":3600,"refresh_token":"def","scope":"a b"}"#
        for (text, seed) in Self.allMutants(of: [good]) {
            let endpoint = TokenEndpoint(
                metadata: AuthorizationServerMetadata(defaultsOf: "https://id.example.com"),
                identity: OAuthClientIdentity(clientID: "c"), key: nil, http: Answer(text: text),
                now: WallTime(secondsSinceEpoch: 1_000), dpop: nil)
            guard let response = try? await endpoint.request([("grant_type", "x")]) else { continue }
            let members = OAuthHTTPResponse(status: 200, body: Array(text.utf8)).object
            #expect(members?["error"]?.isNull ?? true, "seed \(seed): \(text)")
            let isVisible = response.accessToken.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            #expect(!response.accessToken.isEmpty && isVisible, "seed \(seed)")
            if let expiry = response.expiresAt {
                #expect((1_001 ... 1_000 + TokenEndpoint.maxLifetime).contains(expiry), "seed \(seed)")
            }
        }
    }
}
