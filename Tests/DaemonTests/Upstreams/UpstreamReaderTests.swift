import MCPCore
import Testing

@testable import MCPServerDaemon

/// `mcpServers`: what is read, and what every mistake says.
@Suite struct UpstreamReaderTests {
    private func load(
        _ text: String, _ environment: [String: String] = [:]
    ) -> (servers: [UpstreamDefinition], report: [String]) {
        var all = ["PATH": "/usr/bin:/bin", "HOME": "/root"]
        all.merge(environment) { $1 }
        let outcome = ConfigurationLoader(environment: all).load(
            SourceText(name: "mcp.jsonc", text: text), directory: "/etc", Diagnostics())
        return (outcome.configuration.upstreams, outcome.diagnostics.sorted.map(\.rendered))
    }

    @Test func theFileOfAHost() throws {
        let (servers, report) = load(
            """
            { "mcpServers": {
              "files": { "command": "cat", "args": ["-u", "/tmp"], "env": { "TOKEN": "${env:SECRET}" } },
              "remote": { "type": "http", "url": "https://mcp.example.com/mcp",
                          "headers": { "Authorization": "Bearer ${SECRET}" } },
              "old": { "type": "sse", "url": "http://127.0.0.1:1/sse" },
              "socket": { "url": "unix:///run/x.sock#/sub" },
              "off": { "command": "cat", "disabled": true },
              "off2": { "command": "cat", "enabled": false, "autoApprove": ["x"] }
            } }
            """, ["SECRET": "hunter22"])
        #expect(report.count == 1 && report[0].contains("mcpServers.off2.autoApprove has no effect"))
        #expect(servers.map(\.name) == ["files", "remote", "old", "socket"])
        guard case .program("cat", ["-u", "/tmp"], let environment, nil) = servers[0].place else {
            Issue.record("\(servers[0])")
            return
        }
        #expect(
            environment == ["PATH": "/usr/bin:/bin", "HOME": "/root", "LANG": "C.UTF-8", "TOKEN": "hunter22"])
        #expect(servers[0].secrets.contains("hunter22"))
        #expect(servers[1].headers == ["Authorization": "Bearer hunter22"])
        #expect(servers[1].secrets.contains("hunter22"))
        #expect(servers[3].place == .unix(path: "/run/x.sock", endpoint: "/sub"))
    }

    /// Credentials are secret wherever they are written.
    @Test func credentialsInTheFile() {
        let (servers, _) = load(
            """
            { "mcpServers": { "a": { "url": "https://mcp.example.com/mcp",
              "headers": { "authorization": "Basic YWRhOnBhc3N3b3Jk", "X-Team": "platform" } } } }
            """)
        #expect(servers[0].secrets == ["Basic YWRhOnBhc3N3b3Jk", "YWRhOnBhc3N3b3Jk"])
    }

    /// What comes from outside the file is secret, wherever it stands; places and defaults are not.
    @Test func whatComesFromElsewhere() {
        let (servers, _) = load(
            """
            { "mcpServers": {
              "a": { "command": "cat", "env": { "DATA": "${userHome}/data" },
                     "args": ["--key=${KEY}", "${configDir}/x", "${HOME}/y", "${MODE:-careful}", "plain"] },
              "b": { "url": "https://mcp.example.com/mcp?key=${env:KEY}" } } }
            """, ["KEY": "hunter22"])
        #expect(servers.map(\.secrets) == [["hunter22"], ["hunter22"]])
    }

    /// A server sees, and repeats, only the path and the query of its address.
    @Test(arguments: [
        (
            "${env:URL}",
            [
                "https://h.example/plain/s3cr3tPath88/mcp?key=s3cr3t%2F77&v=1", "s3cr3tPath88", "s3cr3t%2F77",
                "s3cr3t/77", "/plain/s3cr3tPath88/mcp", "/plain/s3cr3tPath88/mcp?key=s3cr3t%2F77&v=1",
                "/plain/s3cr3tPath88/mcp?key=s3cr3t/77&v=1",
            ]
        ),
        ("${env:BASE}/mcp?v=1234", ["https://h.example/s3cr3tPath88", "s3cr3tPath88", "/s3cr3tPath88"]),
        ("https://h.example/mcp?${env:QUERY}", ["key=s3cr3t", "s3cr3t"]),
        ("${env:PLAIN}", ["https://h.example/api/v1/mcp?v=1"]),
    ])
    func partsOfAnAddress(_ url: String, _ secrets: [String]) {
        let (servers, _) = load(
            #"{ "mcpServers": { "a": { "url": "\#(url)" } } }"#,
            [
                "URL": "https://h.example/plain/s3cr3tPath88/mcp?key=s3cr3t%2F77&v=1",
                "BASE": "https://h.example/s3cr3tPath88", "QUERY": "key=s3cr3t",
                "PLAIN": "https://h.example/api/v1/mcp?v=1",
            ])
        #expect(servers.map(\.secrets) == [secrets])
    }

    @Test func ourOwnKeys() throws {
        let (servers, report) = load(
            """
            { "mcpServers": { "a": {
              "command": "cat", "prefix": "a_", "tools": ["x*", "!xy"], "resources": ["a:*"], "prompts": ["p"],
              "rename": { "x": "z" }, "annotations": { "x": { "readOnlyHint": true } }, "required": true,
              "idle": "5m", "restart": "never", "timeout": "10s", "connectTimeout": "20s", "concurrency": 2,
              "perPrincipal": true, "protocol": "2025-11-25"
            }, "b": { "command": "cat", "protocol": "auto" } } }
            """)
        #expect(report == [])
        let server = try #require(servers.first)
        #expect(server.prefix == "a_" && server.tools == ["x*", "!xy"] && server.resources == ["a:*"])
        #expect(server.prompts == ["p"] && server.rename == ["x": "z"] && server.isRequired)
        #expect(server.annotations["x"]?.readOnlyHint == true && server.idle == .seconds(300))
        #expect(!server.restarts && server.timeout == .seconds(10) && server.connectTimeout == .seconds(20))
        #expect(server.concurrency == 2 && server.isPerPrincipal)
        #expect(server.revision == .v2025_11_25 && servers.last?.revision == nil)
    }

    static let mistakes: [(String, String)] = [
        (#""a": {}"#, #"1:24: error: mcpServers.a needs "command", for a program, or "url""#),
        (#""a": {"command": "cat", "url": "http://x"}"#, #"has both "command" and "url""#),
        (#""a": {"type": "http", "command": "cat"}"#, #"1:33: error: mcpServers.a.type is "http", but"#),
        (#""a": {"type": "ftp", "command": "cat"}"#, "mcpServers.a.type must be one of"),
        (#""a": {"url": "ftp://x"}"#, "mcpServers.a.url must begin with https://"),
        (#""a": {"url": "http://x/", "args": []}"#, "mcpServers.a.args has no effect"),
        (
            #""a": {"url": "http://x/", "env": {}}"#,
            #"mcpServers.a.env has no effect: it is for servers with"#
        ),
        (#""a": {"command": "cat", "headers": {"A": "b"}}"#, "mcpServers.a.headers has no effect"),
        (
            #""a": {"url": "http://x/", "headers": {"A": "b\nc"}}"#,
            "needs a field name and a text on one line"
        ),
        (#""a": {"command": "cat", "prefix": "a b"}"#, "mcpServers.a.prefix may have 32 letters"),
        (#""a": {"command": "cat", "rename": {"x": "a b"}}"#, "mcpServers.a.rename.x must be a name"),
        (#""a": {"command": "cat", "tools": [""]}"#, "mcpServers.a.tools: a pattern is a name"),
        (#""a": {"command": "cat", "tools": ["! x"]}"#, #"mcpServers.a.tools: "! x" begins or ends with"#),
        (#""a": {"command": "cat", "prompts": ["x\t"]}"#, "mcpServers.a.prompts: "),
        (#""a": {"command": "cat", "resources": ["!a: b"]}"#, #"mcpServers.a.resources: "!a: b" has white"#),
        (#""a": {"command": "cat", "resources": ["!h[://*"]}"#, #""!h[://*" has a [ without its ]"#),
        (
            #""a": {"url": "http://h/", "headers": {"X-Key": "1", "x-key": "2"}}"#,
            "mcpServers.a.headers: x-key is the same field as X-Key"
        ),
        (#""a": {"url": "http://h:99999/x"}"#, "mcpServers.a.url must have a HOST or HOST:PORT, with a port"),
        (#""a": {"url": "http://h:0/x"}"#, "mcpServers.a.url must have a HOST or HOST:PORT"),
        (#""a": {"url": "http://h:12ab/"}"#, "mcpServers.a.url must have a HOST or HOST:PORT"),
        (#""a": {"url": "https://[::1/"}"#, "mcpServers.a.url must have a HOST or HOST:PORT"),
        (#""a": {"url": "https://u:p@h/"}"#, "mcpServers.a.url must not have a user name or a password"),
        (#""a": {"url": "unix:///run/x#mcp"}"#, "mcpServers.a.url must have a path behind #"),
        (
            #""a": {"url": "http://h/", "headers": {"Content-Length": "1"}}"#,
            "mcpServers.a.headers: Content-Length is set by the server itself"
        ),
        (
            #""a": {"url": "http://h/", "headers": {"mcp-PROTOCOL-version": "1"}}"#,
            "mcpServers.a.headers: mcp-PROTOCOL-version is set by the server itself"
        ),
        (#""a": {"command": "cat", "restart": "always"}"#, "mcpServers.a.restart must be one of"),
        (#""a": {"command": "cat", "concurrency": 0}"#, "from 1 to 10000"),
        (#""a": {"command": "cat", "required": "yes"}"#, "mcpServers.a.required must be true or false"),
        (#""a": {"command": "cat", "perPrincipal": 1}"#, "mcpServers.a.perPrincipal must be true or false"),
        (
            #""a": {"command": "cat", "protocol": "2025-11"}"#,
            #"mcpServers.a.protocol must be one of "auto", "2026-07-28", "2025-11-25""#
        ),
        (#""a": {"command": "cat", "idle": 5}"#, "mcpServers.a.idle must be a duration"),
        (#""a": {"command": "cat", "disabledTools": ["x"]}"#, #"use "tools": ["!NAME"] instead"#),
        (#""a": {"command": "cat", "envFile": ".env"}"#, #"mcpServers.a.envFile: use "env""#),
        (#""a": {"httpUrl": "http://x"}"#, #"mcpServers.a.httpUrl: use "url" instead"#),
        (#""a": {"command": "cat", "env": {"A": 1}}"#, "mcpServers.a.env.A must be a string"),
        (#""a": {"command": "cat", "sandbx": "ro"}"#, #"unknown key "sandbx" in mcpServers.a"#),
        (#""a": {"command": "cat", "env": {"A": "${NOT_SET}"}}"#, "${NOT_SET} is not set"),
        (#""": {"command": "cat"}"#, "the name of a server has 1 to 64 characters"),
        (#""a": 1"#, "mcpServers.a must be an object"),
    ]

    @Test(arguments: mistakes) func everyMistakeIsNamed(_ mistake: (text: String, message: String)) {
        let report = load("{ \"mcpServers\": { \(mistake.text) } }").report
        #expect(report.contains { $0.contains(mistake.message) && $0.contains("error") }, "\(report)")
        #expect(report.allSatisfy { $0.hasPrefix("mcp.jsonc:1:") })
    }

    /// What looks odd in a pattern and may well be meant.
    @Test func unusualPatterns() {
        let (servers, report) = load(
            #"""
            { "mcpServers": { "a": { "command": "cat", "tools": ["a[[]b", "!a b", "x[]y]"],
              "resources": ["!é:*", "http://[[]::1]/*"] } } }
            """#)
        #expect(servers.count == 1 && report.isEmpty, "\(report)")
    }

    @Test func theKeyOfVSCode() {
        let report = load(#"{ "servers": { "a": { "command": "cat" } } }"#).report
        #expect(report.contains { $0.contains(#""servers" is called "mcpServers" here"#) })
    }

    /// One bad server must not keep the daemon from starting.
    @Test func aProgramThatDoesNotExistIsAWarning() {
        let (servers, report) = load(#"{ "mcpServers": { "a": { "command": "npx -y x" } } }"#)
        #expect(servers.count == 1)
        #expect(
            report.count == 1 && report[0].contains("warning")
                && report[0].contains("put its arguments in \"args\""))
    }

    /// Entries that are pasted from other hosts have such numbers; the server keeps its default.
    @Test func aTimeoutWithoutAUnitIsAWarning() {
        let (servers, report) = load(#"{ "mcpServers": { "a": { "command": "cat", "timeout": 60000 } } }"#)
        #expect(servers.first?.timeout == .seconds(60))
        #expect(
            report.count == 1 && report[0].contains("hosts disagree about the unit of 60000"), "\(report)")
        #expect(report.allSatisfy { !$0.contains("error") })
    }

    @Test func exposeNamesTheWayToServeAProgram() {
        let outcome = ConfigurationLoader(environment: [:]).load(.directory("mcp-server-time"), [:])
        #expect(
            outcome.diagnostics.report.first
                == "expose: error: no directory named \"mcp-server-time\"; for a program, write "
                + "mcp-server expose -- mcp-server-time")
    }

    @Test func exposeIsAConfiguration() {
        let loader = ConfigurationLoader(environment: [:])
        let program = loader.load(.program(["/usr/bin/env", "-i", "${X}"]), ["KEY": "value"]).configuration
        guard
            case .program("/usr/bin/env", ["-i", "${X}"], let environment, _)? = program.upstreams.first?
                .place
        else {
            Issue.record("\(program.upstreams)")
            return
        }
        #expect(environment["KEY"] == "value" && program.server.name == "env")
        let files = loader.load(.directory("/usr/lib"), [:]).configuration
        #expect(files.files.first?.root == "/usr/lib" && files.server.name == "lib")
        let server = loader.load(.server(url: "http://127.0.0.1:1/mcp"), [:]).configuration
        #expect(server.upstreams.first?.place == .http("http://127.0.0.1:1/mcp"))
    }
}
