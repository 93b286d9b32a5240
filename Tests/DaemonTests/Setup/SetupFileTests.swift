import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

/// The files that `init` prints.
@Suite struct SetupFileTests {
    private let subject = SetupFile.Subject(
        program: "/usr/local/bin/mcp-server", configuration: "/etc/a&b.jsonc", upstream: "unix:/run/mcp.sock",
        host: "mcp.example.com", bodyBytes: 4_194_304, stopSeconds: 35,
        sockets: ["/run/mcp.sock"], mode: 0o660, group: 33)

    @Test(arguments: SetupFile.allCases) func namesItsSubject(_ file: SetupFile) {
        let text = file.text(subject)
        #expect(text.hasSuffix("\n") && !text.contains("Optional("))
        switch file {
        case .systemd:
            #expect(text.contains("\nExecStart=/usr/local/bin/mcp-server -c /etc/a&b.jsonc\n"))
            #expect(text.contains("\nTimeoutStopSec=35\n"))
        case .systemdSocket:
            #expect(
                text.contains("[Socket]\nListenStream=/run/mcp.sock\nSocketMode=0660\nSocketGroup=33\n\n["))
        case .launchd: #expect(text.contains("<string>/etc/a&amp;b.jsonc</string>"))
        case .nginx: #expect(text.contains("server unix:/run/mcp.sock;") && text.contains("4194304;"))
        case .caddy: #expect(text.contains("reverse_proxy unix//run/mcp.sock {"))
        case .docker: #expect(text.contains("ENTRYPOINT"))
        }
    }

    /// With an address that begins with https, the proxy has TLS at its port.
    @Test(
        arguments: [
            ("https://mcp.example.com/mcp", 443), ("https://mcp.example.com:8443/mcp", 8443),
            ("HTTPS://[2001:db8::1]:8443", 8443), ("http://127.0.0.1:8808/mcp", nil), (nil, nil),
        ] as [(String?, UInt16?)])
    func transportSecurity(_ resource: String?, _ port: UInt16?) {
        var settings = AuthSettings()
        settings.resource = resource
        #expect(settings.securePort == port)
        var own = subject
        own.securePort = port
        let text = SetupFile.nginx.text(own)
        #expect(text.contains("    listen \(port ?? 80)\(port == nil ? "" : " ssl");\n"))
        #expect(text.contains("ssl_certificate_key /etc/ssl/private/mcp.example.com.key;") == (port != nil))
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
        #expect(SetupFile.caddy.text(own).contains("        header Origin *\n    }\n"))
        own.origins = ["https://app.example", "http://[::1]:8080"]
        #expect(
            SetupFile.nginx.text(own).contains(
                #"if ($http_origin !~ "^(https://app\.example|http://\[::1\]:8080)?$") { return 403; }"#))
        #expect(
            SetupFile.caddy.text(own).contains(
                "        header Origin *\n        not header Origin https://app.example\n"))
    }

    /// A path that the hardened service cannot see is named, whatever it is for.
    @Test(arguments: [[], ["/srv/docs"], ["/srv/docs", "/tmp/mcp.sock"]]) func hiddenPaths(_ paths: [String])
    {
        var own = subject
        own.paths = paths
        #expect(own.hiddenPath == (paths.count == 2 ? "/tmp/mcp.sock" : nil))
    }

    #if os(Linux)
    /// Every line of the unit is one that systemd knows, where systemd is installed.
    @Test func theUnitIsValid() async throws {
        let directory = try TemporaryDirectory()
        var own = subject
        own.program = "/bin/true"
        own.configuration = "/etc/mcp.jsonc"
        let text = SetupFile.systemd.text(own)
        #expect(
            text.contains("SystemCallFilter=landlock_create_ruleset landlock_add_rule landlock_restrict_self")
        )
        try directory.write("mcp-server.service", text)
        try directory.write("mcp-server.socket", SetupFile.systemdSocket.text(own))
        let launch = ProcessLaunch(
            "systemd-analyze",
            ["verify", "\(directory.path)/mcp-server.service", "\(directory.path)/mcp-server.socket"],
            environment: WatchedProgram.environment)
        let result: ProcessRunner.Result
        do { result = try await Offload.run { try ProcessRunner.run(launch, input: []) } } catch {
            print("systemd-analyze is not installed: the unit was not verified")
            return
        }
        // systemd before 253 does not know the type.
        let errors = String(decoding: result.errors, as: UTF8.self).split(separator: "\n")
            .filter { $0.contains("mcp-server.") && !$0.contains("notify-reload") }
        #expect(errors.isEmpty, "\(errors)")
    }
    #endif
}
