import MCPCore
import Synchronization
import TestSupport
import Testing

/// Who the client is at authorization servers, and how it proves that: AUTH-11 to AUTH-17, AUTH-54, AUTH-59.
@Suite("authorization: identity", .timeLimit(.minutes(5))) struct IdentityScenarios {
    @Test("auth/basic-cimd", arguments: ProtectedServer.versions)
    func metadataDocument(_ version: String) async throws {
        var options = AuthorizationServerMock.Options()
        options.acceptsMetadataURLs = true
        let mock = try ProtectedServer(version, issuer: AuthorizationServerMock(options))
        try await mock.run("basic-cimd")
        let id = "https://conformance-test.local/client-metadata.json"
        #expect(mock.issuer.registrations.isEmpty)
        #expect(mock.issuer.authorizations.map { $0["client_id"] } == [id])
        #expect(mock.issuer.tokenRequests.map { $0.form["client_id"] } == [id])
    }

    private static let basic = "Basic " + Base64.encode(Array("mock-client:mock-secret".utf8))

    @Test(
        "auth/token-endpoint-auth", arguments: ["basic", "post", "none"], ProtectedServer.versions)
    func authentication(_ method: String, _ version: String) async throws {
        var options = AuthorizationServerMock.Options()
        options.methods = [method == "none" ? "none" : "client_secret_" + method]
        if method == "none" { options.clientSecret = nil }
        let mock = try ProtectedServer(version, issuer: AuthorizationServerMock(options))
        try await mock.run("token-endpoint-auth-" + method)
        let request = try #require(mock.issuer.tokenRequests.first)
        #expect(request.authorization == (method == "basic" ? Self.basic : nil))
        #expect(request.form["client_secret"] == (method == "post" ? "mock-secret" : nil))
        if method != "basic" { #expect(request.form["client_id"] == "mock-client") }
    }

    @Test("auth/pre-registration", arguments: ProtectedServer.versions)
    func preRegistration(_ version: String) async throws {
        var options = AuthorizationServerMock.Options()
        options.methods = ["client_secret_basic"]
        options.isOpen = false
        let mock = try ProtectedServer(version, issuer: AuthorizationServerMock(options))
        try await mock.run(
            "pre-registration", context: ["client_id": "mock-client", "client_secret": "mock-secret"])
        #expect(!mock.issuer.log.contains("POST /register"))
        #expect(mock.issuer.authorizations.first?["client_id"] == "mock-client")
        #expect(mock.issuer.tokenRequests.first?.authorization == Self.basic)
    }

    @Test("auth/authorization-server-migration", arguments: ProtectedServer.versions)
    func migration(_ version: String) async throws {
        var options = AuthorizationServerMock.Options()
        options.clientID = "first-client-id"
        options.clientSecret = "first-secret"
        options.tokenPrefix = "first-token"
        let first = try AuthorizationServerMock(options)
        options = AuthorizationServerMock.Options()
        options.clientID = "second-client-id"
        let second = try AuthorizationServerMock(options)
        let hasMoved = Mutex(false)
        var server = ProtectedServer.Options()
        server.isOpenToHandshakes = true
        let mock = try ProtectedServer(
            version, server, issuer: first, current: { hasMoved.withLock { $0 } ? second : first },
            accepts: { _, issuer in
                // The first request with a token of the first server is the last one.
                hasMoved.withLock { hasMoved in
                    defer { hasMoved = true }
                    return !hasMoved || issuer === second
                }
            })
        try await mock.server.run("auth/authorization-server-migration")
        for issuer in [first, second] {
            #expect(issuer.faults == [])
            #expect(issuer.registrations.count == 1)
            #expect(issuer.authorizations.count == 1)
            #expect(issuer.tokenRequests.count == 1)
        }
        #expect(second.authorizations.first?["client_id"] == "second-client-id")
        for secret in ["first-client-id", "first-secret", "first-token"] {
            #expect(!second.log.contains(secret))
        }
        #expect(mock.server.calls("test-tool").last?.bearer.flatMap(second.scopes) != nil)
    }

    // MARK: Without a user

    private static func silent(
        _ method: String, _ grant: String,
        refuses: @escaping @Sendable (HTTPPeer.Heard, [String: String]) -> String? = { _, _ in nil }
    ) throws -> ProtectedServer {
        var options = AuthorizationServerMock.Options()
        options.isOpen = false
        options.methods = [method]
        options.grants = [grant]
        options.refuses = { heard, form in
            form["grant_type"] == grant ? refuses(heard, form) : "unsupported_grant_type"
        }
        return try ProtectedServer("2026-07-28", issuer: AuthorizationServerMock(options))
    }

    private static func check(_ mock: ProtectedServer) throws -> AuthorizationServerMock.Form {
        #expect(mock.issuer.authorizations.isEmpty)
        #expect(mock.issuer.tokenRequests.count == 1)
        let form = try #require(mock.issuer.tokenRequests.first?.form)
        #expect(form["resource"] == mock.resource)
        #expect(mock.server.calls("test-tool").last?.bearer.flatMap(mock.issuer.scopes) != nil)
        return form
    }

    @Test("auth/client-credentials-basic") func clientCredentials() async throws {
        let mock = try Self.silent("client_secret_basic", "client_credentials")
        try await mock.server.run(
            "auth/client-credentials-basic",
            context: ["client_id": "mock-client", "client_secret": "mock-secret"])
        let form = try Self.check(mock)
        #expect(form["client_secret"] == nil)
        #expect(mock.issuer.tokenRequests.first?.authorization == Self.basic)
    }

    @Test("auth/client-credentials-jwt") func clientAssertion() async throws {
        let provider = OpenSSLSignatures.system
        guard (try? provider.prepare()) != nil else { return print("skipped: there is no libcrypto") }
        let mock = try Self.silent("private_key_jwt", "client_credentials")
        try await mock.server.run(
            "auth/client-credentials-jwt",
            context: [
                "client_id": "mock-client", "private_key_pem": .string(Self.pem),
                "signing_algorithm": "ES256",
            ])
        let form = try Self.check(mock)
        #expect(
            form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        #expect(form["client_id"] == nil)
        let parts = try #require(form["client_assertion"]).split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let header = try JSONValue(parsing: String(decoding: Self.decoded(parts[0]), as: UTF8.self))
        #expect(header["alg"] == "ES256")
        let claims = try JSONValue(parsing: String(decoding: Self.decoded(parts[1]), as: UTF8.self))
        #expect(claims["iss"] == "mock-client")
        #expect(claims["sub"] == "mock-client")
        // One string, not an array.
        #expect(claims["aud"]?.stringValue == mock.issuer.issuer)
        #expect(claims["jti"]?.isFilled == true)
        let (issued, expires) = (claims["iat"]?.intValue ?? 0, claims["exp"]?.intValue ?? 0)
        #expect((1 ... 300).contains(expires - issued))
        let key = try provider.verifyingKey(provider.signingKey(pem: Self.pem).publicKey)
        let signed = Array("\(parts[0]).\(parts[1])".utf8)
        #expect(try key.isValid(Self.decoded(parts[2]), of: signed, by: .es256))
    }

    private static func decoded(_ part: String) throws -> [UInt8] {
        let text = part.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
        return try #require(Base64.decode(String(text) + padding))
    }

    /// RFC 7515, appendix A.3, as PKCS#8.
    private static let pem = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjpsQnnGQmL+YBIff
        H1136cspYG6+0iY7X1fCE9+E9LKhRANCAAR/zc4ncPbEXUGDy+5v20t7WAczNXvp
        7xO6z248e9FURcfxRM0bvZt+hyzf7bnuufSzaV1uqQskrYpGIyiFiOWt
        -----END PRIVATE KEY-----
        """

    private static let bearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    @Test("auth/wif-jwt-bearer") func workload() async throws {
        let mock = try Self.silent("none", Self.bearer) { _, form in
            form["assertion"] == "a.b.c" ? nil : "invalid_grant"
        }
        try await mock.server.run(
            "auth/wif-jwt-bearer", context: ["client_id": "mock-client", "valid_jwt": "a.b.c"])
        let form = try Self.check(mock)
        #expect(form["client_assertion"] == nil)
    }

    /// No other grant, and no second attempt.
    @Test("auth/wif-jwt-bearer refused") func refusedWorkload() async throws {  // AUTH-59
        let mock = try Self.silent("none", Self.bearer) { _, _ in "invalid_grant" }
        try await mock.server.run(
            "auth/wif-jwt-bearer", context: ["client_id": "mock-client", "valid_jwt": "a.b.c"], code: 1)
        #expect(mock.issuer.tokenRequests.count == 1)
    }
}
