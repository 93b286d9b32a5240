import TestSupport
import Testing

@testable import MCPCore

/// The address of the login page.
@Suite struct AuthorizationPageTests {
    private static func request(
        endpoint: String = "https://id.example/authorize", client: String = "c", scopes: [String]? = nil
    ) throws(AuthorizationError) -> AuthorizationRequest {
        var metadata = AuthorizationServerMetadata(defaultsOf: "https://id.example")
        metadata.authorizationEndpoint = endpoint
        return try AuthorizationRequest(
            metadata, client: client, redirectURI: "http://127.0.0.1:1/callback", scopes: scopes,
            resource: nil)
    }

    static func size() throws {
        let rest = try request(client: "").url.utf8.count
        let longest = String(repeating: "c", count: AuthorizationRequest.maxURLBytes - rest)
        #expect(try request(client: longest).url.utf8.count == AuthorizationRequest.maxURLBytes)
        let error = #expect(throws: AuthorizationError.self) { try request(client: longest + "c") }
        #expect(error?.kind == .malformed)
        #expect(error?.message.contains("nothing was opened") == true)
        #expect(error?.description.utf8.count ?? .max < 400)
    }

    @Test func limit() throws { try Self.size() }

    // RFC 6749, section 3.1
    @Test(
        "a query of the endpoint stays, but no parameter of the request occurs twice",
        arguments: [
            ("?tenant=a", true), ("?", true), ("?tenant=a&b", true), ("?state=x", false),
            ("?tenant=a&client_id=evil", false), ("?redirect_uri=https%3A%2F%2Fevil.example", false),
            ("?sc%6Fpe=all", false), ("?resource=x", false), ("?code_challenge_method=plain", false),
            ("?a=%zz", false),
        ])
    func query(_ query: String, _ isGood: Bool) throws {
        let endpoint = "https://id.example/authorize" + query
        guard isGood else {
            let error = #expect(throws: AuthorizationError.self) { try Self.request(endpoint: endpoint) }
            #expect(error?.kind == .malformed)
            return
        }
        let url = try Self.request(endpoint: endpoint).url
        #expect(url.hasPrefix(endpoint + "&response_type=code&client_id=c&"))
    }

    // AUTH-24
    @Test("a redirect with a parameter twice is not used", arguments: ["code", "iss", "error"])
    func repeatedParameters(_ name: String) throws {
        let request = try Self.request()
        let redirect = "\(request.redirectURI)?state=\(request.state)&code=a&\(name)=https://id.example"
        #expect(request.accepts(redirect))
        let error = #expect(throws: AuthorizationError.self) {
            try request.code(in: redirect + "&\(name)=https://id.example")
        }
        #expect(error?.kind == .malformed || error?.kind == .issuerMismatch)
    }
}
