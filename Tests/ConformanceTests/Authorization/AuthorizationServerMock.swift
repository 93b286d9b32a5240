import MCPCore
import Synchronization
import TestSupport

/// The authorization server that the suite puts beside its mocks: `/authorize` redirects at once.
///
/// It checks each code flow: PKCE with S256, the redirect URI and the client at both ends.
final class AuthorizationServerMock: Sendable {
    typealias Heard = HTTPPeer.Heard
    typealias Answer = HTTPPeer.Answer
    typealias Form = [String: String]

    struct Options: Sendable {
        /// The place of the metadata; nil for none.
        var metadataPath: String? = "/.well-known/oauth-authorization-server"
        /// What follows the origin in the issuer.
        var tenant = ""
        /// The issuer of the metadata, if it is not the right one.
        var foreignIssuer: String?
        var methods = ["none"]
        var grants = ["authorization_code", "refresh_token"]
        var scopes: [String]?
        var isOpen = true
        var acceptsMetadataURLs = false
        var clientID = "mock-client"
        var clientSecret: String? = "mock-secret"
        /// `authorization_response_iss_parameter_supported`.
        var advertisesIssuer: Bool?
        /// The `iss` of a redirect, made from the issuer; nil for none.
        var redirectIssuer: (@Sendable (String) -> String)?
        /// The scopes that are granted although others were asked for.
        var granted: [String]?
        /// Refuses a token request with an OAuth error.
        var refuses: @Sendable (Heard, Form) -> String? = { _, _ in nil }
        var tokenPrefix = "token"
        /// The proofs that token requests need, for tokens that are bound to a key.
        var proofs: ProofRules?
    }

    private struct State {
        var peer: HTTPPeer?
        var origin = ""
        var codes: [String: Form] = [:]
        var tokens: [String: [String]] = [:]
        var authorizations: [Form] = []
        var tokenRequests: [(form: Form, authorization: String?)] = []
        var registrations: [JSONValue] = []
        var faults: [String] = []
        var heard: [Heard] = []
    }

    let options: Options
    private let state = Mutex(State())

    /// - Parameter origin: the origin of the MCP server that answers for it; nil for a port of its own.
    init(_ options: Options = Options(), isAlone: Bool = true) throws {
        self.options = options
        guard isAlone else { return }
        let peer = try HTTPPeer { [weak self] heard in self?.answer(heard) ?? .status(404) }
        let port = peer.endpoint.split(separator: ":").last ?? ""
        state.withLock { state in
            state.peer = peer
            state.origin = "http://localhost:\(port)"
        }
    }

    deinit { state.withLock { $0.peer }?.stop() }

    var origin: String {
        get { state.withLock { $0.origin } }
        set { state.withLock { $0.origin = newValue } }
    }
    var issuer: String { origin + options.tenant }
    var authorizations: [Form] { state.withLock { $0.authorizations } }
    var tokenRequests: [(form: Form, authorization: String?)] { state.withLock { $0.tokenRequests } }
    var registrations: [JSONValue] { state.withLock { $0.registrations } }
    /// What was wrong with the requests.
    var faults: [String] { state.withLock { $0.faults } }
    /// Everything that was received, as text.
    var log: String { state.withLock { $0.heard }.map { "\($0.head)\n\($0.text)" }.joined(separator: "\n") }
    /// The paths of the requests for metadata, in order.
    var metadataPaths: [String] {
        state.withLock { $0.heard }.map(\.path).filter { $0.contains("/.well-known/") }
    }

    /// The scopes of a token; nil if it is not one of this server.
    func scopes(of token: String) -> [String]? { state.withLock { $0.tokens[token] } }

    // MARK: Answers

    func answer(_ heard: Heard) -> Answer {
        state.withLock { $0.heard.append(heard) }
        switch (heard.method, heard.path) {
        case ("GET", options.metadataPath): return .json(metadata.serialized())
        case ("GET", options.tenant + "/authorize"): return authorize(Self.form(heard.query))
        case ("POST", options.tenant + "/token"): return token(heard, Self.form(heard.text))
        case ("POST", options.tenant + "/register") where options.isOpen: return register(heard)
        default: return .status(404)
        }
    }

    private var metadata: JSONValue {
        var metadata: JSONObject = [
            "issuer": .string(options.foreignIssuer ?? issuer),
            "authorization_endpoint": .string(issuer + "/authorize"),
            "token_endpoint": .string(issuer + "/token"), "response_types_supported": ["code"],
            "grant_types_supported": Self.array(options.grants),
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": Self.array(options.methods),
            "token_endpoint_auth_signing_alg_values_supported": ["ES256"],
        ]
        if options.isOpen { metadata["registration_endpoint"] = .string(issuer + "/register") }
        if options.acceptsMetadataURLs { metadata["client_id_metadata_document_supported"] = true }
        if let scopes = options.scopes { metadata["scopes_supported"] = Self.array(scopes) }
        if options.proofs != nil { metadata["dpop_signing_alg_values_supported"] = ["ES256"] }
        if let advertised = options.advertisesIssuer {
            metadata["authorization_response_iss_parameter_supported"] = .bool(advertised)
        }
        return .object(metadata)
    }

