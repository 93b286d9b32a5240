import MCPCore
import TestSupport
import Testing

@Suite("OAuth: tokens in use")
struct OAuthTokenTests {
    private typealias Fixture = OAuthFixture

    // MARK: Renewal

    @Test("tokens are renewed 30 s before they expire, and the old refresh token is replaced first")
    func renewsAhead() async throws {
        try await Fixture.with { (server) async throws in
            let fixture = Fixture(server)
            try await fixture.unauthorized()
            let first = try await fixture.token()
            fixture.clock.advance(by: .seconds(3_600 - 31))
            #expect(try await fixture.token() == first)
            let identity = fixture.authorizer.identity
            fixture.clock.advance(by: .seconds(1))
            let second = try #require(try await fixture.token())
            #expect(second != first)
            #expect(server.isActive(second))
            let renewal = try #require(server.grants("refresh_token").first)
            #expect(renewal.members["resource"] == server.url)
            #expect(renewal.members["scope"] == nil)
            #expect(fixture.authorizer.identity == identity)
            // Again: the rotated token is the stored one.
            fixture.clock.advance(by: .seconds(3_600))
            #expect(try await fixture.token() != second)
            #expect(server.grants("refresh_token").count == 2)
            #expect(fixture.person.pages.count == 1)
        }
    }

