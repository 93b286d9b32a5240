import MCPCore
import Synchronization
import TestSupport
import Testing

/// The MCP server of the suite's authorization scenarios: it demands tokens of its authorization servers and
/// serves the metadata of a protected resource.
final class ProtectedServer: Sendable {
    typealias Heard = HTTPPeer.Heard
    typealias Answer = HTTPPeer.Answer

    struct Options: Sendable {
        /// The place of the metadata; nil for none.
        var metadataPath: String? = "/.well-known/oauth-protected-resource/mcp"
        /// Whether the challenge names that place.
        var namesMetadata = true
        /// The resource, made from the origin.
        var resource: @Sendable (String) -> String = { $0 + "/mcp" }
        var scopesSupported: [String]?
        /// The scopes of the challenge for a request without a token.
        var challenged: String?
        /// Whether `initialize` and notifications pass without a token.
        var isOpenToHandshakes = false
        /// The scopes that a request needs.
        var needed: @Sendable (Heard) -> [String] = { _ in [] }
        /// The `scope` of the challenge for a token without them.
        var steppedUp: String?
        /// Whether every request with a token is refused with 403.
        var refusesAlways = false
        /// The proofs that requests need; tokens then have the scheme `DPoP`.
        var proofs: ProofRules?

        var scheme: String { proofs == nil ? "Bearer" : "DPoP" }
    }

    static let versions = ["2025-11-25", "2026-07-28"]

    let issuer: AuthorizationServerMock
    let server: MockServer
    let version: String
    private let refusals: Mutex<Int>

    /// - Parameters:
    ///   - current: the authorization server at the moment, for a server that moves.
    ///   - accepts: whether a token that an authorization server has issued is still good.
    init(
        _ version: String, _ options: Options = Options(),
        issuer: AuthorizationServerMock? = nil,
        current: @escaping @Sendable () -> AuthorizationServerMock? = { nil },
        accepts: @escaping @Sendable (Heard, AuthorizationServerMock) -> Bool = { _, _ in true }
    ) throws {
        self.version = version
        let issuer = try issuer ?? AuthorizationServerMock()
        self.issuer = issuer
        refusals = Mutex(0)
        let isShared = issuer.origin.isEmpty
        server = try MockServer(
            version, capabilities: ["tools": [:]],
            [
                "tools/list": MockServer.tools(MockServer.tool("test-tool")),
                "tools/call": MockServer.text("test"),
            ]
        ) { heard, server in
            if isShared, issuer.origin.isEmpty { issuer.origin = server.bareURL }
            let now = current() ?? issuer
            if heard.path != "/mcp" {
                if heard.method == "GET", heard.path == options.metadataPath {
                    return .json(Self.metadata(options, server.bareURL, now).serialized())
                }
                return isShared ? issuer.answer(heard) : .status(404)
            }
            guard heard.method == "POST" else { return .status(404) }
            return Self.refusal(heard, options, server.bareURL, now, accepts)
        }
    }

    private static func metadata(
        _ options: Options, _ origin: String, _ issuer: AuthorizationServerMock
    ) -> JSONValue {
        var metadata: JSONObject = [
            "resource": .string(options.resource(origin)),
            "authorization_servers": [.string(issuer.issuer)],
        ]
        if let scopes = options.scopesSupported {
            metadata["scopes_supported"] = .array(scopes.map { .string($0) })
        }
        return .object(metadata)
    }

    /// Returns nil for a request that may pass.
    private static func refusal(
        _ heard: Heard, _ options: Options, _ origin: String, _ issuer: AuthorizationServerMock,
        _ accepts: @Sendable (Heard, AuthorizationServerMock) -> Bool
    ) -> Answer? {
        let method = heard.rpcMethod
        if options.isOpenToHandshakes, method == "initialize" || method.hasPrefix("notifications/") {
            return nil
        }
        var place: [String] = []
        if options.namesMetadata, let path = options.metadataPath {
            place = ["resource_metadata=\"\(origin)\(path)\""]
        }
        func challenge(_ status: Int, _ error: String, _ scope: String?) -> Answer {
            var parameters = ["error=\"\(error)\""] + (scope.map { ["scope=\"\($0)\""] } ?? []) + place
            if options.proofs != nil { parameters.append("algs=\"ES256\"") }
            let nonce = error == "use_dpop_nonce" ? options.proofs?.nonce : nil
            return .json(
                #"{"error":"\#(error)"}"#, status: status,
                headers: "WWW-Authenticate: \(options.scheme) \(parameters.joined(separator: ", "))\r\n"
                    + (nonce.map { "DPoP-Nonce: \($0)\r\n" } ?? ""))
        }
        guard let token = heard.token(options.scheme), let scopes = issuer.scopes(of: token),
            accepts(heard, issuer)
        else {
            return challenge(401, "invalid_token", options.challenged)
        }
        switch options.proofs?.check(heard, url: origin + "/mcp", token: token) {
        case .lacksNonce: return challenge(401, "use_dpop_nonce", nil)
        case .bad(let fault): return challenge(401, "invalid_dpop_proof: \(fault)", nil)
        case .good, nil: break
        }
        let lacks = options.needed(heard).contains { !scopes.contains($0) }
        guard options.refusesAlways || lacks else { return nil }
        return challenge(403, "insufficient_scope", options.steppedUp)
    }

    // MARK: Looking back

    var isModern: Bool { version >= "2026-07-28" }
    var resource: String { server.bareURL + "/mcp" }
    /// The paths of the requests for the metadata of the resource, in order.
    var metadataPaths: [String] {
        server.heard.map(\.path).filter { $0.hasPrefix("/.well-known/oauth-protected-resource") }
    }

    /// Runs a scenario that has to succeed, and checks what all of them do.
    func run(
        _ scenario: String, context: JSONValue? = nil, resource: String? = nil, logins: Int = 1,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        try await server.run("auth/" + scenario, context: context, location)
        let resource = resource ?? self.resource
        #expect(issuer.faults == [], sourceLocation: location)
        #expect(issuer.authorizations.count == logins, sourceLocation: location)
        #expect(issuer.tokenRequests.count == logins, sourceLocation: location)
        for form in issuer.authorizations + issuer.tokenRequests.map(\.form) {
            #expect(form["resource"] == resource, sourceLocation: location)
        }
        for registration in issuer.registrations { expect(registration, location) }
        // The call arrived with a token, and none was in a URL.
        let call = try #require(server.calls("test-tool").last, sourceLocation: location)
        #expect(call.bearer.flatMap(issuer.scopes) != nil, sourceLocation: location)
        #expect(!server.heard.contains { $0.query.contains("token") }, sourceLocation: location)
    }

    private func expect(_ registration: JSONValue, _ location: SourceLocation) {
        #expect(registration["client_name"]?.isFilled == true, sourceLocation: location)
        let redirects = registration["redirect_uris"]?.arrayValue ?? []
        #expect(redirects.count == 1, sourceLocation: location)
        #expect(registration["application_type"] == "native", sourceLocation: location)
        let grants = registration["grant_types"]?.arrayValue ?? []
        #expect(grants.contains("authorization_code"), sourceLocation: location)
        #expect(grants.contains("refresh_token"), sourceLocation: location)
    }

    /// Runs a scenario in which the client has to give up.
    func runToFailure(_ scenario: String, _ location: SourceLocation = #_sourceLocation) async throws {
        try await server.run("auth/" + scenario, code: 1, location)
        #expect(server.calls("test-tool").allSatisfy { $0.bearer == nil }, sourceLocation: location)
    }
}
