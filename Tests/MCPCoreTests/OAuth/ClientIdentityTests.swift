import MCPCore
import TestSupport
import Testing

@Suite("OAuth: identities of clients")
struct ClientIdentityTests {
    // AUTH-17
    @Test(
        "a client that was registered beforehand",
        arguments: [(["client_secret_basic"], true), (["client_secret_post"], false), (nil, true)])
    func registered(_ methods: [String]?, _ isBasic: Bool) async throws {
        try await OAuthFixture.with(OAuthFixture.knobs { $0.tokenMethods = methods }) {
            (server) async throws in
            server.addClient("id of:me", secret: "s%cr+t")
            var settings = OAuthSettings()
            settings.identity = .registered(OAuthClientIdentity(clientID: "id of:me", clientSecret: "s%cr+t"))
            let fixture = OAuthFixture(server, settings)
            try await fixture.unauthorized()
            let request = try #require(server.requests("/token").first)
            #expect((request.authorization != nil) == isBasic)
            #expect((request.members["client_secret"] == nil) == isBasic)
            // The authorization server of the Python SDK looks the client up by it, also with Basic.
            #expect(request.members["client_id"] == "id of:me")
            #expect(server.requests("/register").isEmpty)
            #expect(try await fixture.token() != nil)
        }
    }

    // AUTH-12
    @Test("the URL of client metadata is the id where that is supported")
    func metadataURL() async throws {
        try await OAuthFixture.with(OAuthFixture.knobs { $0.supportsMetadataURLs = true }) {
            (server) async throws in
            var settings = OAuthSettings()
            settings.identity = .automatic(metadataURL: "https://app.example/client.json")
            let fixture = OAuthFixture(server, settings)
            try await fixture.unauthorized()
            #expect(
                server.requests("/token").first?.members["client_id"] == "https://app.example/client.json")
            #expect(server.requests("/register").isEmpty)
            settings.identity = .automatic(metadataURL: "http://app.example/client.json")
            let other = OAuthFixture(server, settings)
            #expect(await other.failure { try await other.unauthorized() }?.kind == .usage)
        }
    }

    // AUTH-11
    @Test("without registration an id is asked for")
    func noRegistration() async throws {
        try await OAuthFixture.with(OAuthFixture.knobs { $0.registers = false }) { (server) async throws in
            let fixture = OAuthFixture(server)
            let error = await fixture.failure { try await fixture.unauthorized() }
            #expect(error?.kind == .registrationFailed)
            #expect(error?.remedy == .registeredClient)
            #expect(fixture.person.pages.isEmpty)
        }
    }

    // AUTH-16
    @Test("a client id of another issuer is not sent")
    func otherIssuer() async throws {
        try await OAuthFixture.with { (server) async throws in
            var settings = OAuthSettings()
            settings.identity = .registered(
                OAuthClientIdentity(clientID: "id", clientSecret: "s"), issuer: "https://id.example")
            let fixture = OAuthFixture(server, settings)
            let error = await fixture.failure { try await fixture.unauthorized() }
            #expect(error?.kind == .issuerMismatch)
            #expect(error?.description.contains("https://id.example") == true)
            #expect(error?.description.contains(server.issuer) == true)
            #expect(server.paths == ["/.well-known/oauth-protected-resource/mcp"])
        }
    }

    @Test("a registration that is unknown is replaced once")
    func unknownClient() async throws {
        try await OAuthFixture.with(OAuthFixture.knobs { $0.issuesRefreshTokens = false }) {
            (server) async throws in
            let fixture = OAuthFixture(server)
            try await fixture.unauthorized()
            server.forgetClients()
            server.clearLog()
            try await fixture.unauthorized()
            #expect(server.requests("/register").count == 1)
            #expect(server.requests("/token").count == 2)
            server.set { $0.tokenMethods = ["client_secret_post"] }
        }
    }

    // AUTH-13
    @Test("a client registers for all scopes of the server, and anew when those are too few")
    func registeredScopes() async throws {
        let knobs = OAuthFixture.knobs { ($0.challengeScope, $0.resourceScopes) = ("a", ["a", "b"]) }
        try await OAuthFixture.with(knobs) { (server) async throws in
            let fixture = OAuthFixture(server)
            func registered() throws -> [String?] {
                try server.requests("/register").map { try JSONValue(parsing: $0.body)["scope"]?.stringValue }
            }
            try await fixture.unauthorized()
            try await fixture.forbidden("b", name: "x")
            #expect(try registered() == ["a b"])
            try await fixture.forbidden("c", name: "y")
            #expect(try registered() == ["a b", "a b c"])
            #expect(server.requests("/authorize").map { $0.members["scope"] } == ["a", "a b", "a b c"])
        }
    }

    @Test("after a login that did not come back the client registers anew")
    func doubtful() async throws {
        try await OAuthFixture.with { (server) async throws in
            let fixture = OAuthFixture(server)
            fixture.person.leave()
            #expect(await fixture.failure { try await fixture.unauthorized() }?.kind == .timedOut)
            #expect(fixture.store.entries.values.first?.isDoubtful == true)
            fixture.person.leave(false)
            try await fixture.unauthorized()
            #expect(server.requests("/register").count == 2)
            #expect(fixture.store.entries.values.first?.isDoubtful == false)
        }
    }

    // AUTH-18
    @Test("a registration is kept with its redirect URI, and replaced when the port is busy")
    func busyPort() async throws {
        try await OAuthFixture.with(OAuthFixture.knobs { $0.issuesRefreshTokens = false }) {
            (server) async throws in
            let fixture = OAuthFixture(server)
            try await fixture.unauthorized()
            try await fixture.unauthorized()
            #expect(server.requests("/register").count == 1)
            #expect(fixture.person.opened.count == 2 && fixture.person.opened[1] != nil)
            fixture.person.occupyPort()
            try await fixture.unauthorized()
            #expect(server.requests("/register").count == 2)
        }
    }

    // AUTH-15
    @Test("a client id without an issuer stays with the first one")
    func pinned() async throws {
        let other = try TestAuthorizationServer()
        try await OAuthFixture.with { (server) async throws in
            server.addClient("id", secret: "secret")
            var settings = OAuthSettings()
            settings.identity = .registered(OAuthClientIdentity(clientID: "id", clientSecret: "secret"))
            let fixture = OAuthFixture(server, settings)
            try await fixture.unauthorized()
            let issuer = other.issuer
            server.set { $0.authorizationServers = [issuer] }
            fixture.clock.advance(by: .seconds(2))
            let error = await fixture.failure { try await fixture.unauthorized() }
            #expect(error?.kind == .issuerMismatch)
            #expect(error?.description.contains(issuer) == true)
            #expect(error?.description.contains(server.issuer) == true)
            #expect(other.log.isEmpty)
        }
        await other.stop()
    }
}
