import MCPCore
import Synchronization
import TestSupport
import Testing

@Suite("OAuth: logins on another device")
struct DeviceGrantTests {
    private final class Shown: Sendable {
        let codes = Mutex<[OAuthSettings.DeviceCode]>([])
    }

    private func settings(_ shown: Shown) -> OAuthSettings {
        var settings = OAuthSettings()
        settings.grant = .device { code in shown.codes.withLock { $0.append(code) } }
        return settings
    }

    /// Lets the client send its next request for the token.
    private func step(_ fixture: OAuthFixture, _ seconds: Int) async {
        #expect(await comesTrue { fixture.clock.scheduledCount > 0 })
        fixture.clock.advance(by: .seconds(seconds))
    }

    @Test("pending, slow_down, then tokens: the intervals are obeyed")
    func polls() async throws {
        let errors = ["authorization_pending", "slow_down", "authorization_pending"]
        try await OAuthFixture.with(OAuthFixture.knobs { $0.deviceErrors = errors }) {
            (server) async throws in
            let shown = Shown()
            let fixture = OAuthFixture(server, settings(shown), hasUser: false)
            async let login = fixture.unauthorized()
            await step(fixture, 5)
            await step(fixture, 5)
            // Ten seconds from now on.
            #expect(await comesTrue { fixture.clock.scheduledCount > 0 })
            fixture.clock.advance(by: .seconds(9))
            #expect(fixture.clock.scheduledCount == 1)
            fixture.clock.advance(by: .seconds(1))
            await step(fixture, 10)
            #expect(try await login)
            #expect(try await fixture.token() != nil)
            let code = try #require(shown.codes.withLock { $0.first })
            #expect(code.userCode == "ABCD-EFGH" && code.page == server.origin + "/enter")
            #expect(server.requests("/device").first?.members["resource"] == server.url)
            let registration = try #require(server.requests("/register").first).body
            #expect(registration.contains("device_code") && !registration.contains("redirect_uris"))
            #expect(server.grants("urn:ietf:params:oauth:grant-type:device_code").count == 4)
        }
    }

    @Test("a refused and an expired code end the login", arguments: ["access_denied", "expired_token"])
    func ends(_ code: String) async throws {
        try await OAuthFixture.with(OAuthFixture.knobs { $0.deviceErrors = [code] }) {
            (server) async throws in
            let fixture = OAuthFixture(server, settings(Shown()), hasUser: false)
            async let failure = fixture.failure { try await fixture.unauthorized() }
            await step(fixture, 5)
            #expect(await failure?.kind == (code == "access_denied" ? .tokenRefused : .timedOut))
        }
    }

    // A client is registered for the one or the other grant.
    @Test("a client that is registered for redirects registers again")
    func registration() async throws {
        try await OAuthFixture.with(OAuthFixture.knobs { $0.deviceErrors = [] }) { (server) async throws in
            let first = OAuthFixture(server)
            try await first.unauthorized()
            let fixture = OAuthFixture(server, settings(Shown()), store: first.store)
            let authorizer = fixture.authorizer
            let login = Task { try await authorizer.login() }
            await step(fixture, 5)
            #expect(try await login.value?.isUsable == true)
            let bodies = try server.requests("/register").map { try JSONValue(parsing: $0.body) }
            #expect(bodies.map { $0["redirect_uris"] == nil } == [false, true])
            let clients = server.requests("/token").map { $0.members["client_id"] }
            #expect(clients.count == 2 && clients[0] != clients[1])
            let stored = first.store.entries.values.first?.registration
            #expect(stored?.clientID == clients[1] && stored?.redirectURI == nil)
        }
    }

    @Test("a code that nobody enters expires")
    func expires() async throws {
        try await OAuthFixture.with(OAuthFixture.knobs { $0.deviceErrors = [] }) { (server) async throws in
            let fixture = OAuthFixture(server, settings(Shown()), hasUser: false)
            async let failure = fixture.failure { try await fixture.unauthorized() }
            await step(fixture, 600)
            #expect(await failure?.kind == .timedOut)
            #expect(server.requests("/token").isEmpty)
        }
    }

    @Test("a login has its own time, which may end between two polls")
    func ownTime() async throws {
        let errors = ["authorization_pending", "authorization_pending"]
        try await OAuthFixture.with(OAuthFixture.knobs { $0.deviceErrors = errors }) {
            (server) async throws in
            var own = settings(Shown())
            own.loginTimeout = .seconds(12)
            let fixture = OAuthFixture(server, own, hasUser: false)
            async let failure = fixture.failure { try await fixture.unauthorized() }
            await step(fixture, 5)
            await step(fixture, 5)
            await step(fixture, 2)
            #expect(await failure?.kind == .timedOut)
            #expect(server.grants("urn:ietf:params:oauth:grant-type:device_code").count == 2)
        }
    }

    @Test("without a place to show the code a login is required")
    func nobody() async throws {
        try await OAuthFixture.with(OAuthFixture.knobs { $0.deviceErrors = [] }) { (server) async throws in
            var settings = OAuthSettings()
            settings.grant = .device(show: nil)
            let fixture = OAuthFixture(server, settings, hasUser: false)
            #expect(await fixture.failure { try await fixture.unauthorized() }?.kind == .loginRequired)
            #expect(server.requests("/device").isEmpty)
        }
    }
}
