import MCPCore
import TestSupport

/// An authorizer with the server, the store and the person that it works with.
struct OAuthFixture {
    let server: TestAuthorizationServer
    let store: TestTokenStore
    let person: TestUser
    let clock: ManualClock
    let authorizer: OAuthAuthorizer

    init(
        _ server: TestAuthorizationServer, _ settings: OAuthSettings = OAuthSettings(),
        store: TestTokenStore = TestTokenStore(), clock: ManualClock = ManualClock(), hasUser: Bool = true
    ) {
        self.server = server
        self.store = store
        self.clock = clock
        let person = TestUser()
        self.person = person
        authorizer = OAuthAuthorizer(
            for: server.url, settings: settings, store: store, user: hasUser ? person.user : nil, http: nil,
            clock: clock)
    }

    /// Runs a test with a server, and stops it.
    static func with(
        _ knobs: TestAuthorizationServer.Knobs = TestAuthorizationServer.Knobs(),
        _ test: (TestAuthorizationServer) async throws -> Void
    ) async throws {
        let server = try TestAuthorizationServer(knobs)
        do { try await test(server) } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    static func knobs(
        _ change: (inout TestAuthorizationServer.Knobs) -> Void
    ) -> TestAuthorizationServer.Knobs {
        var knobs = TestAuthorizationServer.Knobs()
        change(&knobs)
        return knobs
    }

    func request(_ method: String = "tools/call", _ name: String? = "x") -> AuthorizedRequest {
        AuthorizedRequest(httpMethod: "POST", url: server.url, method: method, name: name)
    }

    /// The token that a request presents now; nil for none.
    func token() async throws -> String? {
        let field = try await authorizer.authorization(for: request()).fields.first?.value
        return field.map { String($0.dropFirst("Bearer ".count)) }
    }

    /// Responds to 401 of a request with the newest credentials.
    @discardableResult
    func unauthorized(_ generation: Int? = nil) async throws -> Bool {
        let current = try await authorizer.authorization(for: request()).generation
        return try await authorizer.respond(
            to: AuthorizationRefusal(
                request: request(), status: 401, challenges: server.challenges(),
                generation: generation ?? current))
    }

    @discardableResult
    func forbidden(_ scope: String, name: String = "x") async throws -> Bool {
        let current = try await authorizer.authorization(for: request()).generation
        return try await authorizer.respond(
            to: AuthorizationRefusal(
                request: request("tools/call", name), status: 403,
                challenges: server.challenges(error: "insufficient_scope", scope: scope), generation: current)
        )
    }

    /// The error of work that must fail.
    func failure(_ work: () async throws -> Void) async -> AuthorizationError? {
        do {
            try await work()
            return nil
        } catch {
            return error as? AuthorizationError
        }
    }
}
