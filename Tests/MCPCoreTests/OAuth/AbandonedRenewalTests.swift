import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// A program that ends while it renews a login.
@Suite struct AbandonedRenewalTests {
    /// HTTP that keeps the answers of the token endpoint back.
    private final class HeldHTTP: OAuthHTTP {
        private let inner: HTTPFetcher
        let answered = OneShot<Void>()
        let gate = Gate()

        init(for url: String) { inner = HTTPFetcher(for: url) }

        func send(_ request: OAuthHTTPRequest) async throws(AuthorizationError) -> OAuthHTTPResponse {
            let response = try await inner.send(request)
            if request.url.hasSuffix("/token") {
                answered.finish(())
                await gate.wait()
            }
            return response
        }
    }

    @Test("a renewal goes on when its request is abandoned, and can be waited for")
    func isStored() async throws {
        try await OAuthFixture.with { (server) async throws in
            let fixture = OAuthFixture(server)
            try await fixture.unauthorized()
            fixture.clock.advance(by: .seconds(3_600))
            let old = try #require(fixture.store.entries.values.first?.tokens?.refreshToken)
            let http = HeldHTTP(for: server.url)
            let authorizer = OAuthAuthorizer(
                for: server.url, settings: OAuthSettings(), store: fixture.store, user: nil, http: http,
                clock: fixture.clock)
            // Nothing is under way.
            await authorizer.finishRenewal()
            let request = Task { try await authorizer.authorization(for: fixture.request()) }
            await http.answered.value(ifCancelled: ())
            request.cancel()
            await #expect(throws: (any Error).self) { _ = try await request.value }
            let end = Task { await authorizer.finishRenewal() }
            end.cancel()
            #expect(fixture.store.entries.values.first?.tokens?.refreshToken == old)
            http.gate.open()
            await end.value
            let new = try #require(fixture.store.entries.values.first?.tokens?.refreshToken)
            #expect(new != old && server.requests("/token").count == 2)
        }
    }
}
