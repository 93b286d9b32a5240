import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The files that `init` prints.
@Suite struct SetupFileTests {
    private let subject = SetupFile.Subject(
        program: "/usr/local/bin/mcp-server", configuration: "/etc/a&b.jsonc", upstream: "unix:/run/mcp.sock",
        host: "mcp.example.com", bodyBytes: 4_194_304, stopSeconds: 35,
        sockets: ["/run/mcp.sock"], mode: 0o660, group: "www-data")

    @Test(arguments: SetupFile.allCases) func namesItsSubject(_ file: SetupFile) {
        let text = file.text(subject)
        #expect(text.hasSuffix("\n") && !text.contains("Optional("))
        switch file {
        case .systemd:
            #expect(text.contains("\nExecStart=/usr/local/bin/mcp-server -c /etc/a&b.jsonc\n"))
            #expect(text.contains("\nTimeoutStopSec=35\n"))
        case .systemdSocket:
            #expect(
                text.contains(
                    "[Socket]\nListenStream=/run/mcp.sock\nSocketMode=0660\nSocketUser=mcp-server\nSocketGroup=www-data\n\n["
                ))
        case .launchd: #expect(text.contains("<string>/etc/a&amp;b.jsonc</string>"))
        case .nginx: #expect(text.contains("server unix:/run/mcp.sock;") && text.contains("4194304;"))
        case .caddy: #expect(text.contains("reverse_proxy unix//run/mcp.sock {"))
        case .docker: #expect(text.contains("ENTRYPOINT"))
        }
    }

    /// Nobody else can make or replace the file of the log.
    @Test func theLogOfLaunchd() {
        let daemon = SetupFile.launchd.text(subject)
        #expect(daemon.contains("<string>/Library/Logs/mcp-server.log</string>"))
        #expect(daemon.contains("<!-- /Library/LaunchDaemons/"))
        var own = subject
        own.home = "/Users/a&b"
        let agent = SetupFile.launchd.text(own)
        #expect(agent.contains("<string>/Users/a&amp;b/Library/Logs/mcp-server.log</string>"))
        #expect(agent.contains("<!-- ~/Library/LaunchAgents/"))
        for text in [daemon, agent] { #expect(!text.contains("/tmp/")) }
    }

    /// A path that the hardened service cannot see is named, whatever it is for.
    @Test(arguments: [[], ["/srv/docs"], ["/srv/docs", "/tmp/mcp.sock"]]) func hiddenPaths(_ paths: [String])
    {
        var own = subject
        own.paths = paths
        #expect(own.hiddenPaths == (paths.count == 2 ? ["/tmp/mcp.sock"] : []))
        own.paths = ["/home", "/homes/x", "/home", "/srv"]
        #expect(own.hiddenPaths == ["/home"])
    }

    private func unit(_ needs: ServiceNeeds) -> String {
        var own = subject
        own.needs = needs
        return SetupFile.systemd.text(own)
    }

    /// What the configuration writes to, and the groups of its sockets, are in the unit.
    @Test func whatTheServiceMayDo() throws {
        let name = "mcp-\(UInt64.random(in: .min ... .max))"
        let group = Accounts.groupName(1)
        let tool = #""tools": { "t": { "exec": ["true"] } }"#
        let text = #"""
            { "listen": ["unix:///run/\#(name)/ops.sock?mode=0660&group=1", "127.0.0.1:8808"],
              "observe": { "audit": { "file": "/var/log/\#(name)/audit.jsonl" },
                           "log": { "file": "/srv/logs 1/log" },
                           "recorder": { "dir": "/var/lib/\#(name)/flight" } },
              "tools": { "t": { "exec": ["true"],
                                "sandbox": { "fs": { "write": ["/srv", "/tmp"] }, "onUnsupported": "warn" } } } }
            """#
        let unit = unit(try ServiceNeeds.of(text))
        for line in [
            "SupplementaryGroups=\(group)", "RuntimeDirectory=mcp-server \(name)",
            "StateDirectory=mcp-server \(name)/flight", "LogsDirectory=mcp-server \(name)",
            #"ReadWritePaths="-/srv/logs 1" -/srv"#, "Type=notify", "ExecReload=/bin/kill -HUP $MAINPID",
        ] {
            #expect(unit.contains("\n\(line)\n"), "\(line)\n\(unit)")
        }
        let plain = self.unit(ServiceNeeds())
        #expect(!plain.contains("\nReadWritePaths=") && !plain.contains("SupplementaryGroups="))
        #expect(!plain.contains("notify-reload") && plain.contains("\nRuntimeDirectory=mcp-server\n"))
        // What the unit makes is not named twice, and need not be there yet.
        let own = try ServiceNeeds.of(
            #"{ "sandbox": { "fs": { "write": ["/var/lib/mcp-server"] }, "onUnsupported": "warn" }, \#(tool) }"#
        )
        #expect(own.writable.isEmpty && own.names("StateDirectory") == "mcp-server")
        // A directory that others use would become the service's own.
        let shared = try ServiceNeeds.of(#"{ "observe": { "log": { "file": "/var/lib/dpkg/log" } } }"#)
        if (try? Files.names(in: "/var/lib/dpkg").names.isEmpty) == false {
            #expect(shared.writable == ["/var/lib/dpkg"] && shared.names("StateDirectory") == "mcp-server")
        }
    }

    /// Programs that make machine code at run time would end at once.
    @Test func whatMakesMachineCode() throws {
        func line(_ text: String) throws -> Substring? {
            unit(try ServiceNeeds.of(text)).split(separator: "\n").first {
                $0.hasPrefix("MemoryDenyWriteExecute=")
            }
        }
        #expect(try line("{}") == "MemoryDenyWriteExecute=yes")
        #expect(try line(#"{"tools":{"t":{"exec":["git"]}}}"#) == "MemoryDenyWriteExecute=yes")
        #expect(
            try line(#"{"mcpServers":{"far":{"url":"http://127.0.0.1:9/mcp"}}}"#)
                == "MemoryDenyWriteExecute=yes")
        for text in [
            #"{"tools":{"t":{"exec":["/usr/bin/node","x.js"]}}}"#,
            #"{"mcpServers":{"near":{"command":"sh"}}}"#,
        ] { #expect(try line(text) == "MemoryDenyWriteExecute=no", "\(text)") }
    }

    /// The variables that the configuration uses come from a file, and that of the instance from systemd.
    @Test func instancesAndVariables() throws {
        let text = #"""
            { "listen": ["unix:///run/mcp-x/${env:INSTANCE}.sock"], "admin": {},
              "observe": { "audit": { "file": "/var/log/mcp-x/audit.jsonl" } },
              "tools": { "t": { "exec": ["true"], "env": { "A": "${KEY}", "B": "${HOME}", "C": "${MORE:-}" } } } }
            """#
        let needs = try ServiceNeeds.of(
            text, ["INSTANCE": ServiceNeeds.instanceValue, "KEY": "k", "HOME": "/"])
        #expect(needs.isTemplate)
        #expect(needs.shared == ["/var/log/mcp-x/audit.jsonl", "the default address of admin"])
        let unit = unit(needs)
        #expect(unit.hasPrefix("# /etc/systemd/system/mcp-server@.service\n"))
        #expect(unit.contains("\nEnvironment=INSTANCE=%i\n"))
        #expect(unit.contains(" for KEY, MORE: a file of root"))
        #expect(unit.contains("\nEnvironmentFile=/etc/mcp-server/environment\n"))
        let optional = try ServiceNeeds.of(#"{ "server": { "name": "${NAME:-x}" } }"#)
        #expect(self.unit(optional).contains("\nEnvironmentFile=-/etc/mcp-server/environment\n"))
        #expect(ServiceNeeds.word("/a%b/%i.sock") == "/a%%b/%i.sock")
        #expect(ServiceNeeds.word(#"/a "b""#) == #""/a \"b\"""#)
        #expect(ServiceNeeds.word("/a\nUser=root") == #""/a\nUser=root""#)
    }

    /// Each file has its own way to write a path that has a space in it.
    @Test func pathsWithSpaces() throws {
        var own = subject
        own.configuration = "/srv/my conf/a b.jsonc"
        own.upstream = "unix:/run/my sock/x$1.sock"
        own.sockets = ["/run/my sock/100%.sock"]
        own.parts = ["/srv/my conf/my docs", "/srv/my conf/p$x"]
        own.paths = own.parts
        own.needs = try ServiceNeeds.of(
            #"{ "listen": ["unix:///run/my sock/x.sock"] }"#, directory: "/srv/my conf")
        for (file, line) in [
            (SetupFile.systemdSocket, "ListenStream=/run/my sock/100%%.sock"),
            (.systemd, #"ExecStart=/usr/local/bin/mcp-server -c "/srv/my conf/a b.jsonc""#),
            (.nginx, #"    server "unix:/run/my sock/x$1.sock";"#),
            (.caddy, #"\#t\#treverse_proxy "unix//run/my sock/x$1.sock" {"#),
            (.docker, #"COPY ["a b.jsonc","/etc/mcp-server/mcp.jsonc"]"#),
            (.docker, #"COPY ["my docs","/etc/mcp-server/my docs"]"#),
            (.docker, ##"COPY ["p\\$x","/etc/mcp-server/p\\$x"]"##),
            (
                .docker,
                #"VOLUME ["/run/mcp","/run/mcp-server","/var/lib/mcp-server","/var/log/mcp-server","/run/my sock"]"#
            ),
        ] { #expect(file.text(own).contains("\(line)\n"), "\(line)\n\(file.text(own))") }
        #expect(SetupFile.docker.text(own).contains(" /var/log/mcp-server '/run/my sock'\n"))
    }

    /// systemd replaces no variables in the first word of a command, and none in the others that has two `$`.
    @Test func dollarsInTheCommand() {
        var own = subject
        own.program = "/opt/a$b 100%/mcp-server"
        own.configuration = "/etc/c$d.jsonc"
        #expect(
            SetupFile.systemd.text(own).contains(
                "\nExecStart=\"/opt/a$b 100%%/mcp-server\" -c /etc/c$$d.jsonc\n"))
    }

    /// A file with a token that the server makes needs its directory, until it is there.
    @Test func tokensOfProviders() throws {
        let directory = try TemporaryDirectory()
        try directory.write("made", String(repeating: "t", count: 32))
        #expect(unsafe chmod("\(directory.path)/made", 0o600) == 0)
        let needs = try ServiceNeeds.of(
            #"""
            { "clientTools": { "tokenFile": "\#(directory.path)/made",
                               "channelTokenFiles": { "a": "/srv/tokens/a", "b": "/var/lib/mcp-x/b" } } }
            """#)
        #expect(needs.writable == ["/srv/tokens"])
        #expect(needs.names("StateDirectory") == "mcp-server mcp-x")
    }

    #if os(Linux)
    /// Every line of the unit is one that systemd knows, where systemd is installed; that of Debian 12 too.
    @Test(arguments: [false, true]) func theUnitIsValid(isTemplate: Bool) async throws {
        let directory = try TemporaryDirectory()
        var own = subject
        if isTemplate {
            own.sockets = ["/run/mcp-x/%i.sock"]
            own.needs = try ServiceNeeds.of(
                #"""
                { "listen": ["unix:///run/mcp-x/${env:INSTANCE}.sock?group=1"], "server": { "name": "${NAME}" },
                  "observe": { "log": { "file": "/srv/a b/%/${INSTANCE}" } } }
                """#, ["INSTANCE": ServiceNeeds.instanceValue, "NAME": "x"])
        }
        own.group = Accounts.groupName(1)
        let name = isTemplate ? "mcp-server@" : "mcp-server"
        own.program = "/bin/true"
        own.configuration = "/etc/mcp.jsonc"
        let text = SetupFile.systemd.text(own)
        #expect(
            text.contains("SystemCallFilter=landlock_create_ruleset landlock_add_rule landlock_restrict_self")
        )
        try directory.write("\(name).service", text)
        try directory.write("\(name).socket", SetupFile.systemdSocket.text(own))
        let units = ["service", "socket"].map { "\(directory.path)/\(name)\(isTemplate ? "a" : "").\($0)" }
        if isTemplate {
            for kind in ["service", "socket"] {
                try directory.link("mcp-server@a.\(kind)", to: "mcp-server@.\(kind)")
            }
        }
        let launch = ProcessLaunch(
            "systemd-analyze",
            ["verify", "--man=no"] + units,
            environment: WatchedProgram.environment)
        let result: ProcessRunner.Result
        do { result = try await Offload.run { try ProcessRunner.run(launch, input: []) } } catch {
            print("systemd-analyze is not installed: the unit was not verified")
            return
        }
        let errors = String(decoding: result.errors, as: UTF8.self).split(separator: "\n")
            .filter { $0.contains("mcp-server") }
        #expect(errors.isEmpty, "\(errors)")
    }
    #endif
}
