import Testing

@testable import MCPCore

@Suite struct HTTPEndpointTests {
    @Test(
        arguments: [
            ("http://127.0.0.1:8808/mcp", "127.0.0.1", 8808, "/mcp", "127.0.0.1:8808"),
            ("HTTP://example.com", "example.com", 80, "/", "example.com"),
            ("http://example.com?x=1", "example.com", 80, "/?x=1", "example.com"),
            ("http://[::1]:9/a?b#c", "::1", 9, "/a?b", "[::1]:9"),
            ("http://h:80/", "h", 80, "/", "h:80"),
            ("https://example.com/mcp", "example.com", 443, "/mcp", "example.com"),
            ("HTTPS://[::1]:8443/", "::1", 8443, "/", "[::1]:8443"),
            ("https://h:", "h", 443, "/", "h:"),
        ] as [(String, String, UInt16, String, String)])
    func urls(_ url: String, _ host: String, _ port: UInt16, _ target: String, _ field: String) throws {
        let endpoint = try HTTPEndpoint(url: url)
        #expect(endpoint.place == .host(host, port: port))
        #expect(endpoint.target == target)
        #expect(endpoint.hostField == field)
    }

    @Test(arguments: [
        ("https://u@h/", "password"), ("https:///mcp", "no host"), ("ftp://h/", "only http://"),
        ("127.0.0.1:8808", "not a URL"),
        ("http:///mcp", "no host"),
        ("http://h:99999/", "HOST"), ("http://h:0/", "HOST"), ("http://u:p@h/", "password"),
        ("http://h/a b", "cannot be sent"),
        ("http://h/a\r\nX: y", "cannot be sent"), ("http://a b/", "HOST"), ("http://h/ä", "cannot be sent"),
        ("", "not a URL"),
    ]) func badURLs(_ url: String, _ text: String) {
        let error = #expect(throws: ClientError.self) { try HTTPEndpoint(url: url) }
        #expect(error?.kind == .invalidRequest)
        #expect(error?.message.contains(text) == true, "\(String(describing: error))")
    }

    @Test(arguments: ["", String(repeating: "x", count: 200)]) func badSocketPaths(_ path: String) {
        #expect(throws: ClientError.self) { try HTTPEndpoint(unixPath: path, target: "/mcp") }
    }
}
