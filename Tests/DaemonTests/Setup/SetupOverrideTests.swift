import MCPCore
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// `--set` of `init`: what a file is made for is what it starts.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SetupOverrideTests {
    private let subject = SetupFile.Subject(
        program: "/usr/bin/mcp-server", configuration: "/etc/c.jsonc",
        overrides: ["limits.drain=99s", #"server.name=a $b "100%""#], upstream: "127.0.0.1:8808",
        host: "mcp.example.com", bodyBytes: 1, stopSeconds: 35)

    /// Each file has its own way to write a word.
    @Test func theCommandHasThem() {
        for (file, lines) in [
            (
                SetupFile.systemd,
                #"""
                ExecStart=/usr/bin/mcp-server -c /etc/c.jsonc --set limits.drain=99s --set "server.name=a $$b \"100%%\""

                """#
            ),
            (
                .launchd,
                """
                        <string>/usr/bin/mcp-server</string>
                        <string>-c</string>
                        <string>/etc/c.jsonc</string>
                        <string>--set</string>
                        <string>limits.drain=99s</string>
                        <string>--set</string>
                        <string>server.name=a $b &quot;100%&quot;</string>
                    </array>

                """
            ),
            (
                .docker,
                #"""
                ENTRYPOINT ["/usr/local/bin/mcp-server", "-c", "/etc/mcp-server/mcp.jsonc", "--set", "limits.drain=99s", \#
                "--set", "server.name=a $b \"100%\""]

                """#
            ),
        ] { #expect(file.text(subject).contains(lines), "\(lines)\n\(file.text(subject))") }
    }

    /// Times and variables of the file are those of the configuration with the changes.
    @Test func theFileIsMadeForThem() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "mcp.jsonc", #"{ "limits": { "drain": "5s" }, "server": { "name": "${OLD}" } }"#)
        let outcome = try await SetupProgram.run(
            [
                "init", "--systemd", "-c", "\(directory.path)/mcp.jsonc", "--set", "limits.drain=99s",
                "--set",
                "server.name=${NEW}",
            ], ["NEW": "new"])
        #expect(outcome.status == .exited(0), "\(outcome)")
        let drain = Int((Duration.seconds(99) + CommandTool.grace).components.seconds) + 8
        for line in [
            "ExecStart=\(Paths.resolved(try WatchedProgram.path()) ?? "") -c \(directory.path)/mcp.jsonc "
                + "--set limits.drain=99s --set server.name=$${NEW}",
            "TimeoutStopSec=\(drain)",
            "# NAME=VALUE on each line, for NEW: a file of root, mode 600.",
        ] { #expect(outcome.output.contains("\n\(line)\n"), "\(line)\n\(outcome.output)") }
    }

    /// Without a configuration there is nothing to change.
    @Test func thereMustBeAConfiguration() async throws {
        if Paths.exists("/etc/mcp-server/mcp.jsonc") {
            print("/etc/mcp-server/mcp.jsonc exists: init --set without a configuration was not tried")
            return
        }
        let directory = try TemporaryDirectory()
        let outcome = try await SetupProgram.run(
            ["init", "--nginx", "--set", "limits.drain=99s"],
            ["HOME": directory.path, "XDG_CONFIG_HOME": directory.path])
        #expect(outcome.status == .exited(2) && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.errors.hasPrefix("mcp-server: --set changes a configuration, and there is none"))
    }
}
