import TestSupport
import Testing

@testable import MCPCore

/// The address of a client behind proxies.
@Suite struct ProxyPolicyTests {
    private static func client(_ proxies: [String], from: String?, _ fields: String...) throws -> String? {
        let policy = try #require(ProxyPolicy(proxies))
        let lines = fields.map { $0 + "\r\n" }.joined()
        let bytes = ByteSlice("GET /mcp HTTP/1.1\r\nHost: a\r\n\(lines)\r\n")
        var parser = RequestParser(limits: HTTPLimits())
        guard case .head(let head) = unsafe bytes.withBytes({ unsafe parser.parse($0) }) else {
            throw NothingThere()
        }
        let address = try from.map { try #require(SocketAddress(numeric: $0, port: 7)) }
        let connection = try address ?? #require(SocketAddress(unixPath: "/run/a"))
        return policy.client(of: head, in: bytes, from: connection)?.host
    }

    @Test func theLastAddressThatIsNoProxy() throws {
        let list = "X-Forwarded-For: 1.2.3.4, 203.0.113.9, 10.1.2.3"
        #expect(try Self.client([], from: "10.0.0.1", list) == "10.0.0.1")
        #expect(try Self.client(["10.0.0.0/8"], from: "192.0.2.1", list) == "192.0.2.1")
        // What is before it was written by the client.
        #expect(try Self.client(["10.0.0.0/8"], from: "10.0.0.1", list) == "203.0.113.9")
        #expect(try Self.client(["10.0.0.1"], from: "10.0.0.1", list) == "10.1.2.3")
        #expect(
            try Self.client(
                ["10.0.0.0/8"], from: "10.0.0.1", "X-Forwarded-For: 1.2.3.4",
                "X-Forwarded-For: 203.0.113.9, 10.3.3.3")
                == "203.0.113.9")
        #expect(try Self.client(["::1"], from: "::1", "X-Forwarded-For: 2001:db8::5") == "2001:db8::5")
        #expect(try Self.client(["127.0.0.1"], from: "::ffff:127.0.0.1", list) == "10.1.2.3")
    }

    /// Whoever writes the configuration of a proxy can ask first.
    @Test func proxiesThatAreTrusted() throws {
        let policy = try #require(ProxyPolicy(["127.0.0.1", "10.0.0.0/8", "::1"]))
        for proxy in ["127.0.0.1", "::ffff:127.0.0.1", "10.1.2.3", "::1", "[::1]"] {
            #expect(policy.trusts(proxy), "\(proxy)")
        }
        for proxy in ["127.0.0.2", "unix", "::2", "localhost", ""] {
            #expect(!policy.trusts(proxy), "\(proxy)")
        }
        #expect(try #require(ProxyPolicy(["unix"])).trusts("unix"))
        #expect(!ProxyPolicy().trusts("127.0.0.1") && !ProxyPolicy().trusts("unix"))
    }

    @Test func unixSockets() throws {
        #expect(try Self.client(["127.0.0.1"], from: nil, "X-Forwarded-For: 203.0.113.9") == nil)
        #expect(try Self.client(["unix"], from: nil, "X-Forwarded-For: 203.0.113.9") == "203.0.113.9")
        #expect(try Self.client(["unix"], from: nil) == nil)
    }

    @Test(arguments: [
        ("Forwarded: for=203.0.113.9;proto=https", "203.0.113.9"),
        (#"Forwarded: for=1.1.1.1, For="[2001:db8::5]:4711""#, "2001:db8::5"),
        ("Forwarded: for=203.0.113.9:80", "203.0.113.9"), ("Forwarded: for=_hidden", "10.0.0.1"),
        ("Forwarded: for=unknown", "10.0.0.1"), ("X-Forwarded-For: 203.0.113.9:8080", "203.0.113.9"),
        ("X-Forwarded-For: 1.2.3.4, evil", "10.0.0.1"), ("X-Forwarded-For: ,", "10.0.0.1"),
        ("X-Forwarded-For: 999.1.1.1", "10.0.0.1"),
    ]) func forms(_ field: String, _ client: String) throws {
        #expect(try Self.client(["10.0.0.1"], from: "10.0.0.1", field) == client)
    }

    // A proxy sets one of the two fields; the other one is from its client.
    @Test func bothFields() throws {
        #expect(
            try Self.client(
                ["10.0.0.1"], from: "10.0.0.1", "X-Forwarded-For: 203.0.113.9", "Forwarded: for=1.2.3.4")
                == "10.0.0.1")
    }

    @Test func networks() throws {
        #expect(try Self.client(["10.1.0.0/15"], from: "10.0.255.1", "X-Forwarded-For: 1.1.1.1") == "1.1.1.1")
        #expect(
            try Self.client(["10.2.0.0/15"], from: "10.0.255.1", "X-Forwarded-For: 1.1.1.1") == "10.0.255.1")
        #expect(try Self.client(["0.0.0.0/0"], from: "198.51.100.1", "X-Forwarded-For: 1.1.1.1") == "1.1.1.1")
        for bad in [
            "", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "::/129", "localhost", "10.0.0/8", "unix:",
        ] {
            #expect(ProxyPolicy([bad]) == nil, "\(bad)")
        }
    }
}
