import MCPCore

/// The logins that the flags and the environment describe.
struct Logins: Sendable {
    let environment: CommandEnvironment
    let options: Options

    private var flags: AuthOptions { options.auth }

    /// Returns the authorizer for a server; nil for a program and a socket, and when the flags contain
    /// credentials.
    func authorizer(for target: Target) async throws(Failure) -> OAuthAuthorizer? {
        guard case .http(let url) = target, !options.hasCredentials else { return nil }
        // Without a place for logins there are none.
        let store = (try? FileTokenStore.named(flags.store, environment.variable)) ?? MemoryTokenStore()
        return OAuthAuthorizer(for: url, settings: try await settings(url, store), store: store)
    }

    /// Returns the authorizer of a command about logins.
    func authorizer(
        for url: String, user: AuthorizationUser? = nil
    ) async throws(Failure) -> OAuthAuthorizer {
        let store = try store()
        return OAuthAuthorizer(for: url, settings: try await settings(url, store), store: store, user: user)
    }

    /// Returns the place of the logins.
    func store() throws(Failure) -> any TokenStore {
        do throws(AuthorizationError) {
            return try FileTokenStore.named(flags.store, environment.variable)
        } catch {
            throw Self.failure(error)
        }
    }

    private static func failure(_ error: AuthorizationError) -> Failure {
        Failure(
            code: .unreachable, kind: .store, message: inlineText(error.message),
            hint: error.hint.map { inlineText($0) })
    }

    // MARK: Settings

    private func settings(_ url: String, _ store: any TokenStore) async throws(Failure) -> OAuthSettings {
        var settings = OAuthSettings(clientName: ClientIdentity.name)
        settings.scopes = flags.scopes.isEmpty ? nil : flags.scopes
        settings.issuer = flags.issuer
        settings.resource = flags.resource
        settings.identity = try await identity(url, store)
        settings.clientKey = try clientKey()
        settings.grant = try grant()
        if options.given.contains(.transport(.timeout)) { settings.loginTimeout = options.timeout }
        if let hosts = environment.variable("MCP_AUTH_ALLOW") {
            settings.allowedHosts = Set(hosts.split(separator: ",").map { $0.trimmingSpaces().lowercased() })
        }
        return settings
    }

    private func identity(
        _ url: String, _ store: any TokenStore
    ) async throws(Failure) -> OAuthSettings.Identity {
        if flags.clientSecretEnv != nil, flags.clientSecretFile != nil {
            throw .usage("--client-secret-env and --client-secret-file cannot be combined")
        }
        let secret = try clientSecret()
        if let id = flags.clientID ?? environment.variable("MCP_CLIENT_ID"), !id.isEmpty {
            return .registered(OAuthClientIdentity(clientID: id, clientSecret: secret), issuer: flags.issuer)
        }
        let needsID: [Flag] = [
            .auth(.clientSecretEnv), .auth(.clientSecretFile), .auth(.clientKey),
        ]
        if let flag = options.given.first(where: needsID.contains) {
            throw .usage("\(flag.name) needs the id of the client", hint: "--client-id ID")
        }
        // The client that the stored login belongs to.
        if flags.metadataURL == nil, let client = try await storedClient(url, store) {
            return .registered(
                OAuthClientIdentity(clientID: client, clientSecret: secret), issuer: flags.issuer)
        }
        return .automatic(metadataURL: flags.metadataURL)
    }

    private func storedClient(_ url: String, _ store: any TokenStore) async throws(Failure) -> String? {
        do throws(AuthorizationError) {
            let client = try await store.key(forServer: url)?.client
            return client?.isEmpty == false ? client : nil
        } catch { throw Self.failure(error) }
    }

    private func clientSecret() throws(Failure) -> String? {
        if let name = flags.clientSecretEnv {
            guard let value = environment.secret(name), !value.isEmpty else {
                throw .usage(
                    "there is no environment variable \(inlineText(name))",
                    hint: "--client-secret-env names the variable")
            }
            return value.trimmingWhitespace()
        }
        if let path = flags.clientSecretFile {
            return String(decoding: try environment.input.file(path), as: UTF8.self).trimmingWhitespace()
        }
        return environment.secret("MCP_CLIENT_SECRET")
    }

    private func clientKey() throws(Failure) -> (any SigningKey)? {
        guard let path = flags.clientKey ?? environment.variable("MCP_CLIENT_KEY_FILE") else { return nil }
        let pem = String(decoding: try environment.input.file(path), as: UTF8.self)
        do throws(SignatureError) { return try OpenSSLSignatures.system.signingKey(pem: pem) } catch {
            throw .usage("\(inlineText(path)) is not a key that can be used: \(inlineText("\(error)"))")
        }
    }

    private func grant() throws(Failure) -> OAuthSettings.Grant {
        switch flags.grant {
        case .code: return .authorizationCode
        case .clientCredentials: return .clientCredentials
        case .jwtBearer:
            guard let path = flags.assertionFile ?? environment.variable("MCP_ASSERTION_FILE") else {
                throw .usage("--auth-grant jwt-bearer needs an assertion", hint: "--assertion-file FILE")
            }
            let read = environment.input.file
            return .jwtBearer(assertion: {
                String(decoding: try read(path), as: UTF8.self).trimmingWhitespace()
            })
        }
    }
}

extension Options {
    /// Whether the flags contain credentials, which take the place of a login.
    var hasCredentials: Bool {
        bearerEnv != nil || bearerFile != nil || headers.contains { $0.name.lowercased() == "authorization" }
    }
}

extension Invocation {
    /// Whether requests to TARGET present the tokens of a login.
    var usesLogins: Bool {
        if case .http = target { !options.hasCredentials } else { false }
    }
}
