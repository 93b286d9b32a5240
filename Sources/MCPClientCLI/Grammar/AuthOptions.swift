import MCPCore

/// The values of the flags for logins.
struct AuthOptions: Sendable {
    enum Grant: String, Sendable, CaseIterable {
        case code
        case clientCredentials = "client-credentials"
        case jwtBearer = "jwt-bearer"
    }

    var scopes: [String] = []
    var clientID: String?
    var clientSecretEnv: String?
    var clientSecretFile: String?
    var clientKey: String?
    var metadataURL: String?
    var issuer: String?
    var resource = OAuthSettings.Resource.automatic
    var grant = Grant.code
    var assertionFile: String?
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
        case .resource: resource = text == "none" ? .omitted : .exactly(text)
        case .grant: grant = try value.choice()
        case .assertionFile: assertionFile = text
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
        let isValid = scopes.allSatisfy { scope in
            scope.utf8.allSatisfy { (0x21 ... 0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
        }
        if scopes.isEmpty || !isValid {
            throw .usage("--scope \(quoted(value.text)) is not a scope", hint: "for example files:read")
        }
        return scopes
    }
}