    @Test(
        "tokens with a short life are renewed in the last tenth of it",
        arguments: [(20, 2), (299, 29), (5, 0), (1, 0)])
    func renewsShortLivedTokens(_ lifetime: Int, _ margin: Int) async throws {
        try await Fixture.with(Fixture.knobs { $0.lifetime = lifetime }) { (server) async throws in
            let fixture = Fixture(server)
            try await fixture.unauthorized()
            let first = try await fixture.token()
            #expect(first != nil)
            for _ in 0 ..< 5 { #expect(try await fixture.token() == first) }
            fixture.clock.advance(by: .seconds(lifetime - margin) - .nanoseconds(1))
            #expect(try await fixture.token() == first)
            #expect(server.grants("refresh_token").isEmpty)
            fixture.clock.advance(by: .nanoseconds(1))
            #expect(try await fixture.token() != first)
            #expect(server.grants("refresh_token").count == 1)
        }
    }

    @Test("a response with an error and a token is an error")
    func errorBesideToken() async throws {
        try await Fixture.with(Fixture.knobs { $0.errorBesideToken = "invalid_grant" }) {
            (server) async throws in
            let fixture = Fixture(server)
            let error = await fixture.failure { try await fixture.unauthorized() }
            #expect(error?.kind == .tokenRefused)
            #expect(error?.message.hasSuffix("refused the token request: invalid_grant") == true)
            #expect(try await fixture.token() == nil)
            #expect(fixture.store.entries.values.allSatisfy { $0.tokens == nil })
        }
    }

    // AUTH-52
    @Test("a response without refresh token or scope keeps the old ones")
    func keepsRefreshToken() async throws {
        try await Fixture.with(Fixture.knobs { $0.challengeScope = "a b" }) { (server) async throws in
            let fixture = Fixture(server)
            try await fixture.unauthorized()
            let before = try #require(fixture.store.entries.values.first?.tokens)
            server.set { $0.issuesRefreshTokens = false }
            fixture.clock.advance(by: .seconds(3_600))
            #expect(try await fixture.token() != nil)
            let after = try #require(fixture.store.entries.values.first?.tokens)
            #expect(after.accessToken != before.accessToken)
            #expect(after.refreshToken == before.refreshToken)
            #expect(after.grantedScopes == ["a", "b"])
        }
    }

    @Test("401 is answered by a refresh if there is a refresh token")
    func renewsOnRefusal() async throws {
        try await Fixture.with { (server) async throws in
            let fixture = Fixture(server)
            try await fixture.unauthorized()
            server.expireTokens()
            #expect(try await fixture.unauthorized())
            #expect(server.grants("refresh_token").count == 1)
            #expect(fixture.person.pages.count == 1)
            #expect(server.isActive(try #require(try await fixture.token())))
        }
    }

    @Test("after invalid_grant the tokens are deleted, the registration stays, and the user logs in")
    func refreshRefused() async throws {
        try await Fixture.with { (server) async throws in
            let fixture = Fixture(server)
            try await fixture.unauthorized()
            server.dropRefreshTokens()
            fixture.clock.advance(by: .seconds(3_600))
            #expect(try await fixture.token() == nil)
            let entry = try #require(fixture.store.entries.values.first)
            #expect(entry.tokens == nil && entry.registration != nil)
            #expect(try await fixture.unauthorized(0))
            #expect(server.requests("/register").count == 1)
            #expect(fixture.person.pages.count == 2)
            #expect(try await fixture.token() != nil)
        }
    }

    @Test("a failure of the authorization server deletes nothing", arguments: [500, 503, 429])
    func refreshFails(_ status: Int) async throws {
        try await Fixture.with { (server) async throws in
            let fixture = Fixture(server)
            try await fixture.unauthorized()
            server.set { $0.tokenStatus = status }
            fixture.clock.advance(by: .seconds(3_600))
            #expect(await fixture.failure { _ = try await fixture.token() }?.kind == .unreachable)
            server.set { $0.tokenStatus = nil }
            #expect(try await fixture.token() != nil)
            #expect(fixture.person.pages.count == 1)
        }
    }

    @Test("tokens that another process has renewed are used without a request")
    func otherProcess() async throws {
        try await Fixture.with { (server) async throws in
            let first = Fixture(server)
            try await first.unauthorized()
            let second = Fixture(server, store: first.store, clock: first.clock)
            #expect(try await second.token() == (try await first.token()))
            first.clock.advance(by: .seconds(3_600))
            let renewed = try await first.token()
            #expect(try await second.token() == renewed)
            #expect(server.grants("refresh_token").count == 1)
        }
    }

    /// The authorization server ends the login when a refresh token is used twice.
    @Test("eight authorizers with one store never use a refresh token twice")
    func manyAuthorizers() async throws {
        try await Fixture.with { (server) async throws in
            let first = Fixture(server)
            try await first.unauthorized()
            let all = (0 ..< 8).map { _ in Fixture(server, store: first.store, clock: first.clock) }
            for round in 1 ... 10 {
                first.clock.advance(by: .seconds(3_600))
                let tokens = try await withThrowingTaskGroup(of: String?.self) { group in
                    for fixture in all { group.addTask { try await fixture.token() } }
                    return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
                }
                #expect(tokens.count == 1)
                #expect(server.grants("refresh_token").count == round)
            }
            #expect(server.isActive(try #require(try await all[0].token())))
        }
    }

    @Test("100 refusals at the same time start one flow")
    func oneFlow() async throws {
        try await Fixture.with { (server) async throws in
            let fixture = Fixture(server)
            let challenges = server.challenges()
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0 ..< 100 {
                    group.addTask {
                        try await fixture.authorizer.respond(
                            to: AuthorizationRefusal(
                                request: fixture.request(), status: 401, challenges: challenges, generation: 0
                            ))
                    }
                }
                for try await mayRepeat in group { #expect(mayRepeat) }
            }
            #expect(fixture.person.pages.count == 1)
            #expect(server.requests("/token").count == 1)
        }
    }

    @Test("a request that was abandoned does not end the flow of the others")
    func abandoned() async throws {
        try await Fixture.with { (server) async throws in
            let fixture = Fixture(server)
            let challenges = server.challenges()
            let refusal = AuthorizationRefusal(
                request: fixture.request(), status: 401, challenges: challenges, generation: 0)
            let first = Task { try await fixture.authorizer.respond(to: refusal) }
            let second = Task { try await fixture.authorizer.respond(to: refusal) }
            first.cancel()
            #expect(try await second.value)
            #expect(try await fixture.token() != nil)
            _ = try? await first.value
        }
    }

    // MARK: Places

    // AUTH-37, AUTH-38
    @Test("tokens go to the server that they are for and nowhere else")
    func places() async throws {
        try await Fixture.with { (server) async throws in
            let fixture = Fixture(server)
            try await fixture.unauthorized()
            for (url, isSent) in [
                (server.url, true), (server.url + "/x", true), (server.url + "?x=y", true),
                (server.origin + "/mcp2", false), (server.origin + "/", false),
                ("https://other.example/mcp", false), ("http://127.0.0.1:1/mcp", false),
            ] {
                let request = AuthorizedRequest(httpMethod: "GET", url: url)
                let fields = try await fixture.authorizer.authorization(for: request).fields
                #expect(fields.isEmpty != isSent, "\(url)")
            }
        }
    }

    @Test("a server that is not https receives no tokens")
    func plainServer() async throws {
        let authorizer = OAuthAuthorizer(for: "http://93.184.216.34/mcp", store: TestTokenStore())
        let error = await #expect(throws: AuthorizationError.self) { try await authorizer.login() }
        #expect(error?.kind == .usage)
        let refusal = AuthorizationRefusal(
            request: AuthorizedRequest(httpMethod: "POST", url: "http://93.184.216.34/mcp"), status: 401,
            challenges: ["Bearer"], generation: 0)
        #expect(try await authorizer.respond(to: refusal) == false)
    }

    // AUTH-15
    @Test(
        "another authorization server gets a registration of its own and sees nothing of the first")
    func migration() async throws {
        let other = try TestAuthorizationServer()
        try await Fixture.with { (server) async throws in
            let fixture = Fixture(server)
            try await fixture.unauthorized()
            let old = try #require(fixture.store.entries.values.first)
            let identity = fixture.authorizer.identity
            server.set { $0.authorizationServers = [other.issuer] }
            fixture.clock.advance(by: .seconds(2))
            #expect(try await fixture.unauthorized())
            #expect(other.paths.contains("/register"))
            let secrets = [
                old.tokens?.accessToken, old.tokens?.refreshToken, old.registration?.clientID,
            ].compactMap { $0 }
            #expect(secrets.count == 3)
            // The names of the two servers' tokens differ by their numbers only.
            let text = other.log.filter { !$0.path.contains("well-known") }.map(\.text).joined()
            #expect(!text.contains(try #require(old.tokens?.refreshToken)))
            #expect(fixture.store.entries.count == 2)
            #expect(fixture.authorizer.identity != identity)
        }
        await other.stop()
    }

    // MARK: Scopes

    // AUTH-28, AUTH-30
    @Test("the scopes of the challenge, else of the metadata, else none")
    func scopes() async throws {
        try await Fixture.with { (server) async throws in
            server.set { ($0.resourceScopes, $0.scopes) = (["p", "q"], ["other"]) }
            let listed = Fixture(server)
            try await listed.unauthorized()
            server.set { $0.challengeScope = "c" }
            let challenged = Fixture(server)
            try await challenged.unauthorized()
            server.set { $0.scopes = ["offline_access"] }
            let offline = Fixture(server)
            try await offline.unauthorized()
            #expect(
                server.requests("/authorize").map { $0.members["scope"] } == ["p q", "c", "c offline_access"])
        }
    }

