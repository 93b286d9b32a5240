import TestSupport
import Testing

@testable import MCPCore

@Suite("OAuth: challenges")
struct AuthenticationChallengeTests {
    /// Fields, and the challenges that they contain in one line.
    static let rows: [(fields: [String], expected: String)] = [
        ([], ""),
        ([""], ""),
        (["Bearer"], "bearer"),
        (["bearer"], "bearer"),
        (["BEARER realm=x"], "bearer realm=x"),
        (["Bearer realm=\"a b\""], "bearer realm=a b"),
        (["Bearer   realm=\"a\""], "bearer realm=a"),
        (["Bearer\trealm=\"a\""], "bearer realm=a"),
        (["Bearer realm = \"a\""], "bearer realm=a"),
        (["Bearer realm=\"a\" , error=\"b\""], "bearer error=b realm=a"),
        (["Bearer realm=\"a\",error=\"b\""], "bearer error=b realm=a"),
        (["Bearer realm=\"a\",,, ,error=\"b\""], "bearer error=b realm=a"),
        (["Bearer realm=\"a\" error=\"b\""], "bearer error=b realm=a"),
        (["Bearer ERROR=\"b\""], "bearer error=b"),
        (["Bearer realm=\"\""], "bearer realm="),
        (["Bearer realm=\"a\\\"b\""], "bearer realm=a\"b"),
        (["Bearer realm=\"a\\\\b\""], "bearer realm=a\\b"),
        (["Bearer realm=\"\\a\""], "bearer realm=a"),
        (["Bearer realm=\"a, Basic x=y\""], "bearer realm=a, Basic x=y"),
        (["Bearer realm=\"a=b\""], "bearer realm=a=b"),
        (["Basic realm=\"a\", Bearer realm=\"b\""], "basic realm=a; bearer realm=b"),
        (["Basic realm=\"a\"", "Bearer realm=\"b\""], "basic realm=a; bearer realm=b"),
        (["Bearer, Basic"], "bearer; basic"),
        (["Negotiate, Bearer realm=x"], "negotiate; bearer realm=x"),
        (["Negotiate abc==, Bearer realm=x"], "negotiate <abc==>; bearer realm=x"),
        (["Negotiate abc"], "negotiate <abc>"),
        (["Negotiate a-._~+/z="], "negotiate <a-._~+/z=>"),
        (["Negotiate abc=\"d\""], "negotiate abc=d"),
        (["Bearer realm=x, Negotiate abc=="], "bearer realm=x; negotiate <abc==>"),
        (["Bearer realm=x, Negotiate abc, Basic realm=y"], "bearer realm=x; negotiate <abc>; basic realm=y"),
        (
            ["Bearer resource_metadata=https://a.example/x?y=z"],
            "bearer resource_metadata=https://a.example/x?y=z"
        ),
        (
            ["Bearer scope=\"a b\", resource_metadata=\"https://a.example/\""],
            "bearer resource_metadata=https://a.example/ scope=a b"
        ),
        ([" , Bearer realm=x , "], "bearer realm=x"),
        (["DPoP algs=\"ES256 RS256\", Bearer"], "dpop algs=ES256 RS256; bearer"),
        // Void: a parameter twice, also in another case.
        (["Bearer a=1, a=2"], ""),
        (["Bearer a=1, A=2, Basic realm=x"], "basic realm=x"),
        (["Basic realm=x, Bearer a=1, a=1"], "basic realm=x"),
        // Malformed: the rest of the field is not read, other fields are.
        (["Bearer realm=\"a"], ""),
        (["Basic realm=x, Bearer realm=\"a"], "basic realm=x"),
        (["Bearer realm=\"a\\"], ""),
        (["Bearer =x"], "bearer"),
        (["=x"], ""),
        (["\"Bearer\""], ""),
        (["Bearer realm=\"a", "Basic realm=x"], "basic realm=x"),
        (["Bearer\u{E4} realm=x"], ""),
        (["Bearer realm=a\"b\""], ""),
        (["Bearer realm="], "bearer <realm=>"),
        (["Bearer realm=\"ä\""], "bearer realm=ä"),
        ((0 ..< 12).map { "S\($0)" }, (0 ..< 8).map { "s\($0)" }.joined(separator: "; ")),
        ([String(repeating: " ", count: 8 << 10) + "Bearer"], ""),
        (["Basic", String(repeating: " ", count: 8 << 10) + "Bearer"], "basic"),
    ]

    // AUTH-05
    @Test("fields are read in full", arguments: rows.indices)
    func reads(_ index: Int) {
        let row = Self.rows[index]
        let found = AuthenticationChallenge.parse(row.fields).map { challenge in
            let parameters = challenge.parameters.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
            return challenge.scheme + (challenge.token68.map { " <\($0)>" } ?? "") + parameters.joined()
        }
        #expect(found.joined(separator: "; ") == row.expected, "\(row.fields)")
    }

    @Test("a challenge for tokens is collected from all fields")
    func collects() {
        let challenge = OAuthChallenge([
            "Basic realm=x", "DPoP algs=\"ES256 PS256\", error=\"use_dpop_nonce\"",
            "Bearer scope=\"b a b\", resource_metadata=\"https://a.example/m\"",
        ])
        #expect(challenge.scopes == ["b", "a"])
        #expect(challenge.resourceMetadata == "https://a.example/m")
        #expect(challenge.error == "use_dpop_nonce")
        #expect(challenge.offersBearer && challenge.offersDPoP)
        #expect(challenge.dpopAlgorithms == ["ES256", "PS256"])
        #expect(OAuthChallenge([]).scopes == nil)
        #expect(OAuthChallenge(["Bearer scope=\"\""]).scopes == [])
    }

