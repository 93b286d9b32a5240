import MCPClientCLI
import MCPCore
import TestSupport
import Testing

/// `login` with scopes that are refused: the error says why, and the next login is not held up.
@Suite(.timeLimit(.minutes(5))) struct LoginScopeTests {
    private static func strict() throws -> LoginSetting {
        var knobs = TestAuthorizationServer.Knobs()
        (knobs.scopes, knobs.registrableScopes) = (["read", "write"], ["read", "write"])
        knobs.resourceScopes = ["read"]
        return try LoginSetting(knobs)
    }

    /// The server registers no client for the misspelt scope, and the one without it is of no use.
    @Test(arguments: [["reed"], ["read", "reed"]]) func aMisspeltScope(scopes: [String]) async throws {
        let setting = try Self.strict()
        let flags = scopes.flatMap { ["--scope", $0] }
        let wrong = await setting.harness.run(["login"] + flags + [setting.server.url])
        #expect(wrong.code == .authentication)
        let text = setting.plain(wrong.stderr)
        #expect(
            text.contains(
                "\n  no client was registered for these scopes: "
                    + "invalid_client_metadata: Requested scopes are not valid: reed\n"), "\(text)")
        #expect(text.contains("\n  asked for: \(scopes.joined(separator: " "))\n"), "\(text)")
        #expect(text.contains("\n  scopes of ORIGIN: read write\n"), "\(text)")
        #expect(text.hasSuffix("\nhint: mcp-client login ORIGIN/mcp\n"), "\(text)")
        #expect(await setting.run("logout", "--all", "--forget").stdout == "no logins\n")
        for words in [["--scope", "read"], ["--scope", "write"], []] {
            let right = await setting.harness.run(["login"] + words + [setting.server.url])
            #expect(right.code == .ok, "\(words) \(right.stderr)")
        }
        // The client of a login that works stays.
        let token = await setting.run("auth", "token", setting.server.url).stdout
        #expect(await setting.harness.run(["login"] + flags + [setting.server.url]).code == .authentication)
        #expect(await setting.run("auth", "token", setting.server.url).stdout == token)
        let count = setting.server.requests("/register").count
        #expect(await setting.run("login", setting.server.url).code == .ok)
        #expect(setting.server.requests("/register").count == count)
        await setting.end()
    }

    /// Also one that is stored: it may have been registered for other scopes.
    @Test func aClientWhoseScopesAreRefusedIsReplaced() async throws {
        let setting = try LoginSetting()
        #expect(await setting.run("login", setting.server.url).code == .ok)
        setting.server.set { $0.redirectError = "invalid_scope" }
        let refused = await setting.run("login", "--scope", "a", setting.server.url)
        #expect(refused.code == .authentication)
        #expect(refused.stderr.contains("invalid_scope: text of the error"), "\(refused.stderr)")
        setting.server.set { $0.redirectError = nil }
        setting.server.clearLog()
        #expect(await setting.run("login", "--scope", "a", setting.server.url).code == .ok)
        #expect(setting.server.requests("/register").count == 1)
        await setting.end()
    }

    /// The server names the scope in words only.
    @Test func aTokenWithTooFewScopesIsNotKept() async throws {
        var knobs = TestAuthorizationServer.Knobs()
        (knobs.requiredScope, knobs.resourceScopes) = ("read", ["read"])
        var setting = try LoginSetting(knobs)
        setting.harness.connectsToTargets = true
        let login = await setting.run("login", "--json", "--scope", "write", setting.server.url)
        #expect(login.code == .authentication && login.stdout.isEmpty)
        #expect(
            setting.plain(login.stderr).contains(
                """
                error: the server refuses the token that ORIGIN has issued for it
                  the server requires other scopes than those of the login (HTTP 403)
                  it says: Required scope: read
                  granted: write
                  the token was revoked and is not kept
                hint: mcp-client login ORIGIN/mcp

                """), "\(login.stderr)")
        #expect(login.stderr.contains(#""kind":"insufficient_scope","code":4"#), "\(login.stderr)")
        #expect(setting.server.requests("/authorize").count == 1)
        #expect(await setting.run("auth", "status", setting.server.url).code == .authentication)
        // The hint is good: the server here is one of MCP.
        setting.harness.connectsToTargets = false
        #expect(await setting.run("login", setting.server.url).code == .ok)
        setting.harness.connectsToTargets = true
        // A server that changes what it requires is quoted by each command.
        setting.server.set { $0.requiredScope = "admin" }
        let tools = await setting.run("tools", setting.server.url)
        #expect(tools.code == .authentication)
        #expect(tools.stderr.contains("\n  it says: Required scope: admin\n  granted: read\n"))
        await setting.end()
    }
}
