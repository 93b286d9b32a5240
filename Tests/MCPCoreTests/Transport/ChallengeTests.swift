import TestSupport
import Testing

@testable import MCPCore

/// What a server with authorization answers to requests whose token it does not accept, on its own
/// listener and behind another HTTP stack.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ChallengeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let request: String
        let status: Int
        var challenge: String?
        var isCacheable = false

        init(
            _ title: String, _ request: String, _ status: Int, _ challenge: String? = nil,
            isCacheable: Bool = false
        ) {
            testDescription = title
            self.request = request
            self.status = status
            self.challenge = challenge
            self.isCacheable = isCacheable
        }
    }

    private static let tail = #"resource_metadata="\#(Protected.document)", scope="mcp:use""#
    private static func invalid(_ description: String) -> String {
        #"Bearer error="invalid_token", error_description="\#(description)", \#(tail)"#
    }

    private static func discover(_ fields: String, path: String = "/mcp", type: String? = "application/json")
        -> String
    {
        HTTPServerTests.post(
            HTTPServerTests.body("server/discover"), more: fields, path: path, type: type)
    }

    // AUTH-03, AUTH-33, AUTH-37, AUTH-40, AUTH-41, AUTH-51, HTTP-28
    static let cases: [Case] = [
        Case("good", discover(Protected.bearer("alice")), 200, isCacheable: true),
        Case("scheme in lower case", discover("Authorization: bearer  alice\r\n"), 200, isCacheable: true),
        Case("none", discover(""), 401, "Bearer \(tail)"),
        Case("unknown", discover(Protected.bearer("x.y")), 401, invalid("the token is not known")),
        Case("expired", discover(Protected.bearer("expired")), 401, invalid("the token has expired")),
        Case("early", discover(Protected.bearer("early")), 401, invalid("the token is not valid yet")),
        Case(
            "audience", discover(Protected.bearer("foreign")), 401,
            invalid("the token is for another resource")),
        Case("scheme", discover("Authorization: Basic YTpi\r\n"), 401, invalid("the token is malformed")),
        Case("scheme alone", discover("Authorization: Bearer\r\n"), 401, invalid("the token is malformed")),
        Case("empty", discover("Authorization:\r\n"), 401, invalid("the token is malformed")),
        Case("two words", discover("Authorization: Bearer a b\r\n"), 401, invalid("the token is malformed")),
        Case(
            "padding alone", discover("Authorization: Bearer ==\r\n"), 401, invalid("the token is malformed")),
        Case(
            "control", discover("Authorization: Bearer a\u{e9}\r\n"), 401, invalid("the token is malformed")),
        Case("two fields", discover(Protected.bearer("alice") + Protected.bearer("alice")), 400),
        Case("query", discover("", path: "/mcp?access_token=alice"), 400, isCacheable: true),
        Case(
            "query and field", discover(Protected.bearer("alice"), path: "/mcp?access_token=alice"), 400,
            isCacheable: true),
        Case(
            "scope", discover(Protected.bearer("weak")), 403,
            #"Bearer error="insufficient_scope", \#(tail)"#),
        Case("unavailable", discover(Protected.bearer("down")), 503),
        // The place of the check: after Host and Origin, before everything else.
        Case(
            "host",
            HTTPServerTests.post(HTTPServerTests.body("server/discover"), host: "evil.example"), 403,
            isCacheable: true),
        Case("origin", discover("Origin: https://evil.example\r\n"), 403, isCacheable: true),
        Case("type without token", discover("", type: "text/plain"), 401, "Bearer \(tail)"),
        Case(
            "type with an unverified token", discover(Protected.bearer("expired"), type: "text/plain"), 401,
            invalid("the token has expired")),
        Case("type", discover(Protected.bearer("alice"), type: "text/plain"), 415, isCacheable: true),
        Case("GET", "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", 401, "Bearer \(tail)"),
        Case("HEAD", "HEAD /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", 401, "Bearer \(tail)"),
        Case(
            "DELETE", "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: x\r\n\r\n", 401,
            "Bearer \(tail)"),
        Case(
            "unknown path", "GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, isCacheable: true),
    ]

    private static func check(_ test: Case, _ status: Int, _ field: (String) -> String?, _ body: String) {
        #expect(status == test.status)
        #expect(field("WWW-Authenticate") == test.challenge)
        #expect((field("Cache-Control") == "no-store") == !test.isCacheable)
        #expect((field("Retry-After") != nil) == (test.status == 503))
        for secret in ["x.y", "alice", "weak"] { #expect(!body.contains(secret)) }
    }

    @Test(arguments: cases) func overOurListener(_ test: Case) async throws {
        let verifier = TestVerifier(TestVerifier.people)
        let authorization = try Protected.authorization(verifier)
        try await Protected.serve(try TestServer().server, authorization) { port in
            // Twice: the second time, the cache decides.
            for _ in 0 ..< 2 {
                let isHead = test.request.hasPrefix("HEAD")
                let answer =
                    isHead
                    ? try await Protected.head(port, test.request)
                    : try await Protected.answer(port, test.request)
                Self.check(test, answer.status, { answer.headers[$0.lowercased()] }, answer.body)
            }
            #expect(verifier.verified.count <= (test.status == 503 ? 2 : 1))
        }
    }

    @Test(arguments: cases) func behindAnotherStack(_ test: Case) async throws {
        let verifier = TestVerifier(TestVerifier.people)
        let endpoint = try TestServer().server.makeEndpoint(
            authorization: try Protected.authorization(verifier))
        for _ in 0 ..< 2 {
            let response = await endpoint.respond(to: try Protected.request(test.request))
            let body = String(decoding: response.body.bytes ?? [], as: UTF8.self)
            Self.check(test, response.status, { response.headers[$0] }, body)
        }
    }

    // AUTH-02: without an authorization server there is no metadata.
    @Test func staticTokensOnly() async throws {
        let authorization = try ServerAuthorization(resource: Protected.resource, verifier: TestVerifier())
        try await Protected.serve(try TestServer().server, authorization) { port in
            let none = try await Protected.answer(port, Self.discover(""))
            #expect(none.status == 401)
            #expect(none.headers["www-authenticate"] == #"Bearer realm="mcp""#)
            let unknown = try await Protected.answer(port, Self.discover(Protected.bearer("x")))
            #expect(
                unknown.headers["www-authenticate"]
                    == #"Bearer error="invalid_token", error_description="the token is not known""#)
            let path = BearerChallenge.wellKnownPath
            for path in [path, path + "/mcp"] {
                let answer = try await Protected.answer(port, RequestHandlerTests.request("GET \(path)"))
                #expect(answer.status == 404)
            }
        }
    }

    // MARK: Metadata

    // AUTH-02, AUTH-03, AUTH-36
    @Test func metadata() async throws {
        let authorization = try ServerAuthorization(
            resource: "HTTPS://MCP.Example.com/api/mcp", authorizationServers: ["https://id.example.com/t"],
            verifier: TestVerifier(), requiredScopes: ["a"], supportedScopes: ["b", "a"],
            resourceName: "Files")
        let document =
            #"{"resource":"https://mcp.example.com/api/mcp","authorization_servers":["https://id.example.com/t"],"#
            + #""scopes_supported":["a","b"],"bearer_methods_supported":["header"],"resource_name":"Files"}"#
        try await Protected.serve(try TestServer().server, authorization) { port in
            let root = BearerChallenge.wellKnownPath
            for path in [root, root + "/mcp", root + "/api/mcp"] {
                let origin = ["Origin: https://inspector.example"]
                let answer = try await Protected.answer(
                    port, RequestHandlerTests.request("GET \(path)", origin))
                #expect(answer.status == 200)
                #expect(answer.body == document + "\n")
                #expect(answer.headers["content-type"] == "application/json")
                #expect(answer.headers["cache-control"] == "max-age=300")
                #expect(answer.headers["access-control-allow-origin"] == "*")
                let head = try await Protected.head(port, RequestHandlerTests.request("HEAD \(path)"))
                #expect(head.status == 200)
                #expect(head.headers["content-length"] == "\(document.utf8.count + 1)")
                let foreign = RequestHandlerTests.request("GET \(path)", host: "evil.example")
                #expect(try await Protected.answer(port, foreign).status == 403)
                let post = try await Protected.answer(port, RequestHandlerTests.request("POST \(path)"))
                #expect(post.status == 405 && post.headers["allow"] == "GET, HEAD")
            }
            let other = try await Protected.answer(port, RequestHandlerTests.request("GET \(root)/x"))
            #expect(other.status == 404)
            let none = try await Protected.answer(port, Self.discover(""))
            #expect(
                none.headers["www-authenticate"]
                    == #"Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/api/mcp", scope="a""#
            )
        }
    }

    // With several endpoints, the root is not that of one of them; the others require a token, too.
    @Test func otherEndpoints() async throws {
        let handler = TestHandler()
        let authorization = try Protected.authorization(TestVerifier(TestVerifier.people))
        try await Protected.serve(
            try TestServer().server, authorization, servers: handler, handler: handler
        ) { port in
            let root = BearerChallenge.wellKnownPath
            #expect(
                try await Protected.answer(port, RequestHandlerTests.request("GET \(root)")).status == 404)
            let own = try await Protected.answer(port, RequestHandlerTests.request("GET \(root)/mcp"))
            #expect(own.status == 200)
            // What is not MCP is the handler's.
            #expect(
                try await Protected.answer(port, RequestHandlerTests.request("GET /door/x")).status == 200)
            for (token, status) in [(nil, 401), ("expired", 401), ("alice", 404)] as [(String?, Int)] {
                let request = Protected.post("server/discover", token: token, path: "/nobody")
                #expect(try await Protected.answer(port, request).status == status)
            }
        }
    }

    // AUTH-41, AUTH-44
    @Test(
        arguments: [
            ("https://Example.COM/Mcp", "https://example.com/Mcp"),
            ("HTTPS://a.example/", "https://a.example"),
            ("https://a.example:8443/x/", "https://a.example:8443/x/"),
            ("http://localhost:3000/mcp", "http://localhost:3000/mcp"),
            ("http://[::1]:1/m", "http://[::1]:1/m"),
            ("http://x.localhost/mcp", "http://x.localhost/mcp"),
            ("http://example.com/mcp", nil), ("https://a.example/mcp#f", nil), ("https://a.example/?q", nil),
            ("https://user@a.example/", nil), ("ftp://a.example", nil), ("a.example", nil), ("", nil),
            ("https://", nil), ("https:///mcp", nil), ("https://a.example/\"", nil),
            ("https://a.example/ö", nil),
            ("https://a.example/ x", nil), ("https://a.example:99999/", nil), ("http://127.0.0.1.evil/", nil),
        ] as [(String, String?)])
    func resources(_ text: String, _ canonical: String?) {
        let made = try? ServerAuthorization(resource: text, verifier: TestVerifier())
        #expect(made?.resource == canonical)
        let issued = try? ServerAuthorization(
            resource: Protected.resource, authorizationServers: [text], verifier: TestVerifier())
        #expect((issued != nil) == (canonical != nil))
    }

    // AUTH-36
    @Test(arguments: ["", "a b", "a\"", "a\\", "ä", "offline_access", String(repeating: "s", count: 257)])
    func scopes(_ scope: String) {
        #expect(throws: ServerAuthorizationError.badScope(scope)) {
            try ServerAuthorization(
                resource: Protected.resource, verifier: TestVerifier(), requiredScopes: [scope])
        }
    }
}
