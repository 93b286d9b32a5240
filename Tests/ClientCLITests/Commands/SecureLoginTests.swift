#if !canImport(Darwin)
import MCPClientCLI
import MCPCore
import TestSupport
import Testing

/// Logins where certificates come from a private authority. Skipped where OpenSSL 3 is not installed.
@Suite(
    "logins over https (needs libssl.so.3)", .timeLimit(.minutes(5)),
    .enabled(if: TLSFront.isWanted, "libssl.so.3 is not installed"))
struct SecureLoginTests {
    // All requests of a login trust the same certificates: those to the server, for the metadata of both
    // servers, and to the token endpoint.
    @Test(arguments: [true, false]) func theTrustFileIsForAllRequests(_ isServerSecure: Bool) async throws {
        let setting = try LoginSetting()
        let place = try #require(UInt16(setting.server.origin.split(separator: ":").last ?? ""))
        let front = try TLSFront(.server, to: place)
        defer { front.stop() }
        let secure = "https://localhost:\(front.port)"
        setting.server.set { knobs in
            knobs.namesMetadata = false
            if isServerSecure { knobs.resource = secure + "/mcp" }
            knobs.authorizationServers = [secure]
            knobs.metadataIssuer = secure
            knobs.endpointOrigin = secure
        }
        let file = setting.directory.path + "/ca.pem"
        try Files.replace(file, with: Array(TLSIdentity.authority.utf8))
        let url = (isServerSecure ? secure : setting.server.origin) + "/mcp"
        let distrusted = await setting.run("login", url)
        #expect(distrusted.code == .unreachable, "\(distrusted.stderr)")
        #expect(distrusted.stderr.contains("which is not trusted here"), "\(distrusted.stderr)")
        #expect(setting.server.requests("/register").isEmpty)
        let status = await setting.run("auth", "status", "--cacert", file, url)
        let hint = "hint: mcp-client login --cacert \(file) \(url)\n"
        #expect(status.stderr.hasSuffix(hint), "\(status.stderr)")
        let login = await setting.run("login", "--cacert", file, url)
        #expect(login.code == .ok, "\(login.stderr)")
        #expect(login.stdout.hasPrefix("logged in to \(secure)"))

        // So does the renewal of its tokens, and their revocation.
        let store = FileTokenStore(directory: setting.store)
        let key = try #require(try await store.keys().first)
        try await store.update(key) { entry in entry?.tokens?.expiresAt = 1 }
        #expect(await setting.run("auth", "token", url).code == .unreachable)
        let token = await setting.run("auth", "token", "--cacert", file, url)
        #expect(token.code == .ok, "\(token.stderr)")
        #expect(setting.server.isActive(String(token.stdout.dropLast())))
        let logout = await setting.run("logout", "--cacert", file, url)
        #expect(logout.code == .ok && logout.stderr.isEmpty, "\(logout.stderr)")
        #expect(setting.server.requests("/revoke").count == 2)
        await setting.end()
    }

    @Test func theTimeForConnectingIsThatOfTheFlag() async throws {
        // Accepts connections, and says nothing.
        let listener = try BareListener { descriptor in _ = BlockingSocket.receive(descriptor) }
        defer { listener.stop() }
        let setting = try LoginSetting()
        let login = await setting.run(
            "login", "--connect-timeout", "100ms", "https://127.0.0.1:\(listener.port)/mcp")
        #expect(login.code == .unreachable, "\(login.stderr)")
        #expect(login.stderr.contains("100 ms") || login.stderr.contains("0.1"), "\(login.stderr)")
        await setting.end()
    }
}
#endif
