import MCPApps
import MCPCore
import MCPHarness
import Testing

/// The policy of a view.
@Suite struct UICSPTests {
    private static let host = "http://127.0.0.1:5000"
    private static let fixed =
        "worker-src 'none'; object-src 'none'; base-uri 'self'; form-action 'none'; "
        + "frame-ancestors http://127.0.0.1:5000; sandbox allow-scripts allow-same-origin allow-forms"

    // EXT-04, A17
    @Test func withoutMetadata() {
        let csp = UICSP(domains: nil)
        #expect(csp.granted == nil)
        #expect(
            csp.header(hostOrigin: Self.host)
                == "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
                + "img-src 'self' data:; media-src 'self' data:; connect-src 'none'; frame-src 'none'; "
                + Self.fixed)
    }

    // EXT-04, A17
    @Test func withMetadata() {
        let csp = UICSP(
            domains: UICSPDomains(
                connect: ["https://api.example.com", "wss://live.example.com:8443"],
                resource: ["https://*.cdn.example.com/v1/", "data:", "HTTPS://Img.Example.com"],
                frame: ["https://frame.example.com"], baseURI: ["https://base.example.com"]))
        let resources = "https://*.cdn.example.com/v1/ data: https://img.example.com"
        let images = "data: https://*.cdn.example.com/v1/ https://img.example.com"
        #expect(
            csp.header(hostOrigin: Self.host)
                == "default-src 'none'; script-src 'self' 'unsafe-inline' \(resources); "
                + "style-src 'self' 'unsafe-inline' \(resources); img-src 'self' \(images); "
                + "media-src 'self' \(images); font-src 'self' \(resources); "
                + "connect-src https://api.example.com wss://live.example.com:8443; "
                + "frame-src https://frame.example.com; worker-src 'none'; object-src 'none'; "
                + "base-uri https://base.example.com; form-action 'none'; "
                + "frame-ancestors http://127.0.0.1:5000; "
                + "sandbox allow-scripts allow-same-origin allow-forms")
        #expect(csp.rejected == [])
        #expect(
            csp.externalDomains == [
                "https://api.example.com", "wss://live.example.com:8443", "https://*.cdn.example.com/v1/",
                "https://img.example.com", "https://frame.example.com", "https://base.example.com",
            ])
    }

    // EXT-04, A17
    @Test func emptyMetadata() {
        let header = UICSP(domains: UICSPDomains()).header(hostOrigin: Self.host)
        #expect(header.contains("; font-src 'self'; connect-src 'none'; frame-src 'none'; "))
        #expect(header.hasSuffix(Self.fixed))
    }

    // A17
    @Test func compat() {
        let domains = UICSPDomains(resource: ["https://a.example", "blob:"])
        let options = UICSPOptions(mode: .compat)
        let header = UICSP(domains: domains, options: options).header(hostOrigin: Self.host)
        #expect(
            header.contains("script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' https://a.example blob:; "))
        #expect(header.contains("img-src 'self' data: blob: https://a.example; "))
        #expect(header.contains("media-src 'self' data: blob: https://a.example; "))
        #expect(header.contains("font-src 'self' data: blob: https://a.example; connect-src 'none'"))
        #expect(header.contains("worker-src blob:; "))
        let plain = UICSP(domains: nil, options: options).header(hostOrigin: "'self'")
        #expect(plain.contains("font-src 'self' data: blob:; connect-src 'none'"))
        // No mode reaches a host that is not declared.
        #expect(!plain.contains("http:") && !plain.contains("https:") && !plain.contains("'unsafe-eval'"))
    }

    // A17
    @Test(arguments: [
        "", " ", "example.com", "localhost:3000", "https://", "https://a b", "https://a;script-src *",
        "https://a,b", "https://a'", "https://a\"", "https://<a>", "'self'", "'unsafe-eval'", "https://a\n",
        "https://a\u{0}", "https://user@a.example", "https://a.example:0", "https://a.example:70000",
        "https://a.example:x", "https://a..example", "https://[::1]", "https://ä.example",
        "https://a.example?q",
        "https://a.example#f", "https://*a.example", "*.*.example", "//a.example", "1http://a.example",
        "https:///path", "https://\(String(repeating: "a", count: 250))", "nonce-x y",
    ])
    func noOrigins(entry: String) {
        let csp = UICSP(
            domains: UICSPDomains(connect: [entry, "https://good.example"]),
            options: UICSPOptions(allowsWildcards: true))
        #expect(csp.granted?.connect == ["https://good.example"])
        #expect(csp.rejected.count == 1)
        #expect(csp.header(hostOrigin: Self.host).contains("; connect-src https://good.example; frame-src"))
    }

    // A17
    @Test(arguments: [
        "*", "http:", "https:", "ws:", "wss:", "ftp:", "https://*", "*.com", "https://*.com", "*:80",
    ])
    func tooBroad(entry: String) {
        let domains = UICSPDomains(connect: [entry])
        let strict = UICSP(domains: domains)
        #expect(strict.granted == UICSPDomains())
        #expect(strict.rejected == [entry])
        #expect(strict.header(hostOrigin: Self.host).contains("connect-src 'none'"))
        let open = UICSP(domains: domains, options: UICSPOptions(allowsWildcards: true))
        #expect(open.granted?.connect == [entry])
        #expect(open.externalDomains == [entry])
    }

    // A17
    @Test(arguments: [
        "https://a.example", "http://a.example:8080/x/y.js", "https://a.example:*", "*.a.example",
        "https://*.a.example", "http://127.0.0.1:5000", "http://*.localhost:80", "wss://a-b.example", "data:",
        "blob:", "mediastream:", "https://xn--4ca.example/%20",
    ])
    func origins(entry: String) {
        let csp = UICSP(domains: UICSPDomains(frame: [entry, entry]))
        #expect(csp.granted?.frame == [entry])
        #expect(csp.rejected == [])
        #expect(csp.externalDomains.isEmpty == (entry.hasSuffix(":") && !entry.hasPrefix("http")))
    }

    @Test func longLists() {
        let entries = (0 ..< 500).map { "https://h\($0).example" }
        let csp = UICSP(domains: UICSPDomains(resource: entries + [String(repeating: "x", count: 100_000)]))
        #expect(csp.granted?.resource.count == 50)
        #expect(csp.rejected.count == 50)
        #expect(csp.rejected.allSatisfy { $0.utf8.count <= 255 })
        #expect(csp.header(hostOrigin: Self.host).utf8.count < 16_384)
    }

    // security/global-allowlist
    @Test func listsOfTheUser() {
        func granted(_ entries: [String], allowed: [String]? = nil, blocked: [String] = []) -> [String]? {
            let options = UICSPOptions(
                allowsWildcards: true, allowedDomains: allowed, blockedDomains: blocked)
            return UICSP(domains: UICSPDomains(connect: entries), options: options).granted?.connect
        }
        let entries = [
            "https://a.example", "https://b.a.example:8443", "https://*.a.example", "https://c.example",
            "https:",
            "*", "data:",
        ]
        #expect(granted(entries, allowed: ["a.example"]) == ["https://a.example", "data:"])
        #expect(
            granted(entries, allowed: ["*.a.example"]) == [
                "https://b.a.example:8443", "https://*.a.example", "data:",
            ])
        #expect(granted(entries, allowed: ["http://a.example"]) == ["data:"])
        #expect(granted(entries, allowed: ["*.a.example:8443"]) == ["https://b.a.example:8443", "data:"])
        #expect(granted(entries, allowed: []) == ["data:"])
        #expect(granted(entries, allowed: ["*"])?.count == 7)
        #expect(
            granted(entries, blocked: ["b.a.example"]) == ["https://a.example", "https://c.example", "data:"])
        #expect(
            granted(entries, blocked: ["*.a.example"]) == ["https://a.example", "https://c.example", "data:"])
        #expect(granted(entries, blocked: ["https:"]) == ["data:"])
        #expect(
            granted(["https://a.example:1", "https://a.example:2"], blocked: ["a.example:1"]) == [
                "https://a.example:2"
            ])
    }
}
