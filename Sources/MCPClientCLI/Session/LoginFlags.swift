import MCPCore

/// The flags of a login with their meaning for the library: files and variables are read here.
///
/// A login stores where its secrets came from, never the secrets, so that later commands without flags can
/// renew its tokens.
struct LoginFlags {
    private let environment: CommandEnvironment
    private let options: Options
    private var flags: AuthOptions
    /// Whether `flags` are those of a stored login, whose files may have gone.
    private var isCompleted = false

    init(environment: CommandEnvironment, options: Options) {
        self.environment = environment
        self.options = options
        flags = options.auth
        flags.clientID =
            flags.clientID ?? environment.variable("MCP_CLIENT_ID").flatMap { $0.isEmpty ? nil : $0 }
        flags.clientKey = flags.clientKey ?? environment.variable(Self.keyVariable)
        flags.assertionFile = flags.assertionFile ?? environment.variable(Self.assertionVariable)
    }

    private static let keyVariable = "MCP_CLIENT_KEY_FILE"
    private static let assertionVariable = "MCP_ASSERTION_FILE"
    /// The variables that name files of logins.
    static let fileVariables = [keyVariable, assertionVariable]

    var grant: AuthOptions.Grant { flags.grant ?? .code }

    /// Makes it a login of a person with a browser, whatever else the flags say.
    mutating func asksPerson() { flags.grant = .code }

    // MARK: Stored logins

    /// The members of the notes.
    private static var files: [(name: String, path: WritableKeyPath<AuthOptions, String?>)] {
        [
            ("clientSecretFile", \.clientSecretFile), ("clientKey", \.clientKey),
            ("assertionFile", \.assertionFile), ("idTokenFile", \.idTokenFile),
            ("idpClientSecretFile", \.idpSecretFile),
        ]
    }
    private static var texts: [(name: String, path: WritableKeyPath<AuthOptions, String?>)] {
        [
            ("clientMetadataUrl", \.metadataURL), ("clientSecretEnv", \.clientSecretEnv),
            ("idpTokenEndpoint", \.idpTokenEndpoint),
            ("idpClientId", \.idpClientID), ("idpClientSecretEnv", \.idpSecretEnv), ("issuer", \.issuer),
            ("resource", \.resource),
        ]
    }

    /// Whether the flags leave it to the stored login with a key how tokens are obtained.
    func mayComplete(by key: TokenKey) -> Bool {
        flags.metadataURL == nil && (flags.clientID.map { $0 == key.client } ?? true)
    }

    /// Completes the flags by those of a stored login.
    mutating func complete(by key: TokenKey, _ notes: [String: String]?) {
        // Another grant is another login, with a client of its own.
        let grant = notes?["grant"].flatMap(AuthOptions.Grant.init)
        guard notes == nil || flags.grant == nil || flags.grant == grant else { return }
        if flags.clientID == nil, !key.client.isEmpty { flags.clientID = key.client }
        guard let notes else { return }
        isCompleted = true
        // One way to authenticate takes the place of the others.
        let hasOwn = flags.clientSecretEnv != nil || flags.clientSecretFile != nil || flags.clientKey != nil
        for (name, path) in Self.files + Self.texts where flags[keyPath: path] == nil {
            if hasOwn, ["clientSecretEnv", "clientSecretFile", "clientKey"].contains(name) { continue }
            flags[keyPath: path] = notes[name]
        }
        if flags.scopes.isEmpty {
            flags.scopes = notes["scopes"]?.split(separator: " ").map(String.init) ?? []
        }
        flags.dpop = flags.dpop ?? notes["dpop"].flatMap(AuthOptions.KeyBinding.init)
        flags.grant = grant
    }

    /// What is stored with the tokens.
    private var notes: [String: String] {
        var notes: [String: String] = ["grant": grant.rawValue]
        for (name, path) in Self.files {
            notes[name] = flags[keyPath: path].map { path in
                path.hasPrefix("/") ? path : (Files.currentDirectory.map { $0 + "/" } ?? "") + path
            }
        }
        for (name, path) in Self.texts { notes[name] = flags[keyPath: path] }
        // What a person is asked for is up to the next login.
        if !grant.needsUser, !flags.scopes.isEmpty { notes["scopes"] = flags.scopes.joined(separator: " ") }
        notes["dpop"] = flags.dpop?.rawValue
        return notes
    }

    // MARK: Settings

    func settings(
        showing showCode: (@Sendable (OAuthSettings.DeviceCode) async -> Void)? = nil
    ) throws(Failure) -> OAuthSettings {
        var settings = OAuthSettings(clientName: ClientIdentity.name)
        settings.scopes = flags.scopes.isEmpty ? nil : flags.scopes
        settings.issuer = flags.issuer
        settings.resource = flags.resource.map { $0 == "none" ? .omitted : .exactly($0) } ?? .automatic
        settings.identity = try identity()
        settings.clientKey = try clientKey()
        settings.grant = try grant(showCode)
        settings.dpop =
            switch flags.dpop {
            case .always: .always
            case .never: .never
            case .auto, nil: .automatic
            }
        settings.notes = notes
        if options.given.contains(.transport(.timeout)) { settings.loginTimeout = options.timeout }
        if let hosts = environment.variable("MCP_AUTH_ALLOW") {
            settings.allowedHosts = Set(hosts.split(separator: ",").map { $0.trimmingSpaces().lowercased() })
        }
        return settings
    }

