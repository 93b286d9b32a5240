import MCPCore
import Synchronization

/// An authorization server and the MCP server that it belongs to, in this process: metadata of both,
/// registration, logins that succeed at once, tokens with rotation and detection of reuse, revocation.
///
/// The MCP server is at `/mcp` of the same address and refuses requests without a good token.
package final class TestAuthorizationServer: Sendable {
    /// What it does differently from a good server.
    package struct Knobs: Sendable {
        /// The path of the issuer: empty or `/tenant`.
        package var issuerPath = ""
        /// The issuer in its metadata, if it is another one.
        package var metadataIssuer: String?
        /// The origin of the endpoints to which clients send secrets, if it is another one.
        package var endpointOrigin: String?
        /// The only path of its metadata; nil for that of RFC 8414.
        package var metadataPath: String?
        /// The paths of the metadata of the MCP server; nil for those that belong to `/mcp`.
        package var resourcePaths: [String]?
        /// The resource in the metadata of the MCP server; nil for the right one.
        package var resource: String?
        /// The authorization servers in the metadata of the MCP server; nil for this one.
        package var authorizationServers: [String]?
        package var resourceScopes: [String]?
        package var scopes: [String]?
        /// The scopes that it registers clients for, whose logins it limits to those; nil for any.
        package var registrableScopes: [String]?
        /// The scope that the MCP server requires, and names in words only.
        package var requiredScope: String?
        package var challengeMethods: [String]? = ["S256"]
        package var tokenMethods: [String]?
        package var registers = true
        package var revokes = true
        /// Whether a revocation has to have the secret in its form, beside the header field.
        package var revokesByForm = false
        package var supportsMetadataURLs = false
        package var sendsIssuer = false
        /// The issuer in redirects; nil for none.
        package var redirectIssuer: String?
        /// The error in redirects.
        package var redirectError: String?
        /// The status of each token response, if they fail.
        package var tokenStatus: Int?
        /// Whether it refuses each token request, and repeats what was sent.
        package var repeatsSecrets = false
        /// The lifetime of access tokens in seconds; nil for one that is not told.
        package var lifetime: Int? = 3_600
        package var issuesRefreshTokens = true
        /// Whether each token response has the same access token.
        package var repeatsTokens = false
        /// The error in token responses that also have a token.
        package var errorBesideToken: String?
        /// Whether the scopes of the request are granted; none otherwise.
        package var grantsScopes = true
        /// The scope in the challenge of the MCP server.
        package var challengeScope: String?
        /// Whether the challenge of the MCP server names its metadata.
        package var namesMetadata = true

        /// Whether it binds tokens to keys, and demands a nonce for each proof.
        package var bindsTokens = false
        /// Whether it drops the binding that was asked for.
        package var dropsBinding = false
        /// The type of token that the identity provider issues.
        package var issuedTokenType = "urn:ietf:params:oauth:token-type:id-jag"

        /// The errors with which it answers token requests of devices, in order; then it issues tokens.
        package var deviceErrors: [String]?
        /// The time between token requests of a device, in seconds.
        package var deviceInterval = 5
        /// Whether the MCP server takes no POST at its URL, as those of 2024-11-05.
        package var takesOnlyGet = false
        /// Whether the MCP server refuses all tokens.
        package var refusesTokens = false

        package init() {}
    }

    /// A request that has arrived.
    package struct Entry: Sendable {
        package let method: String
        package let path: String
        package let authorization: String?
        package let proof: String?
        /// The value of `MCP-Protocol-Version`.
        package let revision: String?
        /// The members of the query or the form.
        package let members: [String: String]
        package let body: String

        /// All bytes of the request that a test may search for.
        package var text: String { "\(path) \(authorization ?? "") \(members) \(body)" }
    }

    private struct Code {
        let client: String
        let challenge: String
        let redirectURI: String
        let scope: String
    }

    private struct State {
        var knobs = Knobs()
        var log: [Entry] = []
        var clients: [String: String] = [:]
        var codes: [String: Code] = [:]
        /// Refresh tokens with their scopes; a used one has none.
        var refreshTokens: [String: String?] = [:]
        var accessTokens: Set<String> = []
        /// The scopes of access tokens, and those that clients are registered for.
        var granted: [String: String] = [:]
        var registered: [String: String] = [:]
        var last = 0
    }

    private let state = Mutex(State())
    private let server: HTTPServer
    /// `http://127.0.0.1:PORT`.
    package let origin: String

    /// Starts a server on a free port of 127.0.0.1.
    package init(_ knobs: Knobs = Knobs()) throws {
        var options = HTTPServerOptions()
        options.loops = 1
        options.drainTimeout = .seconds(1)
        server = try HTTPServer(on: [.tcp(port: 0)], options: options)
        origin = "http://127.0.0.1:\(server.addresses.first?.port ?? 0)"
        state.withLock { $0.knobs = knobs }
        try server.start(Door(self))
    }

    package func stop() async { await server.stop() }

    // MARK: What tests see and change

    package var url: String { origin + "/mcp" }
    package var issuer: String { origin + state.withLock { $0.knobs.issuerPath } }
    package var log: [Entry] { state.withLock { $0.log } }
    package func clearLog() { state.withLock { $0.log = [] } }
    package func set(_ change: (inout Knobs) -> Void) { state.withLock { change(&$0.knobs) } }

    /// The requests for a path.
    package func requests(_ path: String) -> [Entry] { log.filter { $0.path == path } }
    /// The paths in order.
    package var paths: [String] { log.map(\.path) }
    /// The token requests with a grant.
    package func grants(_ type: String) -> [Entry] {
        requests("/token").filter { $0.members["grant_type"] == type }
    }

    /// Adds a client that was registered beforehand.
    package func addClient(_ id: String, secret: String) { state.withLock { $0.clients[id] = secret } }
    /// Forgets all clients, as after a restart with an empty database.
    package func forgetClients() { state.withLock { $0.clients = [:] } }
    package func isActive(_ token: String) -> Bool { state.withLock { $0.accessTokens.contains(token) } }
    /// Ends all access tokens.
    package func expireTokens() { state.withLock { $0.accessTokens = [] } }
    /// Ends all refresh tokens.
    package func dropRefreshTokens() { state.withLock { $0.refreshTokens = [:] } }

    /// The fields of the challenge that the MCP server sends now.
    package func challenges(error: String? = nil, scope: String? = nil) -> [String] {
        let knobs = state.withLock { $0.knobs }
        var parts: [String] = []
        if let error { parts.append("error=\"\(error)\"") }
        if let scope = scope ?? knobs.challengeScope { parts.append("scope=\"\(scope)\"") }
        if knobs.namesMetadata {
            let path = knobs.resourcePaths?.first ?? "/.well-known/oauth-protected-resource/mcp"
            parts.append("resource_metadata=\"\(origin)\(path)\"")
        }
        return ["Bearer " + parts.joined(separator: ", ")]
    }

    // MARK: Requests

    /// A handler that does not keep its server alive.
    private final class Door: HTTPRequestHandler {
        private weak let owner: TestAuthorizationServer?

        init(_ owner: TestAuthorizationServer) { self.owner = owner }

        func respond(to request: HTTPRequest) async -> HTTPResponse {
            owner?.respond(to: request) ?? HTTPResponse(status: 503)
        }
    }

    private func respond(to request: HTTPRequest) -> HTTPResponse {
        let body = String(request.body)
        let form = HTTPRequest(method: "GET", target: "/?" + body).query
        let isForm = request.headers["Content-Type"]?.hasPrefix("application/x-www-form-urlencoded") == true
        let members = Dictionary(
            (isForm ? form : request.query).map { ($0.name, $0.value) },
            uniquingKeysWith: { first, _ in first })
        let entry = Entry(
            method: request.method, path: request.path, authorization: request.headers["Authorization"],
            proof: request.headers["DPoP"], revision: request.headers["MCP-Protocol-Version"],
            members: members, body: body)
        return state.withLock { state in
            state.log.append(entry)
            return answer(entry, &state)
        }
    }

    private func answer(_ entry: Entry, _ state: inout State) -> HTTPResponse {
        let knobs = state.knobs
        switch entry.path {
        case "/mcp": return mcp(entry, state)
        case "/authorize": return authorize(entry, &state)
        case "/token": return token(entry, &state)
        case "/device": return device(knobs)
        case "/idp/token": return exchange(knobs)
        case "/register" where knobs.registers: return register(entry, &state)
        case "/revoke" where knobs.revokes: return revoke(entry, &state)
        case let path where isMetadata(path, knobs): return Self.json(metadata(knobs))
        case let path where isResource(path, knobs): return Self.json(resource(knobs))
        default: return HTTPResponse(status: 404)
        }
    }

    // MARK: Metadata

    private func isMetadata(_ path: String, _ knobs: Knobs) -> Bool {
        path == knobs.metadataPath ?? "/.well-known/oauth-authorization-server" + knobs.issuerPath
    }

    private func isResource(_ path: String, _ knobs: Knobs) -> Bool {
        (knobs.resourcePaths ?? ["/.well-known/oauth-protected-resource/mcp"]).contains(path)
    }

    private func metadata(_ knobs: Knobs) -> JSONObject {
        let place = knobs.endpointOrigin ?? origin
        var members: JSONObject = [
            "issuer": .string(knobs.metadataIssuer ?? origin + knobs.issuerPath),
            "authorization_endpoint": .string(origin + "/authorize"),
            "token_endpoint": .string(place + "/token"), "response_types_supported": ["code"],
        ]
        if knobs.registers { members["registration_endpoint"] = .string(place + "/register") }
        if knobs.revokes { members["revocation_endpoint"] = .string(place + "/revoke") }
        if knobs.supportsMetadataURLs { members["client_id_metadata_document_supported"] = true }
        if knobs.bindsTokens { members["dpop_signing_alg_values_supported"] = ["ES256"] }
        if knobs.deviceErrors != nil {
            members["device_authorization_endpoint"] = .string(origin + "/device")
        }
        if knobs.sendsIssuer { members["authorization_response_iss_parameter_supported"] = true }
        members["code_challenge_methods_supported"] = Self.array(knobs.challengeMethods)
        members["token_endpoint_auth_methods_supported"] = Self.array(knobs.tokenMethods)
        members["scopes_supported"] = Self.array(knobs.scopes)
        return members
    }

    private func resource(_ knobs: Knobs) -> JSONObject {
        var members: JSONObject = ["resource": .string(knobs.resource ?? url)]
        members["authorization_servers"] = Self.array(
            knobs.authorizationServers ?? [origin + knobs.issuerPath])
        members["scopes_supported"] = Self.array(knobs.resourceScopes)
        return members
    }

    private static func array(_ texts: [String]?) -> JSONValue? {
        texts.map { .array($0.map { .string($0) }) }
    }

    // MARK: Endpoints

    private func mcp(_ entry: Entry, _ state: State) -> HTTPResponse {
        if state.knobs.takesOnlyGet, entry.method == "POST" { return HTTPResponse(status: 405) }
        let token = entry.authorization.map { String($0.drop { $0 != " " }.dropFirst()) }
        if let token, state.accessTokens.contains(token), !state.knobs.refusesTokens {
            if let scope = state.knobs.requiredScope, !Self.words(state.granted[token]).contains(scope) {
                return tooFewScopes(scope)
            }
            return Self.json(["jsonrpc": "2.0", "id": 1])
        }
        var headers = HeaderFields()
        let knobs = state.knobs
        var parts: [String] = []
        if let scope = knobs.challengeScope { parts.append("scope=\"\(scope)\"") }
        if knobs.namesMetadata {
            let path = knobs.resourcePaths?.first ?? "/.well-known/oauth-protected-resource/mcp"
            parts.append("resource_metadata=\"\(origin)\(path)\"")
        }
        try? headers.append("WWW-Authenticate", "Bearer " + parts.joined(separator: ", "))
        return HTTPResponse(status: 401, headers: headers)
    }

    private func tooFewScopes(_ scope: String) -> HTTPResponse {
        var headers = HeaderFields()
        let description = "error_description=\"Required scope: \(scope)\""
        try? headers.append("WWW-Authenticate", "Bearer error=\"insufficient_scope\", \(description)")
        return HTTPResponse(status: 403, headers: headers)
    }

    private static func words(_ text: String?) -> [String] {
        (text ?? "").split(separator: " ").map(String.init)
    }

    private func authorize(_ entry: Entry, _ state: inout State) -> HTTPResponse {
        let members = entry.members
        let redirectURI = members["redirect_uri"] ?? ""
        var answer: [(String, String)] = [("state", members["state"] ?? "")]
        let known = Self.words(state.registered[members["client_id"] ?? ""])
        if state.knobs.registrableScopes != nil,
            let other = Self.words(members["scope"]).first(where: { !known.contains($0) })
        {
            let text = "Client was not registered with scope \(other)"
            answer += [("error", "invalid_scope"), ("error_description", text)]
        } else if let error = state.knobs.redirectError {
            answer += [("error", error), ("error_description", "text of the error")]
        } else {
            let code = Self.next("code", &state)
            state.codes[code] = Code(
                client: members["client_id"] ?? "", challenge: members["code_challenge"] ?? "",
                redirectURI: redirectURI, scope: members["scope"] ?? "")
            answer.append(("code", code))
        }
        if let issuer = state.knobs.redirectIssuer { answer.append(("iss", issuer)) }
        let query = answer.map { "\($0.0)=\(Self.encoded($0.1))" }.joined(separator: "&")
        var headers = HeaderFields()
        try? headers.append("Location", "\(redirectURI)?\(query)")
        return HTTPResponse(status: 302, headers: headers)
    }

    private func register(_ entry: Entry, _ state: inout State) -> HTTPResponse {
        let scope = (try? JSONValue(parsing: entry.body))?["scope"]?.stringValue
        if let known = state.knobs.registrableScopes,
            let other = Self.words(scope).first(where: { !known.contains($0) })
        {
            let text = "Requested scopes are not valid: \(other)"
            return Self.json(
                ["error": "invalid_client_metadata", "error_description": .string(text)], status: 400)
        }
        let id = Self.next("client", &state)
        state.registered[id] = scope
        state.clients[id] = "secret-of-\(id)"
        var members: JSONObject = ["client_id": .string(id)]
        if state.knobs.tokenMethods?.contains("none") == false {
            members["client_secret"] = .string("secret-of-\(id)")
        }
        return Self.json(members, status: 201)
    }

    private func token(_ entry: Entry, _ state: inout State) -> HTTPResponse {
        if let status = state.knobs.tokenStatus { return HTTPResponse(status: status) }
        if state.knobs.repeatsSecrets {
            let sent = ["code", "code_verifier"].map { "\($0) \(entry.members[$0] ?? "")" }
            return Self.json(
                [
                    "error": "invalid_grant",
                    "error_description": .string(sent.joined(separator: ", ") + " are not good"),
                ], status: 400)
        }
        if entry.proof != nil, state.knobs.bindsTokens, !hasNonce(entry) {
            var answer = Self.error("use_dpop_nonce")
            try? answer.headers.append("DPoP-Nonce", "nonce-of-as")
            return answer
        }
        guard let client = client(entry, state) else { return Self.error("invalid_client", status: 401) }
        let scope: String
        switch entry.members["grant_type"] {
        case "authorization_code":
            guard let code = state.codes.removeValue(forKey: entry.members["code"] ?? ""),
                code.client == client, code.redirectURI == entry.members["redirect_uri"],
                code.challenge == Self.challenge(entry.members["code_verifier"] ?? "")
            else { return Self.error("invalid_grant") }
            scope = code.scope
        case "refresh_token":
            let presented = entry.members["refresh_token"] ?? ""
            guard let known = state.refreshTokens[presented] else { return Self.error("invalid_grant") }
            guard let known else {
                // A token that was used before ends all of them (RFC 9700, section 4.14.2).
                (state.refreshTokens, state.accessTokens) = ([:], [])
                return Self.error("invalid_grant")
            }
            state.refreshTokens[presented] = .some(nil)
            scope = known
        case "client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer":
            scope = entry.members["scope"] ?? ""
        case "urn:ietf:params:oauth:grant-type:device_code":
            if state.knobs.deviceErrors?.isEmpty == false {
                return Self.error(state.knobs.deviceErrors?.removeFirst() ?? "")
            }
            scope = ""
        default: return Self.error("unsupported_grant_type")
        }
        let isBound = entry.proof != nil && !state.knobs.dropsBinding
        return issue(scope, isBound ? "DPoP" : "bearer", &state)
    }

    private func hasNonce(_ entry: Entry) -> Bool {
        let claims = entry.proof?.split(separator: ".").dropFirst().first.map { String($0) } ?? ""
        let padded = claims.replacing("-", with: "+").replacing("_", with: "/")
        let fill = String(repeating: "=", count: (4 - padded.count % 4) % 4)
        let text = String(decoding: Base64.decode(padded + fill) ?? [], as: UTF8.self)
        return text.contains("nonce-of-as")
    }

    private func device(_ knobs: Knobs) -> HTTPResponse {
        Self.json([
            "device_code": "device-1", "user_code": "ABCD-EFGH", "expires_in": 600,
            "interval": JSONValue(knobs.deviceInterval),
            "verification_uri": .string(origin + "/enter"),
        ])
    }

    /// The token endpoint of an identity provider (RFC 8693).
    private func exchange(_ knobs: Knobs) -> HTTPResponse {
        Self.json([
            "access_token": "assertion-of-idp", "token_type": "N_A",
            "issued_token_type": .string(knobs.issuedTokenType),
        ])
    }

    private func issue(_ scope: String, _ type: String, _ state: inout State) -> HTTPResponse {
        let access = state.knobs.repeatsTokens ? "access" : Self.next("access", &state)
        state.accessTokens.insert(access)
        state.granted[access] = scope
        var members: JSONObject = ["access_token": .string(access), "token_type": .string(type)]
        if let lifetime = state.knobs.lifetime { members["expires_in"] = JSONValue(lifetime) }
        if state.knobs.issuesRefreshTokens {
            let refresh = Self.next("refresh", &state)
            state.refreshTokens[refresh] = scope
            members["refresh_token"] = .string(refresh)
        }
        if !state.knobs.grantsScopes { members["scope"] = "" }
        if let error = state.knobs.errorBesideToken { members["error"] = .string(error) }
        return Self.json(members)
    }

    /// The client that a request authenticates, by any method; nil for an unknown one.
    private func client(_ entry: Entry, _ state: State) -> String? {
        if let text = entry.authorization?.split(separator: " ").last.map({ String($0) }),
            let bytes = Base64.decode(text)
        {
            let parts = String(decoding: bytes, as: UTF8.self).split(separator: ":", maxSplits: 1)
            guard parts.count == 2, state.clients[Self.decoded(parts[0])] == Self.decoded(parts[1]) else {
                return nil
            }
            return Self.decoded(parts[0])
        }
        if entry.members["client_assertion"] != nil { return "" }
        guard let id = entry.members["client_id"] else { return nil }
        if id.hasPrefix("https://") { return id }
        guard let secret = state.clients[id] else { return nil }
        return entry.members["client_secret"].map { $0 == secret } ?? true ? id : nil
    }

    private func revoke(_ entry: Entry, _ state: inout State) -> HTTPResponse {
        let hasBoth = entry.members["client_secret"] != nil && entry.authorization != nil
        if state.knobs.revokesByForm, !hasBoth {
            return Self.json(["error": "invalid_request"], status: 400)
        }
        let token = entry.members["token"] ?? ""
        state.accessTokens.remove(token)
        state.refreshTokens[token] = nil
        return HTTPResponse(status: 200)
    }

    // MARK: Helpers

    private static func next(_ name: String, _ state: inout State) -> String {
        state.last += 1
        return "\(name)-\(state.last)"
    }

    private static func challenge(_ verifier: String) -> String {
        Base64URL.encode(SHA256.hash(Array(verifier.utf8)).bytes)
    }

    private static func json(_ members: JSONObject, status: Int = 200) -> HTTPResponse {
        var headers = HeaderFields()
        try? headers.append("Content-Type", "application/json")
        let body = JSONValue.object(members).serialized()
        return HTTPResponse(status: status, headers: headers, body: .bytes(Array(body.utf8)))
    }

    private static func error(_ code: String, status: Int = 400) -> HTTPResponse {
        json(["error": .string(code)], status: status)
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain =
                byte == 0x2D || (0x30 ... 0x39).contains(byte) || (0x61 ... 0x7A).contains(byte | 0x20)
            return isPlain ? String(Unicode.Scalar(byte)) : "%" + Hex.encode([byte])
        }.joined()
    }

    private static func decoded(_ text: Substring) -> String {
        HTTPRequest(method: "GET", target: "/?x=\(text)").query.first?.value ?? ""
    }
}
