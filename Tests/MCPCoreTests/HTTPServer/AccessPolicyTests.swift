import Testing

@testable import MCPCore

/// DNS rebinding and foreign web pages (SEC-01, HTTP-02, HTTP-03, HTTP-06).
@Suite struct AccessPolicyTests {
    @Test(arguments: [
        ("127.0.0.1", true), ("127.0.0.1:8808", true), ("localhost", true), ("LocalHost:1", true),
        ("[::1]", true), ("[::1]:8808", true),
        ("127.0.0.2", false), ("localhost.evil.example", false), ("evil.localhost", false),
        ("localhost.", false),
        ("evil.example", false), ("evil.example:8808", false), ("127.0.0.1.evil.example", false), ("", false),
        (":8808", false), ("::1", false), ("[::1", false), ("[::2]", false), ("0.0.0.0", false),
        ("localhost@evil.example", false), ("evil.example@localhost", false), ("2130706433", false),
    ]) func loopbackHosts(_ host: String, _ isAllowed: Bool) {
        #expect(HostPolicy.loopback.allows(ByteSlice(host)) == isAllowed)
        #expect(HostPolicy.any.allows(ByteSlice(host)))
    }

    @Test func namedHosts() {
        let policy = HostPolicy.names(["MCP.example", "[2001:db8::1]"])
        for host in ["mcp.example", "mcp.example:443", "MCP.EXAMPLE", "[2001:DB8::1]:80"] {
            #expect(policy.allows(ByteSlice(host)))
        }
        for host in ["localhost", "example", "mcp.example.org", "[2001:db8::2]"] {
            #expect(!policy.allows(ByteSlice(host)))
        }
        #expect(!HostPolicy.names([]).allows(ByteSlice("localhost")))
    }

    /// Views have origins of their own below localhost; none of them is localhost itself (A44).
    @Test(arguments: [
        ("v1.localhost", true), ("v1.localhost:8808", true), ("V1.LocalHost:1", true),
        ("a.b.localhost", true), ("localhost", false), ("localhost:1", false), (".localhost", false),
        ("evillocalhost", false), ("v1.localhost.evil.example", false), ("v1.localhost.", false),
        ("127.0.0.1", false), ("", false),
    ]) func namesBelowAName(_ host: String, _ isAllowed: Bool) {
        #expect(HostPolicy.names(["*.localhost"]).allows(ByteSlice(host)) == isAllowed)
    }

    @Test(
        arguments: [
            ("http://127.0.0.1:8808", "127.0.0.1:8808", true), ("https://localhost", "localhost", true),
            ("HTTP://LOCALHOST:1", "localhost:1", true),
            // Another port is another origin.
            ("http://127.0.0.1:9999", "127.0.0.1:8808", false), ("http://127.0.0.1", "127.0.0.1:8808", false),
            ("http://localhost:8808", "127.0.0.1:8808", false),
            ("https://evil.example", "127.0.0.1:8808", false), ("null", "127.0.0.1:8808", false),
            ("", "127.0.0.1:8808", false), ("file://", "127.0.0.1:8808", false),
            ("http://127.0.0.1:8808.evil.example", "127.0.0.1:8808", false),
            ("http://127.0.0.1:8808/", "127.0.0.1:8808", false), ("127.0.0.1:8808", "127.0.0.1:8808", false),
            ("https://app.example", "127.0.0.1:8808", true), ("https://App.Example", "127.0.0.1:8808", true),
            ("https://app.example:444", "127.0.0.1:8808", false),
            ("http://app.example", "127.0.0.1:8808", false),
            ("http://x", nil, false), ("https://app.example", nil, true),
        ] as [(String, String?, Bool)])
    func origins(_ origin: String, _ host: String?, _ isAllowed: Bool) {
        let policy = OriginPolicy(allowed: ["https://app.example"])
        #expect(policy.allows(ByteSlice(origin), host: host.map { ByteSlice($0) }) == isAllowed)
    }

    /// CVE-2026-42559: an empty list is no switch.
    @Test func anEmptyListAllowsNoForeignPage() {
        let policy = OriginPolicy(allowed: [])
        #expect(!policy.allows(ByteSlice("https://evil.example"), host: ByteSlice("localhost")))
        #expect(policy.allows(ByteSlice("http://localhost"), host: ByteSlice("localhost")))
    }

    private static func refusal(_ policy: AccessPolicy, _ fields: String) -> String? {
        let bytes = ByteSlice("POST /mcp HTTP/1.1\r\n\(fields)\r\n")
        var parser = RequestParser(limits: HTTPLimits())
        guard case .head(let head) = unsafe bytes.withBytes({ unsafe parser.parse($0) }) else {
            return "no head"
        }
        return policy.refusal(of: head, in: bytes)
    }

    @Test(arguments: [
        ("Host: 127.0.0.1:1\r\n", true),
        ("Host: 127.0.0.1:1\r\nOrigin: http://127.0.0.1:1\r\n", true),
        ("Host: evil.example\r\n", false),
        ("Host: evil.example\r\nOrigin: http://evil.example\r\n", false),
        ("Host: 127.0.0.1:1\r\nOrigin: https://evil.example\r\n", false),
        ("Host: 127.0.0.1:1\r\nOrigin: http://127.0.0.1:1\r\nOrigin: http://127.0.0.1:1\r\n", false),
        ("Host: 127.0.0.1:1\r\nOrigin: \r\n", false),
        ("Host: 127.0.0.1:1\r\nORIGIN: null\r\n", false),
    ]) func requests(_ fields: String, _ isAllowed: Bool) {
        #expect((Self.refusal(.loopback, fields) == nil) == isAllowed)
    }

    @Test func unixSockets() {
        #expect(Self.refusal(.unixSocket, "Host: whatever\r\n") == nil)
        #expect(Self.refusal(.unixSocket, "Host: whatever\r\nOrigin: https://evil.example\r\n") != nil)
    }

    // AUTH-51, fault 104: a name can be written in many ways.
    @Test(arguments: [
        ("access_token=x", true), ("a=b&access_token=x", true), ("access%5Ftoken=x", true),
        ("%61ccess_toke%6E=x", true), ("ACCESS_TOKEN=x", true), ("access_token", true),
        ("%zz=1&access%5ftoken=x", true),
        ("access_tokens=x", false), ("x=access_token", false), ("token=x", false), ("", false), ("%", false),
    ]) func tokensInTheQuery(_ query: String, _ isRefused: Bool) throws {
        let bytes = ByteSlice("POST /mcp?\(query) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        var parser = RequestParser(limits: HTTPLimits())
        guard case .head(let head) = unsafe bytes.withBytes({ unsafe parser.parse($0) }) else {
            Issue.record("no head")
            return
        }
        do throws(EarlyResponse) {
            try AccessPolicy.loopback.check(head, in: bytes)
            #expect(!isRefused)
        } catch {
            #expect(isRefused && error.status == 400)
        }
    }
}