    private func identity() throws(Failure) -> OAuthSettings.Identity {
        let own = try secret(
            flags.clientSecretEnv, flags.clientSecretFile, .auth(.clientSecretEnv), .auth(.clientSecretFile))
        let secret = own ?? flags.configuredSecret?.value ?? environment.secret("MCP_CLIENT_SECRET")
        if let id = flags.clientID {
            return .registered(OAuthClientIdentity(clientID: id, clientSecret: secret), issuer: flags.issuer)
        }
        let needsID: [Flag] = [.auth(.clientSecretEnv), .auth(.clientSecretFile), .auth(.clientKey)]
        if let flag = options.given.first(where: needsID.contains) {
            throw .usage("\(flag.name) needs the id of the client", hint: "--client-id ID")
        }
        return .automatic(metadataURL: flags.metadataURL)
    }

    /// Returns a secret from a variable or a file; nil without either. Those of a stored login may have gone:
    /// its access token is then used until it expires.
    private func secret(
        _ variable: String?, _ file: String?, _ variableFlag: Flag, _ fileFlag: Flag
    ) throws(Failure) -> String? {
        if variable != nil, file != nil {
            throw .usage("\(variableFlag.name) and \(fileFlag.name) cannot be combined")
        }
        if let variable {
            if let value = environment.secret(variable), !value.isEmpty { return value.trimmingWhitespace() }
            if !options.given.contains(variableFlag) { return nil }
            throw .usage(
                "the environment variable \(inlineText(variable)) is not set",
                hint: "\(variableFlag.name) names the variable")
        }
        guard let file else { return nil }
        do throws(Failure) {
            return try text(of: file)
        } catch {
            if options.given.contains(fileFlag) { throw error }
            return nil
        }
    }

    private func text(of secretFile: String) throws(Failure) -> String {
        let bytes = try environment.secretFile(secretFile, isQuiet: options.quiet)
        return String(decoding: bytes, as: UTF8.self).trimmingWhitespace()
    }

    private func clientKey() throws(Failure) -> (any SigningKey)? {
        guard let path = flags.clientKey else { return nil }
        let pem: String
        do throws(Failure) {
            pem = String(
                decoding: try environment.secretFile(path, isQuiet: options.quiet), as: UTF8.self)
        } catch {
            if !isCompleted || options.given.contains(.auth(.clientKey)) { throw error }
            return nil
        }
        do throws(SignatureError) { return try OpenSSLSignatures.system.signingKey(pem: pem) } catch {
            throw .usage(
                "\(inlineText(path)) is not a key that can be used: \(inlineText(error.message))",
                details: error.details.map { inlineText($0) }, hint: error.hint.map { inlineText($0) })
        }
    }

    // MARK: Grants

    private func grant(
        _ showCode: (@Sendable (OAuthSettings.DeviceCode) async -> Void)?
    ) throws(Failure) -> OAuthSettings.Grant {
        switch grant {
        case .code: return .authorizationCode
        case .device: return .device(show: showCode)
        case .clientCredentials: return .clientCredentials
        case .jwtBearer:
            return .jwtBearer(assertion: try text(in: flags.assertionFile, .auth(.assertionFile)))
        case .enterprise: return .enterprise(try identityProvider())
        }
    }

    /// Returns the contents of a file that is read for each request.
    private func text(
        in path: String?, _ flag: Flag
    ) throws(Failure) -> @Sendable () async throws -> String {
        guard let path else {
            throw .usage("--auth-grant \(grant.rawValue) needs \(flag.name)", hint: "\(flag.name) FILE")
        }
        let (environment, isQuiet) = (environment, options.quiet)
        return {
            let bytes = try environment.secretFile(path, isQuiet: isQuiet)
            return String(decoding: bytes, as: UTF8.self).trimmingWhitespace()
        }
    }

    private func identityProvider() throws(Failure) -> OAuthSettings.IdentityProvider {
        guard let endpoint = flags.idpTokenEndpoint else {
            throw .usage(
                "--auth-grant enterprise needs the identity provider", hint: "--idp-token-endpoint URL")
        }
        guard let id = flags.idpClientID ?? flags.clientID else {
            throw .usage(
                "--auth-grant enterprise needs the id of the client",
                hint: "--client-id ID; --idp-client-id ID if the identity provider has another one")
        }
        let secret = try secret(
            flags.idpSecretEnv, flags.idpSecretFile, .auth(.idpSecretEnv), .auth(.idpSecretFile))
        return OAuthSettings.IdentityProvider(
            tokenEndpoint: endpoint, client: OAuthClientIdentity(clientID: id, clientSecret: secret),
            subjectToken: try text(in: flags.idTokenFile, .auth(.idTokenFile)))
    }
}