    @Test("random fields do not trap")
    func random() {
        var random = SeededRandom(seed: 7)
        let pieces = ["Bearer", " ", ",", "=", "\"", "\\", "a", "==", "\t", "scope", "é", "/", "Basic "]
        for _ in 0 ..< 20_000 {
            let count = Int.random(in: 0 ... 12, using: &random)
            let field = (0 ..< count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            #expect(AuthenticationChallenge.parse([field]).count <= AuthenticationChallenge.maxCount)
        }
    }
}

@Suite("OAuth: URLs and resources")
struct ResourceURITests {
    // AUTH-06
    @Test(
        "a resource covers a server segment by segment",
        arguments: [
            ("https://a.example/mcp", "https://a.example/mcp", true),
            ("https://a.example", "https://a.example/mcp", true),
            ("https://a.example/", "https://a.example/mcp", true),
            ("https://a.example/mcp/", "https://a.example/mcp", true),
            ("https://a.example/mcp", "https://a.example/mcp/x", true),
            ("HTTPS://A.example:443/mcp", "https://a.example/mcp", true),
            ("https://a.example/mcp", "https://a.example/mcp?x=y", true),
            ("https://a.example/mcp2", "https://a.example/mcp", false),
            ("https://a.example/mcp", "https://a.example/mcp2", false),
            ("https://a.example/mcp/x", "https://a.example/mcp", false),
            ("https://a.example/MCP", "https://a.example/mcp", false),
            ("https://a.example:8443/mcp", "https://a.example/mcp", false),
            ("http://a.example/mcp", "https://a.example/mcp", false),
            ("https://b.example/mcp", "https://a.example/mcp", false),
            ("https://a.example.evil.example/mcp", "https://a.example/mcp", false),
            ("https://a.example/mcp?x", "https://a.example/mcp", false),
            ("https://a.example/mcp#x", "https://a.example/mcp", false),
            ("https://x@a.example/mcp", "https://a.example/mcp", false),
            ("urn:x", "https://a.example/mcp", false), ("", "https://a.example/mcp", false),
        ])
    func covers(_ resource: String, _ server: String, _ isCovered: Bool) throws {
        #expect(ResourceURI.covers(resource, try #require(WebURL(server))) == isCovered)
    }

    // AUTH-21
    @Test("the canonical URI of a server")
    func canonical() throws {
        func canonical(_ text: String) throws -> String { ResourceURI.canonical(try #require(WebURL(text))) }
        #expect(try canonical("HTTPS://MCP.Example.com/Mcp") == "https://mcp.example.com/Mcp")
        #expect(try canonical("https://mcp.example.com/") == "https://mcp.example.com")
        #expect(try canonical("https://mcp.example.com:443/a?x=y#z") == "https://mcp.example.com/a")
        #expect(try canonical("https://[2001:DB8::1]:8443/a") == "https://[2001:db8::1]:8443/a")
    }

    @Test(
        "URLs that are not read",
        arguments: [
            "", "mcp.example.com", "ftp://a.example/", "javascript:alert(1)", "https:///x", "https://",
            "https://a b/", "https://a.example\\@b.example/", "https://u:p@a.example/",
            "https://a.example:0/",
            "https://a.example:65536/", "https://a.example:x/", "https://ä.example/",
            "https://a.example/\u{7}",
            "https://" + String(repeating: "a", count: 8 << 10) + "/",
        ])
    func refusesURL(_ text: String) { #expect(WebURL(text) == nil) }

    // AUTH-27

    @Test(
        "authorization URLs that are never opened",
        arguments: [
            "javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "vbscript:x", "ssh://a.example/",
            "http://a.example/authorize", "-x", "--help", "$(id)", "https://a.example/$(id)",
            "https://a.example/`id`", "https://a.example/a;id", "https://a.example/a|id",
            "https://a.example/a b",
            "https://a.example/a\nb", "https://a.example/a\0b", "https://a.example/\"x\"",
            "https://a.example/'x'",
            "https://a.example/<x>", "https://u@a.example/", "https://u:p@a.example/", "https://a.example/#x",
            "https://a.example\\b", "//a.example/", "/authorize", "", "https://", "HTTPS:/a", "search-ms:x",
            "ms-msdt:/id", "https://a.example/{x}", "https://a.example/^x", "http://127.0.0.1.a.example/",
            "https://ä.example/",
        ])
    func refusesPage(_ text: String) { #expect(!AuthorizationRequest.isPage(text)) }

    @Test("authorization URLs that are opened")
    func allowsPage() {
        for text in [
            "https://a.example/authorize", "https://a.example/o?x=y&z", "http://localhost:3000/a",
            "http://127.0.0.1:1/a", "http://[::1]:1/a", "https://a.example",
        ] { #expect(AuthorizationRequest.isPage(text), "\(text)") }
    }

    @Test("RFC 7636, appendix B")
    func challenge() {
        #expect(
            AuthorizationRequest.challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
                == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }
}
