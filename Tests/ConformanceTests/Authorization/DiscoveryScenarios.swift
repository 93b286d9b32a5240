import MCPCore
import TestSupport
import Testing

/// Where the client finds metadata, and what it refuses: AUTH-04 to AUTH-08.
@Suite("authorization: discovery", .timeLimit(.minutes(5))) struct DiscoveryScenarios {
    private static let root = "/.well-known/oauth-protected-resource"
    private static let server = "/.well-known/oauth-authorization-server"
    private static let openID = "/.well-known/openid-configuration"

    @Test("auth/metadata-default", arguments: ProtectedServer.versions)
    func metadataDefault(_ version: String) async throws {
        let mock = try ProtectedServer(version)
        try await mock.run("metadata-default")
        #expect(mock.metadataPaths == [Self.root + "/mcp"])
        #expect(mock.issuer.metadataPaths == [Self.server])
        // Only `none` is listed, whatever the registration said.
        let request = try #require(mock.issuer.tokenRequests.first)
        #expect(request.authorization == nil)
        #expect(request.form["client_secret"] == nil)
        #expect(request.form["client_id"] == "mock-client")
        // The first request of the revision was refused, and sent again with the same bytes.
        let method = mock.isModern ? "server/discover" : "initialize"
        let first = mock.server.posts.filter { $0.rpcMethod == method }
        #expect(first.map { $0.bearer == nil } == [true, false])
        #expect(first.first?.text == first.last?.text)
    }

    @Test("auth/metadata-var1", arguments: ProtectedServer.versions)
    func withoutHeader(_ version: String) async throws {
        var options = ProtectedServer.Options()
        options.namesMetadata = false
        var issuer = AuthorizationServerMock.Options()
        issuer.metadataPath = Self.openID
        let mock = try ProtectedServer(version, options, issuer: AuthorizationServerMock(issuer))
        try await mock.run("metadata-var1")
        #expect(mock.metadataPaths == [Self.root + "/mcp"])
        #expect(mock.issuer.metadataPaths == [Self.server, Self.openID])
    }

    @Test("auth/metadata-var2", arguments: ProtectedServer.versions)
    func atTheRoot(_ version: String) async throws {
        var options = ProtectedServer.Options()
        options.namesMetadata = false
        options.metadataPath = Self.root
        options.resource = { $0 }
        var issuer = AuthorizationServerMock.Options()
        issuer.tenant = "/tenant1"
        issuer.metadataPath = Self.server + "/tenant1"
        let mock = try ProtectedServer(version, options, issuer: AuthorizationServerMock(issuer))
        try await mock.run("metadata-var2", resource: mock.server.bareURL)
        #expect(mock.metadataPaths == [Self.root + "/mcp", Self.root])
        #expect(mock.issuer.metadataPaths == [Self.server + "/tenant1"])
    }

    @Test("auth/metadata-var3", arguments: ProtectedServer.versions)
    func atACustomPath(_ version: String) async throws {
        var options = ProtectedServer.Options()
        options.metadataPath = "/custom/metadata/location.json"
        var issuer = AuthorizationServerMock.Options()
        issuer.tenant = "/tenant1"
        issuer.metadataPath = "/tenant1" + Self.openID
        let mock = try ProtectedServer(version, options, issuer: AuthorizationServerMock(issuer))
        try await mock.run("metadata-var3")
        #expect(mock.metadataPaths == [])
        #expect(mock.server.heard.contains { $0.path == "/custom/metadata/location.json" })
        #expect(
            mock.issuer.metadataPaths == [
                Self.server + "/tenant1", Self.openID + "/tenant1", "/tenant1" + Self.openID,
            ])
    }

    @Test("auth/resource-mismatch", arguments: ProtectedServer.versions)
    func resourceMismatch(_ version: String) async throws {
        var options = ProtectedServer.Options()
        options.resource = { _ in "https://evil.example.com/mcp" }
        let mock = try ProtectedServer(version, options)
        try await mock.runToFailure("resource-mismatch")
        #expect(mock.issuer.authorizations.isEmpty)
        #expect(mock.issuer.tokenRequests.isEmpty)
        #expect(mock.issuer.registrations.isEmpty)
    }

    @Test("auth/metadata-issuer-mismatch", arguments: ProtectedServer.versions)
    func issuerMismatch(_ version: String) async throws {
        var options = AuthorizationServerMock.Options()
        options.foreignIssuer = "https://evil.example.com"
        let mock = try ProtectedServer(version, issuer: AuthorizationServerMock(options))
        try await mock.runToFailure("metadata-issuer-mismatch")
        #expect(mock.issuer.metadataPaths.contains(Self.server))
        #expect(mock.issuer.authorizations.isEmpty)
        #expect(mock.issuer.tokenRequests.isEmpty)
        #expect(mock.issuer.registrations.isEmpty)
    }

    // MARK: 2025-03-26

    private static func old(_ options: AuthorizationServerMock.Options) throws -> ProtectedServer {
        var server = ProtectedServer.Options()
        server.metadataPath = nil
        return try ProtectedServer(
            "2025-03-26", server, issuer: AuthorizationServerMock(options, isAlone: false))
    }

    private static func checkOld(_ mock: ProtectedServer) {
        #expect(mock.issuer.faults == [])
        #expect(mock.issuer.authorizations.count == 1)
        #expect(mock.issuer.tokenRequests.count == 1)
        #expect(mock.server.calls("test-tool").last?.bearer.flatMap(mock.issuer.scopes) != nil)
    }

    @Test("auth/2025-03-26-oauth-metadata-backcompat") func oldMetadata() async throws {  // AUTH-61
        let mock = try Self.old(AuthorizationServerMock.Options())
        try await mock.server.run("auth/2025-03-26-oauth-metadata-backcompat")
        Self.checkOld(mock)
        #expect(mock.metadataPaths == [Self.root + "/mcp", Self.root])
        #expect(mock.issuer.metadataPaths.contains(Self.server))
    }

    @Test("auth/2025-03-26-oauth-endpoint-fallback") func oldEndpoints() async throws {  // AUTH-61
        var options = AuthorizationServerMock.Options()
        options.metadataPath = nil
        let mock = try Self.old(options)
        try await mock.server.run("auth/2025-03-26-oauth-endpoint-fallback")
        Self.checkOld(mock)
    }
}
