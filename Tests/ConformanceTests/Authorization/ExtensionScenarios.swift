import MCPCore
import Synchronization
import TestSupport
import Testing

/// Scenarios of extensions: an organization's identity provider (AUTH-56), and bound tokens (AUTH-57).
@Suite("authorization: extensions", .timeLimit(.minutes(5))) struct ExtensionScenarios {
    // MARK: Enterprise-managed authorization

    private static let exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    private static let bearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    private static let types = "urn:ietf:params:oauth:token-type:"

    /// The token endpoint of an identity provider, and the forms that it received.
    private final class IdentityProvider: Sendable {
        private let forms = Mutex<[AuthorizationServerMock.Form]>([])
        private let peer = Mutex<HTTPPeer?>(nil)

        init(issues type: String) throws {
            let peer = try HTTPPeer { [weak self] heard in
                self?.forms.withLock { $0.append(AuthorizationServerMock.form(heard.text)) }
                return .json(
                    #"{"access_token":"id-jag","token_type":"N_A","expires_in":300,"#
                        + #""issued_token_type":"\#(type)"}"#)
            }
            self.peer.withLock { $0 = peer }
        }

        deinit { peer.withLock { $0 }?.stop() }

        var received: [AuthorizationServerMock.Form] { forms.withLock { $0 } }
        var endpoint: String { "http://\(peer.withLock { $0 }?.endpoint ?? "")/token" }
    }

    private static func enterprise(
        _ idp: IdentityProvider, code: Int32 = 0
    ) async throws -> ProtectedServer {
        var options = AuthorizationServerMock.Options()
        options.isOpen = false
        options.methods = ["client_secret_basic"]
        options.grants = [bearer]
        options.refuses = { _, form in
            form["grant_type"] == bearer && form["assertion"] == "id-jag" ? nil : "invalid_grant"
        }
        let mock = try ProtectedServer("2026-07-28", issuer: AuthorizationServerMock(options))
        try await mock.server.run(
            "auth/enterprise-managed-authorization",
            context: [
                "client_id": "mock-client", "client_secret": "mock-secret",
                "idp_client_id": "client-at-idp", "idp_id_token": "id-token-of-person",
                "idp_token_endpoint": .string(idp.endpoint),
            ], code: code)
        return mock
    }

    // AUTH-56
    @Test("auth/enterprise-managed-authorization") func enterprise() async throws {
        let idp = try IdentityProvider(issues: Self.types + "id-jag")
        let mock = try await Self.enterprise(idp)
        let exchange = try #require(idp.received.first)
        #expect(idp.received.count == 1)
        #expect(exchange["grant_type"] == Self.exchange)
        #expect(exchange["requested_token_type"] == Self.types + "id-jag")
        #expect(exchange["audience"] == mock.issuer.issuer)
        #expect(exchange["resource"] == mock.resource)
        #expect(exchange["subject_token"] == "id-token-of-person")
        #expect(exchange["subject_token_type"] == Self.types + "id_token")
        #expect(exchange["client_id"] == "client-at-idp")
        #expect(mock.issuer.authorizations.isEmpty)
        #expect(mock.issuer.tokenRequests.count == 1)
        let request = try #require(mock.issuer.tokenRequests.first)
        #expect(request.authorization == "Basic " + Base64.encode(Array("mock-client:mock-secret".utf8)))
        #expect(request.form["resource"] == mock.resource)
        #expect(mock.server.calls("test-tool").last?.bearer.flatMap(mock.issuer.scopes) != nil)
        // What belongs to the identity provider stays there.
        for secret in ["id-token-of-person", "client-at-idp"] { #expect(!mock.issuer.log.contains(secret)) }
    }

    // AUTH-56
    @Test("auth/enterprise-managed-authorization: another token than an assertion is not used")
    func wrongAssertion() async throws {
        let idp = try IdentityProvider(issues: Self.types + "access_token")
        let mock = try await Self.enterprise(idp, code: 1)
        #expect(mock.issuer.tokenRequests.isEmpty)
    }

    // MARK: DPoP

    private static func bound(
        _ version: String, issuer: ProofRules, server: ProofRules
    ) throws -> ProtectedServer {
        var options = AuthorizationServerMock.Options()
        options.proofs = issuer
        var protected = ProtectedServer.Options()
        protected.proofs = server
        return try ProtectedServer(version, protected, issuer: AuthorizationServerMock(options))
    }

    private static var hasLibrary: Bool {
        if (try? OpenSSLSignatures.system.prepare()) != nil { return true }
        print("skipped: there is no libcrypto")
        return false
    }

    private static func check(_ mock: ProtectedServer, _ issuer: ProofRules, _ server: ProofRules) {
        #expect(mock.issuer.faults == [])
        #expect(mock.issuer.authorizations.count == 1)
        #expect(issuer.keys.count == 1 && issuer.keys == server.keys)
        let posts = mock.server.posts.dropFirst()
        #expect(posts.allSatisfy { $0.bearer == nil && $0.token("DPoP") != nil && $0.header("dpop") != nil })
        #expect(server.count == posts.count)
        #expect(mock.server.calls("test-tool").last?.token("DPoP").flatMap(mock.issuer.scopes) != nil)
    }

    // AUTH-57
    @Test("auth/dpop", arguments: ProtectedServer.versions) func dpop(_ version: String) async throws {
        guard Self.hasLibrary else { return }
        let (issuer, server) = (ProofRules(), ProofRules())
        let mock = try Self.bound(version, issuer: issuer, server: server)
        try await mock.server.run("auth/dpop")
        Self.check(mock, issuer, server)
        #expect(mock.issuer.tokenRequests.count == 1)
    }

    // AUTH-57
    @Test("auth/dpop-nonce", arguments: ProtectedServer.versions) func nonces(_ version: String) async throws
    {
        guard Self.hasLibrary else { return }
        let (issuer, server) = (ProofRules(nonce: "nonce-of-issuer"), ProofRules(nonce: "nonce-of-server"))
        let mock = try Self.bound(version, issuer: issuer, server: server)
        try await mock.server.run("auth/dpop-nonce")
        Self.check(mock, issuer, server)
        // The same code with a new proof.
        let requests = mock.issuer.tokenRequests
        #expect(requests.count == 2)
        #expect(Set(requests.map { $0.form["code"] }).count == 1)
        #expect(issuer.count == 2)
    }
}