    // AUTH-31, AUTH-32
    @Test("a step-up asks for the union, without a refresh, twice at most")
    func stepUp() async throws {
        try await Fixture.with(Fixture.knobs { $0.challengeScope = "basic" }) { (server) async throws in
            let fixture = Fixture(server)
            try await fixture.unauthorized()
            let identity = fixture.authorizer.identity
            #expect(try await fixture.forbidden("write"))
            #expect(server.requests("/authorize").last?.members["scope"] == "basic write")
            #expect(server.grants("refresh_token").isEmpty)
            #expect(fixture.authorizer.identity == identity)
            // Asked for and not granted: no flow.
            let again = await fixture.failure { try await fixture.forbidden("write") }
            #expect(again?.kind == .insufficientScope)
            #expect(again?.message.contains("asked for and not granted") == true)
            #expect(try await fixture.forbidden("more"))
            let third = await fixture.failure { try await fixture.forbidden("even-more") }
            #expect(third?.kind == .insufficientScope)
            #expect(server.requests("/authorize").count == 3)
            // Another operation, and the same one after 10 minutes.
            #expect(try await fixture.forbidden("other", name: "y"))
            fixture.clock.advance(by: .seconds(600))
            #expect(try await fixture.forbidden("even-more"))
            #expect(
                server.requests("/authorize").last?.members["scope"] == "basic write more other even-more")
        }
    }

    @Test("403 without insufficient_scope is not answered")
    func forbidden() async throws {
        try await Fixture.with { (server) async throws in
            let fixture = Fixture(server)
            try await fixture.unauthorized()
            let generation = try await fixture.authorizer.authorization(for: fixture.request()).generation
            let refusal = AuthorizationRefusal(
                request: fixture.request(), status: 403, challenges: ["Bearer"], generation: generation)
            #expect(try await fixture.authorizer.respond(to: refusal) == false)
        }
    }

    // MARK: Without a user

    // AUTH-54, AUTH-60
    @Test("client credentials are renewed without a user, and ask once for more scopes")
    func clientCredentials() async throws {
        try await Fixture.with(Fixture.knobs { $0.issuesRefreshTokens = false }) { (server) async throws in
            server.addClient("id", secret: "secret")
            var settings = OAuthSettings()
            settings.grant = .clientCredentials
            settings.scopes = ["a"]
            settings.identity = .registered(OAuthClientIdentity(clientID: "id", clientSecret: "secret"))
            let fixture = Fixture(server, settings, hasUser: false)
            try await fixture.unauthorized()
            let first = try await fixture.token()
            let request = try #require(server.grants("client_credentials").first)
            #expect(request.members["resource"] == server.url && request.members["scope"] == "a")
            #expect(request.authorization?.hasPrefix("Basic ") == true)
            fixture.clock.advance(by: .seconds(3_570))
            #expect(try await fixture.token() != first)
            #expect(try await fixture.forbidden("b"))
            #expect(server.grants("client_credentials").map { $0.members["scope"] } == ["a", "a", "a b"])
            #expect(await fixture.failure { try await fixture.forbidden("b") }?.kind == .insufficientScope)
            #expect(server.requests("/register").isEmpty)
        }
    }

    @Test("a grant without a user needs a registered client with a secret or a key")
    func clientCredentialsWithoutSecret() async throws {
        try await Fixture.with { (server) async throws in
            var settings = OAuthSettings()
            settings.grant = .clientCredentials
            let unregistered = Fixture(server, settings)
            #expect(await unregistered.failure { try await unregistered.unauthorized() }?.kind == .usage)
            settings.identity = .registered(OAuthClientIdentity(clientID: "id"))
            let publicClient = Fixture(server, settings)
            #expect(await publicClient.failure { try await publicClient.unauthorized() }?.kind == .usage)
            #expect(server.requests("/register").isEmpty && server.requests("/token").isEmpty)
        }
    }

    // AUTH-59
    @Test("a workload presents its assertion")
    func workload() async throws {
        try await Fixture.with { (server) async throws in
            server.addClient("id", secret: "")
            var settings = OAuthSettings()
            settings.grant = .jwtBearer { "assertion" }
            settings.identity = .registered(OAuthClientIdentity(clientID: "id"))
            let fixture = Fixture(server, settings, hasUser: false)
            try await fixture.unauthorized()
            let request = try #require(server.requests("/token").first).members
            #expect(request["assertion"] == "assertion" && request["client_id"] == "id")
            #expect(try await fixture.token() != nil)
            // A refused one is not sent again.
            server.forgetClients()
            server.set { $0.issuesRefreshTokens = false }
            let other = Fixture(server, settings, hasUser: false)
            server.clearLog()
            #expect(await other.failure { try await other.unauthorized() }?.kind == .tokenRefused)
            let again = await other.failure { try await other.unauthorized() }
            #expect(again?.message.contains("has not changed") == true)
            #expect(server.requests("/token").count == 1)
        }
    }

    // MARK: Accounts

    // AUTH-53
    @Test("a login on request, its summary, and a logout that revokes both tokens")
    func account() async throws {
        try await Fixture.with(Fixture.knobs { $0.challengeScope = "a" }) { (server) async throws in
            let fixture = Fixture(server)
            #expect(try await fixture.authorizer.status() == nil)
            let missing = await fixture.failure { _ = try await fixture.authorizer.accessToken() }
            #expect(missing?.kind == .loginRequired)
            let login = try #require(try await fixture.authorizer.login())
            #expect(login.issuer == server.issuer && login.scopes == ["a"] && login.expiresAt == 3_600)
            #expect(login.isRenewable && login.isUsable && login.resource == server.url)
            let token = try await fixture.authorizer.accessToken()
            #expect(token == (try await fixture.token()))
            // Whatever is stored.
            #expect(try await fixture.authorizer.login() != nil)
            #expect(fixture.person.pages.count == 2)
            #expect(try await fixture.authorizer.logout() == [])
            #expect(
                server.requests("/revoke").map { $0.members["token_type_hint"] } == [
                    "refresh_token", "access_token",
                ])
            #expect(try await fixture.token() == nil)
            #expect(fixture.store.entries.values.first?.registration != nil)
            #expect(try await fixture.authorizer.logout(forget: true) == [])
            #expect(fixture.store.entries.isEmpty)
            #expect(try await fixture.authorizer.status() == nil)
        }
    }

    @Test("a second login is one, also where it ends with the same access token")
    func sameToken() async throws {
        try await Fixture.with(Fixture.knobs { $0.repeatsTokens = true }) { (server) async throws in
            let fixture = Fixture(server)
            #expect(try await fixture.authorizer.login() != nil)
            #expect(try await fixture.authorizer.login() != nil)
            #expect(fixture.person.pages.count == 2)
        }
    }

    // Without the challenge, more would be asked for: all that the metadata list.
    @Test("a login at a server that takes no POST takes the challenge of a GET")
    func loginAtAStream() async throws {
        let knobs = Fixture.knobs {
            $0.takesOnlyGet = true
            $0.challengeScope = "read"
            $0.resourceScopes = ["read", "write"]
        }
        try await Fixture.with(knobs) { (server) async throws in
            let fixture = Fixture(server)
            let login = try #require(try await fixture.authorizer.login())
            #expect(login.scopes == ["read"])
            #expect(server.requests("/mcp").map(\.method) == ["POST", "GET"])
        }
    }

    @Test("a logout sends the secret in the form, too, where nothing else is taken, as by the Python SDK")
    func logoutWithTheSecretInTheForm() async throws {
        let knobs = Fixture.knobs {
            $0.revokesByForm = true
            $0.tokenMethods = ["client_secret_basic"]
        }
        try await Fixture.with(knobs) { (server) async throws in
            let fixture = Fixture(server)
            try await fixture.unauthorized()
            let registration = fixture.store.entries.values.first?.registration
            #expect(registration?.clientSecret != nil)
            #expect(try await fixture.authorizer.logout() == [])
            #expect(server.requests("/revoke").count == 4)
        }
    }

    @Test("a logout that the authorization server does not support says so, and deletes")
    func logoutWithoutRevocation() async throws {
        try await Fixture.with(Fixture.knobs { $0.revokes = false }) { (server) async throws in
            let fixture = Fixture(server)
            try await fixture.unauthorized()
            let problems = try #require(try await fixture.authorizer.logout())
            #expect(problems.count == 1 && problems[0].contains("revocation_endpoint"))
            #expect(fixture.store.entries.values.first?.tokens == nil)
        }
    }

    @Test("a server without tokens needs no login")
    func noLoginNeeded() async throws {
        let server = try HTTPServer(on: [.tcp(port: 0)])
        try server.start(TestHandler())
        let url = "http://127.0.0.1:\(server.addresses[0].port ?? 0)/door/empty"
        let person = TestUser()
        let authorizer = OAuthAuthorizer(for: url, store: TestTokenStore(), user: person.user)
        #expect(try await authorizer.login() == nil)
        #expect(person.pages.isEmpty)
        await server.stop()
    }

    @Test("lifetimes over 24 h, negative and malformed ones are not planned with")
    func lifetimes() async throws {
        try await Fixture.with { (server) async throws in
            for (lifetime, expiry) in [(86_400, 86_400), (86_401, nil), (-1, nil), (0, nil)]
                as [(Int, Int64?)]
            {
                server.set { $0.lifetime = lifetime }
                let fixture = Fixture(server)
                try await fixture.unauthorized()
                #expect(try await fixture.authorizer.status()?.expiresAt == expiry)
            }
        }
    }
}