    private func register(_ heard: Heard) -> Answer {
        let body = heard.body?.value ?? .null
        state.withLock { $0.registrations.append(body) }
        var answer = body.objectValue ?? [:]
        answer["client_id"] = .string(options.clientID)
        if let secret = options.clientSecret { answer["client_secret"] = .string(secret) }
        answer["token_endpoint_auth_method"] = .string(options.methods[0])
        return .json(JSONValue.object(answer).serialized(), status: 201)
    }

    private func authorize(_ form: Form) -> Answer {
        let number = state.withLock { state in
            state.authorizations.append(form)
            state.codes["code-\(state.authorizations.count)"] = form
            return state.authorizations.count
        }
        expect(form["response_type"] == "code", "response_type")
        expect(form["code_challenge_method"] == "S256", "code_challenge_method")
        expect(form["code_challenge"]?.utf8.count == 43, "code_challenge")
        expect(form["state"]?.isEmpty == false, "state")
        var redirect = "\(form["redirect_uri"] ?? "")?code=code-\(number)"
        redirect += "&state=\(Self.escaped(form["state"] ?? ""))"
        if let issuer = options.redirectIssuer { redirect += "&iss=\(Self.escaped(issuer(self.issuer)))" }
        return .status(302, headers: "Location: \(redirect)\r\n")
    }

    private func token(_ heard: Heard, _ form: Form) -> Answer {
        state.withLock { $0.tokenRequests.append((form, heard.header("authorization"))) }
        if let error = options.refuses(heard, form) { return Self.error(error) }
        if let rules = options.proofs {
            switch rules.check(heard, url: issuer + "/token", token: nil) {
            case .good: break
            case .lacksNonce:
                return Self.error("use_dpop_nonce", headers: "DPoP-Nonce: \(rules.nonce ?? "")\r\n")
            case .bad(let fault):
                expect(false, "proof: \(fault)")
                return Self.error("invalid_dpop_proof")
            }
        }
        var scopes = form["scope"]?.split(separator: " ").map(String.init)
        if form["grant_type"] == "authorization_code" {
            guard let asked = state.withLock({ $0.codes.removeValue(forKey: form["code"] ?? "") }) else {
                expect(false, "code")
                return Self.error("invalid_grant")
            }
            let verifier = form["code_verifier"] ?? ""
            expect((43 ... 128).contains(verifier.utf8.count), "length of code_verifier")
            let digest = Base64URL.encode(Array(SHA256.hash(Array(verifier.utf8)).bytes))
            expect(digest == asked["code_challenge"], "code_verifier")
            expect(form["redirect_uri"] == asked["redirect_uri"], "redirect_uri")
            expect(form["resource"] == asked["resource"], "resource")
            scopes = asked["scope"]?.split(separator: " ").map(String.init)
        }
        let granted = options.granted ?? scopes ?? []
        let token = state.withLock { state in
            let token = "\(options.tokenPrefix)-\(state.tokenRequests.count)"
            state.tokens[token] = granted
            return token
        }
        var answer: JSONObject = [
            "access_token": .string(token), "token_type": options.proofs == nil ? "Bearer" : "DPoP",
            "expires_in": 3600,
        ]
        if !granted.isEmpty { answer["scope"] = .string(granted.joined(separator: " ")) }
        return .json(JSONValue.object(answer).serialized(), headers: "Cache-Control: no-store\r\n")
    }

    private static func error(_ code: String, headers: String = "") -> Answer {
        .json(
            #"{"error":"\#(code)","error_description":"the mock refuses"}"#, status: 400, headers: headers)
    }

    private func expect(_ isRight: Bool, _ what: String) {
        if !isRight { state.withLock { $0.faults.append(what) } }
    }

    // MARK: Forms

    static func form(_ text: String) -> Form {
        var form: Form = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let plain = parts.map { String($0).replacing("+", with: " ") }
            form[PercentCoding.decode(plain[0].utf8) ?? ""] =
                plain.count > 1 ? PercentCoding.decode(plain[1].utf8) : ""
        }
        return form
    }

    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            let isPlain = byte < 0x80 && (character.isLetter || character.isNumber)
            return isPlain ? String(character) : "%" + Hex.encode([byte]).uppercased()
        }.joined()
    }

    private static func array(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
}

extension String {
    fileprivate func replacing(_ character: Character, with other: Character) -> String {
        String(map { $0 == character ? other : $0 })
    }
}

extension HTTPPeer.Heard {
    private var target: Substring {
        head.split(separator: " ", maxSplits: 2).dropFirst().first ?? ""
    }
    var path: String { String(target.prefix { $0 != "?" }) }
    var query: String { String(target.drop { $0 != "?" }.dropFirst()) }
    /// The token of the `Authorization` field.
    var bearer: String? { token("Bearer") }

    func token(_ scheme: String) -> String? {
        guard let field = header("authorization"), field.hasPrefix(scheme + " ") else { return nil }
        return String(field.dropFirst(scheme.count + 1))
    }
}
