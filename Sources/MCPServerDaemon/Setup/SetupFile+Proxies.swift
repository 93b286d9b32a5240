import MCPCore

/// The files of proxies.
extension SetupFile {
    /// The lines about `Host` and `Origin`.
    private static func nginxHost(_ subject: Subject) -> String {
        if subject.acceptsHost { return "proxy_set_header Host $http_host;" }
        let others = subject.origins.isEmpty ? "" : " but those that the configuration names"
        return """
            # The server accepts only hosts of this machine, unless auth.resource or "hosts" names others.
                    proxy_set_header Host localhost;
                    # Web pages\(others) are refused here: the server does not see the real host.
                    if (\(nginxForeign(subject.origins))) { return 403; }
            """
    }

    private static func nginxForeign(_ origins: [String]) -> String {
        if origins.isEmpty { return "$http_origin" }
        let patterns = origins.map {
            $0.replacing(".", with: "\\.").replacing("[", with: "\\[").replacing("]", with: "\\]")
        }
        return "$http_origin !~ \"^(\(patterns.joined(separator: "|")))?$\""
    }

    /// The refusal of web pages. It is within `handle`, which Caddy sorts before a `respond` beside it.
    private static func caddyForeign(_ subject: Subject) -> String {
        if subject.acceptsHost { return "" }
        let allowed = subject.origins.map { "            not header Origin \($0)\n" }.joined()
        return "        @foreign {\n            header Origin *\n\(allowed)        }\n"
            + "        respond @foreign 403\n"
    }

    /// Whether the server refuses the proxy, which has another user: without `auth`, over TCP, only its own
    /// user is served. Other systems do not tell whose connection it is.
    private static func refusesProxy(_ subject: Subject) -> Bool {
        #if os(Linux)
        !subject.hasAuth && !subject.upstream.hasPrefix("unix:")
        #else
        false
        #endif
    }

    /// Whether the server knows the user of the proxy, so that `auth.peers` may be about it: at a unix
    /// socket, and on Linux over the loopback interface.
    private static func knowsProxy(_ subject: Subject) -> Bool {
        if subject.upstream.hasPrefix("unix:") { return true }
        #if os(Linux)
        guard let colon = subject.upstream.utf8.lastIndex(of: UInt8(ascii: ":")) else { return false }
        return Loopback.contains(String(subject.upstream[..<colon]))
        #else
        return false
        #endif
    }

    /// What the rules of `auth.peers` mean behind a proxy; nil if none can be about it.
    private static func peersWarning(_ subject: Subject) -> String? {
        let rules = Set(subject.peers.map(\.match))
        if rules.isEmpty || !knowsProxy(subject) { return nil }
        let danger = "everyone who reaches it may use the tools without a token"
        if rules.contains(.everyone) {
            return "warning: auth.peers admits every user, and so the proxy: \(danger)"
        }
        // Who prints the file need not be who runs the server, or the proxy.
        return rules == [.user(Accounts.ownUserID)]
            ? "warning: auth.peers admits your own user: if the proxy runs as that one, too, \(danger)"
            : "warning: if the proxy runs as a user of auth.peers, \(danger)"
    }

