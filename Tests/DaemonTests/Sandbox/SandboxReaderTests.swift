import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

/// `sandboxes` and `sandbox`: what is read, and what every mistake says.
@Suite struct SandboxReaderTests {
    private static let full = SandboxSupport(landlock: 7, hasSyscallFilter: true)

    private func load(_ text: String, directory: String = "/etc") -> (Configuration, [String]) {
        let outcome = ConfigurationLoader(environment: ["PATH": "/usr/bin:/bin", "HOME": "/root"]).load(
            SourceText(name: "m", text: text), directory: directory, Diagnostics())
        return (outcome.configuration, outcome.diagnostics.sorted.map(\.rendered))
    }

    private func errors(_ text: String) -> [String] { load(text).1.filter { $0.contains(" error: ") } }

    /// The findings about one sandbox, on a system that enforces everything unless another is given.
    private func findings(
        _ text: String, _ support: SandboxSupport = full, for purpose: ConfigContext.Purpose = .serving
    ) throws -> [String] {
        let diagnostics = Diagnostics()
        let context = ConfigContext(
            diagnostics: diagnostics, directory: "/etc", environment: [:], purpose: purpose)
        let node = try #require(
            JSONCParser.parse(SourceText(name: "m", text: text), into: diagnostics), "\(diagnostics.report)")
        _ = SandboxReader(context: context, support: support).read(node, path: "s", name: "s")
        return diagnostics.sorted.map(\.rendered)
    }

    @Test func everythingIsRead() throws {
        let text = """
            { "fs": { "read": ["/usr/"], "write": ["/tmp"], "exec": ["/usr/bin"] },
              "net": { "connect": [443, 80], "bind": [0], "udp": true, "unix": true },
              "limits": { "cpu": "10s", "processes": 4 }, "env": { "TMPDIR": "/tmp" }, "onUnsupported": "warn" }
            """
        let (configuration, report) = load(
            """
            { "sandboxes": { "ro": \(text), "none": {} }, "sandbox": "ro",
              "tools": { "a": { "exec": ["true"], "env": { "TMPDIR": "/x" }, "limits": { "cpu": "20s", "openFiles": 9 } },
                         "b": { "exec": ["true"], "sandbox": "none" },
                         "c": { "exec": ["true"], "sandbox": { "net": "any", "onUnsupported": "warn" } } },
              "mcpServers": { "d": { "command": "cat" }, "e": { "command": "cat", "sandbox": "none" },
                              "f": { "url": "https://x.example/" } } }
            """)
        #expect(!report.contains { $0.contains("error") }, "\(report)")
        let a = try #require(configuration.tools.first)
        var network = Sandbox.Network()
        (network.connect, network.bind) = ([443, 80], [0])
        (network.isUDPAllowed, network.isUnixAllowed) = (true, true)
        #expect(a.sandbox?.sandbox.files == .init(read: ["/usr"], write: ["/tmp"], exec: ["/usr/bin"]))
        #expect(a.sandbox?.sandbox.network == network && a.sandbox?.sandbox.isBestEffort == true)
        #expect(a.environment["TMPDIR"] == "/x")
        // Of two limits, the lower one holds.
        #expect(a.restriction.limits.cpu == 10 && a.restriction.limits.openFiles == 9)
        #expect(a.restriction.limits.processes == 4)
        #expect(configuration.tools[1].sandbox == nil && configuration.tools[1].restriction.isEmpty)
        #expect(configuration.tools[2].sandbox?.sandbox.network == nil)
        #expect(configuration.upstreams[0].sandbox?.name == "ro")
        guard case .program(_, _, let environment, _) = configuration.upstreams[0].place else {
            Issue.record("\(configuration.upstreams)")
            return
        }
        #expect(environment["TMPDIR"] == "/tmp")
        #expect(configuration.upstreams[1].sandbox == nil && configuration.upstreams[2].sandbox == nil)
        #expect(configuration.sandboxedCount == 3)
        let schema = try CompiledSchema(try JSONValue(parsing: ConfigurationSchema.text))
        let whole = "{ \"sandboxes\": { \"ro\": \(text) }, \"sandbox\": \"ro\" }"
        #expect(schema.validate(try JSONValue(parsing: whole)).isEmpty)
        #expect(!schema.validate(try JSONValue(parsing: #"{"sandbox": {"fs": {"read": ["x"]}}}"#)).isEmpty)
    }

    @Test(arguments: [
        (#"{"fs":["/usr"]}"#, "m:1:7: error: s.fs must be an object, not an array"),
        (#"{"fs":{"read":"/usr"}}"#, "m:1:15: error: s.fs.read must be an array of paths, not a string"),
        (#"{"fs":{"read":[1]}}"#, "m:1:16: error: s.fs.read must be an array of paths, not a number"),
        (
            #"{"fs":{"read":["usr"]}}"#,
            #"m:1:16: error: s.fs.read: "usr" is not an absolute path; ${configDir} and ${userHome} stand for "#
                + "directories"
        ),
        (#"{"fs":{"write":["/no/such/file"]}}"#, "m:1:17: error: s.fs.write: /no/such/file does not exist"),
        (#"{"fs":{"reed":[]}}"#, #"m:1:8: error: unknown key "reed" in s.fs (did you mean read?)"#),
        (
            #"{"fs":{"write":["/"]}}"#,
            "m:1:17: warning: s.fs.write: programs that may change / may change this configuration"
        ),
        (
            #"{"net":"off"}"#, #"m:1:8: error: s.net must be one of "none", "unix", "any""#
        ),
        (
            #"{"net":true}"#,
            #"m:1:8: error: s.net must be "none", "unix", "any" or {"connect": [443], "udp": true}, not a boolean"#
        ),
        (#"{"net":{"connect":443}}"#, "m:1:19: error: s.net.connect must be an array of ports, not a number"),
        (#"{"net":{"connect":[0]}}"#, "m:1:20: error: s.net.connect must contain ports from 1 to 65535"),
        (#"{"net":{"bind":[65536]}}"#, "m:1:17: error: s.net.bind must contain ports from 0 to 65535"),
        (#"{"limits":{"cpu":"1ms"}}"#, "m:1:18: error: s.limits.cpu must be at least 1 s"),
        (#"{"user":"no-such-user"}"#, #"m:1:9: error: s.user: no user named "no-such-user""#),
        (
            #"{"user":"root"}"#,
            "m:1:9: error: s.user: root is root; a sandbox needs a user without privileges"
        ),
        (#"{"env":{"A=":"x"}}"#, #"m:1:9: error: s.env: "A=" is not a variable name"#),
        (
            #"{"onUnsupported":"ignore"}"#,
            #"m:1:18: error: s.onUnsupported must be one of "refuse", "warn""#
        ),
    ]) func wrongValues(_ text: String, _ finding: String) throws {
        #expect(try findings(text) == [finding])
    }

    /// The unit makes these when the service starts; what is in them, nobody makes.
    @Test(arguments: [
        ("/run", "RuntimeDirectory"), ("/var/lib", "StateDirectory"), ("/var/log", "LogsDirectory"),
    ]) func directoriesOfAService(root: String, setting: String) throws {
        let path = "\(root)/mcp-server"
        for purpose in [ConfigContext.Purpose.serving, .inspecting, .checking] {
            for (key, name, isMade) in [
                ("write", path, true), ("write", "\(path)/", true), ("read", path, false),
                ("write", "\(path)/no-such-directory", false), ("write", "\(root)/no-such-directory", false),
            ] where !Paths.exists(name) {
                let found = try findings("{\"fs\":{\"\(key)\":[\"\(name)\"]}}", for: purpose)
                let level = isMade && purpose != .serving ? "warning" : "error"
                let hint =
                    level == "error"
                    ? ""
                    : ", and the server does not start without it; \(setting)=mcp-server in the unit of systemd "
                        + "makes it (mcp-server init)"
                #expect(
                    found.map { $0.drop { $0 != " " } }
                        == [" \(level): s.fs.\(key): \(name) does not exist\(hint)"], "\(purpose)")
            }
        }
    }

    @Test func namesOfSandboxes() {
        #expect(
            errors(#"{"tools":{"t":{"exec":["true"],"sandbox":"rw"}},"sandboxes":{"ro":{}}}"#)
                == [
                    #"m:1:42: error: tools.t.sandbox: no sandbox named "rw" in sandboxes (did you mean ro?)"#
                ])
        #expect(
            errors(#"{"sandbox":1}"#)
                == [
                    #"m:1:12: error: sandbox must be the name of a sandbox, "none" or an object, not a number"#
                ])
        #expect(
            errors(#"{"sandboxes":{"none":{"net":"none"}}}"#)
                == [#"m:1:15: error: sandboxes.none: "none" means no sandbox; give this one another name"#])
        #expect(
            errors(#"{"sandboxes":{"a b":{}}}"#).contains(
                #"m:1:15: error: "a b" is not the name of a sandbox: 1 to 64 letters, digits, _, - and ."#))
        #expect(
            errors(#"{"sandboxes":{"s":{}},"mcpServers":{"x":{"url":"https://x.example/","sandbox":"s"}}}"#)
                .contains {
                    $0.hasSuffix(
                        #"error: mcpServers.x.sandbox has no effect: it is for servers with a "command""#)
                })
    }

    /// A tool that says nothing is mentioned where others have a sandbox, one that says "none" is not.
    @Test func toolsWithoutASandbox() {
        let text = #"{"tools":{"a":{"exec":["true"]},"b":{"exec":["true"],"sandbox":"none"}}SANDBOXES}"#
        #expect(load(text.replacing("SANDBOXES", with: "")).1 == [])
        #expect(
            load(text.replacing("SANDBOXES", with: #","sandboxes":{"s":{"onUnsupported":"warn"}}"#)).1
                .filter { $0.contains("without") } == [
                    #"m:1:11: warning: tool a runs without a sandbox; "sandbox": "none" says that it should"#
                ])
        #expect(
            load(text.replacing("SANDBOXES", with: #","sandbox":{"onUnsupported":"warn"}"#)).1
                .filter { $0.contains("without") } == [])
        #expect(
            load(
                #"{"mcpServers":{"m":{"command":"cat"},"u":{"url":"https://x.example/"}},"sandboxes":{"s":{}}}"#
            ).1
                .filter { $0.contains("without") }.count == 1)
    }

    @Test func rootsThatCannotBeRead() {
        let tool =
            #""t":{"input":{"p":{"type":"string","format":"path","x-root":"ROOT"}},"exec":["cat","{p}"]}"#
        func warnings(_ root: String) -> [String] {
            let text = #"{"sandbox":{"fs":{"read":["/tmp"]},"onUnsupported":"warn"},"tools":{\#(tool)}}"#
            return load(text.replacing("ROOT", with: root)).1.filter { $0.contains("x-root") }
        }
        #expect(warnings("/tmp").isEmpty && warnings("/usr/share").isEmpty)
        #expect(
            warnings("/var").map { $0.drop { $0 != " " } } == [
                " warning: tools.t: its sandbox does not let the command read /var, the x-root of p"
            ])
    }

    @Test func systemsThatCannotEnforceIt() throws {
        func support(_ version: Int) -> SandboxSupport {
            SandboxSupport(landlock: version, hasSyscallFilter: version > 0)
        }
        let fs = #"{"fs":{}}"#
        #expect(
            try findings(fs, support(0)) == [
                "m:1:1: error: s cannot be enforced here: fs needs Landlock 3 (Linux 6.2), and this system has none"
                    + #"; "onUnsupported": "warn" would run its programs without that"#
            ])
        #expect(try findings(fs, support(2))[0].contains("and this system has 2"))
        #expect(try findings(fs, support(3))[0].contains("warning: s is enforced only in part here: signals"))
        #expect(try findings(fs, support(5)).count == 1)
        // Without any rule, a process is not separated from others.
        for (text, version) in [
            ("{}", 5), (#"{"net":"none"}"#, 3), (#"{"fs":{},"onUnsupported":"warn"}"#, 0),
        ] {
            #expect(
                try findings(text, support(version))[0].contains("/proc shows the environment"), "\(text)")
        }
        #expect(try findings(#"{"net":"none"}"#, support(4))[0].contains("/proc") == false)
        #expect(try findings(fs, support(6)) == [])
        let ports = #"{"net":{"connect":[1]}}"#
        #expect(try findings(ports, support(3))[0].contains("TCP ports need Landlock 4 (Linux 6.7)"))
        #expect(try findings(#"{"net":"none"}"#, support(1))[0].contains("in part"))
        #expect(try findings(#"{"net":"none"}"#, support(0))[0].contains("net needs seccomp"))
        #expect(try findings(#"{"net":"unix"}"#, support(5))[0].contains("abstract unix sockets"))
        let warned = try findings(#"{"fs":{},"onUnsupported":"warn"}"#, support(0))
        #expect(warned.count == 1 && warned[0].contains("warning: s is enforced only in part here: fs needs"))
        #expect(support(0).description == "none" && Self.full.description == "landlock v7, seccomp")
    }

    /// A link stands for what it leads to when the configuration is read.
    @Test func linksAreFollowedOnce() throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("a")
        try directory.link("l", to: "a")
        let real = try #require(Paths.resolved(directory.path))
        let (configuration, _) = load(
            #"{"sandbox":{"fs":{"read":["\#(directory.path)/l"]},"onUnsupported":"warn"},"#
                + #""tools":{"t":{"exec":["true"]}}}"#)
        #expect(configuration.tools.first?.sandbox?.sandbox.files?.read == ["\(real)/a"])
    }

    @Test func programsThatCanBeReplaced() throws {
        let directory = try TemporaryDirectory()
        try directory.write("tool", Array("#!/bin/sh\n".utf8), mode: 0o700)
        let real = try #require(Paths.resolved(directory.path))
        let text =
            #"{"tools":{"w":{"exec":["true"],"sandbox":{"fs":{"write":["\#(real)"]},"onUnsupported":"warn"}},"#
            + #""t":{"exec":["\#(real)/tool"],"sandbox":"none"}}}"#
        #expect(
            load(text).1.filter { $0.contains("may change") } == [
                "m:1:10: warning: tool t: tool w may change its program \(real)/tool"
            ])
    }

    /// The page shows the example that its consoles use, and names every file of the system.
    @Test func thePageSaysWhatIsAllowed() throws {
        let page = try RepositoryFile.text("docs/sandbox.md")
        #expect(page.contains("```jsonc\n\(try RepositoryFile.text("Examples/sandbox.jsonc"))```"))
        for path in SystemFiles.read + SystemFiles.network + SystemFiles.devices {
            let shown = path.hasPrefix("/etc/ld-musl") ? "ld-musl-*.path" : path.replacing("/etc/", with: "")
            #expect(page.contains("`\(shown)`"), "\(path)")
        }
        for prefix in SystemFiles.languages { #expect(page.contains("`\(prefix)`"), "\(prefix)") }
        for key in ["fs.read", "fs.write", "fs.exec", "net", "limits", "env", "user", "onUnsupported"] {
            #expect(page.contains("| `\(key)` |"), "\(key)")
        }
    }

    @Test func whatExplainSays() {
        var definition = SandboxDefinition(name: "ro")
        definition.sandbox.files = Sandbox.Files(read: ["/srv/a b", "/etc"])
        definition.sandbox.network = Sandbox.Network()
        definition.limits.cpu = 10
        #expect(
            definition.described(Self.full, program: ["/bin/git"])
                == #"ro, landlock v7, seccomp: read '/srv/a b' /etc · no write · exec /bin/git · no network · cpu 10 s"#
        )
        definition.name = nil
        definition.sandbox.files = nil
        definition.sandbox.network?.connect = [443]
        definition.sandbox.network?.isUDPAllowed = true
        #expect(
            definition.described(SandboxSupport(landlock: 3, hasSyscallFilter: true))
                == "landlock v3, seccomp: NOT ENFORCED: TCP ports need Landlock 4 (Linux 6.7), and this system has 3 · "
                + "all files of its user · connect to TCP 443, UDP · cpu 10 s")
    }
}
