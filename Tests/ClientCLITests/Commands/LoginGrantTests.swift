import MCPCore
import TestSupport
import Testing

/// The ways in which `login` obtains tokens, and what later commands make of them.
@Suite(.timeLimit(.minutes(5))) struct LoginGrantTests {
    private static let credentials = [
        "--auth-grant", "client-credentials", "--client-id", "ci", "--client-secret-file", "/s",
    ]

    private static func silent() throws -> LoginSetting {
        var knobs = TestAuthorizationServer.Knobs()
        knobs.issuesRefreshTokens = false
        var setting = try LoginSetting(knobs)
        setting.server.addClient("ci", secret: "secret-of-ci")
        setting.harness.browser = { _ in Issue.record("a browser was opened") }
        setting.harness.files = ["/s": "secret-of-ci\n"]
        return setting
    }

    /// Lets all stored tokens expire.
    private static func expire(_ setting: LoginSetting) async throws {
        let store = FileTokenStore(directory: setting.store)
        for key in try await store.keys() {
            try await store.update(key) { entry in entry?.tokens?.expiresAt = 1 }
        }
    }

    // MARK: Client credentials

    @Test func laterCommandsRenewWithoutFlags() async throws {
        var setting = try Self.silent()
        let login = await setting.harness.run(["login"] + Self.credentials + [setting.server.url])
        #expect(login.code == .ok, "\(login.stderr)")
        #expect(login.stdout.hasSuffix("renews itself\n"))
        // Nothing secret is kept but the token.
        for name in setting.files {
            let bytes = try Files.read("\(setting.store)/\(name)", maxBytes: 1 << 20)
            #expect(!String(decoding: bytes, as: UTF8.self).contains("secret-of-ci"))
        }
        try await Self.expire(setting)
        let all = await setting.run("auth", "status")
        #expect(all.stdout.contains("  expired, renews itself\n"))
        let token = await setting.run("auth", "token", setting.server.url)
        #expect(token.code == .ok, "\(token.stderr)")
        #expect(setting.server.isActive(String(token.stdout.dropLast())))
        #expect(setting.server.grants("client_credentials").count == 2)

        // The same way again, without flags and without a person.
        #expect(await setting.run("login", "--no-input", setting.server.url).code == .ok)
        #expect(setting.server.grants("client_credentials").count == 3)
        #expect(setting.server.requests("/authorize").isEmpty)

        // A token that is still good needs no secret; a new one does.
        setting.harness.files = [:]
        #expect(await setting.run("auth", "token", setting.server.url).code == .ok)
        try await Self.expire(setting)
        let failed = await setting.run("auth", "token", setting.server.url)
        #expect(failed.code == .usage)
        #expect(
            failed.stderr == """
                error: the grant client_credentials needs a secret or a key
                hint: --client-secret-file FILE, --client-secret-env VAR or --client-key FILE

                """)
        await setting.end()
    }

    @Test func anotherGrantIsNotCompleted() async throws {
        var setting = try Self.silent()
        #expect(await setting.harness.run(["login"] + Self.credentials + [setting.server.url]).code == .ok)
        setting.harness.browser = { try await LoginSetting.visit($0) }
        let login = await setting.run("login", "--auth-grant", "code", setting.server.url)
        #expect(login.code == .ok, "\(login.stderr)")
        #expect(setting.server.requests("/authorize").count == 1)
        await setting.end()
    }

    /// What a file of servers says about the login; flags win.
    @Test func configuredLogins() async throws {
        var setting = try Self.silent()
        let folder = setting.directory
        for name in ["home", "home/.cursor"] { folder.makeDirectory(name) }
        let url = setting.server.url
        func configure(_ members: String) throws {
            let text =
                #"{"mcpServers": {"ops": {"url": "\#(url)", "oauth": {\#(members)}}}}"#
            try folder.write("home/.cursor/mcp.json", text)
        }
        setting.harness.variables["HOME"] = folder.path + "/home"
        setting.harness.directory = folder.path + "/home"
        try configure(#""clientId": "ci", "clientSecret": "secret-of-ci", "grant": "client-credentials""#)
        let login = await setting.run("login", "ops")
        #expect(login.code == .ok, "\(login.stderr)")
        #expect(setting.server.grants("client_credentials").count == 1)
        for name in setting.files {
            let bytes = try Files.read("\(setting.store)/\(name)", maxBytes: 1 << 20)
            #expect(!String(decoding: bytes, as: UTF8.self).contains("secret-of-ci"))
        }
        // Another client is not given the secret of the configured one.
        let other = await setting.run("login", "--client-id", "other", "ops")
        #expect(other.code == .usage && other.stderr.contains("needs a secret or a key"), "\(other.stderr)")
        try configure(#""grant": "password""#)
        let unknown = await setting.run("login", "ops")
        #expect(unknown.stderr.contains("oauth.grant is \"password\", not one of code, "))
        await setting.end()
    }

    // MARK: Other grants

    @Test func aDeviceShowsACode() async throws {
        var knobs = TestAuthorizationServer.Knobs()
        knobs.deviceErrors = []
        knobs.deviceInterval = 1
        let setting = try LoginSetting(knobs)
        let login = await setting.run("login", "--auth-grant", "device", setting.server.url)
        #expect(login.code == .ok, "\(login.stderr)")
        #expect(
            setting.plain(login.stderr) == """
                open this page on any device: ORIGIN/enter
                and enter the code ABCD-EFGH

                """)
        #expect(setting.server.requests("/authorize").isEmpty)
        try await Self.expire(setting)
        #expect(await setting.run("auth", "token", setting.server.url).code == .ok)
        let refused = await setting.run("login", "--no-input", setting.server.url)
        #expect(refused.code == .inputRequired)
        await setting.end()
    }

    @Test func anIdentityProviderDecides() async throws {  // AUTH-56
        var setting = try Self.silent()
        setting.harness.files["/id"] = "id-token-of-person\n"
        let flags = [
            "--auth-grant", "enterprise", "--client-id", "ci", "--client-secret-file", "/s",
            "--idp-token-endpoint", setting.server.origin + "/idp/token", "--id-token-file", "/id",
            "--idp-client-id", "at-idp",
        ]
        let login = await setting.harness.run(["login"] + flags + [setting.server.url])
        #expect(login.code == .ok, "\(login.stderr)")
        try await Self.expire(setting)
        #expect(await setting.run("auth", "token", setting.server.url).code == .ok)
        let exchanges = setting.server.requests("/idp/token")
        #expect(exchanges.count == 2)
        #expect(exchanges.allSatisfy { $0.members["subject_token"] == "id-token-of-person" })
        #expect(exchanges.allSatisfy { $0.members["client_id"] == "at-idp" })
        await setting.end()
    }

    @Test(arguments: [
        (["--auth-grant", "enterprise", "--client-id", "a"], "hint: --idp-token-endpoint URL"),
        (
            ["--auth-grant", "enterprise", "--client-id", "a", "--idp-token-endpoint", "https://i/t"],
            "--auth-grant enterprise needs --id-token-file"
        ),
        (
            ["--auth-grant", "enterprise", "--idp-token-endpoint", "https://i/t"],
            "--auth-grant enterprise needs the id of the client"
        ),
        (["--dpop", "sometimes"], "--dpop \"sometimes\" is not one of auto, always, never"),
        (
            ["--client-id", "a", "--client-secret-env", "NONE"],
            "error: the environment variable NONE is not set"
        ),
        (["--client-id", "a", "--client-key", "/key"], "/key is not a key that can be used: "),
        (["--scope", "a\\b"], "a scope has at most 256 visible ASCII characters"),
        (["--scope", String(repeating: "a", count: 257)], "is not a scope"),
    ])
    func wrongFlags(_ flags: [String], _ text: String) async throws {
        var setting = try LoginSetting()
        setting.harness.files["/key"] = "no key"
        let login = await setting.harness.run(["login"] + flags + [setting.server.url])
        #expect(login.code == .usage)
        #expect(login.stderr.contains(text), "\(login.stderr)")
        #expect(!login.stderr.contains("\\n"))
        #expect(setting.server.log.isEmpty)
        await setting.end()
    }

    @Test func boundTokensCanBeDemanded() async throws {  // AUTH-57
        guard (try? OpenSSLSignatures.system.prepare()) != nil else {
            return print("skipped: there is no libcrypto")
        }
        let setting = try LoginSetting()
        let refused = await setting.run("login", "--dpop", "always", setting.server.url)
        #expect(refused.code == .authentication)
        #expect(refused.stderr.contains("does not bind tokens to a key, which is required"))
        setting.server.set { $0.bindsTokens = true }
        let login = await setting.run("login", "--dpop", "always", setting.server.url)
        #expect(login.code == .ok, "\(login.stderr)")
        #expect(setting.server.grants("authorization_code").allSatisfy { $0.proof != nil })
        await setting.end()
    }

    // MARK: Outcomes

    @Test func aTokenThatIsRefusedAtOnceIsNotKept() async throws {
        var knobs = TestAuthorizationServer.Knobs()
        knobs.refusesTokens = true
        var setting = try LoginSetting(knobs)
        setting.harness.connectsToTargets = true
        let login = await setting.run("login", "--json", setting.server.url)
        #expect(login.code == .authentication)
        #expect(login.stdout == "")
        #expect(
            setting.plain(login.stderr).contains(
                "error: the server refuses the token that ORIGIN has issued for it\n"))
        #expect(login.stderr.contains("the token was revoked and is not kept"))
        #expect(login.stderr.contains(#""kind":"token_refused","code":4"#))
        // One page, not a second one for the refusal.
        #expect(setting.server.requests("/authorize").count == 1)
        #expect(setting.server.requests("/revoke").count == 2)
        #expect(await setting.run("auth", "status", setting.server.url).code == .authentication)
        await setting.end()
    }

    @Test func scopesThatWereNotGrantedAreNamed() async throws {
        var knobs = TestAuthorizationServer.Knobs()
        knobs.grantsScopes = false
        let setting = try LoginSetting(knobs)
        let login = await setting.run("login", "--scope", "files:read a", setting.server.url)
        #expect(login.code == .ok)
        #expect(login.stderr.contains("not granted: files:read a\n"))
        await setting.end()
    }

    @Test func socketsHaveNoLogins() async throws {
        let setting = try LoginSetting()
        let login = await setting.run("login", "unix:///run/x.sock")
        #expect(login.code == .usage)
        #expect(
            login.stderr.hasPrefix(
                """
                error: login needs an HTTP server, and a unix socket has no login page
                hint: --bearer-file FILE or --bearer-env VAR sends a token to it

                """))
        let program = await setting.run("login", "--", "server")
        #expect(program.stderr.contains("hint: a program takes its credentials from its environment\n"))
        for command in ["login", "logout", "auth"] {
            let help = await setting.run(command, "--help").stdout
            #expect(!help.contains("unix:"))
            #expect(!help.contains("PROGRAM"))
            #expect(help.contains("http[s]://HOST:PORT/PATH"))
        }
        #expect(await setting.run("tools", "--help").stdout.contains("unix:///PATH"))
        await setting.end()
    }

    // MARK: Logins that were replaced

    @Test func statusShowsLoginsThatWereReplaced() async throws {
        let setting = try LoginSetting()
        #expect(await setting.run("login", setting.server.url).code == .ok)
        setting.server.addClient("own", secret: "")
        #expect(await setting.run("login", "--client-id", "own", setting.server.url).code == .ok)
        let status = await setting.run("auth", "status")
        let lines = status.stdout.split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("  client: ") } == ["  client: own", "  client: client-1"])
        #expect(lines.last?.hasSuffix(" · replaced by a later login") == true)
        let json = try JSONValue(parsing: await setting.run("--json", "auth", "status").stdout)
        #expect(json["logins"]?.arrayValue?.map { $0["latest"] } == [true, false])

        let logout = await setting.run("--json", "logout", "--all")
        let ended = try JSONValue(parsing: logout.stdout)["loggedOut"]?.arrayValue ?? []
        #expect(ended.map { $0["server"] } == [.string(setting.server.url), .string(setting.server.url)])
        #expect(ended.allSatisfy { $0["revoked"] == true && $0["issuer"] == .string(setting.server.origin) })
        let none = await setting.run("--json", "logout", "--all")
        #expect(none.stdout == #"{"loggedOut":[]}"# + "\n")
        await setting.end()
    }

    // MARK: Hints

    @Test func theHintOfTheStoreNamesWhatWasUsed() async throws {
        let setting = try LoginSetting()
        let file = setting.directory.path + "/file"
        try Files.replace(file, with: [], mode: 0o600)
        let flag = await setting.run("auth", "status", "--store", file)
        #expect(flag.code == .unreachable)
        #expect(flag.stderr.hasSuffix("hint: --store DIR names another directory\n"))
        var other = setting
        other.harness.variables["MCP_AUTH_STORE"] = file
        let variable = await other.run("auth", "status")
        #expect(
            variable.stderr.hasSuffix("hint: --store DIR or MCP_AUTH_STORE=DIR names another directory\n"))
        await setting.end()
    }

    @Test func theHintForAnIssuerNamesTheFlag() async throws {
        var knobs = TestAuthorizationServer.Knobs()
        knobs.metadataIssuer = "https://id.example/other"
        let setting = try LoginSetting(knobs)
        let login = await setting.run("login", setting.server.url)
        #expect(login.code == .authentication)
        #expect(login.stderr.contains("hint: if you trust it: --issuer https://id.example/other\n"))
        await setting.end()
    }
}
