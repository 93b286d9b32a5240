import MCPCore
import TestSupport
import Testing

@Suite("OAuth: logins")
struct CodeFlowTests {
    // AUTH-04, AUTH-07, AUTH-19, AUTH-20
    @Test("a login from the challenge to the token")
    func login() async throws {
        try await OAuthFixture.with { (server) async throws in
            let fixture = OAuthFixture(server)
            #expect(try await fixture.token() == nil)
            #expect(fixture.authorizer.identity == nil)
            #expect(try await fixture.unauthorized())
            #expect(
                server.paths == [
                    "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server",
                    "/register", "/authorize", "/token",
                ])
            let token = try #require(try await fixture.token())
            #expect(server.isActive(token))
            let page = try #require(server.requests("/authorize").first).members
            let request = try #require(server.requests("/token").first).members
            #expect(page["resource"] == server.url && request["resource"] == server.url)
            #expect(page["code_challenge_method"] == "S256" && page["response_type"] == "code")
            #expect(page["scope"] == nil)
            #expect((43 ... 128).contains(request["code_verifier"]?.count ?? 0))
            #expect(request["redirect_uri"] == page["redirect_uri"])
            let registration = try JSONValue(parsing: try #require(server.requests("/register").first).body)
            #expect(registration["application_type"] == "native")
            #expect(registration["grant_types"] == ["authorization_code", "refresh_token"])
            #expect(registration["redirect_uris"] == [.string(page["redirect_uri"] ?? "")])
            #expect(fixture.authorizer.identity != nil)
        }
    }

    /// Nothing is asked that AUTH-04 and AUTH-07 do not name.
    // AUTH-04, AUTH-07
    @Test(
        "the URLs of metadata in their order",
        arguments: [
            (
                "", "/.well-known/openid-configuration", true,
                [
                    "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server",
                    "/.well-known/openid-configuration",
                ]
            ),
            (
                "/t", "/t/.well-known/openid-configuration", true,
                [
                    "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server/t",
                    "/.well-known/openid-configuration/t", "/t/.well-known/openid-configuration",
                ]
            ),
            (
                "/t", "/.well-known/openid-configuration/t", false,
                [
                    "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server/t",
                    "/.well-known/openid-configuration/t",
                ]
            ),
            (
                "/t", "/.well-known/oauth-authorization-server/t", false,
                ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server/t"]
            ),
        ])
    func order(_ path: String, _ metadata: String, _ isNamed: Bool, _ expected: [String]) async throws {
        let knobs = OAuthFixture.knobs { knobs in
            (knobs.issuerPath, knobs.metadataPath, knobs.namesMetadata) = (path, metadata, isNamed)
        }
        try await OAuthFixture.with(knobs) { (server) async throws in
            let fixture = OAuthFixture(server)
            try await fixture.unauthorized()
            #expect(server.paths.filter { $0.contains("well-known") } == expected)
        }
    }

