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
    var callbackPort: UInt16 = 0
    var callbackHost = CallbackHost.ipv4
    var opensBrowser = true
    var isForAll = false
    var forgets = false
    var showsToken = false

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
        case .callbackPort: callbackPort = UInt16(try value.number(in: 0 ... 65_535))
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
