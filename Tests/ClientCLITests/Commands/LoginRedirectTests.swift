import MCPClientCLI
import MCPCore
import TestSupport
import Testing

/// The redirect URIs of logins, and the clients that they are registered for.
@Suite(.timeLimit(.minutes(5))) struct LoginRedirectTests {
    private typealias Setting = LoginSetting

    // AUTH-18: most authorization servers compare redirect URIs byte for byte.
    @Test(arguments: [["--callback-port"], ["--callback-host", "localhost"]])
    func anotherRedirectIsRegistered(_ flags: [String]) async throws {
        let setting = try Setting()
        #expect(await setting.run("login", setting.server.url).code == .ok)
        // Without flags, the registered one is used again.
        #expect(await setting.run("login", setting.server.url).code == .ok)
        #expect(setting.server.requests("/register").count == 1)
        let flags = flags.count == 1 ? flags + ["\(try freePort())"] : flags
        let login = await setting.harness.run(["login"] + flags + [setting.server.url])
        #expect(login.code == .ok, "\(login.stderr)")
        let registered = try setting.server.requests("/register").map {
            try JSONValue(parsing: $0.body)["redirect_uris"]?[0]?.stringValue
        }
        let used = setting.server.requests("/authorize").map { $0.members["redirect_uri"] }
        #expect(used == [registered.first, registered.first, registered.last], "\(registered)")
        #expect(registered.count == 2 && registered[0] != registered[1])
        #expect(await setting.run("auth", "token", setting.server.url).code == .ok)
        await setting.end()
    }

    // The tokens of a login are renewed by their client even if a later login with another one was abandoned.
    @Test func anAbandonedLoginKeepsTheClientOfTheTokens() async throws {
        var setting = try Setting()
        #expect(await setting.run("login", setting.server.url).code == .ok)
        setting.harness.browser = { _ in }
        let port = "\(try freePort())"
        let words = ["login", "--timeout", "100ms", "--callback-port", port, setting.server.url]
        #expect(await setting.harness.run(words).code == .timeout)
        #expect(setting.server.requests("/register").count == 2)
        let store = FileTokenStore(directory: setting.store)
        let key = try #require(try await store.keys().first)
        try await store.update(key) { entry in entry?.tokens?.expiresAt = 1 }
        let token = await setting.run("auth", "token", setting.server.url)
        #expect(token.code == .ok, "\(token.stderr)")
        let clients = setting.server.grants("refresh_token").map { $0.members["client_id"] }
        #expect(!clients.isEmpty && clients.allSatisfy { $0 == "client-1" }, "\(clients)")
        await setting.end()
    }

    @Test func aClientWithItsIDIsToldOfTheRedirectURI() async throws {
        var setting = try Setting()
        setting.server.addClient("own", secret: "")
        setting.harness.browser = { _ in }
        let port = try freePort()
        let words = ["login", "--timeout", "100ms", "--client-id", "own", "--callback-port", "\(port)"]
        let login = await setting.harness.run(words + [setting.server.url])
        #expect(login.code == .timeout)
        #expect(
            login.stderr.hasSuffix(
                """
                  redirect URI: http://127.0.0.1:\(port)/callback
                hint: if the page showed an error about it, register it for the client, or use the registered \
                one: --callback-port PORT, --callback-host HOST

                """), "\(login.stderr)")
        await setting.end()
    }

    // AUTH-12, AUTH-18: the document lists several redirect URIs, and one port is in use.
    @Test func aClientMetadataDocumentWithSeveralPorts() async throws {
        var knobs = TestAuthorizationServer.Knobs()
        knobs.supportsMetadataURLs = true
        let setting = try Setting(knobs)
        let (busy, other) = (try RequestRecorder(), try RequestRecorder())
        defer { busy.stop() }
        let free = other.port
        other.stop()
        let document = "https://app.example/client.json"
        let flags = ["--client-metadata-url", document, "--callback-port", "\(busy.port)"]
        let login = await setting.harness.run(
            ["login"] + flags + ["--callback-port", "\(free)", setting.server.url])
        #expect(login.code == .ok, "\(login.stderr)")
        let page = try #require(setting.server.requests("/authorize").first)
        #expect(page.members["client_id"] == document)
        #expect(page.members["redirect_uri"] == "http://127.0.0.1:\(free)/callback")
        let form = try #require(setting.server.requests("/token").first)
        #expect(form.members["redirect_uri"] == page.members["redirect_uri"])
        #expect(setting.server.requests("/register").isEmpty && busy.requests.isEmpty)
        // The id is stored with the tokens, so that they are shown and renewed without the flags.
        let status = await setting.run("auth", "status", setting.server.url)
        #expect(status.stdout.contains("\n  client: \(document)\n"), "\(status.stdout)")
        let store = FileTokenStore(directory: setting.store)
        let key = try #require(try await store.keys().first)
        try await store.update(key) { entry in entry?.tokens?.expiresAt = 1 }
        let token = await setting.run("auth", "token", setting.server.url)
        #expect(token.code == .ok, "\(token.stderr)")
        #expect(setting.server.grants("refresh_token").map { $0.members["client_id"] } == [document])
        let both = await setting.harness.run(
            ["login"] + flags + ["--callback-port", "\(busy.port)", setting.server.url])
        #expect(both.code == .usage && both.stderr.contains("on port \(busy.port): the login did not begin"))
        await setting.end()
    }
}
