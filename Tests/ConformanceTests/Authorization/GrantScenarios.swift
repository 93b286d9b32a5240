import MCPCore
import TestSupport
import Testing

/// The scopes that the client asks for, and the redirects that it believes: AUTH-24 to AUTH-32.
@Suite("authorization: grant", .timeLimit(.minutes(5))) struct GrantScenarios {
    private static let three = ["mcp:basic", "mcp:read", "mcp:write"]

    private static func asked(_ mock: ProtectedServer) -> [String?] {
        mock.issuer.authorizations.map { $0["scope"] }
    }

    @Test("auth/scope-from-www-authenticate", arguments: ProtectedServer.versions)
    func fromChallenge(_ version: String) async throws {
        var options = ProtectedServer.Options()
        options.challenged = "mcp:basic"
        options.scopesSupported = Self.three
        let mock = try ProtectedServer(version, options)
        try await mock.run("scope-from-www-authenticate")
        #expect(Self.asked(mock) == ["mcp:basic"])
    }

    @Test("auth/scope-from-scopes-supported", arguments: ProtectedServer.versions)
    func fromMetadata(_ version: String) async throws {
        var options = ProtectedServer.Options()
        options.scopesSupported = Self.three
        let mock = try ProtectedServer(version, options)
        try await mock.run("scope-from-scopes-supported")
        #expect(Self.asked(mock) == [Self.three.joined(separator: " ")])
    }

    @Test("auth/scope-omitted-when-undefined", arguments: ProtectedServer.versions)
    func omitted(_ version: String) async throws {
        let mock = try ProtectedServer(version)
        try await mock.run("scope-omitted-when-undefined")
        #expect(Self.asked(mock) == [nil])
    }

    private static func stepUp(_ options: (inout ProtectedServer.Options) -> Void) -> ProtectedServer.Options
    {
        var server = ProtectedServer.Options()
        server.isOpenToHandshakes = true
        server.challenged = "mcp:basic"
        server.steppedUp = "mcp:write"
        server.scopesSupported = ["mcp:basic", "mcp:write", "mcp:trap"]
        options(&server)
        return server
    }

    @Test("auth/scope-step-up", arguments: ProtectedServer.versions)
    func stepUp(_ version: String) async throws {
        let options = Self.stepUp { options in
            options.needed = { $0.rpcMethod == "tools/call" ? ["mcp:write"] : ["mcp:basic"] }
        }
        let mock = try ProtectedServer(version, options)
        try await mock.run("scope-step-up", logins: 2)
        #expect(Self.asked(mock) == ["mcp:basic", "mcp:basic mcp:write"])
        #expect(mock.issuer.registrations.count == 1)
        let calls = mock.server.calls("test-tool")
        #expect(calls.count == 2)
        #expect(calls.first?.text == calls.last?.text)
    }

    @Test("auth/scope-retry-limit", arguments: ProtectedServer.versions)
    func retryLimit(_ version: String) async throws {
        let mock = try ProtectedServer(version, Self.stepUp { $0.refusesAlways = true })
        try await mock.server.run("auth/scope-retry-limit", code: 1)
        #expect((1 ... 3).contains(mock.issuer.authorizations.count))
        #expect(mock.issuer.faults == [])
    }

    @Test("auth/offline-access", arguments: [true, false], ProtectedServer.versions)
    func offlineAccess(_ isListed: Bool, _ version: String) async throws {
        var options = AuthorizationServerMock.Options()
        options.scopes = ["mcp:basic"] + (isListed ? ["offline_access"] : [])
        var server = ProtectedServer.Options()
        server.challenged = "mcp:basic"
        let mock = try ProtectedServer(version, server, issuer: AuthorizationServerMock(options))
        try await mock.run(isListed ? "offline-access-scope" : "offline-access-not-supported")
        #expect(Self.asked(mock) == [isListed ? "mcp:basic offline_access" : "mcp:basic"])
        // `run` has checked that the registration has the grant refresh_token.
        #expect(mock.issuer.registrations.count == 1)
    }

    // MARK: The issuer of the redirect

    private static func mock(
        _ version: String, isAdvertised: Bool?, _ issuer: (@Sendable (String) -> String)?
    ) throws -> ProtectedServer {
        var options = AuthorizationServerMock.Options()
        options.advertisesIssuer = isAdvertised
        options.redirectIssuer = issuer
        return try ProtectedServer(version, issuer: AuthorizationServerMock(options))
    }

    @Test("auth/iss-supported, auth/iss-not-advertised", arguments: [true, false], ProtectedServer.versions)
    func rightIssuer(_ isAdvertised: Bool, _ version: String) async throws {
        let mock = try Self.mock(version, isAdvertised: isAdvertised ? true : nil) { $0 }
        try await mock.run(isAdvertised ? "iss-supported" : "iss-not-advertised")
    }

    /// No `iss` is accepted from a server that does not promise one.
    @Test("auth/iss-not-advertised without iss", arguments: ProtectedServer.versions)
    func noIssuer(_ version: String) async throws {
        try await Self.mock(version, isAdvertised: nil, nil).run("iss-not-advertised")
    }

    private static func fails(_ scenario: String, _ mock: ProtectedServer) async throws {
        try await mock.runToFailure(scenario)
        #expect(mock.issuer.authorizations.count == 1)
        #expect(mock.issuer.tokenRequests.isEmpty)
    }

    @Test("auth/iss-supported-missing", arguments: ProtectedServer.versions)
    func missingIssuer(_ version: String) async throws {
        try await Self.fails("iss-supported-missing", Self.mock(version, isAdvertised: true, nil))
    }

    @Test("auth/iss-wrong-issuer", arguments: ProtectedServer.versions)
    func wrongIssuer(_ version: String) async throws {
        let mock = try Self.mock(version, isAdvertised: true) { _ in "https://evil.example.com" }
        try await Self.fails("iss-wrong-issuer", mock)
    }

    @Test("auth/iss-unexpected", arguments: ProtectedServer.versions)
    func unexpectedIssuer(_ version: String) async throws {
        let mock = try Self.mock(version, isAdvertised: nil) { _ in "https://evil.example.com" }
        try await Self.fails("iss-unexpected", mock)
    }

    @Test("auth/iss-normalized", arguments: ProtectedServer.versions)
    func normalizedIssuer(_ version: String) async throws {
        try await Self.fails("iss-normalized", Self.mock(version, isAdvertised: true) { $0 + "/" })
    }
}
