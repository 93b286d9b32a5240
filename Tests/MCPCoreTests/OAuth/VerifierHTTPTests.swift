#if !canImport(Darwin)
import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// The keys and the introspection of an authorization server, over a double of HTTP.
@Suite struct VerifierHTTPTests {
    /// Answers requests from a table, and records them.
    private final class Web: OAuthHTTP {
        private let pages: Mutex<[String: (status: Int, text: String)]>
        private let seen = Mutex<[OAuthHTTPRequest]>([])

        init(_ pages: [String: String]) { self.pages = Mutex(pages.mapValues { (200, $0) }) }

        var requests: [OAuthHTTPRequest] { seen.withLock { $0 } }
        func set(_ url: String, _ status: Int, _ text: String) {
            pages.withLock { $0[url] = (status, text) }
        }

        func send(_ request: OAuthHTTPRequest) async throws(AuthorizationError) -> OAuthHTTPResponse {
            seen.withLock { $0.append(request) }
            guard let page = pages.withLock({ $0[request.url] }) else {
                return OAuthHTTPResponse(status: 404)
            }
            if page.status == 0 { throw AuthorizationError(.unreachable, "down") }
            return OAuthHTTPResponse(status: page.status, body: Array(page.text.utf8))
        }
    }

    private static let issuer = JWTMaker.issuer
    private static let wellKnown = "\(issuer)/.well-known/oauth-authorization-server"

    private static func metadata(issuer: String = issuer) -> String {
        #"{"issuer":"\#(issuer)","token_endpoint":"https://id.example.com/token","#
            + #""jwks_uri":"https://keys.example.com/set","#
            + #""introspection_endpoint":"https://id.example.com/introspect"}"#
    }

    @Test func keysFromTheMetadata() async throws {
        let web = Web([Self.wellKnown: Self.metadata(), "https://keys.example.com/set": JWTMaker.jwks])
        let verifier = try JWTVerifier(
            issuer: Self.issuer, options: .init(), clock: JWTMaker.clock()
        ) { try await IssuerKeys(issuer: Self.issuer, http: web).fetch() }
        #expect(await verifier.refusal(of: try JWTMaker.good(.es256)) == nil)
        #expect(web.requests.map(\.url) == [Self.wellKnown, "https://keys.example.com/set"])
        let fixed = Web(["https://id.example.com/k": JWTMaker.jwks])
        let keys = IssuerKeys(issuer: Self.issuer, at: "https://id.example.com/k", http: fixed)
        #expect(try IssuerKeys.usableKeys(in: try await keys.fetch()) == 3)
        #expect(fixed.requests.count == 1)
    }

