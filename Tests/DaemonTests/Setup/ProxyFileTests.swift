import MCPCore
import Testing

@testable import MCPServerDaemon

/// The files for proxies.
@Suite struct ProxyFileTests {
    private let subject = SetupFile.Subject(
        program: "/usr/bin/mcp-server", configuration: "/etc/c.jsonc", upstream: "127.0.0.1:8808",
        host: "mcp.example.com", acceptsHost: true, bodyBytes: 1, stopSeconds: 35)

    /// The file of Caddy with spaces in place of its tabs.
    private func caddyfile(_ subject: SetupFile.Subject) -> String {
        SetupFile.caddy.text(subject).replacing("\t", with: "    ")
    }

    /// Caddy warns of a file that `caddy fmt` would change.
    @Test func theFormOfCaddy() {
        for isWhole in [false, true] {
            var own = subject
            if isWhole {
                own.acceptsHost = false
                (own.foreignPath, own.hasClientTools) = ("/a", true)
                (own.otherHosts, own.origins) = (["*.example.com"], ["https://app.example"])
            }
            let text = SetupFile.caddy.text(own)
            #expect(!text.contains("  ") && !text.contains(" \n") && !text.contains("\t\n"), "\(text)")
            var depth = 0
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                let words = line.drop { $0 == "\t" }
                if words == "}" { depth -= 1 }
                #expect(words.isEmpty || line.count - words.count == depth, "\(line)\n\(text)")
                if words.hasSuffix(" {") { depth += 1 }
            }
            #expect(depth == 0)
        }
    }

    @Test(
        arguments: [
            ("https://mcp.example.com/mcp", nil), ("https://mcp.example.com/mcp/", nil),
            ("https://mcp.example.com/mcp/channels/a", nil), ("https://mcp.example.com/a/mcp", "/a/mcp"),
            ("https://mcp.example.com/mcp/channel", "/mcp/channel"),
            ("https://mcp.example.com/a//b", "/a//b"),
            ("https://mcp.example.com/a/", "/a"), ("https://mcp.example.com", "/"),
            ("https://mcp.example.com/", "/"), ("https://mcp.example.com/mcp2", "/mcp2"), (nil, nil),
        ] as [(String?, String?)])
    func thePathOfTheResource(_ resource: String?, _ path: String?) {
        var settings = AuthSettings()
        settings.resource = resource
        #expect(settings.foreignPath(hasChannels: true) == path)
    }

    /// Without client-side tools the server has no channels, and `/mcp` alone.
    @Test func theServerHasOnePathWithoutChannels() {
        var settings = AuthSettings()
        for (path, own) in [("/mcp", nil), ("/mcp/", nil), ("/mcp/channels/a", "/mcp/channels/a")]
            as [(String, String?)]
        {
            settings.resource = "https://mcp.example.com\(path)"
            #expect(settings.foreignPath(hasChannels: false) == own)
        }
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
                    proxy_set_header Host $http_host;
                    # auth.resource has this path, and the endpoint of the server is /mcp.
                    rewrite \(pattern) /mcp\(nginx) break;

                    # Events
            """
        #expect(file.contains(lines), "\(file)")
        let site = caddyfile(own)
        let rules = """
            mcp.example.com {
                # auth.resource has this path, and the endpoint of the server is /mcp.
                @resource path_regexp resource \(pattern)
                rewrite @resource /mcp\(caddy)
                @mcp path /mcp /mcp/*
            """
        #expect(site.contains(rules), "\(site)")
    }

    /// A path that the proxies would decode, or clean up, is named in a warning in place of a rule.
    @Test(arguments: [nil, "/a%20b", "/a;b", "/a b", "/a{1}", "/$a", "//a", "/a//b", "/a/./b", "/a/.."])
    func otherPaths(_ path: String?) {
        var own = subject
        own.foreignPath = path
        #expect(path.map(SetupFile.canForward) != true)
        #expect(!SetupFile.nginx.text(own).contains("rewrite"))
        #expect(!caddyfile(own).contains("rewrite"))
        #expect(SetupFile.nginx.text(own).contains(";\n\n        # Events"))
        #expect(caddyfile(own).contains(" {\n    @mcp path /mcp"))
    }

    /// Caddy sorts `handle` before a `respond` beside it: web pages are refused within it, before their
    /// requests are forwarded. What is not forwarded is not found, where Caddy would answer 200.
    @Test func whatCaddyDoesNotForward() throws {
        var own = subject
        own.acceptsHost = false
        let text = caddyfile(own)
        let handle = try #require(text.firstRange(of: "    handle @mcp {\n"))
        let refusal = try #require(text.firstRange(of: "        respond @foreign 403\n"))
        let proxy = try #require(text.firstRange(of: "        reverse_proxy 127.0.0.1:8808 {\n"))
        #expect(handle.upperBound < refusal.lowerBound && refusal.upperBound < proxy.lowerBound)
        #expect(
            text.hasSuffix("    }\n    # Without it, Caddy answers 200 with nothing.\n    respond 404\n}\n"))
        #expect(text.contains("            header_up Host localhost\n            # Events"))
        // Caddy passes the host as it is; its {host} has no brackets around an address.
        own.acceptsHost = true
        let named = caddyfile(own)
        #expect(named.contains("    handle @mcp {\n        request_body {\n"))
        #expect(named.contains("            header_up -Forwarded\n            # Events"))
    }

    /// The proxy has the port of the address that clients know, and TLS if it begins with https.
    @Test(
        arguments: [
            ("https://mcp.example.com/mcp", 443, nil), ("https://mcp.example.com:8443/mcp", 8443, nil),
            ("HTTPS://[2001:db8::1]:8443", 8443, nil), ("http://127.0.0.1:8000/mcp", nil, 8000),
            ("http://[::1]/mcp", nil, 80), (nil, nil, nil),
        ] as [(String?, UInt16?, UInt16?)])
    func thePortOfTheResource(_ resource: String?, _ secure: UInt16?, _ plain: UInt16?) {
        var settings = AuthSettings()
        settings.resource = resource
        #expect(settings.securePort == secure)
        #expect(settings.plainPort == plain)
        var own = subject
        (own.securePort, own.plainPort) = (secure, plain)
        let text = SetupFile.nginx.text(own)
        let words = "\(secure ?? plain ?? 80)\(secure == nil ? "" : " ssl");\n"
        #expect(text.contains("    listen \(words)    listen [::]:\(words)"))
        #expect(text.contains("ssl_certificate_key /etc/ssl/private/mcp.example.com.key;") == (secure != nil))
    }

    /// A port of its own is that of the site, and nothing stands alone on a line. Without a scheme, Caddy has
    /// TLS.
    @Test(
        arguments: [
            (443, nil, "mcp.example.com"), (8443, nil, "mcp.example.com:8443"),
            (nil, 8000, "http://mcp.example.com:8000"), (nil, 80, "http://mcp.example.com"),
            (nil, nil, "mcp.example.com"),
        ] as [(UInt16?, UInt16?, String)])
    func caddyHasThePort(_ secure: UInt16?, _ plain: UInt16?, _ site: String) {
        var own = subject
        (own.securePort, own.plainPort) = (secure, plain)
        for acceptsHost in [true, false] {
            own.acceptsHost = acceptsHost
            let text = caddyfile(own)
            #expect(text.contains("\n\(site) {\n    @mcp path "), "\(text)")
            #expect(!text.split(separator: "\n").contains { $0.allSatisfy { $0 == " " } }, "\(text)")
        }
    }

    /// The proxy passes the paths of those who offer tools only where there are any.
    @Test func pathsOfProviders() {
        for (file, plain, own) in [
            (SetupFile.nginx, "protected-resource)(/|$)", "protected-resource|providers|client-tools)(/|$)"),
            (.caddy, "protected-resource*\n", "protected-resource* /providers* /client-tools*\n"),
        ] {
            #expect(file.text(subject).contains(plain))
            var subject = subject
            subject.hasClientTools = true
            #expect(file.text(subject).contains(own))
        }
    }

    /// Web pages that may offer tools are not refused by the proxy; all others are.
    @Test func originsOfPages() {
        var own = subject
        own.acceptsHost = false
        #expect(SetupFile.nginx.text(own).contains("if ($http_origin) { return 403; }"))
        #expect(caddyfile(own).contains("            header Origin *\n        }\n"))
        own.origins = ["https://app.example", "http://[::1]:8080"]
        #expect(
            SetupFile.nginx.text(own).contains(
                #"if ($http_origin !~ "^(https://app\.example|http://\[::1\]:8080)?$") { return 403; }"#))
        #expect(
            caddyfile(own).contains(
                "            header Origin *\n            not header Origin https://app.example\n"))
    }
}
