import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

@Suite struct CommandLineTests {
    private func parse(_ line: String) throws -> Command {
        try CommandLineParser.parse(line.split(separator: " ").map(String.init))
    }

    @Test func readsTheOptionsOfRun() throws {
        var expected = RunOptions()
        #expect(try parse("") == .run(expected))
        #expect(try parse("run") == .run(expected))
        expected.file = "m.jsonc"
        expected.listen = [
            .tcp(host: "127.0.0.1", port: 1), .unix(path: "/s", mode: 0o660, group: nil),
        ]
        expected.overrides = [Override("limits.body=1MiB"), Override("server.name=a=b")].compactMap { $0 }
        expected.logLevel = .debug
        let line =
            "-c m.jsonc --listen 127.0.0.1:1 --listen=unix:///s?mode=0660 --set limits.body=1MiB "
            + "--set=server.name=a=b --log-level debug"
        #expect(try parse(line) == .run(expected))
        #expect(try parse("run " + line) == .run(expected))
        #expect(try parse(line + " run") == .run(expected))
    }

    @Test(arguments: ["-V", "--version", "version"]) func asksForTheVersion(line: String) throws {
        #expect(try parse(line) == .version)
    }

    @Test func readsTheOptionsOfClientTools() throws {
        var expected = RunOptions()
        expected.clientTools = ClientToolFlags(
            isOn: true, auth: ClientToolSettings.Auth.none, channel: "general", providersSocket: "/run/p.sock"
        )
        let line =
            "--client-tools --client-tools-auth none --channel=general --providers-socket /run/p.sock"
        #expect(try parse(line) == .run(expected))
    }