    // AUTH-08: the metadata of another issuer cannot name keys.
    @Test(arguments: ["https://id.example.com/", "https://ID.example.com", "https://evil.example"])
    func foreignMetadata(_ named: String) async throws {
        let web = Web([
            Self.wellKnown: Self.metadata(issuer: named), "https://keys.example.com/set": JWTMaker.jwks,
        ])
        let error = await #expect(throws: AuthorizationError.self) {
            try await IssuerKeys(issuer: Self.issuer, http: web).fetch()
        }
        #expect(error?.kind == .issuerMismatch)
        #expect(!web.requests.contains { $0.url.contains("keys.example.com") })
        let verifier = try JWTVerifier(discovering: Self.issuer, http: web)
        #expect(await verifier.refusal(of: try JWTMaker.good(.es256)) == .unavailable)
    }

    @Test func keysThatAreNotThere() async throws {
        let web = Web([Self.wellKnown: Self.metadata()])
        await #expect(throws: AuthorizationError.self) {
            try await IssuerKeys(issuer: Self.issuer, http: web).fetch()
        }
        let none = Web([Self.wellKnown: #"{"issuer":"\#(Self.issuer)","token_endpoint":"https://a/t"}"#])
        let error = await #expect(throws: AuthorizationError.self) {
            try await IssuerKeys(issuer: Self.issuer, http: none).fetch()
        }
        #expect(error?.message.contains("jwks_uri") == true)
    }

    // MARK: Introspection

    // What `check --online` asks: a token that cannot exist must be inactive.
    @Test func probe() async throws {
        for (status, text, isGood) in [
            (200, #"{"active":false}"#, true), (200, #"{"active":true,"sub":"x"}"#, false),
            (200, "{}", false),
            (401, "{}", false), (200, "<html>", false),
        ] {
            let web = Web([Self.wellKnown: Self.metadata()])
            web.set(Self.introspection, status, text)
            let verifier = Self.verifier(web)
            if isGood {
                try await verifier.probe()
            } else {
                let error = await #expect(throws: AuthorizationError.self) { try await verifier.probe() }
                #expect(status != 401 || error?.hint == "check the credentials of this server there")
            }
        }
        // The hints are for the operator of a server, who has no flags of mcp-client.
        let foreign = Web([Self.wellKnown: Self.metadata(issuer: "https://id.example.com/")])
        let error = await #expect(throws: AuthorizationError.self) {
            try await Self.verifier(foreign).probe()
        }
        #expect(error?.hint == "if you trust it, configure the issuer exactly as its metadata name it")
    }

    private static let introspection = "https://id.example.com/introspect"

    private static func verifier(
        _ web: Web, _ options: IntrospectionVerifier.Options = .init(),
        _ clock: ManualClock = JWTMaker.clock()
    ) -> IntrospectionVerifier {
        IntrospectionVerifier(
            issuer: issuer, endpoint: nil, clientID: "rs:1", clientSecret: "s e", options: options, http: web,
            clock: clock)
    }

    private static func outcome(
        _ verifier: IntrospectionVerifier, _ token: String = "opaque"
    ) async -> Result<Principal, TokenRefusal> {
        do throws(TokenRefusal) {
            return .success(try await verifier.verify(PresentedToken(token, resource: JWTMaker.resource)))
        } catch {
            return .failure(error)
        }
    }

    private static func web(_ answer: String) -> Web {
        Web([wellKnown: metadata(), introspection: answer])
    }

    @Test func anActiveToken() async throws {
        let web = Self.web(
            #"{"active":true,"sub":"ada","client_id":"app","scope":"a b","aud":["\#(JWTMaker.resource)"],"exp":\#(JWTMaker.now + 60),"iss":"\#(Self.issuer)"}"#
        )
        let verifier = Self.verifier(web)
        let principal = try await Self.outcome(verifier).get()
        #expect(principal.kind == .oauth && principal.subject == "ada" && principal.clientID == "app")
        #expect(principal.scopes == ["a", "b"] && principal.expiresAt == JWTMaker.now + 60)
        #expect(principal.verifiedFor == .seconds(60))
        let request = try #require(web.requests.last)
        #expect(request.isPost)
        #expect(
            String(decoding: request.body, as: UTF8.self) == "token=opaque&token_type_hint=access_token")
        #expect(request.fields["Authorization"] == "Basic " + Base64.encode(Array("rs%3A1:s+e".utf8)))
        // The metadata are not fetched again.
        _ = await Self.outcome(verifier, "other")
        #expect(web.requests.count == 3)
    }

    // AUTH-50
    @Test(arguments: [
        (#"{"active":false}"#, TokenRefusal.Fault.unknown), (#"{"active":1,"sub":"a"}"#, .unknown),
        (#"{"active":"true","sub":"a"}"#, .unknown), (#"{"sub":"a"}"#, .unknown),
        (#"{"active":true,"sub":"a"}"#, .audience), (#"{"active":true,"sub":"a","aud":"other"}"#, .audience),
        (#"{"active":true,"sub":"a","aud":"https://mcp.example.com/mcp","exp":1}"#, .expired),
        (#"{"active":true,"sub":"a","aud":"https://mcp.example.com/mcp","exp":"1"}"#, .malformed),
        (#"{"active":true,"sub":"a","aud":"https://mcp.example.com/mcp","nbf":1995300000}"#, .early),
        (#"{"active":true,"sub":"a","aud":"https://mcp.example.com/mcp","iss":"https://evil"}"#, .unknown),
        (#"{"active":true,"aud":"https://mcp.example.com/mcp"}"#, .malformed),
        (#"{"active":true,"sub":"a","aud":"https://mcp.example.com/mcp","cnf":{"jkt":"x"}}"#, .malformed),
    ])
    func refusedTokens(_ answer: String, _ fault: TokenRefusal.Fault) async {
        let outcome = await Self.outcome(Self.verifier(Self.web(answer)))
        #expect(outcome == .failure(.invalid(fault)), "\(answer)")
    }

    @Test func anAuthorizationServerWithoutAudiences() async throws {
        let web = Self.web(#"{"active":true,"client_id":"app"}"#)
        let principal = try await Self.outcome(Self.verifier(web, .init(requiresAudience: false))).get()
        #expect(principal.subject == "app")
    }

    // Never open: 503, and after five failures a rest.
    @Test(arguments: [0, 500, 401, 302]) static func anAuthorizationServerThatFails(_ status: Int)
        async throws
    {
        let clock = JWTMaker.clock()
        let failures = Mutex(0)
        let web = web("{}")
        web.set(introspection, status, "")
        let verifier = verifier(
            web, .init(requiresAudience: false, onFailure: { _ in failures.withLock { $0 += 1 } }), clock)
        for _ in 0 ..< IntrospectionVerifier.maxFailures + 3 {
            #expect(await outcome(verifier) == .failure(.unavailable))
        }
        #expect(failures.withLock { $0 } == IntrospectionVerifier.maxFailures)
        web.set(introspection, 200, #"{"active":true,"sub":"a"}"#)
        #expect(await outcome(verifier) == .failure(.unavailable))
        clock.advance(by: IntrospectionVerifier.restTime)
        #expect(try await outcome(verifier).get().subject == "a")
    }
}
#endif
