import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import MCPCore

extension LimitProofs {
    static let logins: [LimitProof] = {
        let settings = OAuthSettings()
        let challenges =
            "\(AuthenticationChallenge.maxCount), \(LimitText.bytes(AuthenticationChallenge.maxBytes))"
        let stepUps =
            "\(OAuthAuthorizer.maxStepUps) in \(LimitText.seconds(OAuthAuthorizer.stepUpWindow))"
        return [
            LimitProof(
                "connection to an authorization server", LimitText.seconds(HTTPFetcher.connectTimeout),
                connecting),
            LimitProof(
                "one request of a login, with its redirects", LimitText.seconds(HTTPFetcher.timeout)
            ) { try await HTTPFetcherTests().silence() },
            LimitProof("body of its response", LimitText.bytes(HTTPFetcher.maxBodyBytes)) {
                try await HTTPFetcherTests().bodies()
            },
            LimitProof("depth of metadata", "\(OAuthHTTPResponse.maxDepth)") {
                try await HTTPFetcherTests().bodies()
            },
            LimitProof(
                "redirects of a request for metadata, within its origin", "\(HTTPFetcher.maxRedirects)"
            ) { try await HTTPFetcherTests().redirects() },
            LimitProof("requests of one login", "\(LimitedHTTP.maxRequests)", requests),
            LimitProof("challenges of one response", challenges) {
                let tests = AuthenticationChallengeTests()
                for index in AuthenticationChallengeTests.rows.indices { tests.reads(index) }
            },
            LimitProof(
                "URL of metadata, of an endpoint or of a redirect", LimitText.bytes(WebURL.maxBytes), urls),
            LimitProof(
                "time metadata of an authorization server are kept",
                LimitText.seconds(OAuthDiscovery.metadataLifetime), metadata),
            LimitProof(
                "requests for the metadata of one MCP server",
                "1 in \(LimitText.seconds(OAuthDiscovery.resourceInterval))", metadata),
            LimitProof("logins for more scopes, for one operation", stepUps) {
                try await OAuthTokenTests().stepUp()
            },
            LimitProof("login with a user", LimitText.seconds(settings.loginTimeout)) {
                try await late { $0.loginTimeout = .milliseconds(1) }
            },
            LimitProof(
                "login without a user, renewal of a token", LimitText.seconds(settings.silentTimeout)
            ) { try await late { _ in } },
            LimitProof(
                "lifetime of a token that is planned with",
                LimitText.seconds(.seconds(TokenEndpoint.maxLifetime))
            ) { try await OAuthTokenTests().lifetimes() },
            LimitProof(
                "time before its expiry at which a token is renewed",
                LimitText.seconds(.seconds(StoredTokens.renewalMargin))
                    + ", a tenth of its lifetime if that is less"
            ) {
                try await OAuthTokenTests().renewsAhead()
                try await OAuthTokenTests().renewsShortLivedTokens(20, 2)
            },
            LimitProof("address of a login page", LimitText.bytes(AuthorizationRequest.maxURLBytes)) {
                try AuthorizationPageTests.size()
            },
            LimitProof("secrets of a client that are masked", "\(KnownSecrets.maxCount)") {
                KnownSecretsTests.number()
            },
            LimitProof("bytes that are compared of each", LimitText.bytes(KnownSecrets.maxBytes)) {
                KnownSecretsTests.size()
            },
        ]
    }()

    /// A name whose address does not come.
    @Sendable private static func connecting() async throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        loop.start()
        let (asked, release) = (Gate(), DispatchSemaphore(value: 0))
        let fetcher = HTTPFetcher(for: "https://localhost/", allowedHosts: [], tls: FakeTLS(), loop: loop) {
            (host, port) throws(SocketAddress.ResolveError) in
            asked.open()
            release.wait()
            return []
        }
        let request = Task { try await fetcher.send(OAuthHTTPRequest(get: "https://id.example.com/")) }
        await asked.wait()
        clock.advance(by: HTTPFetcher.connectTimeout)
        let error = await #expect(throws: AuthorizationError.self) { try await request.value }
        #expect(error?.kind == .unreachable)
        #expect(error?.message.contains("its address was not found within 10 s") == true)
        release.signal()
        loop.stop()
        loop.waitUntilStopped()
    }

    /// HTTP that counts its requests and has nothing, or never answers.
    private final class EmptyHTTP: OAuthHTTP {
        let count = Mutex(0)
        let gate: Gate?

        init(_ gate: Gate? = nil) { self.gate = gate }

        func send(_ request: OAuthHTTPRequest) async throws(AuthorizationError) -> OAuthHTTPResponse {
            count.withLock { $0 += 1 }
            await gate?.wait()
            return OAuthHTTPResponse(status: 404)
        }
    }

    @Sendable private static func requests() async throws {
        let http = EmptyHTTP()
        let limited = LimitedHTTP(http)
        for _ in 0 ..< LimitedHTTP.maxRequests {
            _ = try await limited.send(OAuthHTTPRequest(get: "https://a.example/"))
        }
        await #expect(throws: AuthorizationError.self) {
            try await limited.send(OAuthHTTPRequest(get: "https://a.example/"))
        }
        #expect(http.count.withLock { $0 } == LimitedHTTP.maxRequests)
    }

    @Sendable private static func urls() async throws {
        let start = "https://a.example/"
        let rest = String(repeating: "a", count: WebURL.maxBytes - start.count)
        #expect(WebURL(start + rest) != nil)
        #expect(WebURL(start + rest + "a") == nil)
    }

    @Sendable private static func metadata() async throws {
        // No login succeeds: after one the metadata of the MCP server are requested again at once.
        try await OAuthFixture.with(OAuthFixture.knobs { $0.tokenStatus = 500 }) { (server) async throws in
            let fixture = OAuthFixture(server)
            func counts() -> [Int] {
                [
                    server.requests("/.well-known/oauth-protected-resource/mcp").count,
                    server.requests("/.well-known/oauth-authorization-server").count,
                ]
            }
            func refused() async {
                await #expect(throws: AuthorizationError.self) { try await fixture.unauthorized() }
            }
            await refused()
            await refused()
            #expect(counts() == [1, 1])
            fixture.clock.advance(by: OAuthDiscovery.resourceInterval)
            await refused()
            #expect(counts() == [2, 1])
            fixture.clock.advance(by: OAuthDiscovery.metadataLifetime - OAuthDiscovery.resourceInterval)
            await refused()
            #expect(counts() == [3, 2])
        }
    }

    /// A flow whose server never answers.
    private static func late(_ change: (inout OAuthSettings) -> Void) async throws {
        var settings = OAuthSettings()
        settings.silentTimeout = .milliseconds(1)
        change(&settings)
        let gate = Gate()
        let user = settings.loginTimeout < .seconds(1) ? TestUser().user : nil
        let authorizer = OAuthAuthorizer(
            for: "https://a.example/mcp", settings: settings, store: TestTokenStore(), user: user,
            http: EmptyHTTP(gate))
        let refusal = AuthorizationRefusal(
            request: AuthorizedRequest(httpMethod: "POST", url: "https://a.example/mcp"), status: 401,
            challenges: ["Bearer"], generation: 0)
        let error = await #expect(throws: AuthorizationError.self) {
            try await authorizer.respond(to: refusal)
        }
        #expect(error?.kind == .timedOut)
        gate.open()
    }
}
