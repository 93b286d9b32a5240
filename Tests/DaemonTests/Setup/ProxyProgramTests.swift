import MCPCore
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// `init --nginx` and `--caddy` as a user types them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ProxyProgramTests {
    /// A proxy is sent to an address at which its word about clients counts.
    @Test(arguments: [
        (#"["127.0.0.1"]"#, "127.0.0.1:8908", nil), (#"["127.0.0.1", "unix"]"#, "unix:/run/a.sock", nil),
        ("[]", "unix:/run/a.sock", nil), (#"["::1"]"#, "[::1]:8909", nil),
        (#"["10.0.0.0/8"]"#, "unix:/run/a.sock", "unix"),
    ])
    func theAddressForAProxy(proxies: String, place: String, untrusted: String?) async throws {
        try await checkProxy(
            listen: #"["unix:///run/a.sock", "127.0.0.1:8908", "[::1]:8909"]"#, proxies, place, untrusted)
    }

    /// Connections to addresses of this host come from these addresses, and those within 127.0.0.0/8 from
    /// 127.0.0.1.
    @Test(arguments: [
        (#"["127.0.0.1:8908", "[::1]:8909"]"#, #"["::1"]"#, "[::1]:8909", nil),
        (#"["[::1]:8909", "127.0.0.5:8908"]"#, #"["127.0.0.1"]"#, "127.0.0.5:8908", nil),
        (#"["127.0.0.1:8908", "10.1.2.3:8909"]"#, #"["10.0.0.0/8"]"#, "10.1.2.3:8909", nil),
        (#"["127.0.0.1:8908", "10.1.2.3:8909"]"#, #"["10.9.9.9"]"#, "10.1.2.3:8909", "10.1.2.3"),
        (#"["0.0.0.0:8908"]"#, #"["127.0.0.1"]"#, "127.0.0.1:8908", nil),
        (#"["[::]:8908"]"#, #"["127.0.0.1"]"#, "[::1]:8908", "::1"),
        (#"["127.0.0.1:8908"]"#, #"["unix"]"#, "127.0.0.1:8908", "127.0.0.1"),
    ])
    func whereAProxyComesFrom(
        listen: String, proxies: String, place: String, untrusted: String?
    ) async throws {
        try await checkProxy(listen: listen, proxies, place, untrusted)
    }

    private func checkProxy(
        listen: String, _ proxies: String, _ place: String, _ untrusted: String?
    ) async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "mcp.jsonc",
            #"""
            { "listen": \#(listen), "trustedProxies": \#(proxies),
              "auth": { "tokens": "tokens.json", "resource": "https://mcp.example.com/mcp" } }
            """#)
        try directory.write("tokens.json", #"{"version":1,"tokens":[]}"#)
        #expect(unsafe chmod("\(directory.path)/tokens.json", 0o600) == 0)
        for (kind, line) in [
            ("--nginx", "    server \(place);"),
            ("--caddy", "reverse_proxy \(place.replacing("unix:", with: "unix/")) {"),
        ] {
            let outcome = try await SetupProgram.run(["init", kind, "-c", "\(directory.path)/mcp.jsonc"])
            #expect(outcome.output.contains("\(line)\n"), "\(outcome)")
            let warning = untrusted.map {
                "warning: at no address of \"listen\" does \"trustedProxies\" trust a proxy on this host: one "
                    + "that connects to \(place) is \"\($0)\" there\n"
            }
            #expect(outcome.errors == warning ?? "", "\(outcome)")
        }
    }

    private func warnings(_ auth: String, _ more: String = "") async throws -> Set<String> {
        let directory = try TemporaryDirectory()
        try directory.write("tokens.json", #"{"version":1,"tokens":[]}"#)
        #expect(unsafe chmod("\(directory.path)/tokens.json", 0o600) == 0)
        try directory.write(
            "mcp.jsonc", "{ \"auth\": { \"tokens\": \"tokens.json\", \(auth) }\(more) }")
        var warnings: Set<String> = []
        for kind in ["--nginx", "--caddy"] {
            let outcome = try await SetupProgram.run(["init", kind, "-c", "\(directory.path)/mcp.jsonc"])
            #expect(outcome.status == .exited(0), "\(outcome)")
            warnings.insert(outcome.errors)
        }
        return warnings
    }

    /// Without `auth`, the server refuses a proxy over TCP, where the system tells whose connection it is, and
    /// serves one at a socket. The comments agree with that.
    @Test func whoIsServedWithoutAuth() async throws {
        #if os(Linux)
        let tcp = "over TCP only the server's own user is served, and the proxy receives 403\n"
        let isRefused = true
        #else
        let tcp = "everyone who reaches the proxy may use every tool\n"
        let isRefused = false
        #endif
        let directory = try TemporaryDirectory()
        for (text, warning, hasComment) in [
            ("{}", tcp, isRefused), (#"{ "listen": ["127.0.0.1:18811"] }"#, tcp, isRefused),
            (
                #"{ "listen": ["unix:///run/mcp/a.sock"] }"#,
                "everyone who reaches the proxy may use every tool\n", false
            ),
        ] as [(String, String, Bool)] {
            try directory.write("mcp.jsonc", text)
            for kind in ["--nginx", "--caddy"] {
                let outcome = try await SetupProgram.run(["init", kind, "-c", "\(directory.path)/mcp.jsonc"])
                #expect(outcome.status == .exited(0), "\(outcome)")
                let expected = "warning: the configuration has no \"auth\": \(warning)"
                #expect(outcome.errors == expected, "\(text)\n\(outcome)")
                #expect(outcome.output.contains("# Without auth, only the server's own user") == hasComment)
                #expect(outcome.output.contains("must be able to open the socket") == text.contains("unix:"))
            }
        }
    }

    /// A rule that may be about the proxy admits everyone whom the proxy admits, where the server knows its user.
    @Test(arguments: [
        (#"{ "user": "*" }"#, "auth.peers admits every user, and so the proxy: "),
        (#"{ "uid": 4123456 }"#, "if the proxy runs as a user of auth.peers, "),
        (#"{ "group": "4123456" }"#, "if the proxy runs as a user of auth.peers, "),
        (#"{ "uid": 4123456 }, { "user": "*" }"#, "auth.peers admits every user, and so the proxy: "),
        ("", "auth.peers admits your own user: if the proxy runs as that one, too, "),
    ])
    func whoIsServedByRules(rules: String, beginning: String) async throws {
        #if os(Linux)
        let isKnownOverTCP = true
        #else
        let isKnownOverTCP = false
        #endif
        let own = "{ \"uid\": \(geteuid()) }\(rules.isEmpty ? "" : ", \(rules)")"
        let directory = try TemporaryDirectory()
        try directory.write("tokens.json", #"{"version":1,"tokens":[]}"#)
        #expect(unsafe chmod("\(directory.path)/tokens.json", 0o600) == 0)
        let tokens = #""tokens": "tokens.json", "resource": "https://mcp.example.com/mcp", "#
        for (listen, isKnown) in [
            ("127.0.0.1:18811", isKnownOverTCP), ("[::1]:18811", isKnownOverTCP),
            ("unix:///run/a.sock", true),
            ("10.1.2.3:18811", false),
        ] {
            for more in ["", tokens] where listen != "10.1.2.3:18811" || more != "" {
                try directory.write(
                    "mcp.jsonc", "{ \"listen\": [\"\(listen)\"], \"auth\": { \(more)\"peers\": [\(own)] } }")
                for kind in ["--nginx", "--caddy"] {
                    let outcome = try await SetupProgram.run([
                        "init", kind, "-c", "\(directory.path)/mcp.jsonc",
                    ])
                    #expect(outcome.status == .exited(0), "\(outcome)")
                    let expected =
                        isKnown
                        ? "warning: \(beginning)everyone who reaches it may use the tools without a token\n"
                        : ""
                    #expect(outcome.errors == expected, "\(listen)\n\(outcome)")
                    #expect(
                        outcome.output.contains("# A rule for the user of the proxy in auth.peers")
                            == isKnown, "\(listen)\n\(outcome)")
                }
            }
        }
    }

    /// All names that the server accepts are those of the proxy, each once. Without `auth.resource`, the first
    /// one of `hosts` is its name, and it passes on the host that clients name.
    @Test(
        arguments: [
            (
                "https://mcp.example.com:8443/mcp", #"["MCP.example.com", "b.example", "*.c.example"]"#,
                "mcp.example.com b.example *.c.example",
                "mcp.example.com:8443, b.example:8443, *.c.example:8443"
            ),
            (
                "http://127.0.0.1/mcp", #"["b.example"]"#, "127.0.0.1 b.example",
                "http://127.0.0.1, http://b.example"
            ),
            (nil, #"["b.example", "[::1]"]"#, "b.example [::1]", "b.example, [::1]"),
            (nil, "[]", "mcp.example.com", "mcp.example.com"),
        ] as [(String?, String, String, String)])
    func namesOfTheServer(resource: String?, hosts: String, names: String, sites: String) async throws {
        let directory = try TemporaryDirectory()
        let auth =
            "\(resource.map { "\"resource\": \"\($0)\", " } ?? "")\"peers\": [{ \"uid\": \(geteuid()) }]"
        try directory.write("mcp.jsonc", "{ \"hosts\": \(hosts), \"auth\": { \(auth) } }")
        let file = "\(directory.path)/mcp.jsonc"
        let nginx = try await SetupProgram.run(["init", "--nginx", "-c", file])
        #expect(nginx.output.contains("\n    server_name \(names);\n"), "\(nginx)")
        #expect(nginx.output.contains("proxy_set_header Host $http_host;") == (hosts != "[]"), "\(nginx)")
        let caddy = try await SetupProgram.run(["init", "--caddy", "-c", file])
        #expect(caddy.output.contains("\n\(sites) {\n"), "\(caddy)")
        #expect(caddy.output.contains("header_up Host localhost") == (hosts == "[]"), "\(caddy)")
        #expect(caddy.output.contains("# For Caddy, * is one label.") == sites.contains("*"), "\(caddy)")
    }

    /// A proxy cannot listen where the server does.
    @Test(
        arguments: [
            ("http://127.0.0.1:8808/mcp", 8_808, ""), ("http://127.0.0.1:8000/mcp", nil, ""),
            ("https://mcp.example.com/mcp", 443, #", "listen": ["unix:///run/a.sock", "127.0.0.1:443"]"#),
        ] as [(String, Int?, String)])
    func thePortOfTheServer(resource: String, port: Int?, more: String) async throws {
        let warning = port.map {
            "warning: the server listens at port \($0) itself, which auth.resource names: a proxy on this "
                + "host needs another one\n"
        }
        #expect(try await warnings("\"resource\": \"\(resource)\"", more) == [warning ?? ""])
    }

    /// The path of the resource is forwarded, or a warning says that it is not.
    @Test func pathsThatAreNotForwarded() async throws {
        #expect(try await warnings("\"resource\": \"https://mcp.example.com/mcp/tenant\"") == [""])
        let warned = try await warnings("\"resource\": \"https://mcp.example.com/api//x\"")
        #expect(warned.count == 1, "\(warned)")
        #expect(
            warned.allSatisfy { $0.hasPrefix("warning: the proxy does not forward /api//x, the path of") },
            "\(warned)")
    }

    /// Pages that the server admits are not refused by a proxy which hides the host.
    @Test func pagesOfTheConfiguration() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "mcp.jsonc",
            #"""
            { "listen": ["unix:///run/a.sock"], "origins": ["https://a.example", "https://b.example"],
              "clientTools": { "origins": ["https://b.example", "https://c.example"] } }
            """#)
        let nginx = try await SetupProgram.run(["init", "--nginx", "-c", "\(directory.path)/mcp.jsonc"])
        #expect(
            nginx.output.contains(
                #"!~ "^(https://a\.example|https://b\.example|https://c\.example)?$") { return 403; }"#),
            "\(nginx)")
        #expect(nginx.output.contains("# Web pages but those that the configuration names are refused here"))
        let caddy = try await SetupProgram.run(["init", "--caddy", "-c", "\(directory.path)/mcp.jsonc"])
        for page in ["a", "b", "c"] {
            #expect(caddy.output.contains("not header Origin https://\(page).example\n"), "\(caddy)")
        }
    }

    /// One file names one instance of several.
    @Test func instances() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "mcp.jsonc", #"{ "listen": ["unix:///run/mcp/${env:INSTANCE}.sock"] }"#)
        for kind in ["--nginx", "--caddy"] {
            let outcome = try await SetupProgram.run(
                ["init", kind, "-c", "\(directory.path)/mcp.jsonc"], ["INSTANCE": "a"])
            #expect(outcome.output.contains("unix") && outcome.output.contains("/run/mcp/a.sock"))
            #expect(
                outcome.errors.contains("${env:INSTANCE}, and this file is for one instance"), "\(outcome)")
        }
    }

    /// Caddy would connect to another socket than the one that is named.
    @Test(arguments: ["/run/mcp/a:b.sock", "/run/{env.HOME}/b.sock"])
    func socketsThatCaddyCannotReach(path: String) async throws {
        let directory = try TemporaryDirectory()
        try directory.write("mcp.jsonc", "{ \"listen\": [\"unix://\(path)\"] }")
        let outcome = try await SetupProgram.run(["init", "--caddy", "-c", "\(directory.path)/mcp.jsonc"])
        #expect(outcome.status == .exited(1) && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.errors.hasPrefix("mcp-server: Caddy cannot connect to unix:\(path): "), "\(outcome)")
        let other = try await SetupProgram.run(["init", "--nginx", "-c", "\(directory.path)/mcp.jsonc"])
        #expect(other.status == .exited(0), "\(other)")
    }
}
