import MCPCore
import Testing

@testable import MCPServerDaemon

/// The path of `auth.resource` in the files for proxies.
@Suite struct ProxyFileTests {
    private let subject = SetupFile.Subject(
        program: "/usr/bin/mcp-server", configuration: "/etc/c.jsonc", upstream: "127.0.0.1:8808",
        host: "mcp.example.com", acceptsHost: true, bodyBytes: 1, stopSeconds: 35)

    @Test(
        arguments: [
            ("https://mcp.example.com/mcp", nil), ("https://mcp.example.com/mcp/", nil),
            ("https://mcp.example.com/mcp/channels/a", nil), ("https://mcp.example.com/a/mcp", "/a/mcp"),
            ("https://mcp.example.com/a/", "/a"), ("https://mcp.example.com", "/"),
            ("https://mcp.example.com/", "/"), ("https://mcp.example.com/mcp2", "/mcp2"), (nil, nil),
        ] as [(String?, String?)])
    func thePathOfTheResource(_ resource: String?, _ path: String?) {
        var settings = AuthSettings()
        settings.resource = resource
        #expect(settings.foreignPath == path)
    }

    /// What clients send to the path of the resource arrives at the endpoint, and so does what is below it.
    @Test(arguments: [
        ("/a.b/mcp", #"^/a\.b/mcp(/.+?)?/?$"#, "$1", "{re.resource.1}"), ("/", "^/$", "", ""),
    ])
    func thePathIsReplaced(path: String, pattern: String, nginx: String, caddy: String) {
        var own = subject
        own.foreignPath = path
        let file = SetupFile.nginx.text(own)
        #expect(
            file.contains(
                #"    location ~ ^/(mcp|\.well-known/oauth-protected-resource)(/|$)|\#(pattern) {\#n"#),
            "\(file)")
        let lines = """
                    proxy_set_header Host $host;
                    # auth.resource has this path, and the endpoint of the server is /mcp.
                    rewrite \(pattern) /mcp\(nginx) break;

                    # Events
            """
        #expect(file.contains(lines), "\(file)")
        let site = SetupFile.caddy.text(own)
        let rules = """
            mcp.example.com {
                # auth.resource has this path, and the endpoint of the server is /mcp.
                @resource path_regexp resource \(pattern)
                rewrite @resource /mcp\(caddy)
                @mcp path /mcp /mcp/*
            """
        #expect(site.contains(rules), "\(site)")
    }

    /// A path that the proxies would decode is named in a warning in place of a rule.
    @Test(arguments: [nil, "/a%20b", "/a;b", "/a b", "/a{1}", "/$a"])
    func otherPaths(_ path: String?) {
        var own = subject
        own.foreignPath = path
        #expect(path.map(SetupFile.canForward) != true)
        #expect(!SetupFile.nginx.text(own).contains("rewrite"))
        #expect(!SetupFile.caddy.text(own).contains("rewrite"))
        #expect(SetupFile.nginx.text(own).contains(";\n\n        # Events"))
        #expect(SetupFile.caddy.text(own).contains(" {\n    @mcp path /mcp"))
    }

    /// Caddy sorts `handle` before a `respond` beside it: web pages are refused within it, before their
    /// requests are forwarded. What is not forwarded is not found, where Caddy would answer 200.
    @Test func whatCaddyDoesNotForward() throws {
        var own = subject
        own.acceptsHost = false
        let text = SetupFile.caddy.text(own)
        let handle = try #require(text.firstRange(of: "    handle @mcp {\n"))
        let refusal = try #require(text.firstRange(of: "        respond @foreign 403\n"))
        let proxy = try #require(text.firstRange(of: "        reverse_proxy 127.0.0.1:8808 {\n"))
        #expect(handle.upperBound < refusal.lowerBound && refusal.upperBound < proxy.lowerBound)
        #expect(text.hasSuffix("    }\n    # Without it, Caddy answers 200 with nothing.\n    respond 404\n}\n"))
        own.acceptsHost = true
        #expect(SetupFile.caddy.text(own).contains("    handle @mcp {\n        request_body {\n"))
    }
}
