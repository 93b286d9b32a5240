import MCPCore

/// What is known about a login, without its secrets.
struct LoginSummary: Sendable {
    let server: String
    let issuer: String
    let resource: String
    let clientID: String?
    let scopes: [String]
    let expiresAt: Int64?
    let isRenewable: Bool
    let isUsable: Bool
    /// Whether requests to the server use it; false for one that a later login has replaced.
    let isLatest: Bool

    init(_ login: OAuthAuthorizer.Login, server: String) {
        self.server = server
        issuer = login.issuer
        resource = login.resource
        clientID = login.clientID
        scopes = login.scopes
        expiresAt = login.expiresAt
        isRenewable = login.isRenewable
        isUsable = login.isUsable
        isLatest = true
    }

    init(
        _ entry: StoredAuthorization, key: TokenKey, server: String, now: WallTime, isLatest: Bool = true
    ) {
        self.isLatest = isLatest
        self.server = server
        issuer = key.issuer
        resource = key.resource
        clientID = key.client.isEmpty ? entry.registration?.clientID : key.client
        scopes = entry.tokens?.grantedScopes ?? []
        expiresAt = entry.tokens?.expiresAt
        let grant = entry.notes?["grant"].flatMap(AuthOptions.Grant.init)
        isRenewable =
            entry.tokens != nil && (entry.tokens?.refreshToken != nil || grant?.needsUser == false)
        isUsable = entry.tokens != nil && (expiresAt.map { $0 > now.secondsSinceEpoch } ?? true)
    }

    /// Whether a request can be sent without a new login.
    var isGood: Bool { isUsable || isRenewable }

    /// `files:read files:write · 59 min, renews itself`
    func parts(at now: WallTime) -> [String] {
        var parts: [String] = []
        if !scopes.isEmpty { parts.append(inlineText(scopes.joined(separator: " "))) }
        parts.append(validity(at: now))
        return parts
    }

    private func validity(at now: WallTime) -> String {
        let renews = isRenewable ? ", renews itself" : ""
        guard isUsable else { return isRenewable ? "expired" + renews : "no usable token" }
        guard let expiresAt else { return "no known expiry" + renews }
        return Self.rest(expiresAt - now.secondsSinceEpoch) + renews
    }

    private static func rest(_ seconds: Int64) -> String {
        switch seconds {
        case ..<60: "\(max(0, seconds)) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) days"
        }
    }

    func lines(at now: WallTime) -> [String] {
        [
            inlineText(MaskedText.url(server)), "  authorization server: \(inlineText(issuer))",
            "  client: \(clientID.map { inlineText($0) } ?? "none")",
            "  "
                + (parts(at: now) + (isLatest ? [] : ["replaced by a later login"])).joined(separator: " · "),
        ]
    }

    var json: JSONValue {
        var object: JSONObject = [
            "server": .string(server), "issuer": .string(issuer), "resource": .string(resource),
            "scopes": .array(scopes.map { .string($0) }), "renewable": .bool(isRenewable),
            "usable": .bool(isUsable), "latest": .bool(isLatest),
        ]
        if let clientID { object["clientId"] = .string(clientID) }
        if let expiresAt { object["expiresAt"] = .string(WallTime(secondsSinceEpoch: expiresAt).description) }
        return .object(object)
    }
}