    @Test func clientToolsAreOffUnlessAskedFor() throws {
        var flags = ClientToolFlags()
        #expect(try flags.applied(to: nil, isStdio: false) == nil)
        #expect(try flags.applied(to: ClientToolSettings(), isStdio: false) == ClientToolSettings())
        flags.providersSocket = "p.sock"
        #expect(
            throws: CommandLineError(
                "--providers-socket has no effect without --client-tools",
                hint: "add --client-tools, or clientTools to the configuration")
        ) { try flags.applied(to: nil, isStdio: true) }
        flags.isOn = true
        // Relative to where the program was started.
        let here = Paths.currentDirectory
        #expect(try flags.applied(to: nil, isStdio: true)?.providersSocket == "\(here)/p.sock")
        // The command line wins.
        flags.auth = ClientToolSettings.Auth.none
        let settings = try flags.applied(to: ClientToolSettings(providersSocket: "/x"), isStdio: true)
        #expect(settings?.auth == ClientToolSettings.Auth.none)
        #expect(settings?.providersSocket == "\(here)/p.sock")
        flags.channel = "c"
        #expect(try flags.applied(to: nil, isStdio: true)?.channel == "c")
        #expect(throws: CommandLineError.self) { try flags.applied(to: nil, isStdio: false) }
    }

    @Test func readsTheOtherCommands() throws {
        #expect(try parse("check") == .check(file: nil, [], isOnline: false))
        #expect(try parse("check m.jsonc") == .check(file: "m.jsonc", [], isOnline: false))
        #expect(try parse("check -c m.jsonc") == .check(file: "m.jsonc", [], isOnline: false))
        #expect(try parse("schema") == .schema)
        #expect(try parse("version") == .version)
        #expect(try parse("--version") == .version)
        #expect(try parse("-h") == .help)
        #expect(try parse("check --help") == .help)
        for command in ["init", "check", "help"] { #expect(try parse("help \(command)") == .help) }
        #expect(throws: CommandLineError.self) { try parse("help nothing") }
        #expect(throws: CommandLineError.self) { try parse("help init check") }
    }

    // Two lines each: what is wrong, and what to do.
    @Test(arguments: [
        ("--lsten 127.0.0.1:1", "unknown option --lsten", "did you mean --listen?"),
        ("init --systmd", "unknown option --systmd", "did you mean --systemd?"),
        (
            "explain tool a=1 -c /etc/x b=2", "-c must come before the tool",
            "mcp-server explain -c /etc/x tool a=1 b=2"
        ),
        ("--frobnicate", "unknown option --frobnicate", "mcp-server --help shows the commands and options"),
        ("chekc", "unknown command \"chekc\"", "did you mean mcp-server check?"),
        ("chekc -c f", "unknown command \"chekc\"", "did you mean mcp-server check?"),
        ("--online stauts", "unknown command \"stauts\"", "did you mean mcp-server status?"),
        ("-c", "-c needs a value", "for example -c FILE"),
        ("-c a -c b", "-c is given twice", "give one file"),
        ("--set limits", "--set expects path=value, not \"limits\"", "for example --set limits.body=64MiB"),
        ("--listen --stdio", "--listen needs a value", "for example --listen 127.0.0.1:8808"),
        (
            "--listen 127.0.0.1:1 --listen localhost:1", "--listen localhost:1 is given twice",
            "give each address once"
        ),
        ("--log-level inof", "--log-level inof is not known", "did you mean info?"),
        ("--demo=yes", "--demo takes no value", "write just --demo"),
        ("--demo -c f", "--demo and a configuration file cannot be combined", "give one of them"),
        ("run m.jsonc", "unexpected argument \"m.jsonc\"", "write -c m.jsonc"),
        (
            "run --listen 127.0.0.1:1 127.0.0.1:2", "unexpected argument \"127.0.0.1:2\"",
            "write --listen before each address"
        ),
        ("check --demo", "--demo has no effect with check", "leave it out"),
        ("--client-tool", "unknown option --client-tool", "did you mean --client-tools?"),
        ("--client-tools=yes", "--client-tools takes no value", "write just --client-tools"),
        (
            "--client-tools-auth maybe", "--client-tools-auth accepts token or none, not \"maybe\"",
            "for example --client-tools-auth none"
        ),
        ("check --channel c", "--channel has no effect with check", "leave it out"),
        ("check a b", "unexpected argument \"b\"", "mcp-server --help shows the commands and options"),
    ])
    func explainsMistakes(line: String, text: String, hint: String) {
        #expect(throws: CommandLineError(text, hint: hint)) { try parse(line) }
    }

    @Test(arguments: ["127.0.0.1:99999", "0.0.0.0", "nonsense"])
    func refusesAddresses(text: String) {
        #expect(throws: CommandLineError.self) { try parse("--listen \(text)") }
    }

    @Test func readsTokenCommands() throws {
        var flags = TokenFlags(allow: ["git_*", "docs:*"], scopes: ["s"])
        flags.lifetime = .seconds(90 * 86_400)
        flags.rate = RateLimit("60/min")
        let new = TokenRequest.new(name: "ci", flags)
        let line =
            "token new ci --allow git_* --allow=docs:* --scope s --expires 90d --rate 60/min -c m.jsonc"
        #expect(try parse(line) == .token(new, file: "m.jsonc", []))
        #expect(try parse("token list") == .token(.list, file: nil, []))
        #expect(try parse("token revoke ci") == .token(.revoke(name: "ci"), file: nil, []))
        #expect(try parse("check --online") == .check(file: nil, [], isOnline: true))
    }

    @Test(arguments: [
        ("token", "token needs a command"), ("token nwe", "unknown command \"token nwe\""),
        ("token new", "token new needs a name"), ("token new ci", "the token ci could do nothing"),
        (
            "token new ci --allow * --expires soon",
            "--expires needs a time of at least 1s, with its unit, not \"soon\""
        ),
        (
            "token new ci --allow * --expires 0d",
            "--expires needs a time of at least 1s, with its unit, not \"0d\""
        ),
        ("token new ci --allow * --rate 3", "--rate needs a number of requests per s, min or h, not \"3\""),
        ("token revoke", "token revoke needs a name"), ("token list a", "unexpected argument \"a\""),
        ("token list --allow a", "--allow has no effect with token list"),
        ("token revoke a --expires 1d", "--expires has no effect with token revoke"),
        ("run --allow a", "--allow has no effect with run"), ("--online", "--online has no effect with run"),
    ])
    func explainsMistakesAboutTokens(line: String, text: String) {
        let error = #expect(throws: CommandLineError.self) { try parse(line) }
        #expect(error?.text == text)
    }

    @Test(arguments: [
        ("reload --timeout 5", "--timeout needs a time with its unit, not \"5\""),
        ("drain --timeout 5s", "--timeout has no effect with drain"),
        ("run --timeout 5s", "--timeout has no effect with run"),
    ])
    func explainsMistakesAboutReloads(line: String, text: String) {
        let error = #expect(throws: CommandLineError.self) { try parse(line) }
        #expect(error?.text == text)
    }

    /// Each option of the manual has one entry and whole sentences, and so has each exit status.
    @Test func theManual() {
        let lines = ServerManual.text.split(separator: "\n").map(String.init)
        let names = lines.filter { $0.hasPrefix(".B ") }
        #expect(Set(names).count == names.count, "\(names)")
        for name in [
            ".B \\-\\-listen ADDR", ".B \\-\\-listen ADDR (with \\-\\-client\\-tools)", ".B 8",
            ".B 129, 130, 143",
        ] { #expect(names.contains(name), "\(name)") }
        #expect(!lines.contains { $0.hasSuffix("with") || $0.hasSuffix(";") || $0.contains("docs/") })
        for line in HelpText.text.split(separator: "\n") where line.contains("mcp-server ") {
            let words = line.split { " |[]".contains($0) }.filter { $0.hasPrefix("-") && $0 != "--" }
            for word in words {
                let option = word.replacing("-", with: "\\-")
                #expect(names.contains { $0.contains(option) }, "\(word)")
            }
        }
        // A title begins a paragraph.
        for (line, next) in zip(lines, lines.dropFirst()) where line.hasPrefix(".SH") {
            #expect(next != ".PP")
        }
        #expect(WallTime.sourceDate { $0 == "SOURCE_DATE_EPOCH" ? "1785230400" : nil } == "2026-07-28")
        #expect(WallTime.sourceDate { _ in "" } == nil)
    }

    /// Set for commands, and not read.
    private static let given: Set<String> = ["MCP_CALLER", "MCP_TOOL", "TRACEPARENT"]

    /// Each variable that the daemon looks up by its name is in the page.
    @Test func theManualNamesEveryVariable() throws {
        var names: Set<String> = ["RUNTIME_DIRECTORY", "XDG_STATE_HOME", ProvidersSocket.variable]
        for file in try RepositoryFile.swiftFiles(below: "Sources/MCPServerDaemon") {
            var rest = try RepositoryFile.text("Sources/MCPServerDaemon/\(file)")[...]
            while let start = rest.firstRange(of: "environment[\"") {
                rest = rest[start.upperBound...]
                names.insert(String(rest.prefix { $0 != "\"" }))
            }
        }
        #expect(names.isSuperset(of: ["XDG_RUNTIME_DIR", "LISTEN_FDS", "MCP_AUTH_ALLOW"]))
        let lines = ServerManual.text.split(separator: "\n")
        let start = try #require(lines.firstIndex(of: ".SH \"ENVIRONMENT\""))
        let end = try #require(lines[(start + 1)...].firstIndex { $0.hasPrefix(".SH") })
        let section = lines[start ..< end].joined(separator: "\n")
        for name in names.subtracting(Self.given) { #expect(section.contains(name), "\(name)") }
    }

    @Test func helpFitsOneScreen() {
        let lines = HelpText.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 40)
        #expect(lines.allSatisfy { $0.count <= 100 })
    }
}