    // AUTH-04
    @Test("without a challenge the inserted path is asked first, then the root")
    func rootMetadata() async throws {
        let knobs = OAuthFixture.knobs { knobs in
            knobs.namesMetadata = false
            knobs.resourcePaths = ["/.well-known/oauth-protected-resource"]
        }
        try await OAuthFixture.with(knobs) { (server) async throws in
            server.set { $0.resource = server.origin }
            let fixture = OAuthFixture(server)
            try await fixture.unauthorized()
            #expect(
                server.paths.prefix(2) == [
                    "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource",
                ])
            // Exactly the string of the metadata.
            #expect(server.requests("/authorize").first?.members["resource"] == server.origin)
        }
    }

    // AUTH-06
    @Test("metadata of another resource end the flow")
    func resourceMismatch() async throws {
        try await OAuthFixture.with { (server) async throws in
            server.set { $0.resource = "https://other.example/mcp" }
            let fixture = OAuthFixture(server)
            let error = await fixture.failure { try await fixture.unauthorized() }
            #expect(error?.kind == .resourceMismatch)
            #expect(error?.description.contains("https://other.example/mcp") == true)
            #expect(server.paths == ["/.well-known/oauth-protected-resource/mcp"])
        }
    }

    // AUTH-08
    @Test("metadata with another issuer are not used", arguments: ["/", "X", "/x"])
    func issuerMismatch(_ suffix: String) async throws {
        try await OAuthFixture.with { (server) async throws in
            server.set { $0.metadataIssuer = server.origin + suffix }
            let fixture = OAuthFixture(server)
            let error = await fixture.failure { try await fixture.unauthorized() }
            #expect(error?.kind == .issuerMismatch)
            #expect(error?.details.contains("expected: \(server.issuer)") == true)
            let url = "\(server.origin)/.well-known/oauth-authorization-server"
            #expect(error?.details.contains("read from: \(url)") == true)
            // Nothing that is not a URL is offered for pasting.
            let remedy = AuthorizationError.Remedy.issuer(server.origin + suffix)
            #expect(error?.remedy == (suffix == "X" ? nil : remedy))
            #expect(server.paths.allSatisfy { $0.contains("well-known") })
        }
    }

    @Test("metadata that are not there are named, with what is there instead")
    func missingMetadata() async throws {
        try await OAuthFixture.with { (server) async throws in
            server.set { $0.metadataPath = "/elsewhere" }
            let fixture = OAuthFixture(server)
            let error = await fixture.failure { try await fixture.unauthorized() }
            #expect(error?.kind == .unreachable)
            let url = "\(server.origin)/.well-known/oauth-authorization-server"
            #expect(error?.details.first == "asked: \(url): HTTP 404", "\(error?.details ?? [])")
        }
    }

    @Test("a configured issuer may differ from the listed one by a final slash")
    func configuredIssuer() async throws {
        try await OAuthFixture.with { (server) async throws in
            server.set { $0.metadataIssuer = server.origin + "/" }
            var settings = OAuthSettings()
            settings.issuer = server.origin + "/"
            let fixture = OAuthFixture(server, settings)
            #expect(try await fixture.unauthorized())
            #expect(try await fixture.authorizer.status()?.issuer == server.origin + "/")
            settings.issuer = server.origin + "/x"
            let other = OAuthFixture(server, settings)
            #expect(await other.failure { try await other.unauthorized() }?.kind == .issuerMismatch)
        }
    }

    // AUTH-09
    @Test("without S256 no login starts", arguments: [nil, ["plain"]])
    func noPKCE(_ methods: [String]?) async throws {
        try await OAuthFixture.with(OAuthFixture.knobs { $0.challengeMethods = methods }) {
            (server) async throws in
            let fixture = OAuthFixture(server)
            let error = await fixture.failure { try await fixture.unauthorized() }
            #expect(error?.kind == .tokenRefused)
            #expect(error?.description.contains("code_challenge_methods_supported") == true)
            #expect(fixture.person.pages.isEmpty && server.requests("/register").isEmpty)
        }
    }

    @Test("without a user the error says what to do")
    func noUser() async throws {
        try await OAuthFixture.with(OAuthFixture.knobs { $0.challengeScope = "files:read" }) {
            (server) async throws in
            let fixture = OAuthFixture(server, hasUser: false)
            let error = await fixture.failure { try await fixture.unauthorized() }
            #expect(error?.kind == .loginRequired)
            #expect(
                error?.description == """
                    \(server.url) requires an access token (HTTP 401)
                      authorization server: \(server.issuer) · scopes: files:read
                    hint: log in
                    """)
            #expect(error?.remedy == .login(scopes: []))
            #expect(server.requests("/register").isEmpty)
        }
    }

    // MARK: The redirect

    // AUTH-23 to AUTH-26
    @Test("the issuer of the redirect")
    func redirectIssuer() async throws {
        try await OAuthFixture.with { (server) async throws in
            let own = server.issuer
            server.set { $0.redirectIssuer = own }
            let right = OAuthFixture(server)
            #expect(try await right.unauthorized())
            server.clearLog()
            for (issuer, isSent, error) in [
                (server.issuer + "/", true, nil), ("https://other.example", false, nil), (nil, true, nil),
                ("https://other.example", true, "access_denied"),
            ] as [(String?, Bool, String?)] {
                server.set { ($0.redirectIssuer, $0.sendsIssuer, $0.redirectError) = (issuer, isSent, error) }
                let fixture = OAuthFixture(server)
                let failure = await fixture.failure { try await fixture.unauthorized() }
                #expect(failure?.kind == .issuerMismatch)
                #expect(failure?.description.contains("access_denied") == false)
                #expect(failure?.description.contains("text of the error") == false)
            }
            #expect(server.requests("/token").isEmpty)
        }
    }

    @Test("the error of a redirect is shown")
    func redirectError() async throws {
        try await OAuthFixture.with(OAuthFixture.knobs { $0.redirectError = "access_denied" }) {
            (server) async throws in
            let fixture = OAuthFixture(server)
            let error = await fixture.failure { try await fixture.unauthorized() }
            #expect(error?.kind == .tokenRefused)
            #expect(error?.message.contains("access_denied: text of the error") == true)
        }
    }

    // AUTH-43
    @Test("an error does not show what the authorization server repeats")
    func repeatedSecrets() async throws {
        try await OAuthFixture.with(OAuthFixture.knobs { $0.repeatsSecrets = true }) {
            (server) async throws in
            let fixture = OAuthFixture(server)
            let error = await fixture.failure { try await fixture.unauthorized() }
            #expect(error?.kind == .tokenRefused)
            #expect(
                error?.message == "\(server.issuer) refused the token request: invalid_grant: "
                    + "code [redacted], code_verifier [redacted] are not good")
        }
    }

    // AUTH-22
    @Test("a redirect with another state or to another place is not accepted")
    func state() async throws {
        try await OAuthFixture.with { (server) async throws in
            for change in [
                { $0.split(separator: "?")[0] + "?code=x" }, { "\($0)&state=twice" },
                { $0.replacing("state=", with: "state=x") }, { "https://evil.example" + $0.dropFirst(21) },
                { $0 + "&code=%zz" },
            ] as [@Sendable (String) -> String] {
                let fixture = OAuthFixture(server)
                fixture.person.change(change)
                #expect(await fixture.failure { try await fixture.unauthorized() }?.kind == .timedOut)
            }
            #expect(server.requests("/token").isEmpty)
        }
    }

    // MARK: 2025-03-26

    // AUTH-61, LEG-29
    @Test("a server without metadata is its own authorization server")
    func fallback() async throws {
        let knobs = OAuthFixture.knobs { knobs in
            (knobs.namesMetadata, knobs.resourcePaths, knobs.metadataPath) = (false, [], "/none")
        }
        try await OAuthFixture.with(knobs) { (server) async throws in
            let fixture = OAuthFixture(server)
            #expect(try await fixture.unauthorized())
            #expect(
                server.paths == [
                    "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource",
                    "/.well-known/oauth-authorization-server", "/register", "/authorize", "/token",
                ])
            #expect(server.log.prefix(3).allSatisfy { $0.revision == ProtocolVersion.newest.text })
            // The metadata of such a server are used, but not with another issuer.
            server.set { $0.metadataPath = nil }
            let second = OAuthFixture(server)
            #expect(try await second.unauthorized())
            server.set { $0.metadataIssuer = "https://other.example" }
            server.clearLog()
            let third = OAuthFixture(server)
            #expect(await third.failure { try await third.unauthorized() }?.kind == .issuerMismatch)
            #expect(server.requests("/register").isEmpty)
        }
    }
}