    /// What the configuration of the server must have for the proxy, and what not, as lines of comments.
    private static func proxyNeeds(_ subject: Subject) -> String {
        var lines: [String] = []
        if subject.upstream.hasPrefix("unix:") {
            lines.append(
                "# The proxy must be able to open the socket: unix:///PATH?mode=0660&group=www-data.")
        }
        if refusesProxy(subject) {
            lines.append("# Without auth, only the server's own user is served, and not the proxy.")
        }
        if refusesProxy(subject) || peersWarning(subject) != nil {
            lines += [
                "# A rule for the user of the proxy in auth.peers admits everyone whom it admits: use it",
                "# only if the proxy authenticates.",
            ]
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// What the lack of `auth` means behind a proxy, or its rules for processes of this machine; nil if
    /// callers need a token.
    static func proxyWarning(_ subject: Subject) -> String? {
        if subject.hasAuth { return peersWarning(subject) }
        return refusesProxy(subject)
            ? "warning: the configuration has no \"auth\": over TCP only the server's own user is served, "
                + "and the proxy receives 403"
            : "warning: the configuration has no \"auth\": everyone who reaches the proxy may use every tool"
    }

    /// Returns one word of a file of nginx or Caddy.
    private static func quoted(_ word: String) -> String {
        guard word.utf8.contains(where: { $0 <= 0x20 || "\"'\\;{}#`".utf8.contains($0) }) else { return word }
        return "\"\(word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    /// Whether the proxies can forward the path of `auth.resource` to the endpoint: without characters that
    /// they decode, or that have a meaning in a pattern or a file of theirs, and without parts that they
    /// remove.
    static func canForward(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        return path.utf8.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || "/._-~".utf8.contains($0) }
            && (path == "/" || !parts.contains { ["", ".", ".."].contains($0) })
    }

    /// A pattern for the path that clients know the endpoint by, and for what is below it; nil if it is that
    /// of the server.
    private static func foreignPattern(_ subject: Subject) -> String? {
        guard let path = subject.foreignPath, canForward(path) else { return nil }
        return path == "/" ? "^/$" : "^\(path.replacing(".", with: "\\."))(/.+?)?/?$"
    }

    /// The lines about the path of `auth.resource`. They are behind those with `if`, which `break` would end.
    private static func nginxRewrite(_ subject: Subject) -> String {
        guard let pattern = foreignPattern(subject) else { return "" }
        return """
                    # auth.resource has this path, and the endpoint of the server is /mcp.
                    rewrite \(pattern) /mcp\(subject.foreignPath == "/" ? "" : "$1") break;

            """
    }

    private static func caddyRewrite(_ subject: Subject) -> String {
        guard let pattern = foreignPattern(subject) else { return "" }
        return """
                # auth.resource has this path, and the endpoint of the server is /mcp.
                @resource path_regexp resource \(pattern)
                rewrite @resource /mcp\(subject.foreignPath == "/" ? "" : "{re.resource.1}")

            """
    }

    private static func nginxListen(_ subject: Subject) -> String {
        let port = subject.securePort ?? subject.plainPort ?? 80
        let suffix = subject.securePort == nil ? "" : " ssl"
        let places = """
            # Without IPv6 on this host, leave out the line with [::].
                listen \(port)\(suffix);
                listen [::]:\(port)\(suffix);
            """
        if subject.securePort == nil {
            return """
                # For this machine and a trusted network only. TLS is here with an auth.resource of https.
                    \(places)
                """
        }
        return """
            \(places)
                # The certificate with those of its issuers behind it, and its key, which only root can read.
                ssl_certificate /etc/ssl/certs/\(subject.host).pem;
                ssl_certificate_key /etc/ssl/private/\(subject.host).key;
            """
    }

    static func nginx(_ subject: Subject) -> String {
        """
        # In the http block, for example /etc/nginx/conf.d/mcp.conf.
        \(proxyNeeds(subject))\
        # With "trustedProxies", the server takes the address of a client from X-Forwarded-For.
        upstream mcp {
            server \(quoted(subject.upstream));
            keepalive 32;
        }

        server {
            \(nginxListen(subject))
            server_name \(subject.hosts.map(quoted).joined(separator: " "));

            location ~ ^/(mcp|\\.well-known/oauth-protected-resource\(providers(subject, "|", "")))(/|$)\
        \(foreignPattern(subject).map { "|\($0)" } ?? "") {
                proxy_pass http://mcp;
                proxy_http_version 1.1;
                proxy_set_header Connection "";
                \(nginxHost(subject))
        \(nginxRewrite(subject))
                # Events must arrive at once, and streams may be silent for 15 s.
                proxy_buffering off;
                proxy_cache off;
                proxy_read_timeout 1h;
                proxy_send_timeout 60s;
                client_max_body_size \(subject.bodyBytes);
                # A request is never repeated: it may have had an effect.
                proxy_next_upstream off;

                proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
                # A client's own; with both, neither would be believed.
                proxy_set_header Forwarded "";
                proxy_set_header X-Forwarded-Proto $scheme;
                access_log off;
            }
        }

        """
    }

    /// The paths of programs and web pages that offer tools. Without a token, `/register-tools` is for this
    /// machine alone, so that the proxy does not pass it on.
    private static func providers(_ subject: Subject, _ before: String, _ after: String) -> String {
        guard subject.hasClientTools else { return "" }
        return ["providers", "client-tools"].map { before + $0 + after }.joined()
    }

    /// Whether Caddy connects to an address as it is written.
    static func caddyCanReach(_ upstream: String) -> Bool {
        upstream.dropping(prefix: "unix:")?.utf8.contains { ":{}".utf8.contains($0) } != true
    }

    /// The addresses of the site. Without a scheme, Caddy has TLS at each port but 80.
    private static func caddyAddresses(_ subject: Subject) -> String {
        let (scheme, port): (String, String)
        if let plain = subject.plainPort {
            (scheme, port) = ("http://", plain == 80 ? "" : ":\(plain)")
        } else {
            (scheme, port) = ("", subject.securePort.map { $0 == 443 ? "" : ":\($0)" } ?? "")
        }
        return subject.hosts.map { quoted(scheme + $0 + port) }.joined(separator: ", ")
    }

    /// What patterns among the names are for Caddy, as a line of comment.
    private static func caddyPatterns(_ subject: Subject) -> String {
        guard subject.hosts.contains(where: { $0.hasPrefix("*.") }) else { return "" }
        return
            "# For Caddy, * is one label. With TLS it needs a certificate for *, or a DNS challenge (tls).\n"
    }

    /// Returns a text with a tab for each four spaces that a line begins with, as `caddy fmt` has it: Caddy
    /// logs a warning for another form.
    private static func withTabs(_ text: String) -> String {
        let lines: [Substring] = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { line in
            let tabs = line.prefix { $0 == " " }.count / 4
            return String(repeating: "\t", count: tabs) + line.dropFirst(tabs * 4)
        }.joined(separator: "\n")
    }

    static func caddy(_ subject: Subject) -> String {
        withTabs(caddyfile(subject))
    }

    private static func caddyfile(_ subject: Subject) -> String {
        """
        # Caddyfile
        \(proxyNeeds(subject))\(caddyPatterns(subject))\
        \(caddyAddresses(subject)) {
        \(caddyRewrite(subject))\
            @mcp path /mcp /mcp/* /.well-known/oauth-protected-resource*\(providers(subject, " /", "*"))
            handle @mcp {
        \(caddyForeign(subject))\
                request_body {
                    max_size \(subject.bodyBytes)
                }
                reverse_proxy \(quoted(subject.upstream.replacing("unix:", with: "unix/"))) {
                    header_up -Forwarded
        \(subject.acceptsHost ? "" : "            header_up Host localhost\n")\
                    # Events must arrive at once.
                    flush_interval -1
                    transport http {
                        versions 1.1
                        read_timeout 1h
                        write_timeout 60s
                    }
                }
            }
            # Without it, Caddy answers 200 with nothing.
            respond 404
        }

        """
    }
}
