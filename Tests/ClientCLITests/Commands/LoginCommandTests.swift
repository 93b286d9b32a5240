import MCPClientCLI
import MCPCore
import TestSupport
import Testing

/// `login`, `logout`, `auth status` and `auth token` at an authorization server in this process.
@Suite(.timeLimit(.minutes(5))) struct LoginCommandTests {
    private typealias Setting = LoginSetting

    private static let secrets = ["access-", "refresh-", "code-", "secret-"]

    // MARK: login

    @Test func loginKeepsTokensForOtherCommands() async throws {
        var knobs = TestAuthorizationServer.Knobs()
        knobs.challengeScope = "files:read"
        let setting = try Setting(knobs)
        let login = await setting.run("login", setting.server.url)
        #expect(login.code == .ok, "\(login.stderr)")
        #expect(
            setting.plain(login.stdout) == "logged in to ORIGIN · files:read · 59 min, renews itself\n"
                || setting.plain(login.stdout) == "logged in to ORIGIN · files:read · 60 min, renews itself\n"
        )
        let notes = setting.plain(login.stderr).split(separator: "\n")
        #expect(notes.count == 2)
        #expect(notes.first?.hasPrefix("open this page: ORIGIN/authorize?") == true)
        #expect(notes.last?.hasPrefix("waiting on http://127.0.0.1:") == true)

        let token = await setting.run("auth", "token", setting.server.url)
        #expect(token.code == .ok)
        #expect(setting.server.isActive(String(token.stdout.dropLast())))
        for name in setting.files where name.hasSuffix(".json") {
            #expect(try Files.info("\(setting.store)/\(name)").permissions == 0o600)
        }
        await setting.end()
    }

    @Test func loginWithoutABrowserTakesAPastedAddress() async throws {
        var setting = try Setting()
        setting.harness.browser = nil
        setting.harness.typed = ["what now?"]
        let login = await setting.run("login", "--timeout", "5s", "--no-browser", setting.server.url)
        #expect(login.code == .timeout)
        #expect(login.stderr.contains("; or paste the address at which the browser ends:\n"))
        #expect(login.stderr.contains("this is not an address that begins with http://127.0.0.1:"))
        #expect(login.stderr.contains("error: nobody completed the login at "))
        #expect(!login.stderr.contains("registers a new client"))
        await setting.end()
    }

    /// A page that does not know the client leads nowhere; the next login registers another one.
    @Test func aForgottenClientIsRegisteredAgain() async throws {
        var setting = try Setting()
        #expect(await setting.run("login", setting.server.url).code == .ok)
        setting.harness.browser = nil
        let late = await setting.run("login", "--timeout", "5s", "--no-browser", setting.server.url)
        #expect(late.code == .timeout)
        #expect(
            late.stderr.contains(", registered earlier\nhint: if the page showed an error about the client"))
        #expect(late.stderr.contains("log in again: that registers a new client"), "\(late.stderr)")
        setting.harness.browser = { try await LoginSetting.visit($0) }
        #expect(await setting.run("login", setting.server.url).code == .ok)
        #expect(setting.server.requests("/register").count == 2)
        await setting.end()
    }

    /// A client that has no login is served with that of the tap, whose tokens are not recorded.
    @Test func aTapUsesTheLogin() async throws {
        let setting = try Setting()
        #expect(await setting.run("login", setting.server.url).code == .ok)
        let token = String(await setting.run("auth", "token", setting.server.url).stdout.dropLast())
        let script = #"""
            "$0" tap -o "$1/r.jsonl" "$2" >"$1/url" 2>"$1/errors" &
            pid=$!
            until [ -s "$1/url" ] || [ -s "$1/errors" ]; do sleep 0.05; done
            MCP_AUTH_STORE=memory "$0" ping "$(cat "$1/url")"
            kill $pid
            wait $pid
            """#
        let folder = setting.directory.path
        let outcome = try await ProgramRunner.run(
            "/bin/sh", ["-c", script, ProgramRunner.client, folder, setting.server.url],
            environment: ["HOME": folder, "MCP_AUTH_STORE": setting.store])
        // The server is none of MCP, and what it was sent is enough.
        #expect(setting.server.requests("/mcp").last?.authorization == "Bearer \(token)", "\(outcome.stderr)")
        let recorded = try Files.read(folder + "/r.jsonl", maxBytes: 1 << 20)
        #expect(!String(decoding: recorded, as: UTF8.self).contains(token))
        await setting.end()
    }

    @Test func aServerThatRefusesNothingNeedsNoLogin() async throws {
        let server = try OpsServer.make()
        try await server.withPort { port in
            var harness = CommandHarness(server: server)
            harness.variables = ["MCP_AUTH_STORE": "memory"]
            let login = await harness.run("login", "http://127.0.0.1:\(port)/mcp")
            #expect(login.code == .ok)
            #expect(login.stdout == "http://127.0.0.1:\(port)/mcp needs no login\n")
        }
    }

    @Test func loginWithoutInputExitsWith7() async throws {
        let setting = try Setting()
        let login = await setting.run("login", "--no-input", "--json", setting.server.url)
        #expect(login.code == .inputRequired)
        #expect(
            login.stderr.hasPrefix(
                "error: a login needs a person, and --no-input was given; nothing was sent\n{\"error\":"))
        #expect(setting.server.log.isEmpty)
        #expect(setting.files.isEmpty)
        await setting.end()
    }

    @Test func aBusyCallbackPortIsAnErrorBeforeThePageIsShown() async throws {
        let setting = try Setting()
        let other = try RequestRecorder()
        defer { other.stop() }
        let login = await setting.run(
            "login", "--callback-port", "\(other.port)", setting.server.url)
        #expect(login.code == .usage)
        #expect(login.stderr.contains("cannot wait for the browser on port \(other.port)"))
        #expect(login.stderr.contains("choose another one: --callback-port PORT, 0 for any\n"))
        #expect(!login.stderr.contains("open this page"))
        #expect(setting.server.requests("/authorize").isEmpty)
        await setting.end()
    }

    @Test(arguments: [
        ["login", "-H", "Authorization: x", "http://127.0.0.1:1/mcp"],
        ["login", "--bearer-env", "X", "http://127.0.0.1:1/mcp"], ["login", "--", "server"],
        ["login", "unix:///run/x.sock"], ["login", "--client-secret-env", "X", "http://127.0.0.1:1/mcp"],
        ["login", "--client-key", "f", "http://127.0.0.1:1/mcp"],
        ["login", "--auth-grant", "jwt-bearer", "http://127.0.0.1:1/mcp"],
        ["login", "--scope", "a\"b", "http://127.0.0.1:1/mcp"],
        ["login", "--callback-host", "example.com", "http://127.0.0.1:1/mcp"],
        ["logout"], ["logout", "--all", "http://127.0.0.1:1/mcp"], ["logout", "--", "server"],
        ["auth", "token"], ["auth", "show"], ["auth", "status", "unix:///run/x.sock"],
        ["tools", "--callback-port", "1", "http://127.0.0.1:1/mcp"],
    ])
    func whatMeansNothingIsAUsageError(_ words: [String]) async throws {
        var harness = CommandHarness(server: try OpsServer.make())
        harness.variables = ["MCP_AUTH_STORE": "memory", "X": "secret"]
        harness.files = ["f": "no key"]
        let outcome = await harness.run(words)
        #expect(outcome.code == .usage, "\(outcome.stderr)")
        #expect(!outcome.stderr.contains("secret\n"))
    }

    // MARK: Other grants

    @Test func clientCredentialsNeedNoPerson() async throws {
        var knobs = TestAuthorizationServer.Knobs()
        knobs.issuesRefreshTokens = false
        var setting = try Setting(knobs)
        setting.server.addClient("ci", secret: "secret-of-ci")
        setting.harness.browser = nil
        setting.harness.variables["CI_SECRET"] = "secret-of-ci"
        let outcome = await setting.run(
            "auth", "token", "--auth-grant", "client-credentials", "--client-id", "ci",
            "--client-secret-env", "CI_SECRET", setting.server.url)
        #expect(outcome.code == .ok, "\(outcome.stderr)")
        #expect(setting.server.isActive(String(outcome.stdout.dropLast())))
        #expect(setting.server.grants("client_credentials").count == 1)
        await setting.end()
    }

    // MARK: Commands without a login

    @Test func withoutALoginACommandEndsAtOnce() async throws {
        var setting = try Setting()
        setting.harness.connectsToTargets = true
        setting.harness.browser = { _ in Issue.record("a browser was opened") }
        let outcome = await setting.run("--json", "tools", setting.server.url)
        #expect(outcome.code == .authentication)
        let lines = outcome.stderr.split(separator: "\n")
        #expect(lines.last?.hasPrefix(#"{"error":{"kind":"auth_required","code":4,"#) == true)
        #expect(lines.contains("hint: mcp-client login \(setting.server.url)"))
        // A flag behind the tool is an argument of the tool.
        let misplaced = await setting.run("call", setting.server.url, "add", "--bearer-file", "F")
        #expect(
            misplaced.stderr.contains(
                "\n  --bearer-file stands after the tool, where it is an argument of it: put it before"),
            "\(misplaced.stderr)")
        #expect(setting.server.requests("/authorize").isEmpty)
        #expect(setting.server.requests("/register").isEmpty)
        #expect(setting.files.isEmpty)
        await setting.end()
    }

    @Test func flagsWithCredentialsSwitchLoginsOff() async throws {
        var setting = try Setting()
        #expect(await setting.run("login", setting.server.url).code == .ok)
        setting.harness.connectsToTargets = true
        for flags in [["-H", "authorization: Basic eA=="], ["--bearer-env", "OTHER"]] {
            setting.harness.variables["OTHER"] = "other-token"
            setting.server.clearLog()
            let outcome = await setting.harness.run(["tools"] + flags + [setting.server.url])
            #expect(outcome.code == .authentication)
            #expect(setting.server.log.allSatisfy { $0.authorization?.contains("access-") != true })
            #expect(setting.server.paths.allSatisfy { $0 == "/mcp" })
        }
        await setting.end()
    }

    // MARK: auth status, logout

    @Test func statusShowsALoginWithoutItsSecrets() async throws {
        var knobs = TestAuthorizationServer.Knobs()
        knobs.challengeScope = "files:read"
        knobs.lifetime = 19 * 3_600 + 1_800
        let setting = try Setting(knobs)
        let none = await setting.run("auth", "status", setting.server.url)
        #expect(none.code == .authentication)
        #expect(
            setting.plain(none.stderr) == """
                error: no usable login for ORIGIN/mcp
                hint: mcp-client login ORIGIN/mcp

                """)
        let mistake = await setting.run("auth", "stats")
        #expect(mistake.stderr.contains("\n  did you mean auth status?\n"), "\(mistake.stderr)")
        // No login would be used there.
        let plain = await setting.run("auth", "status", "http://mcp.example.com/mcp")
        #expect(
            plain.stderr.contains("\nhint: logins are only for https, and for servers on this machine;"),
            "\(plain.stderr)")
        #expect(await setting.run("auth", "status").stdout == "no logins\n")
        #expect(setting.files.isEmpty)

        #expect(await setting.run("login", setting.server.url).code == .ok)
        let one = await setting.run("auth", "status", setting.server.url)
        let all = await setting.run("auth", "status")
        #expect(one.code == .ok)
        #expect(
            setting.plain(one.stdout) == """
                ORIGIN/mcp
                  authorization server: ORIGIN
                  client: client-1
                  files:read · 19 h, renews itself

                """)
        #expect(all.stdout == one.stdout)
        let json = await setting.run("auth", "status", "--json")
        let login = try JSONValue(parsing: json.stdout).objectValue?["logins"]?.arrayValue?.first?.objectValue
        #expect(login?["server"]?.stringValue == setting.server.url)
        #expect(login?["renewable"]?.boolValue == true)
        for outcome in [one, all, json] {
            for secret in ["access-", "refresh-"] { #expect(!outcome.stdout.contains(secret)) }
        }
        await setting.end()
    }

    @Test func logoutRevokesAndDeletes() async throws {
        let setting = try Setting()
        #expect(await setting.run("login", setting.server.url).code == .ok)
        let token = String(await setting.run("auth", "token", setting.server.url).stdout.dropLast())
        #expect(setting.server.isActive(token))
        let logout = await setting.run("logout", setting.server.url)
        #expect(logout.code == .ok)
        #expect(setting.plain(logout.stdout) == "logged out of ORIGIN/mcp\n")
        let again = await setting.run("logout", setting.server.url)
        #expect(again.code == .ok && setting.plain(again.stdout) == "no login for ORIGIN/mcp\n")
        #expect(!setting.server.isActive(token))
        #expect(setting.server.requests("/revoke").count == 2)
        #expect(await setting.run("auth", "status", setting.server.url).code == .authentication)
        #expect(await setting.run("auth", "token", setting.server.url).code == .authentication)

        // The registration stays until it is forgotten.
        #expect(await setting.run("login", setting.server.url).code == .ok)
        #expect(setting.server.requests("/register").count == 1)
        #expect(await setting.run("logout", "--all", "--forget").code == .ok)
        #expect(await setting.run("logout", "--all").stdout == "no logins\n")
        await setting.end()
    }

    /// Where there was no login, only the registration goes.
    @Test func aRegistrationAloneIsForgotten() async throws {
        let setting = try Setting()
        #expect(await setting.run("login", setting.server.url).code == .ok)
        #expect(await setting.run("logout", setting.server.url).code == .ok)
        let forgotten = await setting.run("logout", "--all", "--forget")
        #expect(setting.plain(forgotten.stdout) == "forgot the registration at ORIGIN/mcp\n")
        #expect(await setting.run("logout", "--all", "--forget").stdout == "no logins\n")
        await setting.end()
    }

    @Test func logoutOfAllFindsLoginsThatNoServerLeadsTo() async throws {
        let setting = try Setting()
        #expect(await setting.run("login", setting.server.url).code == .ok)
        let token = String(await setting.run("auth", "token", setting.server.url).stdout.dropLast())
        // Another client takes the place of the first one.
        setting.server.addClient("own", secret: "")
        #expect(await setting.run("login", "--client-id", "own", setting.server.url).code == .ok)
        #expect(setting.server.isActive(token))
        let logout = await setting.run("logout", "--all", "--forget")
        #expect(logout.code == .ok)
        #expect(setting.plain(logout.stdout) == "logged out of ORIGIN/mcp\nlogged out of ORIGIN/mcp\n")
        #expect(!setting.server.isActive(token))
        #expect(!setting.files.contains { $0.hasSuffix(".json") && !$0.hasSuffix("servers.json") })
        #expect(await setting.run("logout", "--all").stdout == "no logins\n")
        await setting.end()
    }

    @Test func aServerOnlyWithTokensOfItsOwn() async throws {
        var knobs = TestAuthorizationServer.Knobs()
        (knobs.namesMetadata, knobs.resourcePaths, knobs.metadataPath) = (false, [], "/none")
        knobs.registers = false
        var setting = try Setting(knobs)
        setting.harness.connectsToTargets = true
        let call = await setting.run("tools", setting.server.url)
        #expect(call.code == .authentication)
        #expect(
            setting.plain(call.stderr) == """
                error: ORIGIN/mcp requires an access token (HTTP 401)
                  it names no authorization server
                hint: if its operator gave you a token: tools, call and the others send it with \
                --bearer-file FILE or --bearer-env VAR

                """)
        let login = await setting.run("login", setting.server.url)
        #expect(login.code == .authentication)
        #expect(login.stderr.contains("names no authorization server, and registers no clients itself"))
        // `login` would be of no use, and is not proposed.
        for words in [["auth", "status"], ["auth", "token"]] {
            let outcome = await setting.harness.run(
                words + ["--connect-timeout", "60s", setting.server.url])
            #expect(outcome.code == .authentication)
            #expect(
                setting.plain(outcome.stderr) == """
                    error: no usable login for ORIGIN/mcp
                    hint: if its operator gave you a token: tools, call and the others send it with \
                    --bearer-file FILE or --bearer-env VAR

                    """)
        }
        #expect(setting.server.requests("/register").count == 1)
        await setting.end()
    }

    @Test(arguments: [
        (0o644, "can be read by all users of this machine (mode 644)"),
        (0o640, "can be read by its group (mode 640)"),
        (0o602, "can be changed by all users of this machine (mode 602)"),
        (0o600, nil), (0o400, nil),
    ])
    func aTokenThatOthersCanRead(_ mode: UInt32, _ problem: String?) async throws {
        let setting = try Setting()
        let file = setting.directory.path + "/a token"
        try Files.replace(file, with: Array("some-token\n".utf8), mode: mode, isExact: true)
        let outcome = try await ProgramRunner.client("tools", "--bearer-file", file, setting.server.url)
        #expect(outcome.code == 4)
        let warning = problem.map { "warning: \(file) \($0): chmod 600 '\(file)'\n" } ?? ""
        #expect(outcome.stderr.hasPrefix(warning + "error: "), "\(outcome.stderr)")
        #expect(outcome.stderr.ranges(of: "warning: ").count == (problem == nil ? 0 : 1))
        let quiet = try await ProgramRunner.client("-q", "tools", "--bearer-file", file, setting.server.url)
        #expect(quiet.stderr.hasPrefix("error: "))
        await setting.end()
    }

    @Test func aRevocationThatFailsIsReported() async throws {
        let setting = try Setting()
        #expect(await setting.run("login", setting.server.url).code == .ok)
        await setting.end()
        let logout = await setting.run("logout", setting.server.url)
        #expect(logout.code == .ok)
        #expect(setting.plain(logout.stdout) == "logged out of ORIGIN/mcp\n")
        #expect(logout.stderr.hasPrefix("the tokens were not revoked: "))
    }

    // MARK: auth token

    @Test func aTokenIsNotPrintedToATerminal() async throws {
        var setting = try Setting()
        #expect(await setting.run("login", setting.server.url).code == .ok)
        setting.harness.isTerminal = true
        let refused = await setting.run("auth", "token", setting.server.url)
        #expect(refused.code == .usage)
        #expect(refused.stdout == "")
        #expect(refused.stderr.contains("auth token prints a secret, and its output is a terminal"))
        let shown = await setting.run("auth", "token", "--show", setting.server.url)
        #expect(shown.code == .ok && shown.stdout.hasPrefix("access-"))
        await setting.end()
    }

    // MARK: The store

    @Test func aStoreThatOthersCanReadIsRefused() async throws {
        let setting = try Setting()
        #expect(await setting.run("login", setting.server.url).code == .ok)
        let file = "\(setting.store)/servers.json"
        let bytes = try Files.read(file, maxBytes: 1 << 20)
        try Files.replace(file, with: bytes, mode: 0o644, isExact: true)
        for words in [
            ["auth", "status"], ["auth", "token", setting.server.url], ["tools", setting.server.url],
        ] {
            let outcome = await setting.harness.run(["--json"] + words)
            #expect(outcome.code == .unreachable, "\(outcome.stderr)")
            #expect(outcome.stderr.contains("error: \(file) can be used by other users (mode 644)"))
            #expect(outcome.stderr.contains(#"{"error":{"kind":"store","code":3,"#))
        }
        await setting.end()
    }
}
