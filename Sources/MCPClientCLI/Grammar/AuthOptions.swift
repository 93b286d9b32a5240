import MCPCore

/// The values of the flags for logins.
struct AuthOptions: Sendable {
    enum Grant: String, Sendable, CaseIterable {
        case code
        case clientCredentials = "client-credentials"
        case jwtBearer = "jwt-bearer"
        case enterprise
        case device

        /// Whether somebody has to log in.
        var needsUser: Bool { self == .code || self == .device }
    }

    enum KeyBinding: String, Sendable, CaseIterable { case auto, always, never }

    var scopes: [String] = []
    var clientID: String?
    /// The secret of a configured server's client; the flags name where one is.
    var configuredSecret: Redacted<String>?
    var clientSecretEnv: String?
    var clientSecretFile: String?
    var clientKey: String?
    var metadataURL: String?
    var issuer: String?
    /// The resource parameter; `none` for none.
    var resource: String?
    /// How tokens are obtained; nil for `code`.
    var grant: Grant?
    var assertionFile: String?
    var idpTokenEndpoint: String?
    var idTokenFile: String?
    var idpClientID: String?
    var idpSecretEnv: String?
    var idpSecretFile: String?
    var dpop: KeyBinding?
    /// The directory of the logins, or `memory`; nil for the usual one.
    var store: String?
    /// The ports of the redirect URI, of which the first that is free is used; empty for any.
    var callbackPorts: [UInt16] = []
    var callbackHost = CallbackHost.ipv4
    var opensBrowser = true
    var isForAll = false
    var forgets = false
    var showsToken = false

    /// Returns what is wrong with the login of a configured server.
    static func problem(of login: ServerLogin) -> String? {
        if let grant = login.grant, Grant(rawValue: grant) == nil {
            let names = Grant.allCases.map(\.rawValue).joined(separator: ", ")
            return "grant is \(quoted(grant)), not one of \(names)"
        }
        let wrong = login.scopes.first { !ScopeSyntax.isScope($0) }
        return wrong.map { "scopes contains \(quoted($0)), which is not a scope" }
    }

    /// Completes the flags by what the configuration of a server says. The command line wins, and another
    /// client there has no secret from here.
    mutating func complete(by login: ServerLogin) {
        if clientID == nil || clientID == login.clientID {
            clientID = login.clientID ?? clientID
            configuredSecret = login.clientSecret.map { Redacted($0) }
        }
        if scopes.isEmpty { scopes = login.scopes }
        issuer = issuer ?? login.issuer
        resource = resource ?? login.resource
        grant = grant ?? login.grant.flatMap(Grant.init)
        if callbackPorts.isEmpty { callbackPorts = login.callbackPorts }
    }

    mutating func apply(_ flag: AuthFlag, _ value: FlagValue) throws(Failure) {
        if flag.row.value != nil { _ = try value.nonEmpty() }
        let text = value.text
        switch flag {
        case .scope: scopes += try Self.scopes(value)
        case .clientID: clientID = text
        case .clientSecretEnv: clientSecretEnv = text
        case .clientSecretFile: clientSecretFile = text
        case .clientKey: clientKey = text
        case .metadataURL: metadataURL = text
        case .issuer: issuer = text
        case .resource: resource = text
        case .grant: grant = try value.choice()
        case .assertionFile: assertionFile = text
        case .idpTokenEndpoint: idpTokenEndpoint = text
        case .idTokenFile: idTokenFile = text
        case .idpClientID: idpClientID = text
        case .idpSecretEnv: idpSecretEnv = text
        case .idpSecretFile: idpSecretFile = text
        case .dpop: dpop = try value.choice()
        case .store: store = text
        case .callbackPort: callbackPorts.append(UInt16(try value.number(in: 0 ... 65_535)))
        case .callbackHost: callbackHost = try value.choice()
        case .noBrowser: opensBrowser = false
        case .all: isForAll = true
        case .forget: forgets = true
        case .show: showsToken = true
        }
    }

    /// The scopes between spaces; RFC 6749, section 3.3.
    private static func scopes(_ value: FlagValue) throws(Failure) -> [String] {
        let scopes = value.text.split(separator: " ").map(String.init)
        if scopes.isEmpty || !scopes.allSatisfy({ ScopeSyntax.isScope($0) }) {
            throw .usage(
                "--scope \(quoted(value.text)) is not a scope",
                details: ["a scope has at most 256 visible ASCII characters other than \" and \\"],
                hint: "for example files:read")
        }
        return scopes
    }
}
