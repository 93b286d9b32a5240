import TestSupport
import Testing

@testable import MCPCore

/// An authorization server whose answers change between two requests.
@Suite("OAuth: servers that change") struct ChangingServerTests {
    private typealias Fixture = OAuthFixture

    // AUTH-08
    @Test("tokens are not renewed at a server that calls itself something else; they stay stored")
    func issuer() async throws {
        try await Fixture.with { (server) async throws in
            let fixture = Fixture(server)
            try await fixture.unauthorized()
            server.set { $0.metadataIssuer = "https://other.example" }
            fixture.clock.advance(by: .seconds(3_600))
            server.clearLog()
            let error = await fixture.failure { _ = try await fixture.token() }
            #expect(error?.kind == .issuerMismatch)
            #expect(server.requests("/token").isEmpty)
            #expect(fixture.store.entries.values.first?.tokens?.refreshToken != nil)
            // It was a mistake, and is mended.
            server.set { $0.metadataIssuer = nil }
            #expect(try await fixture.token() != nil)
            #expect(fixture.person.pages.count == 1)
        }
    }

    // AUTH-23
    @Test("a login ends with the metadata that it began with")
    func duringALogin() async throws {
        try await Fixture.with { (server) async throws in
            let fixture = Fixture(server)
            fixture.person.change { redirect in
                server.set {
                    $0.metadataIssuer = "https://other.example"
                    $0.authorizationServers = ["https://other.example"]
                    $0.challengeMethods = []
                }
                return redirect
            }
            #expect(try await fixture.unauthorized())
            #expect(server.requests("/token").count == 1)
            #expect(fixture.store.entries.keys.map(\.issuer) == [server.issuer])
        }
    }

    // AUTH-25
    @Test("an issuer that is announced during a login is not expected of it, a foreign one is refused")
    func redirect() async throws {
        try await Fixture.with { (server) async throws in
            let fixture = Fixture(server)
            fixture.person.change { redirect in
                server.set { $0.sendsIssuer = true }
                return redirect
            }
            #expect(try await fixture.unauthorized())
            // The next login reads the metadata again, and expects it.
            fixture.clock.advance(by: OAuthDiscovery.metadataLifetime)
            server.expireTokens()
            server.dropRefreshTokens()
            #expect(await fixture.failure { try await fixture.unauthorized() }?.kind == .issuerMismatch)
            #expect(server.grants("authorization_code").count == 1)
        }
    }

    // AUTH-09
    @Test("a server that no longer supports S256 gets no further login")
    func downgrade() async throws {
        try await Fixture.with { (server) async throws in
            let fixture = Fixture(server)
            try await fixture.unauthorized()
            server.set { $0.challengeMethods = ["plain"] }
            server.expireTokens()
            server.dropRefreshTokens()
            fixture.clock.advance(by: OAuthDiscovery.metadataLifetime)
            #expect(await fixture.failure { try await fixture.unauthorized() }?.kind == .tokenRefused)
            #expect(fixture.person.pages.count == 1)
        }
    }

    // AUTH-06
    @Test("metadata of the server that move to another resource end its logins, not the stored one")
    func resource() async throws {
        try await Fixture.with { (server) async throws in
            let fixture = Fixture(server)
            try await fixture.unauthorized()
            server.set { $0.resource = "https://other.example/mcp" }
            server.expireTokens()
            server.clearLog()
            #expect(await fixture.failure { try await fixture.unauthorized() }?.kind == .resourceMismatch)
            #expect(server.requests("/token").isEmpty && server.requests("/authorize").isEmpty)
            #expect(fixture.store.entries.values.first?.tokens != nil)
        }
    }
}
